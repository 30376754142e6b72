"""Shapes of links in robot files: from XML elements, toml tables and compiled MJCF to records, and back.

The sizes have the same names in all formats, :data:`appell.model.shapes.SIZES`, except in MJCF, where lengths are
halved. A shape that a URDF or SDF file describes wrongly is left out with a warning: dynamics does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from appell.errors import ReadError, warn
from appell.messages import alternatives, listed
from appell.model.model import Model
from appell.model.shapes import COLLISION, SIZES, USES, VISUAL, Colour, Shape, shape_faults
from appell.read.compiled import Names, word
from appell.read.finder import Finder
from appell.read.markup import number as digits
from appell.read.outline import roll_pitch_yaw
from appell.read.place import Place, check_keys
from appell.read.toml_loops import entries_of, name_of, origin
from appell.read.values import numbers, table, text
from appell.read.xml import Element, added, attribute, child, children, floats, line_of, tag
from appell.spatial.pose import Pose

URDF_KINDS = ("box", "cylinder", "capsule", "sphere", "mesh")
PLAIN_SCALE = (1.0, 1.0, 1.0)
HALVES = {
    "sphere": (1.0,),
    "capsule": (1.0, 0.5),
    "cylinder": (1.0, 0.5),
    "box": (0.5, 0.5, 0.5),
    "ellipsoid": (1.0, 1.0, 1.0),
}
"""Sizes of MJCF per size here."""
SHOWN = 3
"""Geoms of groups below this are visual; those from here on, by custom, only collide."""
GROUPS: dict[tuple[str, ...], dict[str, str]] = {
    (VISUAL,): {"group": "2", "contype": "0", "conaffinity": "0"},
    (COLLISION,): {"group": "3"},
}
"""MJCF attributes of a geom of one use; a geom of both needs none."""
LARGEST_MESH = 200_000
"""MuJoCo's limit on the triangles of a mesh."""


def _checked(shape: Shape, place: Place) -> Shape:
    for fault in shape_faults(shape):
        raise place.error(f"expected a shape, got {fault}")
    return shape


# XML: URDF and SDF


class Dialect(NamedTuple):
    """How a format writes a shape: its kinds, and how pose, sizes, file and colour are read from elements."""

    kinds: Iterable[str]
    pose: Callable[[Element, Place], Pose]
    sizes: Callable[[Element, str, int, Place], Iterable[float]]
    file: Callable[[Element, Place], str]
    colour: Callable[[Element, Place], Colour | None]


def shapes_in(link: Element, name: str, source: str, dialect: Dialect) -> list[Shape]:
    """Return the shapes of a link's element; faulty ones are left out with a warning."""
    found = []
    for use in USES:
        for element in children(link, use):
            place = Place(source, line_of(element), f"link '{name}', <{use}>")
            try:
                found += _shape(element, name, use, dialect, place)
            except ReadError as error:
                warn(f"{error}; the shape is left out")
    return found


def _shape(element: Element, link: str, use: str, dialect: Dialect, place: Place) -> list[Shape]:
    geometry = child(element, "geometry", place)
    given = [] if geometry is None else list(geometry.iterchildren("{*}*"))
    if geometry is None or [tag(x) for x in given] == ["empty"]:
        return []
    solids = [x for x in given if tag(x) in dialect.kinds]
    if len(solids) != 1:
        raise place.error(f"expected one of {listed(dialect.kinds)} in <geometry>, got {len(solids)}")
    solid, kind = solids[0], tag(solids[0])
    sizes = tuple(float(x) for size in SIZES[kind] for x in dialect.sizes(solid, *size, place))
    file = dialect.file(solid, place) if kind == "mesh" else ""
    colour = dialect.colour(element, place) if use == VISUAL else None
    shape = Shape(link, use, kind, sizes, dialect.pose(element, place), file, colour, place.source)
    return [_checked(shape, place)]


def urdf(root: Element, source: str, pose: Callable[[Element, Place], Pose]) -> Dialect:
    """Return the dialect of a URDF file, with the colours that it names once for all links."""
    shared: dict[str, Colour] = {}

    def own(material: Element, place: Place) -> Colour | None:
        given = child(material, "color", place)
        return None if given is None else colour_of(floats(given, "rgba", 4, place))

    def colour(element: Element, place: Place) -> Colour | None:
        material = child(element, "material", place)
        if material is None:
            return None
        return own(material, place) or shared.get((material.get("name") or "").strip())

    def sizes(solid: Element, name: str, count: int, place: Place) -> Iterable[float]:
        if name == "scale" and solid.get(name) is None:
            return PLAIN_SCALE
        return floats(solid, name, count, place)

    for material in children(root, "material"):
        name = (material.get("name") or "").strip()
        try:
            found = own(material, Place(source, line_of(material), f"material '{name}'"))
        except ReadError as error:
            warn(f"{error}; the colour is left out")
            continue
        shared |= {} if found is None else {name: found}
    return Dialect(URDF_KINDS, pose, sizes, lambda solid, place: attribute(solid, "filename", place), colour)


