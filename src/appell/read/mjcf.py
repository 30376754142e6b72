"""MJCF files, through the mujoco package: its compiler resolves defaults, classes, includes, frames and shapes.

What is read is the compiled model, an `mjModel`: bodies with their inertia, joints, sites and gravity. A body of MuJoCo
may move by several joints in a row, each about an anchor of its own:

    X_PB(q) = X_PB(0) · Πₖ T(pₖ)·Jₖ(qₖ)·T(−pₖ),      T(p): a translation by p; pₖ: the anchor of joint k, in the body's
    frame

Every joint therefore gets a link of its own with its frame at the anchor, all but the last without mass. The last one
is the body if its anchor is the body's origin; otherwise the body is a frame on it, at T(−p). A body without joints is
a frame on its parent. Geoms are shapes of their body. A joint that ``<equality>`` couples linearly to another follows
it as a mimic joint, and fixed tendons are springs between joints; equalities between bodies close loops
(:mod:`appell.read.equalities`). Unsupported features are listed in one warning, see :mod:`appell.read.unread`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appell.errors import warn
from appell.model.build import Connection, Link, build
from appell.model.model import WORLD, Frame, Joint, Limits, Model
from appell.model.springs import with_springs
from appell.read.compiled import (
    BALL,
    FREE,
    SLIDE,
    Names,
    actuator_sums,
    anchor_of,
    compile_mjcf,
    fresh,
    gravity_of,
    import_mujoco,
    is_off,
    joints_of,
    names_of,
    vector,
)
from appell.read.equalities import Tie, coordinates, driven_joints, equalities, keyframes, mimic, tendon_springs, ties
from appell.read.place import contents
from appell.read.shapes import mjcf_shapes
from appell.read.unread import unread
from appell.read.values import ROUNDING, direction, gravity_vector
from appell.read.xml import elements, tag
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import from_quaternion
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import ZERO, sub

NOWHERE: Matrix = ((math.nan,) * 3,) * 3
"""The rotation of an invalid quaternion; the check of the model names its link or joint."""
UNBOUNDED = 1e10
"""Limits from here on are infinite: MuJoCo's largest number."""
UNNAMED = "MuJoCo Model"
"""MuJoCo's name of an unnamed model."""


