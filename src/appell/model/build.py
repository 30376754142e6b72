"""From links and joints, as files describe them, to a checked :class:`Model` with fixed joints merged."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from appell.arguments import LARGEST
from appell.errors import ReadError, warn
from appell.messages import alternatives, listed
from appell.model.check import unusable
from appell.model.joints import KINDS
from appell.model.model import GRAVITY, WORLD, Base, Body, Frame, Joint, JointParameters, Model, Z
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import normalized
from appell.spatial.scalar import Vector
from appell.spatial.vector import cross

WITHOUT_AXIS = ("ball", "free")
"""Isotropic joint types, whose axis in a file has no effect."""
WORLD_NAME = "world"
"""The name of the world where a joint has it for a parent."""


@dataclass(frozen=True)
class Link:
    """A link of a file: name, inertia in the link's own frame, and line number.

    `included` is the inertia of a fixed link that is already part of the link that carries it.
    """

    name: str
    inertia: Inertia = field(default_factory=Inertia)
    line: int | None = None
    included: Inertia | None = None


@dataclass(frozen=True)
class Connection:
    """A joint of a file, between two links given by name.

    Two types exist here but not in a model: "fixed" joints are merged, and a "universal" joint, which rotates about
    `axis` and then about `axis2`, becomes two revolute joints ``name/1`` and ``name/2`` around a massless link
    ``name/cross``.
    """

    joint: Joint
    parent: str
    child: str
    line: int | None = None
    axis2: Vector | None = None


def build(
    name: str,
    links: list[Link],
    connections: list[Connection],
    *,
    gravity: Vector = GRAVITY,
    source: str = "",
) -> Model:
    """Return the model of links and connections, depth first in file order.

    Raises
    ------
    ReadError
        When names are duplicate or missing, when the links do not form a single tree, or when a number is invalid for a
        rigid body; the message names the file and the line.
    """
    links, connections = _with_crosses(links, connections, source)
    _check_names(links, connections, source)
    root = _root(links, connections, source)
    below: dict[str, list[Connection]] = {link.name: [] for link in links}
    for connection in connections:
        below[connection.parent].append(connection)
    by_name = {link.name: link for link in links}
    for link in links:
        for fault in unusable(link):
            raise ReadError(f"link '{link.name}': {fault}", source, link.line)
        check_inertia(link, source)
    for connection in connections:
        for fault in unusable(connection.joint):
            raise ReadError(f"joint '{connection.joint.name}': {fault}", source, connection.line)
        for fault in joint_faults(connection.joint):
            raise ReadError(f"joint '{connection.joint.name}' {fault}", source, connection.line)

    bodies: list[Body] = []
    frames: list[Frame] = []
    base = Inertia()
    stack: list[tuple[str, Connection | None, int, Pose]] = [(root, None, WORLD, Pose())]
    while stack:
        name_here, carrier, body, pose = stack.pop()
        if carrier is not None:
            if carrier.joint.kind != "fixed":
                joint = replace(carrier.joint, axis=_unit_axis(carrier.joint), placement=pose)
                bodies.append(Body(name_here, body, joint, Inertia()))
                body, pose = len(bodies) - 1, Pose()
            if carrier.joint.name not in by_name:  # a name shared with a link denotes the link's frame
                frames.append(Frame(carrier.joint.name, body, pose))
        is_fixed, link = carrier is not None and carrier.joint.kind == "fixed", by_name[name_here]
        frames.append(Frame(name_here, body, pose, (link.included or link.inertia) if is_fixed else None))
        if body != WORLD:
            merged = bodies[body].inertia.plus(by_name[name_here].inertia.moved(pose))
            bodies[body] = replace(bodies[body], inertia=merged)
        else:
            base = base.plus(by_name[name_here].inertia.moved(pose))
        stack.extend((c.child, c, body, pose.then(c.joint.placement)) for c in reversed(below[name_here]))
    return Model(name, tuple(bodies), tuple(frames), gravity, source, Base(root, base))


def _with_crosses(links: list[Link], connections: list[Connection], source: str) -> tuple[list[Link], list[Connection]]:
    """Return links and connections with every universal joint split into two, and the cross link between."""
    crosses, halves = [], []
    for connection in connections:
        joint, line = connection.joint, connection.line
        if joint.kind != "universal":
            halves.append(connection)
            continue
        _check_universal(connection, source)
        middle, axis2 = f"{joint.name}/cross", connection.axis2 or Z
        first = replace(joint, name=f"{joint.name}/1", kind="revolute")
        second = replace(joint, name=f"{joint.name}/2", kind="revolute", axis=axis2, placement=Pose())
        crosses.append(Link(middle, line=line))
        halves.append(Connection(first, connection.parent, middle, line))
        halves.append(Connection(second, middle, connection.child, line))
    return [*links, *crosses], halves


def _check_universal(connection: Connection, source: str) -> None:
    joint, axis, axis2 = connection.joint, connection.joint.axis, connection.axis2
    if axis2 is None:
        raise ReadError(
            f"joint '{joint.name}' is universal and has one axis; add the second axis", source, connection.line
        )
    size = math.hypot(*axis) * math.hypot(*axis2)
    if math.hypot(*cross(axis, axis2)) <= 1e-9 * size:
        raise ReadError(
            f"joint '{joint.name}' has two axes that are parallel or of zero length; set two different directions, "
            "or make it revolute",
            source,
            connection.line,
        )


def _unit_axis(joint: Joint) -> Vector:
    return Z if joint.kind in WITHOUT_AXIS else normalized(joint.axis)


def _check_names(links: list[Link], connections: list[Connection], source: str) -> None:
    known: dict[str, None] = {}
    for link in links:
        if link.name in known:
            raise ReadError(f"link '{link.name}' is defined twice; link names must be unique", source, link.line)
        known[link.name] = None
    joints: set[str] = set()
    for connection in connections:
        joint = connection.joint
        if joint.name in joints:
            raise ReadError(
                f"joint '{joint.name}' is defined twice; joint names must be unique", source, connection.line
            )
        joints.add(joint.name)
        for role, link_name in (("parent", connection.parent), ("child", connection.child)):
            if link_name not in known:
                raise ReadError(
                    f"joint '{joint.name}' has {role} link '{link_name}', which is not defined; "
                    + alternatives(link_name, known),
                    source,
                    connection.line,
                )


def _root(links: list[Link], connections: list[Connection], source: str) -> str:
    if not links:
        raise ReadError("no link found; a robot needs at least one", source)
    carried: dict[str, Connection] = {}
    for connection in connections:
        if connection.child in carried:
            raise ReadError(
                f"link '{connection.child}' is the child of joints '{carried[connection.child].joint.name}' and "
                f"'{connection.joint.name}'; in a tree each link has one parent (close loops with loops=…)",
                source,
                connection.line,
            )
        carried[connection.child] = connection
    roots = [link for link in links if link.name not in carried]
    if len(roots) > 1:
        raise ReadError(
            f"there are {len(roots)} root links ({listed(r.name for r in roots)}); join them into one tree",
            source,
            roots[1].line,
        )
    below: dict[str, list[str]] = {}
    for connection in connections:
        below.setdefault(connection.parent, []).append(connection.child)
    reached, pending = set(), [r.name for r in roots]
    while pending:
        reached.add(pending[-1])
        here = pending.pop()
        pending.extend(below.get(here, ()))
    unreached = [c for c in connections if c.child not in reached]
    if unreached:
        raise ReadError(
            f"joints {listed(c.joint.name for c in unreached)} form a kinematic loop; cut it at one joint and close it "
            "with loops=…",
            source,
            unreached[0].line,
        )
    return roots[0].name


def joint_faults(joint: Joint) -> Iterator[str]:
    """Yield the faults of a joint."""
    moves = joint.kind != "fixed"
    if moves and joint.kind not in KINDS:
        yield f"has type '{joint.kind}'; {alternatives(joint.kind, [*KINDS, 'fixed'])}"
    if moves and joint.kind not in WITHOUT_AXIS and not math.hypot(*joint.axis) > 1e-9:
        yield "has an axis of zero length; set a direction"
    if moves and joint.offset and joint.type.nq > 1:
        yield f"is {joint.kind} and has an offset; only joints with one coordinate may have one"
    if moves and joint.stiffness and joint.type.nq > 1:
        yield f"is {joint.kind} and has a stiffness; only joints with one coordinate may have springs"
    for what in JointParameters._fields:
        if getattr(joint, what) < 0:
            yield f"has a negative {what}; it must be zero or more"


def check_inertia(link: Link, source: str) -> None:
    """Reject a negative mass; warn of an inertia tensor that no rigid body has, since real files contain such."""
    if link.inertia.mass < 0:
        raise ReadError(
            f"link '{link.name}' has a mass of {link.inertia.mass:g} kg; it must be zero or more", source, link.line
        )
    m, h, _ = link.inertia
    if m and not all(abs(x) <= LARGEST * m for x in h):
        raise ReadError(
            f"link '{link.name}' has a mass of {m:g} kg, too small for its first moments; set mass and mass centre",
            source,
            link.line,
        )
    principal = principal_second_moments(link.inertia)
    largest, blur = max(map(abs, principal)), 1e-14 * max(abs(x) for row in link.inertia.second for x in row)
    if min(principal) < -max(1e-9 * largest, blur):
        where = f"{source}:{link.line}: " if source and link.line else ""
        warn(
            f"{where}link '{link.name}' has an inertia that breaks the triangle inequality (principal second moments "
            f"{', '.join(f'{x:.3g}' for x in principal)} kg·m²); no rigid body has such an inertia; used unchanged"
        )


def principal_second_moments(inertia: Inertia) -> list[float]:
    """Return the principal second moments about the mass centre [kg·m²]; those of a rigid body are not negative."""
    m, h, s = inertia
    centred = [[s[i][j] - (h[i] * h[j] / m if m else 0.0) for j in range(3)] for i in range(3)]
    return [float(x) for x in np.linalg.eigvalsh(centred)]
