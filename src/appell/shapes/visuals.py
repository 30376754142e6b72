"""The visual geometry of a URDF file: boxes, cylinders, spheres, meshes, and their colours.

The reader of robots (:mod:`appell.read.urdf`) passes shapes over, since dynamics does not need them. A shape that is
written wrongly is left out with a remark: it is no reason not to show the robot.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from appell.errors import ReadError
from appell.messages import listed
from appell.read.place import Place, contents
from appell.read.urdf import origin
from appell.read.xml import Element, attribute, child, children, document, floats, line_of, place_of, required, tag
from appell.spatial.pose import Pose

SHAPES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "mesh": (("scale", 3),),
}
"""The shapes of URDF with the attributes that give their sizes, and how many numbers each has."""

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""


class Visual(NamedTuple):
    """A shape on a link: its pose in the link's frame, what it is, its lengths [m], its colour where it has one.

    `kind` is "box" (three lengths), "cylinder" and "capsule" (radius, length along z), "sphere" (radius), or "mesh"
    (three factors of its file's lengths).
    """

    link: str
    placement: Pose
    kind: str
    sizes: tuple[float, ...]
    file: str = ""
    colour: Colour | None = None


class Looks(NamedTuple):
    """The shapes of a file: those to be seen, those to collide, which serve where the former fail, and remarks."""

    visuals: list[Visual]
    collisions: list[Visual]
    remarks: list[str]


def urdf_looks(path: Path) -> Looks:
    """Return the shapes of a URDF file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "ball.urdf")
    ...     _ = file.write_text('<robot><link name="ball"><visual><geometry><sphere radius="0.1"/></geometry>'
    ...                         '</visual></link></robot>')
    ...     urdf_looks(file).visuals[0].sizes
    (0.1,)
    """
    given = contents(path)
    root = document(given)
    looks = Looks([], [], [])
    shared = _shared_colours(root, given.source, looks.remarks)
    for link in children(root, "link"):
        name = (link.get("name") or "").strip()
        for kind, found in (("visual", looks.visuals), ("collision", looks.collisions)):
            for element in children(link, kind):
                place = Place(given.source, line_of(element), f"link '{name}', <{kind}>")
                try:
                    found.append(_visual(element, name, place, shared))
                except ReadError as error:
                    looks.remarks.append(f"{error}; it is not drawn")
    return looks


def _shared_colours(root: Element, source: str, remarks: list[str]) -> dict[str, Colour]:
    """Return the colours that the file names once for all links."""
    shared: dict[str, Colour] = {}
    for material in children(root, "material"):
        name = (material.get("name") or "").strip()
        try:
            colour = _own_colour(material, Place(source, line_of(material), f"material '{name}'"))
        except ReadError as error:
            remarks.append(f"{error}; the colour is left out")
            continue
        if colour is not None:
            shared[name] = colour
    return shared


def _visual(element: Element, link: str, owner: Place, shared: dict[str, Colour]) -> Visual:
    geometry = required(element, "geometry", owner)
    shapes = [shape for shape in geometry.iterchildren("{*}*") if tag(shape) in SHAPES]
    if len(shapes) != 1:
        raise owner.error(f"expected one of {listed(SHAPES)} in <geometry>, got {len(shapes)}")
    shape, kind = shapes[0], tag(shapes[0])
    sizes = tuple(x for name, count in SHAPES[kind] for x in _lengths(shape, name, count, owner))
    file = attribute(shape, "filename", owner) if kind == "mesh" else ""
    material = child(element, "material", owner)
    colour = None
    if material is not None:
        colour = _own_colour(material, owner) or shared.get((material.get("name") or "").strip())
    return Visual(link, origin(element, owner), kind, sizes, file, colour)


def _lengths(shape: Element, name: str, count: int, owner: Place) -> list[float]:
    if name == "scale" and shape.get(name) is None:
        return [1.0] * count
    values = floats(shape, name, count, owner)
    if not all(math.isfinite(x) and (x > 0.0 or name == "scale") for x in values):
        raise place_of(shape, name, owner).error(f"expected lengths above zero, got '{shape.get(name)}'")
    return values


def _own_colour(material: Element, owner: Place) -> Colour | None:
    colour = child(material, "color", owner)
    if colour is None:
        return None
    red, green, blue, opacity = (min(max(x, 0.0), 1.0) for x in floats(colour, "rgba", 4, owner))
    return (red, green, blue, opacity)
