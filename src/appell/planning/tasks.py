"""Tasks of inverse kinematics: targets of frames, of the centre of mass and of the joints, with weights.

A solution minimises Σ (weight · residual)² over all tasks, within the joint limits. A task counts as reached when its
residual is within its tolerance; a task of infinite tolerance, as a posture has by default, is a preference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import LARGEST, number, numbers
from appell.errors import InputError
from appell.messages import shown
from appell.planning.goal import checked_frame, checked_poses, positive, real
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

__all__ = ["CentreOfMass", "Orientation", "Position", "Posture", "Task"]
_Own = TypeVar("_Own", bound="Task")


class Task(ABC):
    """The base of all tasks.

    Examples
    --------
    >>> import appell
    >>> isinstance(appell.tasks.Posture([0.0, 0.0]), appell.tasks.Task)
    True
    """

    target: Any
    weight: ArrayLike
    tolerance: float | None
    frame: str | None = None
    core: ClassVar[int] = 1
    """Axes of one target."""

    @abstractmethod
    def checked(self, robot: Robot) -> Task:
        """Return the task with its arguments checked and its frame named.

        Parameters
        ----------
        robot
            The robot of the task.

        Returns
        -------
        Task
            The task with validated arguments.

        Examples
        --------
        >>> import appell
        >>> appell.tasks.Position([0.1, 0.2, 0.3]).checked(appell.load("puma560")).frame
        'dh6'
        """

    @final
    def __repr__(self) -> str:
        frame = f", {self.frame!r}" if self.frame else ""
        return f"{type(self).__name__}(target of shape {np.shape(self.target)}{frame}, weight={self.weight})"


@dataclass(frozen=True, eq=False, repr=False)
class Position(Task):
    """Bring the origin of a frame to a place of the world.

    Parameters
    ----------
    target : array_like
        Positions (..., 3) [m] in the world.
    frame : str, optional
        A frame of the robot; the last of its file unless named.
    weight : array_like
        Weight of the residual [1/m]: one number, or one per world axis; 0 leaves an axis free.
    tolerance : float, optional
        Residual [m] up to which the task counts as reached, that of the call unless given; infinite for a preference.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> height = appell.tasks.Position([0.0, 0.0, 0.4], "dh6", weight=(0.0, 0.0, 1.0))
    >>> found = appell.inverse_kinematics(robot, tasks=[height])
    >>> bool(found.is_reached), float(robot.pose(found.q, "dh6")[2, 3].round(9))
    (True, 0.4)
    """

    target: ArrayLike
    frame: str | None = None
    weight: ArrayLike = 1.0
    tolerance: float | None = None

    def checked(self, robot: Robot) -> Position:
        """Return the task with its arguments checked and its frame named."""
        return replace(_checked(self), target=_triples(self.target), frame=checked_frame(robot, self.frame))


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(Task):
    """Turn a frame to an orientation.

    Parameters
    ----------
    target : array_like
        Rotation matrices (..., 3, 3) from the frame's axes to the world's, or poses (..., 4, 4) of which the rotation
        counts.
    frame : str, optional
        A frame of the robot; the last of its file unless named.
    weight : array_like
        Weight of the residual [1/rad], the rotation vector in the axes of the target: one number, or one per axis; 0
        leaves the rotation about an axis free.
    tolerance : float, optional
        Residual [rad] up to which the task counts as reached, that of the call unless given; infinite for a preference.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot = appell.load("puma560")
    >>> down = appell.tasks.Orientation(np.diag([1.0, -1.0, -1.0]), "dh6", weight=(1.0, 1.0, 0.0))  # free about z
    >>> found = appell.inverse_kinematics(robot, [0.4, 0.2, 0.1], "dh6", tasks=[down])
    >>> bool(found.is_reached), robot.pose(found.q, "dh6")[:3, 2].round(6) + 0.0
    (True, array([ 0.,  0., -1.]))
    """

    target: ArrayLike
    frame: str | None = None
    weight: ArrayLike = 1.0
    tolerance: float | None = None
    core: ClassVar[int] = 2

    def checked(self, robot: Robot) -> Orientation:
        """Return the task with its arguments checked and its frame named."""
        target = real("Orientation: target", self.target, "rotations (..., 3, 3)")
        if target.shape[-2:] == (3, 3):
            poses = np.zeros((*target.shape[:-2], 4, 4))
            poses[..., :3, :3], poses[..., 3, 3] = target, 1.0
            target = poses
        turned = checked_poses(target, "Orientation: target", "rotations (..., 3, 3)")[..., :3, :3]
        return replace(_checked(self), target=turned, frame=checked_frame(robot, self.frame))


@dataclass(frozen=True, eq=False, repr=False)
class CentreOfMass(Task):
    """Bring the robot's centre of mass to a place of the world.

    Parameters
    ----------
    target : array_like
        Positions (..., 3) [m] in the world.
    weight : array_like
        Weight of the residual [1/m]: one number, or one per world axis; (1, 1, 0) leaves the height free.
    tolerance : float, optional
        Residual [m] up to which the task counts as reached, that of the call unless given; infinite for a preference.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> task = appell.tasks.CentreOfMass(robot.centre_of_mass([0.1, 0.2, 0.3, 0.0, 0.0, 0.0]))
    >>> bool(appell.inverse_kinematics(robot, tasks=[task]).is_reached)
    True
    """

    target: ArrayLike
    weight: ArrayLike = 1.0
    tolerance: float | None = None

    def checked(self, robot: Robot) -> CentreOfMass:
        """Return the task with its arguments checked."""
        return replace(_checked(self), target=_triples(self.target, "CentreOfMass"))


@dataclass(frozen=True, eq=False, repr=False)
class Posture(Task):
    """Stay near a configuration, joint by joint: a preference unless a tolerance is given.

    It is about the independent joints with one coordinate each; a floating base and ball joints are left out.

    Parameters
    ----------
    target : array_like, optional
        Configurations (..., nq); the robot's neutral one unless given.
    weight : array_like
        Weight of the residual [1/rad, 1/m]: one number, or one per velocity (nv,).
    tolerance : float
        Norm of the residual [rad, m] up to which the task counts as reached; infinite for a preference.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link")
    >>> found = appell.inverse_kinematics(robot, tasks=[appell.tasks.Posture([0.3, -0.2], tolerance=1e-9)])
    >>> found.q.round(9)
    array([ 0.3, -0.2])
    """

    target: ArrayLike | None = None
    weight: ArrayLike = 1e-2
    tolerance: float | None = math.inf

    def checked(self, robot: Robot) -> Posture:
        """Return the task with its arguments checked."""
        target = robot.neutral() if self.target is None else real("Posture: target", self.target, "configurations")
        target = robot.configuration("Posture: target", numbers(robot.name, "Posture: target", (robot.nq,), target))
        return replace(_checked(self, robot.nv), target=target)


def checked_tasks(robot: Robot, tasks: Any) -> list[Task]:
    """Return tasks with their arguments checked; raise if one of them is none."""
    found = [tasks] if isinstance(tasks, Task) else tasks
    if not isinstance(found, list | tuple) or not all(isinstance(task, Task) for task in found):
        raise InputError(f"tasks: expected a list of tasks such as appell.tasks.Position, got {shown(tasks)}")
    return [task.checked(robot) for task in found]


def all_tasks(robot: Robot, goal: ArrayLike | None, frame: str | None, length: float, tasks: Any) -> list[Task]:
    """Return the tasks of a call, checked: a goal's position and orientation, then those that are given."""
    name = checked_frame(robot, frame)
    given = checked_tasks(robot, tasks)
    length = positive("length", length)
    if goal is None:
        if not given:
            raise InputError("inverse_kinematics: expected a goal or tasks, got neither")
        return given
    goals = real("goal", goal, "poses (..., 4, 4) or positions (..., 3)")
    if goals.ndim and goals.shape[-1] == 3:
        return [Position(goals, name).checked(robot), *given]
    poses = checked_poses(goals)
    both: list[Task] = [Position(poses[..., :3, 3], name), Orientation(poses[..., :3, :3], name, length)]
    return [*(task.checked(robot) for task in both), *given]


def _triples(target: ArrayLike, name: str = "Position") -> Array:
    array = real(f"{name}: target", target, "positions (..., 3)")
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(f"{name}: target: expected positions (..., 3), got an array of shape {array.shape}")
    return array


def _checked(task: _Own, size: int = 3) -> _Own:
    """Return a task with its weight as `size` numbers and its tolerance checked."""
    name = type(task).__name__
    weight = real(f"{name}: weight", task.weight, "weights")
    if weight.shape not in ((), (size,)) or (weight < 0.0).any():
        raise InputError(f"{name}: weight: expected one number of at least 0, or {size} of them, got {weight.tolist()}")
    tolerance = task.tolerance
    if tolerance is not None:
        tolerance = number(f"{name}: tolerance: expected a positive number", tolerance, 1.0 / LARGEST, math.inf)
    given = {"weight": np.broadcast_to(weight, (size,)), "tolerance": tolerance}
    return replace(task, **given)  # type: ignore[type-var]  # every task is a dataclass