def read_mjcf(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Model:
    """Return the model of an MJCF file, or of MJCF text.

    Joints keep their names and MuJoCo's order; unnamed ones get names such as ``body3_joint``. Every body and every
    site is a frame; a link that is not a body of the file is named after body and joint.

    Parameters
    ----------
    path_or_text
        A path, or the text itself: a string that begins with ``<``.
    gravity
        Gravity in world axes [m/s²]; by default that of ``<option gravity>``.
    source
        The name of the file in error messages; by default its path.

    Raises
    ------
    ReadError
        When mujoco is not installed, or cannot compile the file; the message quotes mujoco.

    Warns
    -----
    AppellWarning
        Once, listing the features of the file that act on the motion and are not supported: servos, contacts, fluids, …

    Examples
    --------
    >>> model = read_mjcf('''
    ... <mujoco model="pendulum"><worldbody>
    ...   <body name="rod" pos="0 0 1">
    ...     <joint name="hinge" axis="0 1 0" pos="0 0 0.5" damping="0.1"/>
    ...     <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.01"/>
    ...   </body>
    ... </worldbody></mujoco>''')
    >>> model.bodies[0].joint.name, model.bodies[0].inertia.centre
    ('hinge', (0.0, 0.0, -0.5))
    """
    given = contents(path_or_text, lambda text: text.lstrip("\ufeff \t\r\n").startswith("<"), source)
    mujoco = import_mujoco(given.source)
    compiled, remarks = compile_mjcf(mujoco, given, path_or_text)
    if any(tag(element) == "mesh" and {"refpos", "refquat"} & {*element.keys()} for element in elements(given.data)):
        warn(f"{given.source}: <mesh refpos> and <mesh refquat> are not supported; their shapes have the file's axes")
    untitled = "robot" if given.is_text else Path(given.source).stem
    return model_of_compiled(mujoco, compiled, given.source, untitled=untitled, gravity=gravity, remarks=remarks)


def model_of_compiled(
    mujoco: Any,
    compiled: Any,
    source: str,
    *,
    untitled: str = "robot",
    gravity: Sequence[float] | None = None,
    remarks: Sequence[str] = (),
) -> Model:
    """Return the model of an `mjModel`, and warn of unsupported features; `untitled` is the default name."""
    names, followers = names_of(mujoco, compiled, source), ties(mujoco, compiled)
    tree = _tree(mujoco, compiled, names, followers)
    model = build(
        _title(compiled) or untitled,
        [Link(name, inertia) for name, inertia in tree.moments.items()],
        tree.connections,
        gravity=gravity_vector(gravity, gravity_of(mujoco, compiled)),
        source=source,
    )
    loops = equalities(mujoco, compiled, tree.mounts, model.bodies, _pose)
    _warn(source, unread(mujoco, compiled, {*followers, *loops.held}), remarks)
    frames = (*_frames(compiled, names, tree, model), *loops.frames)
    shapes = tuple(mjcf_shapes(mujoco, compiled, names, _pose, source))
    model = replace(model, frames=frames, shapes=shapes, configurations=keyframes(mujoco, compiled, names))
    model = with_springs(model, tendon_springs(mujoco, compiled, names))
    if not loops.closures:
        return model
    drives = driven_joints(mujoco, compiled, names)
    home = dict(model.configurations).get("home", coordinates(compiled, names, compiled.qpos0))
    return replace(model, closures=loops.closures, actuators=drives, home=home)


def _title(compiled: Any) -> str:
    name = bytes(compiled.names).split(b"\0", 1)[0].decode("utf-8", "replace").strip()
    return "" if name == UNNAMED else name


def _warn(source: str, left_out: list[str], remarks: Sequence[str]) -> None:
    parts = [f"not supported and ignored: {', '.join(left_out)}"] if left_out else []
    parts += [f"mujoco: {' '.join(remark.split())}" for remark in dict.fromkeys(remarks)]
    if parts:
        warn(f"{source}: {'; '.join(parts)}")


# Bodies and joints


@dataclass
class _Tree:
    """Links with their inertia, the joints between them, and the link and pose of each MuJoCo body."""

    moments: dict[str, Inertia] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    mounts: list[tuple[str, Pose]] = field(default_factory=list)


def _tree(mujoco: Any, compiled: Any, names: Names, followers: dict[int, Tie]) -> _Tree:
    tree = _Tree({names.bodies[0]: Inertia()}, [], [(names.bodies[0], Pose())])
    losses, has_springs = _losses(mujoco, compiled), not is_off(mujoco, compiled, "PASSIVE", "SPRING")
    mimics = {tie.follower: mimic(names, tie) for tie in followers.values()}
    for i in range(1, compiled.nbody):
        link, above = tree.mounts[compiled.body_parentid[i]]
        pose = above.then(_pose(compiled.body_pos[i], compiled.body_quat[i]))
        for j in joints_of(compiled, i):
            anchor = anchor_of(compiled, j)
            # a free joint's coordinates are those of the body's frame in the world
            placement = Pose() if compiled.jnt_type[j] == FREE else pose.then(Pose(position=anchor))
            own = _joint(compiled, j, losses, has_springs)
            joint = replace(own, name=names.joints[j], placement=placement, mimic=mimics.get(j))
            tree.connections.append(Connection(joint, link, names.links[j]))
            link, pose = names.links[j], Pose(position=sub(ZERO, anchor))
            tree.moments[link] = Inertia()
        tree.mounts.append((link, pose))
        tree.moments[link] = tree.moments[link].plus(_inertia(compiled, i).moved(pose))
    return tree


def _losses(mujoco: Any, compiled: Any) -> list[dict[str, float]]:
    """Return damping, friction and armature of each velocity, including those of the actuators on its joint."""
    damping, armature = actuator_sums(mujoco, compiled)
    damping = damping * 0.0 if is_off(mujoco, compiled, "PASSIVE", "DAMPER") else damping + compiled.dof_damping
    friction = compiled.dof_frictionloss
    friction = friction * 0.0 if is_off(mujoco, compiled, "CONSTRAINT", "FRICTIONLOSS") else friction
    armature = armature + compiled.dof_armature
    columns = zip(damping.tolist(), friction.tolist(), armature.tolist(), strict=True)
    return [dict(zip(("damping", "friction", "armature"), column, strict=True)) for column in columns]


def _joint(compiled: Any, j: int, losses: list[dict[str, float]], has_springs: bool) -> Joint:
    kind, loss = int(compiled.jnt_type[j]), losses[compiled.jnt_dofadr[j]]
    if kind in (FREE, BALL):
        return Joint("", "free" if kind == FREE else "ball", **loss)
    is_limited = bool(compiled.jnt_limited[j])
    lower, upper = compiled.jnt_range[j].tolist() if is_limited else (-math.inf, math.inf)
    stiffness = float(compiled.jnt_stiffness[j]) if has_springs else 0.0
    reference = float(compiled.qpos_spring[compiled.jnt_qposadr[j]]) if stiffness else 0.0
    lower, upper = (math.copysign(math.inf, x) if abs(x) >= UNBOUNDED else x for x in (lower, upper))
    effort = float(abs(compiled.jnt_actfrcrange[j]).max()) if compiled.jnt_actfrclimited[j] else math.inf
    return Joint(
        "",
        "prismatic" if kind == SLIDE else "revolute" if is_limited else "continuous",
        axis=direction(vector(compiled.jnt_axis[j])),
        offset=0.0 - float(compiled.qpos0[compiled.jnt_qposadr[j]]),  # the file's pose is that of q = ref
        limits=Limits(lower, upper, effort=effort),
        stiffness=stiffness,
        spring_reference=reference,
        **loss,
    )


def _inertia(compiled: Any, i: int) -> Inertia:
    xx, yy, zz = compiled.body_inertia[i].tolist()
    principal = Inertia.from_centre(
        float(compiled.body_mass[i]), ZERO, ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz))
    )
    return principal.moved(_pose(compiled.body_ipos[i], compiled.body_iquat[i]))


