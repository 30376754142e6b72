"""Pinocchio: conversion of models and of states.

A joint of Pinocchio that appell does not have, but that is a series of simpler ones, becomes that series with massless
links: ``name/1``, ``name/2``, …
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError, warn
from appell.interop.convention import CIRCLE, PLANAR_CIRCLE, Convention, convention, tree_of
from appell.loading import load
from appell.messages import listed
from appell.model.build import Connection, Link, build
from appell.model.mimic import coupled
from appell.model.model import WORLD, Frame, Joint, Limits, Mimic, Model, Z
from appell.read.compiled import fresh
from appell.read.parts import UNEQUAL
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import normalized
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY

PINOCCHIO = {"continuous": CIRCLE, "planar": PLANAR_CIRCLE}
"""Conversion rules of the joints that differ in Pinocchio."""
X, Y = IDENTITY[0], IDENTITY[1]
AXES = {"X": X, "Y": Y, "Z": Z}
ALONG = {"JointModelR": "revolute", "JointModelP": "prismatic", "JointModelH": "helical", "JointModelRUB": "continuous"}
"""Joints whose names end with their axis."""
ABOUT = {
    "JointModelRevoluteUnaligned": "revolute",
    "JointModelRevoluteUnboundedUnaligned": "continuous",
    "JointModelPrismaticUnaligned": "prismatic",
    "JointModelHelicalUnaligned": "helical",
}
"""Joints with an arbitrary axis."""
WHOLE = {"JointModelSpherical": "ball", "JointModelFreeFlyer": "free", "JointModelPlanar": "planar"}
ROWS = {
    "JointModelSphericalZYX": (("revolute", Z), ("revolute", Y), ("revolute", X)),
    "JointModelTranslation": (("prismatic", X), ("prismatic", Y), ("prismatic", Z)),
}
"""Joints that are a series of simpler ones."""
BLUR = 1e-12
"""Rounding threshold of a unit twist."""


class SeriesJoint(NamedTuple):
    """One joint of a series, and its placement in it."""

    kind: str
    axis: Vector = Z
    pitch: float = 0.0
    placement: Pose = Pose()


def from_pinocchio(model: Any, *, losses: bool = True) -> Robot:
    """Convert a ``pinocchio.Model`` to a robot: joints, inertias, frames, limits, rotors and gravity.

    Joint names are preserved; :func:`pinocchio` converts states, whose order and coordinates may differ. Mimic joints
    are coupled, as in the model.

    Parameters
    ----------
    model : pinocchio.Model
        The model.
    losses : bool
        False omits damping and Coulomb friction, which Pinocchio's ``rnea`` and ``aba`` ignore. Rotor inertia
        (``armature``) is always included, as in Pinocchio; of free and planar joints with its term
        armature · (ω × v), which Pinocchio leaves out.

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    InputError
        When it is not a model, or has an unsupported joint, which the message names.

    Warns
    -----
    AppellWarning
        When a free or planar joint has rotor inertia: its forces differ from Pinocchio's.

    Examples
    --------
    >>> import appell
    >>> import pinocchio as pin
    >>> arm = pin.buildSampleModelManipulator()
    >>> appell.interop.from_pinocchio(arm)
    <Robot 'robot': 6 bodies, nq 6, nv 6>
    """
    _check(model)
    bodies = _link_names(model)
    links, connections = [Link(model.frames[0].name, _inertia(model.inertias[0]))], []
    for i in range(1, model.njoints):
        above = bodies[model.parents[i]]
        parts = _parts(model, i)
        for k, (name, part) in enumerate(zip(_names(model, i), parts, strict=True)):
            placement = _pose(model.jointPlacements[i]).then(part.placement) if k == 0 else part.placement
            is_last = k == len(parts) - 1
            link = bodies[i] if is_last else fresh(f"{name}_link", set(bodies))
            own = _losses(model, i, parts, k, losses=losses)
            joint = Joint(name, part.kind, axis=part.axis, pitch=part.pitch, placement=placement, **own)
            connections.append(Connection(replace(joint, mimic=_mimic(model, i)), above, link))
            links.append(Link(link, _inertia(model.inertias[i]) if is_last else Inertia()))
            above = link
    _warn_of_rotors([connection.joint for connection in connections])
    if np.any(model.gravity.angular):
        raise InputError("from_pinocchio: the model's gravity has an angular part, which is not supported")
    made = build(model.name or "robot", links, connections, gravity=_vector(model.gravity.linear), source="")
    return load(coupled(replace(made, frames=_frames(model, made, bodies))))


def pinocchio(robot: Robot, model: Any = None) -> Convention:
    """Return the convention of Pinocchio for a robot's states.

    Free and ball joints are equal in both. Pinocchio stores continuous joints, and the angle of planar joints, as
    cosine and sine; angles converted back are within ±π.

    Parameters
    ----------
    robot : Robot
        The robot, from a file or :func:`from_pinocchio`.
    model : pinocchio.Model, optional
        The model that defines the joint order. Default: this robot's order. Pinocchio sorts sibling joints of a URDF
        file by name, so a model is recommended.

    Returns
    -------
    Convention
        The conversion.

    Raises
    ------
    InputError
        When the joints of the model do not match the robot's.

    Examples
    --------
    >>> import appell
    >>> import pinocchio as pin
    >>> arm = pin.buildSampleModelManipulator()
    >>> robot = appell.interop.from_pinocchio(arm)
    >>> appell.interop.pinocchio(robot, arm).q([0.1] * 6)
    array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    """
    tree = tree_of(robot, "pinocchio")
    if model is None:
        return convention("pinocchio", tree, [body.joint.name for body in tree.bodies], PINOCCHIO)
    _check(model)
    names: list[str] = []
    sizes: list[int] = []
    moving = [i for i in range(1, model.njoints) if model.joints[i].nq]
    for i in sorted(moving, key=lambda i: model.joints[i].idx_q):
        own = _names(model, i)
        names += own
        sizes += [model.joints[i].nq] if len(own) == 1 else [_coordinates(part) for part in _parts(model, i)]
    return convention("pinocchio", tree, names, PINOCCHIO, sizes)


def _coordinates(part: SeriesJoint) -> int:
    kind = PINOCCHIO.get(part.kind)
    return kind.nq if kind else Joint("", part.kind).type.nq


def _check(model: Any) -> None:
    if not all(hasattr(model, name) for name in ("jointPlacements", "inertias", "idx_qs")):
        raise InputError(f"expected a pinocchio.Model, got {type(model).__name__}")


# Joints


def _names(model: Any, i: int) -> list[str]:
    count, name = len(_parts(model, i)), model.names[i]
    return [name] if count == 1 else [f"{name}/{k}" for k in range(1, count + 1)]


def _parts(model: Any, i: int) -> list[SeriesJoint]:
    """Return the series of joints equivalent to a joint of Pinocchio."""
    return list(_split(model.joints[i].extract(), model.names[i], model, i))


def _split(joint: Any, name: str, model: Any = None, i: int = 0) -> Iterator[SeriesJoint]:
    sort = joint.shortname()
    if sort == "JointModelMimic":
        yield _of_motion(model, i)
    elif sort in ABOUT and not hasattr(joint, "axis") and model is not None:
        yield _of_motion(model, i)._replace(kind=ABOUT[sort])
    elif sort in WHOLE:
        yield SeriesJoint(WHOLE[sort])
    elif sort in ABOUT and hasattr(joint, "axis"):
        yield SeriesJoint(ABOUT[sort], _vector(joint.axis), float(getattr(joint, "pitch", 0.0)))
    elif sort in ROWS:
        yield from (SeriesJoint(kind, axis) for kind, axis in ROWS[sort])
    elif sort == "JointModelUniversal":
        yield from (SeriesJoint("revolute", _vector(axis)) for axis in (joint.axis1, joint.axis2))
    elif sort == "JointModelComposite":
        for inner, placement in zip(joint.joints, joint.jointPlacements, strict=True):
            first, *others = _split(inner.extract(), name)
            yield first._replace(placement=_pose(placement).then(first.placement))
            yield from others
    elif sort[:-1] in ALONG and sort[-1] in AXES:
        yield SeriesJoint(ALONG[sort[:-1]], AXES[sort[-1]], float(getattr(joint, "pitch", 0.0)))
    else:
        known = sorted([*WHOLE, *ABOUT, *ROWS, *(f"{way}[XYZ]" for way in ALONG)])
        raise InputError(
            f"from_pinocchio: joint '{name}' of type {sort} is not supported; supported: {listed(known, 40)}, "
            "JointModelUniversal, JointModelComposite and JointModelMimic of them"
        )


def _of_motion(model: Any, i: int) -> SeriesJoint:
    """Return kind and axis of a joint by its motion, where Pinocchio has no attribute: a screw's twist is constant."""
    pin = importlib.import_module(type(model).__module__.partition(".")[0])
    is_mimic = model.joints[i].shortname() == "JointModelMimic"
    scaling, angle, data = model.joints[i].extract().scaling if is_mimic else 1.0, 0.5, model.createData()
    if not scaling:
        raise InputError(
            f"from_pinocchio: joint '{model.names[i]}' follows another by a factor of zero; fix it instead"
        )
    step = np.zeros(model.nv)
    step[model.joints[_leader(model, i) if is_mimic else i].idx_v] = angle / scaling
    places, start = [], pin.neutral(model)
    for q in (start, pin.integrate(model, start, step)):
        pin.forwardKinematics(model, data, q)
        places.append(data.liMi[i].copy())
    twist = pin.log6(places[0].actInv(places[1])).vector / angle
    linear, angular = (np.where(np.abs(part) < BLUR, 0.0, part) for part in (twist[:3], twist[3:]))
    if not angular.any():
        return SeriesJoint("prismatic", normalized(_vector(linear)))
    pitch = float(linear @ angular)
    return SeriesJoint("helical" if pitch else "revolute", normalized(_vector(angular)), pitch)


