"""URDF files: links, joints and inertias from XML, with file and line in every error.

What is read of a URDF file: links with `<inertial>`, `<visual>` and `<collision>`, joints with `<origin>`, `<axis>`,
`<limit>`, `<dynamics>` and `<mimic>`. Sensors, transmissions and simulator settings are ignored. Where the format is
ambiguous:

- URDF has no elements for rotor inertia and springs. The attributes `armature` [kg·m², or kg where
  the joint slides], `stiffness` [N·m/rad] and `spring_reference` [rad] of `<dynamics>` are read, as in
  ``<dynamics damping="0.1" armature="0.02"/>``.
- A `<limit>` with neither `lower` nor `upper` leaves the position free; with one of them, the other is 0 as the format
specifies. A continuous, planar or floating joint has no position limits, whatever its `<limit>` contains. A limit of
1e300 or more is infinite: some readers require finite numbers.
- URDF+ adds `<loop>` and `<coupling>` to `<robot>`, which become closures (:mod:`appell.read.urdf_plus`).
- A planar joint moves in the plane perpendicular to its `<axis>`. A fixed joint with a `<mimic>` is fixed.

What other readers accept is accepted with a warning that names the line: an `<inertial>` without `<mass>`, without
`<inertia>` or without products of inertia (zero); a lower limit above the upper one (no limit); a second `<inertial>`,
`<limit>` or `<dynamics>` (the first counts); a parent link ``world`` that is not defined; and what
:mod:`appell.read.xml` lists.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from appell.errors import ReadError, warn
from appell.messages import alternatives
from appell.model.build import WORLD_NAME, Connection, Link, build
from appell.model.model import Joint, Limits, Mimic, Model
from appell.read.dh import LOSS_KEYS
from appell.read.place import Contents, Place, contents
from appell.read.shapes import shapes_in, urdf
from appell.read.urdf_plus import ENDS, constraints, driven, with_constraints
from appell.read.values import direction, gravity_vector, number, pose, quaternion_rotation
from appell.read.xml import (
    XACRO,
    Element,
    attribute,
    child,
    children,
    document,
    first,
    floats,
    line_of,
    place_of,
    ranged,
    required,
    tag,
    without_repeats,
)
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import ZERO

KINDS_BY_NAME = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""The joint types: names in URDF and in appell."""

QUATERNION = "quat_xyzw"
"""The rotation of an <origin> in URDF 1.1 and later, in place of rpy."""
ENDLESS = ("continuous", "planar", "free")
"""Types without position limits in URDF."""

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
PRODUCTS = ("ixy", "ixz", "iyz")
"""Entries of <inertia> that may be absent."""
UNBOUNDED = 1e300
"""Limits from here on are infinite."""


