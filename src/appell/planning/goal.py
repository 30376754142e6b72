"""Checked arguments of planning: numbers, poses and positions; the difference between a pose and a goal."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import LARGEST, number, proper_poses, real_array
from appell.errors import InputError
from appell.messages import listed, shown
from appell.robot.robot import Robot, checked_robot
from appell.spatial.scalar import Array


def moments(name: str, t: ArrayLike) -> Array:
    """Return times as an array of finite real numbers; raise an error for anything else."""
    return real(name, t, "times in seconds")


def positive(name: str, x: float) -> float:
    """Return a positive finite number; raise an error for anything else."""
    return number(f"{name}: expected a positive number", x, 1.0 / LARGEST)


def vector(name: str, x: ArrayLike, size: int | None = None) -> Array:
    """Return one number per joint; raise an error unless there are `size` of them."""
    array = real(name, x, "one number per joint")
    if array.ndim != 1 or array.size == 0 or (size is not None and array.size != size):
        expected = "one number per joint" if size is None else f"{size} numbers, one per joint"
        raise InputError(f"{name}: expected {expected}, got an array of shape {array.shape}")
    return array


def real(name: str, x: ArrayLike, expected: str) -> Array:
    """Return an array of finite real numbers; raise an error that names the fault otherwise."""
    try:
        array = real_array(name, x)
    except InputError as error:
        got = str(error).rpartition("got ")[2]
        raise InputError(f"{name}: expected {expected}, got {got}") from None
    if array.dtype.kind == "b":
        raise InputError(f"{name}: expected {expected}, got {array.dtype}")
    result: Array = array.astype(float)
    if not (np.abs(result) <= LARGEST).all():
        raise InputError(f"{name}: expected {expected}, got one that is not finite, or above {LARGEST:g}")
    return result


def span(name: str, x: float) -> float:
    """Return a duration [s], which may be infinite."""
    return number(f"{name}: expected a positive number", x, 1.0 / LARGEST, math.inf)


def pose(position: ArrayLike, angles: ArrayLike | None = None, sequence: str = "ZYZ") -> Array:
    """Return the 4×4 pose at a position [m] with an orientation given by three angles [rad].

    `sequence` names the axes of rotation, in capital letters for those of the rotating frame: "ZYZ" as in the papers,
    "xyz" for roll, pitch and yaw. Without angles the axes are the world's.

    >>> import numpy as np
    >>> pose([1.0, 2.0, 3.0], np.deg2rad([90.0, 0.0, 0.0])).round(12)
    array([[ 0., -1.,  0.,  1.],
           [ 1.,  0.,  0.,  2.],
           [ 0.,  0.,  1.,  3.],
           [ 0.,  0.,  0.,  1.]])
    """
    result = np.eye(4)
    if angles is not None:
        result[:3, :3] = scipy.spatial.transform.Rotation.from_euler(sequence, triple("angles", angles)).as_matrix()
    result[:3, 3] = triple("position", position)
    return result


def triple(name: str, x: ArrayLike) -> Array:
    """Return three numbers; raise an error for anything else."""
    array = real(name, x, "three numbers")
    if array.shape != (3,):
        raise InputError(f"{name}: expected three numbers, got an array of shape {array.shape}")
    return array


def check_open(robot: Robot) -> None:
    """Raise an error unless the robot is open: each coordinate belongs to a joint with its own force."""
    if checked_robot("robot", robot).actuators != robot.joint_names:
        raise InputError(f"robot: expected an open robot, got '{robot.name}', whose joints loops bind")


def checked_frame(robot: Robot, frame: str | None) -> str:
    """Return the name of a frame; the last frame of the robot's file unless given."""
    names = checked_robot("robot", robot).frame_names
    if not names:
        raise InputError(f"frame: robot '{robot.name}' has no frames to place")
    if frame is not None and not (isinstance(frame, str) and frame in robot.model.frame_index):
        raise InputError(f"frame: robot '{robot.name}' has no frame {shown(frame)}; it has {listed(names, 40)}")
    return names[-1] if frame is None else frame


def checked_poses(goal: ArrayLike, name: str = "goal", expected: str = "poses (..., 4, 4)") -> Array:
    """Return poses (..., 4, 4); raise an error for anything else."""
    poses = real(name, goal, expected)
    if poses.ndim < 2 or poses.shape[-2:] != (4, 4):
        raise InputError(f"{name}: expected {expected}, got an array of shape {poses.shape}")
    return proper_poses(name, poses)


def misfit(poses: Array, goal: Array) -> Array:
    """Return the motion from poses to goals, in world axes: translation [m], and rotation vector [rad] for pose goals.

    Goals are (..., 4, 4), or (..., 3) for a position alone; the result is (..., 6) or (..., 3).
    """
    if goal.shape[-1] == 3:
        return goal - poses[..., :3, 3]
    turn = goal[..., :3, :3] @ poses[..., :3, :3].swapaxes(-1, -2)
    shape = turn.shape[:-2]
    vectors = (
        scipy.spatial.transform.Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec()
        if turn.size
        else np.zeros((0, 3))
    )
    return np.concatenate([goal[..., :3, 3] - poses[..., :3, 3], vectors.reshape(*shape, 3)], axis=-1)
