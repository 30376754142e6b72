"""From the links and joints of an SDF file to a tree with closures: selection of tree joints and closing joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from appell.errors import warn
from appell.model.build import WORLD_NAME, Connection, Link, build
from appell.model.closure import KINDS, Closure
from appell.model.model import Frame, Joint, Model
from appell.read.place import Place
from appell.read.sdf_frames import Frames
from appell.read.values import ROUNDING, direction
from appell.spatial.pose import Pose
from appell.spatial.rotation import normalized, perpendicular
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, cross, dot, matvec, negate, transpose

CLOSING = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "point",
    "fixed": "frame",
    "universal": "universal",
}
"""The rows of the closure that replaces a joint."""


@dataclass(frozen=True)
class Hinge:
    """A joint between two links: its axes as separate joints, in the axes of its frame, which has its name."""

    name: str
    kind: str
    parent: str
    child: str
    axes: tuple[Joint, ...]
    place: Place


def assembled(
    name: str, links: Sequence[Link], hinges: Sequence[Hinge], frames: Frames, *, gravity: Vector, source: str
) -> Model:
    """Return the model of links and joints; every link except the base is carried by the first of its joints."""
    carrying, closing = _divided([link.name for link in links], hinges)
    every = list(links)
    if any(hinge.parent == WORLD_NAME for hinge in hinges):
        every.insert(0, Link(WORLD_NAME))
    line = {link.name: link.line for link in every}
    carried = {hinge.child for hinge in carrying}
    base, *others = [link.name for link in every if link.name not in carried]
    if base != WORLD_NAME and _is_turned(frames.pose(base, Place(source)).rotation):
        warn(f"link '{base}' is the base; the rotation of its <pose> is ignored", source, line[base] or 1)
    connections: list[Connection] = []
    for hinge in carrying:
        added, joints = _connections(hinge, frames)
        every += added
        connections += joints
    for link in others:
        there = _in_link(frames, base, link, Place(source))
        connections.append(Connection(Joint(f"{link}_free", "free", placement=there), base, link, line[link]))
    model = build(name, every, connections, gravity=gravity, source=source)
    return _closed(model, closing, frames) if closing else model


def _divided(links: Sequence[str], hinges: Sequence[Hinge]) -> tuple[list[Hinge], list[Hinge]]:
    """Return the joints that carry links and those that close loops: later joints of a link, one of every cycle."""
    by_child: dict[str, Hinge] = {}
    for hinge in hinges:
        by_child.setdefault(hinge.child, hinge)
    reached = {WORLD_NAME, *(link for link in links if link not in by_child)}
    below: dict[str, list[str]] = {}
    for hinge in by_child.values():
        below.setdefault(hinge.parent, []).append(hinge.child)
    pending = list(reached)
    waiting = iter(links)
    while True:
        while pending:
            for link in below.get(pending.pop(), ()):
                if link not in reached:
                    reached.add(link)
                    pending.append(link)
        cut = next((link for link in waiting if link not in reached), None)
        if cut is None:
            break
        by_child.pop(cut)  # in a cycle of joints the first link becomes the base
        reached.add(cut)
        pending.append(cut)
    carrying = [hinge for hinge in hinges if by_child.get(hinge.child) is hinge]
    return carrying, [hinge for hinge in hinges if by_child.get(hinge.child) is not hinge]


def _is_turned(rotation: Matrix) -> bool:
    return any(abs(rotation[i][j] - IDENTITY[i][j]) > ROUNDING for i in range(3) for j in range(3))


def _in_link(frames: Frames, link: str, name: str, place: Place) -> Pose:
    """Return the pose of a frame in a link, or in the world."""
    return frames.pose(name, place) if link == WORLD_NAME else frames.between(link, name, place)


def _connections(hinge: Hinge, frames: Frames) -> tuple[list[Link], list[Connection]]:
    """Return the tree joints of a joint of the file, and the massless links between them.

    A joint's frame here has the axes of its child, and the child's origin where the joint's own does not matter.
    """
    line, inside = hinge.place.line, frames.between(hinge.child, hinge.name, hinge.place)
    shift = ZERO if hinge.kind in ("fixed", "prismatic") else inside.position
    seat = _in_link(frames, hinge.parent, hinge.child, hinge.place).then(Pose(position=shift))
    joints = [joint if math.hypot(*joint.axis) == 0.0 else _turned(joint, inside.rotation) for joint in hinge.axes]
    links: list[Link] = []
    connections: list[Connection] = []
    below = hinge.child
    if shift != ZERO:
        below = f"{hinge.child}_{hinge.name}"
        links.append(Link(below, line=line))
        back = Joint(f"{below}_seat", "fixed", placement=Pose(position=negate(shift)))
        connections.append(Connection(back, below, hinge.child, line))
    if hinge.kind != "universal":
        return links, [Connection(replace(joints[0], placement=seat), hinge.parent, below, line), *connections]
    first, second = joints
    if math.hypot(*cross(first.axis, second.axis)) <= 1e-9 * math.hypot(*first.axis) * math.hypot(*second.axis):
        raise hinge.place.error(
            "its two axes are parallel or of zero length; set two different directions, or make it revolute"
        )
    middle = f"{hinge.name}/cross"
    upper = replace(first, name=f"{hinge.name}/1", placement=seat)
    lower = replace(second, name=f"{hinge.name}/2", placement=Pose())
    halves = [Connection(upper, hinge.parent, middle, line), Connection(lower, middle, below, line)]
    return [Link(middle, line=line), *links], [*halves, *connections]


def _turned(joint: Joint, rotation: Matrix) -> Joint:
    return replace(joint, axis=direction(matvec(rotation, joint.axis)))


# Loops


def _closed(model: Model, closing: Iterable[Hinge], frames: Frames) -> Model:
    """Return the model with closures in place of the joints that close loops."""
    added: list[Frame] = []
    closures: list[Closure] = []
    for hinge in closing:
        if hinge.kind not in CLOSING:
            raise hinge.place.error(
                f"a {hinge.kind} joint cannot close a loop; order the joints so that another one of the "
                "loop is the later joint of its child"
            )
        if any(axis.damping or axis.friction or axis.stiffness for axis in hinge.axes):
            warn(
                f"{hinge.place.path} closes a loop; its damping, friction and spring are ignored",
                model.source,
                hinge.place.line or 1,
            )
        turned = Pose(_basis(hinge))
        for link, side in ((hinge.parent, "parent"), (hinge.child, "child")):
            carrier = model.frame_index[link]
            here = _in_link(frames, link, hinge.name, hinge.place).then(turned)
            added.append(Frame(f"{hinge.name}/{side}", carrier.body, carrier.placement.then(here)))
        rows = KINDS[CLOSING[hinge.kind]]
        closures.append(Closure(hinge.name, f"{hinge.name}/parent", f"{hinge.name}/child", rows, line=hinge.place.line))
    return replace(model, frames=(*model.frames, *added), closures=tuple(closures))


def _basis(hinge: Hinge) -> Matrix:
    """Return the axes of a closure: z along the axis; of a universal joint x and y along its two."""
    if hinge.kind in ("ball", "fixed"):
        return IDENTITY
    first = normalized(hinge.axes[0].axis)
    if hinge.kind != "universal":
        x = perpendicular(first, min(IDENTITY, key=lambda axis: abs(dot(axis, first))))
        return transpose((x, cross(first, x), first))
    second = normalized(hinge.axes[1].axis)
    if abs(dot(first, second)) > 1e-9:
        raise hinge.place.error("it closes a loop, for which its two axes must be perpendicular; change one axis")
    return transpose((first, second, cross(first, second)))