def read_urdf(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Model:
    """Return the model of a URDF file, or of URDF text.

    Parameters
    ----------
    path_or_text
        A path, or the text itself: a string that begins with ``<``.
    gravity
        Gravity in world axes [m/s²]; 9.81 along −z by default.
    source
        The name of the file in error messages; by default its path.

    Raises
    ------
    ReadError
        When the file cannot be read or does not describe a tree of rigid bodies; the message begins with file:line.

    Examples
    --------
    >>> model = read_urdf('''
    ... <robot name="pendulum">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial>
    ...     <origin xyz="0 0 -0.5"/><mass value="2"/>
    ...     <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>
    ...   </inertial></link>
    ...   <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
    ... </robot>''')
    >>> model.bodies[0].joint.name, model.bodies[0].inertia.centre
    ('hinge', (0.0, 0.0, -0.5))
    """
    given = contents(path_or_text, lambda text: text.lstrip("\ufeff \t\r\n").startswith("<"), source)
    root = _robot(given)
    links = [_link(element, given.source) for element in without_repeats(children(root, "link"), given.source)]
    joints = without_repeats(children(root, "joint"), given.source)
    connections = [_connection(element, given.source) for element in joints]
    if not links:
        remedy = XACRO if b"xacro" in given.data else "a robot needs at least one"
        raise ReadError(f"no <link> in <robot>; {remedy}", given.source, line_of(root))
    if all(link.name != WORLD_NAME for link in links):
        attached = [connection for connection in connections if connection.parent == WORLD_NAME]
        if attached:
            problem = f"joint '{attached[0].joint.name}': its parent link 'world' is not defined; read as the world"
            warn(problem, given.source, attached[0].line or 1)
            links.insert(0, Link(WORLD_NAME))
    name = (root.get("name") or "").strip() or "robot"
    model = build(name, links, connections, gravity=gravity_vector(gravity), source=given.source)
    dialect = urdf(root, given.source, origin)
    named = {(element.get("name") or "").strip(): element for element in children(root, "link")}
    found = (shape for name, element in named.items() for shape in shapes_in(element, name, given.source, dialect))
    model = replace(model, shapes=tuple(found))
    ties = [(element, child_origins(element, given.source)) for element in constraints(root)]
    return with_constraints(model, ties, driven(root)) if ties else model


def child_origins(element: Element, source: str) -> dict[str, tuple[str, Pose]]:
    """Return the links that a constraint of URDF+ names, and the poses in them."""
    owner = Place(source, line_of(element), f"{tag(element)} '{element.get('name', '')}'")
    ends = {key: required(element, key, owner) for key in ENDS}
    return {key: (attribute(end, "link", owner), origin(end, owner)) for key, end in ends.items()}


def _robot(given: Contents) -> Element:
    root = document(given)
    for other, name, endings in (("mujoco", "MJCF", ".xml or .mjcf"), ("sdf", "SDF", ".sdf")):
        if tag(root) == other:
            raise ReadError(f"the file is {name} (<{other}>), not URDF; use the extension {endings}", given.source, 1)
    if tag(root) != "robot":
        raise ReadError(f"expected <robot> as the root element, got <{tag(root)}>", given.source, line_of(root))
    return root


def _vector(element: Element, name: str, owner: Place) -> Vector:
    place = place_of(element, name, owner)
    x, y, z = (number(value, place) for value in floats(element, name, 3, owner))
    return (x, y, z)


def _number(element: Element, name: str, owner: Place) -> float:
    return number(floats(element, name, 1, owner)[0], place_of(element, name, owner))


def _bound(element: Element, name: str, owner: Place, default: float = 0.0) -> float:
    """Return an optional number that may be infinite, such as a limit."""
    if element.get(name) is None:
        return default
    bound = floats(element, name, 1, owner)[0]
    return math.copysign(math.inf, bound) if abs(bound) >= UNBOUNDED else bound


def origin(parent: Element, owner: Place) -> Pose:
    """Return the pose of an element's <origin>."""
    given = child(parent, "origin", owner)
    if given is None:
        return Pose()
    xyz, rpy = (ZERO if given.get(key) is None else _vector(given, key, owner) for key in ("xyz", "rpy"))
    if given.get(QUATERNION) is None:
        return pose(xyz, rpy)
    place = place_of(given, QUATERNION, owner)
    if given.get("rpy") is not None:
        raise place.error(f"<origin> has both rpy and {QUATERNION}; keep one of them")
    parts = [number(value, place) for value in floats(given, QUATERNION, 4, owner)]
    return Pose(quaternion_rotation(parts, place), xyz)


def _link(element: Element, source: str) -> Link:
    name = attribute(element, "name", Place(source, line_of(element), "link"))
    owner = Place(source, line_of(element), f"link '{name}'")
    return Link(name, _inertia(element, owner), line_of(element))


def _inertia(link: Element, owner: Place) -> Inertia:
    inertial = first(link, "inertial", owner)
    if inertial is None:
        return Inertia()
    owner = replace(owner, line=line_of(inertial))
    weight, tensor = child(inertial, "mass", owner), child(inertial, "inertia", owner)
    absent = [f"<{name}>" for name, element in (("mass", weight), ("inertia", tensor)) if element is None]
    mass = 0.0 if weight is None else _number(weight, "value", owner)
    moments = dict.fromkeys(MOMENTS, 0.0)
    if tensor is not None:
        absent += [key for key in PRODUCTS if tensor.get(key) is None]
        moments |= {key: _number(tensor, key, owner) for key in MOMENTS if key not in absent}
    if absent:
        warn(f"{owner.path}: <inertial> has no {', '.join(absent)}; read as zero", owner.source, line_of(inertial))
    xx, xy, xz, yy, yz, zz = moments.values()
    about_centre = Inertia.from_centre(mass, ZERO, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return about_centre.moved(origin(inertial, owner))


def _connection(element: Element, source: str) -> Connection:
    name = attribute(element, "name", Place(source, line_of(element), "joint"))
    owner = Place(source, line_of(element), f"joint '{name}'")
    parent, carried = (attribute(required(element, key, owner), "link", owner) for key in ("parent", "child"))
    kind = _kind(element, owner)
    joint = Joint(name, kind, placement=origin(element, owner))
    if kind != "fixed":
        joint = _moving(joint, element, owner)
    return Connection(joint, parent, carried, line_of(element))


def _kind(element: Element, owner: Place) -> str:
    given = attribute(element, "type", owner)
    if given not in KINDS_BY_NAME:
        raise owner.error(f"unknown type '{given}'; {alternatives(given, KINDS_BY_NAME)}")
    return KINDS_BY_NAME[given]


def _mimic(element: Element, owner: Place) -> Mimic | None:
    mimic = child(element, "mimic", owner)
    if mimic is None:
        return None
    multiplier, offset = (
        default if mimic.get(key) is None else _number(mimic, key, owner)
        for key, default in (("multiplier", 1.0), ("offset", 0.0))
    )
    return Mimic(attribute(mimic, "joint", owner), multiplier, offset, line_of(mimic))


def _moving(joint: Joint, element: Element, owner: Place) -> Joint:
    """Return the joint with the attributes of a moving one: axis, limits, damping, friction and mimic."""
    axis, dynamics = child(element, "axis", owner), first(element, "dynamics", owner)
    given = [] if dynamics is None else [key for key in LOSS_KEYS if dynamics.get(key) is not None]
    parameters: dict[str, Any] = {key: _number(dynamics, key, owner) for key in given}
    return replace(
        joint,
        axis=(1.0, 0.0, 0.0) if axis is None else direction(_vector(axis, "xyz", owner)),
        limits=_limits(joint.kind, first(element, "limit", owner), owner),
        **parameters,
        mimic=_mimic(element, owner),
    )


def _limits(kind: str, limit: Element | None, owner: Place) -> Limits:
    if limit is None:
        return Limits()
    velocity, effort = (_bound(limit, key, owner, default=math.inf) for key in ("velocity", "effort"))
    if kind in ENDLESS or (limit.get("lower") is None and limit.get("upper") is None):
        return Limits(velocity=velocity, effort=effort)
    lower, upper = (_bound(limit, key, owner) for key in ("lower", "upper"))
    return ranged(Limits(lower, upper, velocity, effort), replace(owner, line=line_of(limit)))
