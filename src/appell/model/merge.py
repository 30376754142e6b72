"""Models with other joints: joints locked, a subtree, two models combined.

The remaining joints keep their order. Frames move to the body that now carries them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from appell.errors import InputError
from appell.messages import listed
from appell.model.closure import Closure
from appell.model.edit import frame_of, inertia_of, joint_of, link_name, link_of, own_inertia, with_inertia
from appell.model.model import WORLD, Base, Body, Frame, Joint, Model, Spring
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

OPEN = 1e-6
"""Largest closure error of a loop whose joints are all locked [m, rad]."""
Seat = tuple[int, Pose]
"""A body of the old model in the new one: the body that carries it, and the pose of its frame in that."""


def locked(model: Model, values: Mapping[int, tuple[float, ...]]) -> Model:
    """Return the model with the joints of some bodies locked at coordinates: bodies merge, frames are kept.

    Joints that follow a locked one in a coupled model are locked too. A loop without moving joints is removed.

    >>> from appell.read.catalogue import read
    >>> locked(read("two-link"), {0: (0.5,)}).nv
    1
    """
    values = {**values, **_followers(model, values)}
    names = {model.bodies[i].joint.name for i in values}
    seats: dict[int, Seat] = {WORLD: (WORLD, Pose())}
    bodies: list[Body] = []
    base = model.base.inertia
    for i, body in enumerate(model.bodies):
        carrier, pose = seats[body.parent]
        placement = pose.then(body.joint.placement)
        if i not in values:
            bodies.append(replace(body, parent=carrier, joint=_loosened(body.joint, placement, names)))
            seats[i] = (len(bodies) - 1, Pose())
            continue
        seats[i] = (carrier, placement.then(body.joint.pose(values[i])))
        moved = body.inertia.moved(seats[i][1])
        if carrier == WORLD:
            base = base.plus(moved)
        else:
            bodies[carrier] = replace(bodies[carrier], inertia=bodies[carrier].inertia.plus(moved))
    geared = next((tie for tie in model.closures if {joint for joint, _ in tie.coupling} & names), None)
    if geared is not None:
        raise InputError(
            f"locked: coupling '{geared.name}' of robot '{model.name}' holds a sum of "
            f"{listed(joint for joint, _ in geared.coupling)}; leave these joints unlocked"
        )
    if model.actuators and bodies and not {*model.actuators} - names:
        raise InputError(
            f"locked: these are all actuators of robot '{model.name}' ({listed(model.actuators)}), and passive joints "
            "remain; leave one actuator unlocked"
        )
    merged = {model.bodies[i].name: own_inertia(model, i) for i in values}
    result = _with_fixed_links(_reseated(model, bodies, replace(model.base, inertia=base), seats), merged)
    at = {model.bodies[i].joint.name: x[0] for i, x in values.items()}
    springs = tuple(kept for spring in model.springs if (kept := _held(spring, at)).terms)
    return replace(result, springs=springs, closures=tuple(t for t in result.closures if not _is_rigid(result, t)))


def _held(spring: Spring, at: Mapping[str, float]) -> Spring:
    """Return a spring with some joints locked at their coordinates."""
    rest = spring.reference - sum(c * at[name] for name, c in spring.terms if name in at)
    return replace(spring, terms=tuple(term for term in spring.terms if term[0] not in at), reference=rest)


def _with_fixed_links(model: Model, merged: Mapping[str, Inertia]) -> Model:
    """Return the model with the inertias of links that are now part of others."""
    return replace(model, frames=tuple(replace(f, inertia=merged.get(f.name, f.inertia)) for f in model.frames))


def _followers(model: Model, values: Mapping[int, tuple[float, ...]]) -> dict[int, tuple[float, ...]]:
    """Return the coordinates of joints that follow locked ones."""
    if not model.is_coupled:
        return {}
    at = {model.bodies[i].joint.name: x for i, x in values.items()}
    joints = ((i, body.joint.mimic) for i, body in enumerate(model.bodies))
    return {i: (m.multiplier * at[m.joint][0] + m.offset,) for i, m in joints if m is not None and m.joint in at}


def _loosened(joint: Joint, placement: Pose, gone: set[str]) -> Joint:
    """Return a joint at another placement; a mimic of a removed joint is dropped."""
    follows = joint.mimic is not None and joint.mimic.joint not in gone
    return replace(joint, placement=placement, mimic=joint.mimic if follows else None)


def _is_rigid(model: Model, tie: Closure) -> bool:
    """Return whether both ends of a loop are on one body; raise if the loop is open there."""
    if tie.is_coupling:
        return False
    first, second = (model.frame_index[name] for name in (tie.first, tie.second))
    if first.body != second.body:
        return False
    rotation, position = first.placement.inverse().then(second.placement)
    gaps = [position[k] for k in tie.shifts] + [rotation[(k + 1) % 3][(k + 2) % 3] for k in tie.turns]
    worst = 0.0 if tie.is_rolling else max((abs(x) for x in gaps), default=0.0)
    if worst > OPEN:
        raise InputError(
            f"locked: the values given leave loop '{tie.name}' of robot '{model.name}' open by {worst:.2g}; leave one "
            "of its joints unlocked, or use a closed configuration (robot.assemble)"
        )
    return True


def subtree(model: Model, name: str) -> Model:
    """Return the subtree of a link, with the link as base; or that of a joint, including the joint.

    >>> from appell.read.catalogue import read
    >>> model = subtree(read("puma560"), "joint4")
    >>> [body.joint.name for body in model.bodies]
    ['joint4', 'joint5', 'joint6']
    """
    names = [body.name for body in model.bodies]
    is_joint = name not in names and name in [body.joint.name for body in model.bodies]
    root = joint_of(model, name, "subtree") if is_joint else link_of(model, name, "subtree")
    if isinstance(root, Frame):
        raise InputError(
            f"subtree: link '{name}' is fixed to '{link_name(model, root.body)}', and its subtree is part of that "
            "link; "
            "use that link, or a joint of its subtree"
        )
    if root == WORLD:
        return model
    above = model.bodies[root].parent
    inside = [i for i in range(len(model.bodies)) if root in model.ancestors(i) and (is_joint or i != root)]
    origin = above if is_joint else root
    seats: dict[int, Seat] = {i: (k, Pose()) for k, i in enumerate(inside)} | {origin: (WORLD, Pose())}
    kept = {model.bodies[i].joint.name for i in inside}
    gone = {body.joint.name for body in model.bodies} - kept
    bodies = []
    for i in inside:
        body = model.bodies[i]
        if model.is_coupled and body.joint.mimic is not None and body.joint.mimic.joint in gone:
            raise InputError(
                f"subtree: joint '{body.joint.name}' follows joint '{body.joint.mimic.joint}', which is not in the "
                "subtree of "
                "carry; name a link that carries both"
            )
        joint = _loosened(body.joint, body.joint.placement, gone)
        bodies.append(replace(body, parent=seats[body.parent][0], joint=joint))
    base = Base(link_name(model, origin), Inertia() if is_joint else model.bodies[root].inertia)
    if is_joint:  # of the parent's frames only its own; the others belong to removed links
        frames = (f for f in model.frames if f.body != above or f.name == base.name)
        model = replace(model, frames=tuple(frames))
    held = [("coupling", tie.name, tie.coupling) for tie in model.closures if tie.is_coupling]
    for what, own, terms in (*held, *(("spring", spring.name, spring.terms) for spring in model.springs)):
        here = [joint for joint, _ in terms if joint in kept]
        if 0 < len(here) < len(terms):
            raise InputError(
                f"subtree: {what} '{own}' connects {listed(here)} to joints outside the subtree of '{name}'; choose a "
                "link that "
                "carries all of them"
            )
    for tie in (tie for tie in model.closures if not tie.is_coupling):
        ends = [frame for end in (tie.first, tie.second) if (frame := model.frame_index.get(end)) is not None]
        here = [frame.name for frame in ends if frame.body in seats]
        if len(here) == 1:
            raise InputError(
                f"subtree: loop '{tie.name}' connects '{here[0]}' to a frame outside the subtree of '{name}'; choose a "
                "link "
                "that "
                "carries the whole loop"
            )
    return _reseated(model, bodies, base, seats)


def _reseated(model: Model, bodies: Sequence[Body], base: Base, seats: Mapping[int, Seat]) -> Model:
    """Return the model of some bodies, with their frames, loops and names."""
    joints = {body.joint.name for body in bodies}
    frames = tuple(
        replace(f, body=seats[f.body][0], placement=seats[f.body][1].then(f.placement))
        for f in model.frames
        if f.body in seats
    )
    names = {frame.name for frame in frames}
    return replace(
        model,
        bodies=tuple(bodies),
        frames=frames,
        base=base,
        closures=tuple(
            tie
            for tie in model.closures
            if {tie.first, tie.second} <= names and {joint for joint, _ in tie.coupling} <= joints
        ),
        springs=tuple(spring for spring in model.springs if {name for name, _ in spring.terms} <= joints),
        shapes=tuple(shape for shape in model.shapes if shape.link in names),
        actuators=tuple(name for name in model.actuators if name in joints),
        home=tuple(entry for entry in model.home if entry[0] in joints),
        configurations=tuple(
            (name, tuple(entry for entry in of if entry[0] in joints)) for name, of in model.configurations
        ),
        independent_velocities=(),
        is_coupled=model.is_coupled and any(body.joint.mimic for body in bodies),
    )


def attached(model: Model, other: Model, frame: str, pose: Pose, prefix: str = "") -> Model:
    """Return two models as one: the base of the other fixed at a pose in a frame of the first, its names prefixed.

    Its joints come after the subtree of that frame's body. Gravity is that of the first model.
    """
    at, added = frame_of(model, frame, "attached"), prefixed(other, prefix)
    _check_clashes(model, added, prefix)
    if model.is_coupled != added.is_coupled:  # independent joints stay independent
        model, added = (m if m.is_coupled else _unbound(m) for m in (model, added))
    seat, n = at.placement.then(pose), len(added.bodies)
    carried = [i for i in range(len(model.bodies)) if at.body == WORLD or at.body in model.ancestors(i)]
    place = max(carried, default=at.body) + 1
    old: dict[int, Seat] = {i: (i if i < place else i + n, Pose()) for i in range(WORLD, len(model.bodies))}
    new: dict[int, Seat] = {k: (place + k, Pose()) for k in range(n)} | {WORLD: (at.body, seat)}
    first = _moved(model, old)
    second = _moved(added, new)
    behind = next((k for k, f in enumerate(model.frames) if f.body >= place), len(model.frames))
    result = replace(
        first,
        bodies=(*first.bodies[:place], *second.bodies, *first.bodies[place:]),
        frames=(*first.frames[:behind], *second.frames, *first.frames[behind:]),
        closures=(*model.closures, *added.closures),
        springs=(*model.springs, *added.springs),
        shapes=(*model.shapes, *added.shapes),
        actuators=(*_motors(model), *_motors(added)) if model.actuators or added.actuators else (),
        home=(*model.home, *added.home),
        configurations=(*model.configurations, *added.configurations),
        independent_velocities=(),
        has_joint_columns=model.has_joint_columns or added.has_joint_columns,
        is_coupled=model.is_coupled or added.is_coupled,
    )
    result = _with_fixed_links(result, {added.base.name: own_inertia(added, WORLD)})
    return with_inertia(result, at.body, inertia_of(result, at.body).plus(added.base.inertia.moved(seat)))


def _moved(model: Model, seats: Mapping[int, Seat]) -> Model:
    """Return a model with its bodies in another order."""
    bodies = []
    for body in model.bodies:
        carrier, pose = seats[body.parent]
        joint = replace(body.joint, placement=pose.then(body.joint.placement))
        bodies.append(replace(body, parent=carrier, joint=joint))
    return _reseated(model, bodies, model.base, seats)


def _motors(model: Model) -> tuple[str, ...]:
    """Return the actuated joints: by default all but a floating base."""
    return model.actuators or tuple(b.joint.name for b in model.independent.bodies if b.joint.kind != "free")


def _unbound(model: Model) -> Model:
    bodies = (replace(body, joint=replace(body.joint, mimic=None)) for body in model.bodies)
    return replace(model, bodies=tuple(bodies))


def _check_clashes(model: Model, added: Model, prefix: str) -> None:
    for kind, names in _names(added).items():
        clash = sorted({*names} & {*_names(model)[kind]})
        if clash:
            raise InputError(
                f"attached: both robots have {kind} {listed(clash)}; give {'another' if prefix else 'a'} prefix, such "
                "as prefix='tool_', which is put before all names of the attached robot"
            )


def _names(model: Model) -> dict[str, list[str]]:
    return {
        "joints": [body.joint.name for body in model.bodies],
        "links": [body.name for body in model.bodies],
        "frames": list(model.frame_index),
        "closures": [tie.name for tie in model.closures],
        "joints or springs": [*(b.joint.name for b in model.bodies), *(spring.name for spring in model.springs)],
        "configurations": [name for name, _ in model.configurations],
    }


def prefixed(model: Model, prefix: str) -> Model:
    """Return the model with a prefix before all names except its own.

    >>> from appell.read.catalogue import read
    >>> prefixed(read("two-link"), "left_").bodies[0].joint.name
    'left_joint1'
    """

    def named(entries: Any) -> Iterator[Any]:
        return ((prefix + name, value) for name, value in entries)

    bodies = []
    for body in model.bodies:
        mimic = body.joint.mimic and replace(body.joint.mimic, joint=prefix + body.joint.mimic.joint)
        joint = replace(body.joint, name=prefix + body.joint.name, mimic=mimic)
        bodies.append(replace(body, name=prefix + body.name, joint=joint))
    return replace(
        model,
        bodies=tuple(bodies),
        frames=tuple(replace(frame, name=prefix + frame.name) for frame in model.frames),
        base=replace(model.base, name=prefix + model.base.name),
        closures=tuple(
            replace(
                tie,
                name=prefix + tie.name,
                first=prefix + tie.first,
                second=prefix + tie.second,
                coupling=tuple((prefix + joint, x) for joint, x in tie.coupling),
            )
            for tie in model.closures
        ),
        springs=tuple(
            replace(spring, name=prefix + spring.name, terms=tuple((prefix + name, c) for name, c in spring.terms))
            for spring in model.springs
        ),
        shapes=tuple(replace(shape, link=prefix + shape.link) for shape in model.shapes),
        actuators=tuple(prefix + name for name in model.actuators),
        independent_velocities=tuple(prefix + name for name in model.independent_velocities),
        home=tuple(named(model.home)),
        configurations=tuple((prefix + name, tuple(named(of))) for name, of in model.configurations),
    )
