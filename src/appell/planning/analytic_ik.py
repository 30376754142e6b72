"""Closed-form inverse kinematics: all solutions of arms with a spherical wrist."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.model.model import Model
from appell.planning.checks import Array
from appell.planning.goal import check_open, checked_frame, checked_poses, misfit
from appell.planning.inverse_kinematics import polished
from appell.planning.subproblems import principal
from appell.planning.wrist import LABELS, arm_of
from appell.robot.robot import Robot

_NEAR = 1e-9
"""Residual [m, rad] up to which a pose counts as reached: rounding error, which is larger where two branches meet."""


@dataclass(frozen=True, eq=False)
class IKBranches:
    """The eight branches of an arm at one pose or many.

    Attributes
    ----------
    q : ndarray
        Joint coordinates (..., 8, 6), without NaN: a branch that cannot reach the pose stretches towards it.
    error : ndarray
        The largest residual (..., 8) [m, rad].
    is_reached : ndarray
        Whether (..., 8) that is rounding error.
    is_within : ndarray
        Whether (..., 8) the joint limits hold.
    labels : ndarray
        Shoulder, elbow and wrist (8, 3) of each branch, 1 or −1.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("rx90")
    >>> found = appell.planning.analytic_ik(robot, robot.pose([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "dh6"))
    >>> found.q.shape, found.labels[0].tolist(), bool(found.is_reached.all())
    ((8, 6), [1, 1, 1], True)
    """

    q: Array
    error: Array
    is_reached: NDArray[np.bool_]
    is_within: NDArray[np.bool_]
    labels: NDArray[np.int_]

    def pick(self, shoulder: int, elbow: int, wrist: int) -> Array:
        """Return the joint coordinates (..., 6) of one branch; raise an error if it does not reach every pose.

        Parameters
        ----------
        shoulder
            1 or −1.
        elbow
            1 or −1.
        wrist
            1 or −1.

        Returns
        -------
        ndarray
            Configurations (..., 6) [rad].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("rx90")
        >>> pose = robot.pose([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "dh6")
        >>> appell.planning.analytic_ik(robot, pose).pick(shoulder=1, elbow=1, wrist=1).shape
        (6,)
        """
        label = (shoulder, elbow, wrist)
        if label not in LABELS:
            raise InputError(f"pick: expected 1 or −1 for shoulder, elbow and wrist, got {label}")
        i = LABELS.index(label)
        if not self.is_reached[..., i].all():
            worst = float(self.error[..., i].max())
            raise InputError(f"pick: branch {label} does not reach the goal, it is {worst:.3g} off; see is_reached")
        return self.q[..., i, :]


def analytic_ik(robot: Robot, goal: ArrayLike, frame: str | None = None) -> IKBranches:
    """Return the joint coordinates of all eight branches for which a frame has given poses.

    It is for arms of six joints whose last three axes meet: PUMA, Stanford, RX-90 and most industrial arms. Axes that
    meet except for the rounding of a file (1.5708 for π/2) count as meeting, and the result is then refined on the
    robot as it is.

    Parameters
    ----------
    robot : Robot
        An arm of six joints with one coordinate each.
    goal : array_like
        Poses (..., 4, 4).
    frame : str, optional
        A frame of the robot; the last of its file unless named.

    Returns
    -------
    IKBranches
        The eight branches. Shoulder 1 reaches forward, to where the upper arm points at q = 0, and −1 backward over the
        shoulder. Elbow 1 is above the line from shoulder to wrist (a prismatic third joint: extended). Wrist 1 has the
        fifth joint on the positive side of the wrist's singular angle. Whole turns are added to each revolute joint
        where they bring it within its limits; otherwise it lies within ±π. At a singular pose, where an angle is free,
        one value is chosen.

    Raises
    ------
    InputError
        When the arm has no closed form, with the reason, or the goal is not an array of poses.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot = appell.load("puma600")
    >>> q = np.array([0.3, -0.8, 2.5, 0.4, 0.6, -0.2])
    >>> found = appell.planning.analytic_ik(robot, robot.pose(q, "link6"), "link6")
    >>> int(found.is_reached.sum())
    8
    >>> bool(np.allclose(found.pick(shoulder=1, elbow=1, wrist=1), q))
    True
    """
    name = checked_frame(robot, frame)
    check_open(robot)
    poses = checked_poses(goal)
    arm = arm_of(robot.model, robot.model.frame_index[name].body)
    home = robot.pose(np.zeros(6), name)
    motion = poses @ np.linalg.inv(home)
    found = np.stack([arm.solve(motion, label) for label in LABELS], axis=-2)
    if not arm.is_exact:
        found = polished(robot, name, np.broadcast_to(poses[..., None, :, :], (*found.shape[:-1], 4, 4)), found)
    q, is_within = _seated(robot.model, found)
    left = misfit(robot.pose(q, name), poses[..., None, :, :])
    error = np.abs(left).max(axis=-1)
    return IKBranches(q, error, error <= _NEAR, is_within, np.array(LABELS))


def _seated(model: Model, q: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return joint coordinates with the whole turns that bring them within their limits, and whether all are within."""
    joints = [body.joint for body in model.bodies]
    turns = np.array([joint.type.turns for joint in joints])
    lower, upper = (np.array([getattr(joint.limits, side) for joint in joints]) for side in ("lower", "upper"))
    q = np.where(turns, principal(q), q)
    is_seated = (q >= lower) & (q <= upper)
    for turn in (2.0 * math.pi, -2.0 * math.pi):
        moved = q + turn
        fits = ~is_seated & turns & (moved >= lower) & (moved <= upper)
        q, is_seated = np.where(fits, moved, q), is_seated | fits
    return q, np.asarray(is_seated.all(axis=-1))
