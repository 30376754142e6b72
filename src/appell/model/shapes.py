"""Shapes of links, to be drawn or to collide: primitives and files of meshes.

A shape belongs to a link by name, which is a frame of the model: edits that move frames to other bodies move the
shapes with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from appell.messages import alternatives, listed
from appell.spatial.pose import Pose

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""
VISUAL, COLLISION = "visual", "collision"
USES = (VISUAL, COLLISION)
SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "sphere": (("radius", 1),),
    "capsule": (("radius", 1), ("length", 1)),
    "cylinder": (("radius", 1), ("length", 1)),
    "box": (("size", 3),),
    "ellipsoid": (("radii", 3),),
    "mesh": (("scale", 3),),
}
"""The kinds of shapes, with the names of their sizes in files and how many numbers each has."""


@dataclass(frozen=True)
class Shape:
    """A shape of a link, drawn (`use` is "visual") or in contact with others ("collision").

    Parameters
    ----------
    link : str
        Name of the link.
    use : str
        "visual" or "collision".
    kind : str
        "sphere", "capsule", "cylinder", "box", "ellipsoid" or "mesh". Meshes collide as their convex hulls.
    sizes : tuple of float
        Sphere: radius. Capsule and cylinder: radius, and length along z (of a capsule, between the centres of its
        ends). Box: three edges. Ellipsoid: three semi-axes. Mesh: three factors of its file's lengths. All in [m].
    placement : Pose
        Pose in the link's frame.
    file : str
        The file of a mesh, as the robot's file names it.
    colour : tuple of float, optional
        Red, green, blue and opacity, from 0 to 1.
    source : str
        The robot's file, in whose folder and packages the mesh is.

    Examples
    --------
    >>> Shape("hand", "collision", "capsule", (0.02, 0.1)).lengths
    {'radius': (0.02,), 'length': (0.1,)}
    """

    link: str
    use: str
    kind: str
    sizes: tuple[float, ...]
    placement: Pose = field(default_factory=Pose)
    file: str = ""
    colour: Colour | None = None
    source: str = field(default="", compare=False, repr=False)

    @property
    def lengths(self) -> dict[str, tuple[float, ...]]:
        """Return the sizes by the names of files."""
        rest = iter(self.sizes)
        return {name: tuple(next(rest) for _ in range(count)) for name, count in SIZES[self.kind]}


def shape_faults(shape: Shape) -> Iterator[str]:
    """Yield the faults of a shape.

    >>> list(shape_faults(Shape("hand", "collision", "sphere", (-1.0,))))
    ["a sphere of size -1; expected 'radius' above zero"]
    """
    if shape.use not in USES:
        yield f"a shape for the use '{shape.use}'; {alternatives(shape.use, USES)}"
    if shape.kind not in SIZES:
        yield f"a shape of kind '{shape.kind}'; {alternatives(shape.kind, SIZES)}"
        return
    given = ", ".join(f"{x:g}" for x in shape.sizes)
    names = listed(name for name, _ in SIZES[shape.kind])
    if len(shape.sizes) != sum(count for _, count in SIZES[shape.kind]):
        yield f"a {shape.kind} of size {given}; expected {names}, {sum(n for _, n in SIZES[shape.kind])} numbers"
    is_mesh = shape.kind == "mesh"  # a mesh of negative scale is a mirror image
    if not all(math.isfinite(x) and (abs(x) if is_mesh else x) > 0.0 for x in shape.sizes):
        yield f"a {shape.kind} of size {given}; expected {names} {'other than' if is_mesh else 'above'} zero"
    if is_mesh != bool(shape.file):
        yield "a mesh without a file; name it" if is_mesh else f"a {shape.kind} with a file; only meshes have one"
