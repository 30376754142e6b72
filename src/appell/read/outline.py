"""A model as a list of links and joints, as files have it; shared by the writers of URDF and toml.

Merged links become frames: massless links fixed to the body that carries them. Their mass stays in the body; `included`
is their share of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from appell.errors import ModelError
from appell.model.build import Connection, Link
from appell.model.model import WORLD, Frame, Joint, Model
from appell.model.shapes import Shape
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.syntax import UNFIT

RESERVED_IN_SDF = re.compile("::|^__.*__$")
"""Names with a meaning of their own in SDF: scopes, and predefined frames."""


class Outline(NamedTuple):
    """Links, the root first, the joints between them, parents first, and the shapes of each link."""

    links: list[Link]
    connections: list[Connection]
    shapes: dict[str, list[Shape]]


def outline(model: Model) -> Outline:
    """Return the links and joints from which :func:`appell.model.build.build` makes the same model.

    >>> from appell.read.catalogue import read
    >>> [connection.joint.name for connection in outline(read("two-link")).connections][:2]
    ['joint1', 'joint2']
    """
    taken = {frame.name for frame in model.frames} | {body.name for body in model.bodies}
    root = model.base.name
    if root in {body.name for body in model.bodies}:  # a floating base keeps its name, and its parent needs one
        root = _unused(root, taken)
    names = {WORLD: root, **{i: body.name for i, body in enumerate(model.bodies)}}
    links = [Link(root, model.base.inertia), *(Link(body.name, body.inertia) for body in model.bodies)]
    connections = [Connection(body.joint, names[body.parent], body.name) for body in model.bodies]
    places = _places(model)
    link_of = {frame.name: names[frame.body] for frame in own_frames(model)}
    for joint, link, place in _fixed(model):
        frame = model.frames[place]
        links.append(Link(link, included=model.frame_index[link].inertia))
        connections.append(Connection(Joint(joint, "fixed", placement=frame.placement), names[frame.body], link))
        places.append(place)
        link_of |= {joint: link, link: link}
    # in the order of the frames, which is depth first as joints are
    order = sorted(range(len(places)), key=lambda k: (places[k], k))
    shapes: dict[str, list[Shape]] = {}
    link_of |= {link.name: link.name for link in links}  # links come before joints of the same name
    for shape in model.shapes:
        link = link_of[shape.link]
        shapes.setdefault(link, []).append(replace(shape, link=link))
    return Outline(links, [connections[k] for k in order], shapes)


def _places(model: Model) -> list[int]:
    """Return the index of each body's first frame; a body without a frame follows the one before it."""
    first: dict[int, int] = {}
    for k, frame in enumerate(model.frames):
        first.setdefault(frame.body, k)
    places: list[int] = []
    for i in range(len(model.bodies)):
        places.append(first.get(i, places[-1] if places else -1))
    return places


def _fixed(model: Model) -> Iterator[tuple[str, str, int]]:
    """Yield joint, link and frame index of fixed links.

    Joint and link of one weld are adjacent. A single frame becomes a link with a joint of the same name, which
    :func:`appell.model.build.build` merges to one frame again.
    """
    own = own_frames(model)
    frames = [(k, frame) for k, frame in enumerate(model.frames) if frame not in own]
    moving = {body.joint.name for body in model.bodies}
    at = 0
    while at < len(frames):
        k, first = frames[at]
        second = frames[at + 1][1] if at + 1 < len(frames) else None
        if second is not None and (second.body, second.placement) == (first.body, first.placement):
            yield first.name, second.name, k
            at += 2
        else:
            yield _unused(first.name, moving), first.name, k
            at += 1


def own_frames(model: Model) -> set[Frame]:
    """Return the implicit frames of bodies and their joints."""
    owners = [(model.base.name, WORLD)]
    owners += [(name, i) for i, body in enumerate(model.bodies) for name in (body.name, body.joint.name)]
    return {Frame(name, i, Pose()) for name, i in owners}


def unlisted_frames(model: Model) -> list[Frame]:
    """Return all frames except those of bodies and their joints."""
    own = own_frames(model)
    return [frame for frame in model.frames if frame not in own]


def names(model: Model) -> Iterator[tuple[str, str]]:
    """Yield what has a name in a file, and the name."""
    yield from (("robot", model.name), ("link", model.base.name))
    for body in model.bodies:
        yield from (("link", body.name), ("joint", body.joint.name))
    yield from (("frame", frame.name) for frame in model.frames)
    yield from (("closure", closure.name) for closure in model.closures)
    yield from (("spring", spring.name) for spring in model.springs)
    yield from (("configuration", name) for name, _ in model.configurations)
    yield from (("file of a mesh", shape.file) for shape in model.shapes if shape.kind == "mesh")


def check_names(model: Model, what: str) -> None:
    """Raise an error if a format cannot represent a name.

    Raises
    ------
    ModelError
        When a name is not allowed in XML, or reserved; `what` is the format.
    """
    for _, name in names(model):
        if name != name.strip() or UNFIT.search(name) or (what == "SDF" and RESERVED_IN_SDF.search(name)):
            raise ModelError(f"robot '{model.name}': {what} does not allow the name {name!r}; save as .toml")


def _unused(name: str, taken: set[str]) -> str:
    return next(new for k in count() if (new := f"{name}_{k}" if k else name) not in taken)


def without_offset(joint: Joint) -> Joint:
    """Return the same joint with its offset moved into its placement, for formats without offsets."""
    if not joint.offset:
        return joint
    return replace(joint, placement=joint.placement.then(joint.pose((0.0,))), offset=0.0)


def roll_pitch_yaw(r: Matrix) -> Vector:
    """Return the angles of Rz(yaw)·Ry(pitch)·Rx(roll), exact to rounding also where pitch is near ±90°.

    >>> from appell.read.values import rotation
    >>> roll_pitch_yaw(rotation((0.1, 0.2, 0.3))) == (0.1, 0.2, 0.3)
    True
    """
    pitch = math.atan2(-r[2][0], math.hypot(r[0][0], r[1][0]))
    yaw = math.atan2(r[1][0], r[0][0])
    # of Rz(−yaw)·R, so that roll compensates the rounding of yaw
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return (roll + 0.0, pitch + 0.0, yaw + 0.0)