def colour_of(rgba: Iterable[float]) -> Colour:
    """Return a colour of four numbers, each limited to 0 to 1."""
    red, green, blue, opacity = (min(max(float(x), 0.0), 1.0) for x in rgba)
    return (red, green, blue, opacity)


def add_urdf(link: Element, shape: Shape, folder: Path | None, place: Callable[[Element, Pose], object]) -> None:
    """Add a shape to a link of a URDF file; `place` writes its pose."""
    element = added(link, shape.use)
    place(element, shape.placement)
    solid = added(added(element, "geometry"), shape.kind)
    if shape.kind == "mesh":
        solid.set("filename", file_name(shape, folder))
    for name, values in _own_lengths(shape).items():
        solid.set(name, _texts(values))
    if shape.colour is not None:
        material = added(element, "material", name=f"rgba {_texts(shape.colour)}")
        added(material, "color", rgba=_texts(shape.colour))


def add_sdf(link: Element, shape: Shape, name: str, folder: Path | None, place: Callable[[Element, Pose], Any]) -> None:
    """Add a shape to a link of an SDF file; `place` writes its pose."""
    element = added(link, shape.use, name=name)
    place(element, shape.placement)
    solid = added(added(element, "geometry"), shape.kind)
    if shape.kind == "mesh":
        added(solid, "uri").text = file_name(shape, folder)
    for key, values in _own_lengths(shape).items():
        added(solid, key).text = _texts(values)
    if shape.colour is not None:
        material = added(element, "material")
        for key in ("ambient", "diffuse"):
            added(material, key).text = _texts(shape.colour)


def _own_lengths(shape: Shape) -> dict[str, tuple[float, ...]]:
    """Return the sizes by name, without a scale of one."""
    return {key: x for key, x in shape.lengths.items() if (key, x) != ("scale", PLAIN_SCALE)}


def _texts(values: Iterable[float]) -> str:
    return " ".join(map(digits, values))


# toml

SHAPE_KEYS = {use: f"{use}s" for use in USES}
"""The keys of a link's shapes."""


def toml_shapes(top: Mapping[str, object], place: Place) -> list[Shape]:
    """Return the shapes of the links of a toml file."""
    found = []
    for i, link in entries_of(top, "links", place):
        here, entries = place.at("links").at(i), table(link, place)
        name = name_of(entries, "name", here)
        for use, key in SHAPE_KEYS.items():
            for k, given in entries_of(entries, key, here):
                found.append(_toml_shape(table(given, here.at(key).at(k)), name, use, here.at(key).at(k)))
    return found


def _toml_shape(entries: Mapping[str, object], link: str, use: str, place: Place) -> Shape:
    kind = name_of(entries, "kind", place)
    if kind not in SIZES:
        raise place.at("kind").error(f"unknown kind '{kind}'; {alternatives(kind, SIZES)}")
    named = SIZES[kind]
    check_keys(
        entries, ("kind", *(name for name, _ in named), *(["file"] * (kind == "mesh")), "origin", "colour"), place
    )
    sizes: list[float] = []
    for name, count in named:
        if name not in entries and name != "scale":
            raise place.error(f"a {kind} needs '{name}'; add it")
        value = entries.get(name, PLAIN_SCALE)
        sizes += numbers([value] if count == 1 else value, count, place.at(name))
    placement = origin(entries["origin"], place.at("origin")) if "origin" in entries else Pose()
    file = text(entries["file"], place.at("file")) if "file" in entries else ""
    colour = colour_of(numbers(entries["colour"], 4, place.at("colour"))) if "colour" in entries else None
    return _checked(Shape(link, use, kind, tuple(sizes), placement, file, colour, place.source), place)


def toml_entries(shapes: Iterable[Shape], folder: Path | None) -> dict[str, Any]:
    """Return the tables of a link's shapes."""
    found: dict[str, tuple[Any, ...]] = {}
    for shape in shapes:
        entries: dict[str, Any] = {"kind": shape.kind}
        entries |= {key: x[0] if len(x) == 1 else x for key, x in _own_lengths(shape).items()}
        if shape.file:
            entries["file"] = file_name(shape, folder)
        if shape.placement != Pose():
            at = shape.placement
            entries["origin"] = {"xyz": at.position, "rpy": roll_pitch_yaw(at.rotation)}
        if shape.colour is not None:
            entries["colour"] = shape.colour
        key = SHAPE_KEYS[shape.use]
        found[key] = (*found.get(key, ()), entries)
    return found


# MJCF