def _leader(model: Any, i: int) -> int:
    return int(list(model.mimicked_joints)[list(model.mimicking_joints).index(i)])


def _mimic(model: Any, i: int) -> Mimic | None:
    joint = model.joints[i].extract()
    if joint.shortname() != "JointModelMimic":
        return None
    return Mimic(model.names[_leader(model, i)], float(joint.scaling), float(joint.offset))


def _losses(model: Any, i: int, parts: list[SeriesJoint], k: int, *, losses: bool) -> dict[str, Any]:
    """Return rotor inertia, damping, friction and limits of the k-th joint of a row."""
    if model.joints[i].nv == 0:
        return {}  # a follower has none of its own in Pinocchio
    sizes = [Joint("", part.kind).type.nv for part in parts]
    first = model.joints[i].idx_v + sum(sizes[:k])
    at = slice(first, first + sizes[k])
    own: dict[str, Any] = {}
    friction = _either(model, "upperDryFrictionLimit", "friction")
    for what, values in {"armature": model.armature, "damping": model.damping, "friction": friction}.items():
        here = np.asarray(values)[at]
        if (here[1:] != here[0]).any():
            raise InputError(
                f"from_pinocchio: joint '{model.names[i]}' has another {what} per velocity, {here.tolist()}; joints "
                "here have one: make them equal, or zero"
            )
        own[what] = float(here[0]) if losses or what == "armature" else 0.0
    if sizes[k] == 1:
        own["limits"] = _limits(model, i, parts, k, first)
    return own


