"""Edits of a robot's model: frames, payloads, inertias, joints, gravity, joints locked, robots attached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import coordinates, finite_array, joint_list, pose_of
from appell.errors import InputError, ReadError
from appell.messages import shown
from appell.model import edit, merge
from appell.model.model import Model
from appell.read.place import Place
from appell.read.values import bound, gravity_vector, number, symmetric, text, vector
from appell.robot.kind import Kind
from appell.robot.properties.configurations import checked, places
from appell.robot.properties.records import joint_records
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import ZERO

if TYPE_CHECKING:
    from appell.robot.robot import Robot

LIMITS = ("lower", "upper", "velocity", "effort")
"""Attributes of a joint that may be infinite."""


def with_frame(model: Model, name: str, parent: str, pose: ArrayLike) -> Model:
    """Return the model with another frame."""
    own = _read("with_frame: name", name, text)
    return edit.with_frame(model, own, parent, pose_of("with_frame: pose", pose))


def with_payload(model: Model, frame: str, mass: float, centre: ArrayLike, inertia: ArrayLike | None) -> Model:
    """Return the model with a payload fixed to a frame."""
    payload = Inertia.from_centre(
        _read("with_payload: mass", mass, number),
        _read("with_payload: centre", centre, vector),
        _read("with_payload: inertia", ZERO if inertia is None else inertia, symmetric),
    )
    return edit.with_payload(model, frame, payload)


def with_link(
    model: Model, name: str, mass: float | None, centre: ArrayLike | None, inertia: ArrayLike | None
) -> Model:
    """Return the model with another mass, mass centre or inertia of a link."""
    own = _read("with_link: mass", mass, number, None)
    at = _read("with_link: centre", centre, vector, None)
    return edit.with_link(model, name, own, at, _read("with_link: inertia", inertia, symmetric, None))


def with_joint(robot: Robot, name: str, values: Mapping[str, float | None]) -> Robot:
    """Return the robot with other attributes of a joint; those that are None are kept."""
    changes = {
        key: _read(f"with_joint: {key}", x, bound if key in LIMITS else number)
        for key, x in values.items()
        if x is not None
    }
    changed = edit.with_joint(robot.model, name, changes)
    made = robot.with_model(changed)
    if made.joints != joint_records(changed):
        raise _closed_form("with_joint", robot, "limits, friction, rotor inertia or springs")
    return made


def with_joint_columns(robot: Robot) -> Robot:
    """Return the robot whose π contains the joint parameters of every velocity."""
    made = robot.with_model(replace(robot.model, has_joint_columns=True))
    if not made.model.has_joint_columns:
        raise _closed_form("with_joint_columns", robot, "friction, rotor inertia or springs")
    return made


def _closed_form(what: str, robot: Robot, lacks: str) -> InputError:
    return InputError(
        f"{what}: robot '{robot.name}' is a closed-form model whose joints have no {lacks}; describe it by links, "
        "joints and closures (docs/loops.md) to set them"
    )


def with_parameters(model: Model, own: Array, parameters: ArrayLike) -> Model:
    """Return the model with other parameters π, in the layout of its own."""
    pi = finite_array("with_parameters: parameters", parameters, f" for robot '{model.name}'")
    if pi.shape != own.shape:
        raise InputError(f"with_parameters: expected {own.shape}, got {pi.shape} for robot '{model.name}'")
    return edit.with_parameters(model, pi.tolist())


def with_gravity(model: Model, gravity: Sequence[float]) -> Model:
    """Return the model under another gravity."""
    if gravity is None:
        raise InputError("with_gravity: expected three finite numbers in m/s², such as (0, 0, -9.81); got None")
    return replace(model, gravity=gravity_vector(gravity))


def locked(kind: Kind, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Model:
    """Return the model with some joints locked, at given coordinates or at neutral."""
    own = kind.settled
    q, at = kind.neutral(), places(kind, "q")
    given = dict.fromkeys(joint_list("locked", joints)) if not isinstance(joints, Mapping) else joints
    chosen: dict[int, Any] = {}
    for name, value in given.items():
        i = edit.joint_of(own, name, "locked")
        mimic = own.bodies[i].joint.mimic
        if own.is_coupled and mimic is not None:
            raise InputError(f"locked: joint '{name}' follows joint '{mimic.joint}'; lock that one")
        chosen[i] = at[name]
        if value is not None:
            q[chosen[i]] = coordinates(f"locked: joint '{name}'", value, len(chosen[i]))
    checked(kind, q)
    return merge.locked(own, {i: tuple(q[where].tolist()) for i, where in chosen.items()})


def attached(robot: Robot, other: Robot, frame: str, pose: ArrayLike | None, prefix: str) -> Model:
    """Return the model of a robot and another one, its base fixed to a frame of the first."""
    if not isinstance(other, type(robot)):
        raise InputError(f"attached: expected a robot, got {type(other).__name__}; load one with appell.load")
    if not isinstance(prefix, str):
        raise InputError(f"attached: prefix: expected text such as 'left_', got {shown(prefix)}")
    at = Pose() if pose is None else pose_of("attached: pose", pose)
    return merge.attached(robot.kind.settled, other.kind.settled, frame, at, prefix)


def _read(what: str, value: Any, reader: Callable[[Any, Place], Any], default: Any = ...) -> Any:
    """Return an argument converted by a function of the file readers, with errors for arguments."""
    if value is default:
        return value
    try:
        return reader(value.item() if isinstance(value, np.ndarray) and not value.ndim else value, Place(path=what))
    except ReadError as error:
        raise InputError(str(error)) from None