def _frames(compiled: Any, names: Names, tree: _Tree, model: Model) -> tuple[Frame, ...]:
    """Return joints, links, bodies and sites as frames, body by body; a shared name denotes the body."""
    index = {body.name: i for i, body in enumerate(model.bodies)}
    of_bodies = {*names.bodies, *names.links}
    of_both = {*of_bodies, *names.joints}
    taken = {*of_both, *names.sites}
    sites: list[list[int]] = [[] for _ in names.bodies]
    for k, i in enumerate(compiled.site_bodyid.tolist()):
        sites[i].append(k)
    frames: list[Frame] = []

    def add(name: str, suffix: str, others: set[str], link: str, pose: Pose, inertia: Inertia | None = None) -> None:
        if name in others:
            name = fresh(name + suffix, taken)
            taken.add(name)
        frames.append(Frame(name, index.get(link, WORLD), pose, inertia))

    for i, (link, pose) in enumerate(tree.mounts):
        for j in joints_of(compiled, i):
            add(names.joints[j], "_joint", of_bodies, names.links[j], Pose())
            if names.links[j] != names.bodies[i]:
                add(names.links[j], "", set(), names.links[j], Pose())
        add(names.bodies[i], "", set(), link, pose, None if link == names.bodies[i] else _inertia(compiled, i))
        for k in sites[i]:
            there = pose.then(_pose(compiled.site_pos[k], compiled.site_quat[k]))
            add(names.sites[k], "_site", of_both, link, there)
    return tuple(frames)


# Numbers


def _pose(position: Any, quaternion: Any) -> Pose:
    return Pose(_rotation(quaternion), vector(position))


def _rotation(quaternion: Any) -> Matrix:
    """Return the rotation of a quaternion w x y z, exact for quarter turns up to rounding."""
    values = quaternion.tolist()
    size = math.hypot(*values)
    if not 0.0 < size < math.inf:
        return NOWHERE
    w, x, y, z = (value / size for value in values)
    a, b, c = from_quaternion(x, y, z, w)
    return (_exact(a), _exact(b), _exact(c))


def _exact(row: Vector) -> Vector:
    x, y, z = (float(round(entry)) + 0.0 if abs(entry - round(entry)) < ROUNDING else entry for entry in row)
    return (x, y, z)