def mjcf_shapes(
    mujoco: Any, compiled: Any, names: Names, pose_of: Callable[[Any, Any], Pose], source: str
) -> list[Shape]:
    """Return the geoms of a compiled model that are primitives or meshes of files; planes and height fields are none.

    Geoms of visible groups are visual; those that MuJoCo tests for collision collide.
    """
    kinds = [word(mujoco.mjtGeom, kind) for kind in compiled.geom_type.tolist()]
    chosen = [g for g, kind in enumerate(kinds) if kind in HALVES or (kind == "mesh" and _mesh_file(compiled, g))]
    uses = {VISUAL: compiled.geom_group < SHOWN, COLLISION: (compiled.geom_contype | compiled.geom_conaffinity) != 0}
    found = []
    for g in chosen:
        kind, pose, file = kinds[g], pose_of(compiled.geom_pos[g], compiled.geom_quat[g]), ""
        if kind == "mesh":  # its vertices are in the axes of its inertia
            m, file = compiled.geom_dataid[g], _relative(_mesh_file(compiled, g), source)
            sizes = compiled.mesh_scale[m].tolist()
            pose = pose.then(pose_of(compiled.mesh_pos[m], compiled.mesh_quat[m]).inverse())
        else:
            sizes = [float(x / half) for x, half in zip(compiled.geom_size[g], HALVES[kind], strict=False)]
        material = compiled.geom_matid[g]
        rgba = compiled.geom_rgba[g] if material < 0 else compiled.mat_rgba[material]
        colour = colour_of(np.round(rgba.astype(float), 7).tolist())  # of float32
        link = names.bodies[compiled.geom_bodyid[g]]
        found += [
            Shape(link, use, kind, tuple(sizes), pose, file, colour if use == VISUAL else None, source)
            for use in USES
            if uses[use][g]
        ]
    return sorted(found, key=lambda shape: USES.index(shape.use))


def _mesh_file(compiled: Any, g: int) -> str:
    start = int(compiled.mesh_pathadr[compiled.geom_dataid[g]])
    return "" if start < 0 else bytes(compiled.paths)[start:].split(b"\0", 1)[0].decode("utf-8", "replace")


def _relative(file: str, source: str) -> str:
    """Return a file's name relative to the folder of the robot's file if it is inside."""
    home = Path(source).absolute().parent
    return Path(file).relative_to(home).as_posix() if Path(file).is_relative_to(home) else file


class Geoms(NamedTuple):
    """The geoms of an MJCF file by body, the meshes that they use, and the shapes that MuJoCo cannot read."""

    by_body: dict[int, list[tuple[dict[str, str], Pose]]]
    meshes: list[dict[str, str]]
    lost: list[Shape]


def mjcf_geoms(model: Model, folder: Path | None) -> Geoms:
    """Return the attributes and poses of the geoms of a model; a shape that is drawn and collides is one geom."""
    merged: dict[Any, dict[str, Colour | None]] = {}
    for shape in model.shapes:
        key = (shape.link, shape.kind, shape.sizes, shape.placement, shape.file, shape.source)
        merged.setdefault(key, {}).setdefault(shape.use, shape.colour)
    geoms = Geoms({}, [], [])
    assets: dict[tuple[str, str], str] = {}
    for (link, kind, sizes, placement, file, source), uses in merged.items():
        shape = Shape(link, next(iter(uses)), kind, sizes, placement, file, None, source)
        if kind == "mesh":
            place = _readable_mesh(shape)
            if place is None:
                geoms.lost.append(shape)
                continue
            asset = (_shared(place, folder), _texts(sizes))
            if asset not in assets:
                assets[asset] = f"{place.stem}_{len(assets)}"
                named = {"name": assets[asset], "file": asset[0], "scale": asset[1], "inertia": "shell"}
                geoms.meshes.append(named)
            attributes = {"type": kind, "mesh": assets[asset]}
        else:
            attributes = {"type": kind, "size": _texts(x * half for x, half in zip(sizes, HALVES[kind], strict=True))}
        attributes |= GROUPS.get(tuple(uses), {})
        if uses.get(VISUAL) is not None:
            attributes["rgba"] = _texts(uses[VISUAL] or ())
        body, pose = model.seat(shape)
        geoms.by_body.setdefault(body, []).append((attributes, pose))
    return geoms


def _readable_mesh(shape: Shape) -> Path | None:
    """Return the file of a mesh if it is found and MuJoCo reads it: .obj, or binary .stl within its limits."""
    place = Finder(Path(shape.source)).find(shape.file)
    if place is None or place.suffix.lower() == ".obj":
        return place
    if place.suffix.lower() != ".stl":
        return None
    with place.open("rb") as file:
        count = int.from_bytes(file.read(84)[80:], "little")
    return place if 0 < count <= LARGEST_MESH and place.stat().st_size == 84 + 50 * count else None


# Files of meshes


def file_name(shape: Shape, folder: Path | None) -> str:
    """Return the name of a shape's file in a robot file in another folder.

    Names with a scheme such as ``package://`` stay. So do others where the folder is None.
    """
    if folder is None or "://" in shape.file:
        return shape.file
    place = Finder(Path(shape.source)).find(shape.file) or Path(shape.source).absolute().parent / shape.file
    return _shared(place, folder)


def _shared(place: Path, folder: Path | None) -> str:
    """Return a file's name: relative to a folder that contains it, else absolute."""
    home = None if folder is None else folder.resolve()
    return (place.relative_to(home) if home is not None and place.is_relative_to(home) else place).as_posix()


def described(shapes: Iterable[Shape]) -> list[str]:
    """Return what shapes are, for a message: the names of meshes' files, the kinds and links of others."""
    return list(dict.fromkeys(x.file or f"{x.kind} of {x.link}" for x in shapes))