def _warn_of_rotors(joints: list[Joint]) -> None:
    names = [joint.name for joint in joints if joint.armature and joint.kind in UNEQUAL]
    if names:
        warn(
            f"from_pinocchio: joint {listed(names)} has rotor inertia and turns with its own axes: its force includes "
            "armature · (ω × v), which Pinocchio leaves out; set armature to zero there for Pinocchio's forces"
        )


def _limits(model: Any, i: int, parts: list[SeriesJoint], k: int, v: int) -> Limits:
    speeds, efforts = (
        _either(model, "upperVelocityLimit", "velocityLimit"),
        _either(model, "upperEffortLimit", "effortLimit"),
    )
    speed, effort = _bound(speeds[v]), _bound(efforts[v])
    if parts[k].kind == "continuous":
        return Limits(velocity=speed, effort=effort)
    q = model.joints[i].idx_q + sum(_coordinates(part) for part in parts[:k])
    lower, upper = -_bound(-model.lowerPositionLimit[q]), _bound(model.upperPositionLimit[q])
    return Limits(lower, upper, speed, effort)


def _either(model: Any, name: str, older: str) -> Any:
    """Return an array of the model by its name in this release of Pinocchio."""
    return np.asarray(getattr(model, name) if hasattr(model, name) else getattr(model, older))


def _bound(value: float) -> float:
    return float(value) if abs(value) < np.finfo(float).max else float(np.inf)


# Links and frames


def _link_names(model: Any) -> list[str]:
    """Return one link name per joint: its first body at the joint's frame, if any."""
    names = [""] * model.njoints
    names[0] = model.frames[0].name
    taken = {frame.name for frame in model.frames} | set(model.names)
    for frame in model.frames:
        at = frame.parentJoint
        if _sort(frame) == "BODY" and not names[at] and _pose(frame.placement) == Pose() and frame.name not in names:
            names[at] = frame.name
    return [name or fresh(f"{model.names[i]}_link", taken) for i, name in enumerate(names)]


def _frames(model: Any, made: Model, links: list[str]) -> tuple[Frame, ...]:
    """Return Pinocchio's frames; of two with the same name, the body's."""
    index = {body.name: i for i, body in enumerate(made.bodies)} | {links[0]: WORLD}
    chosen: dict[str, Any] = {}
    for frame in model.frames:
        if frame.name not in chosen or (_sort(frame) == "BODY" and _sort(chosen[frame.name]) != "BODY"):
            chosen[frame.name] = frame
    own = [Frame(f.name, index[links[f.parentJoint]], _pose(f.placement)) for f in chosen.values()]
    return (*own, *(frame for frame in made.frames if frame.name not in chosen))


def _sort(frame: Any) -> str:
    return str(frame.type.name)


def _inertia(inertia: Any) -> Inertia:
    return Inertia.from_centre(float(inertia.mass), _vector(inertia.lever), _matrix(inertia.inertia))


def _pose(placement: Any) -> Pose:
    return Pose(_matrix(placement.rotation), _vector(placement.translation))


def _matrix(values: Any) -> Matrix:
    a, b, c = (_vector(row) for row in np.asarray(values))
    return (a, b, c)


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return (x, y, z)
