"""All the ways an arm can reach a pose, in closed form."""

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
"""Misfit [m, rad] up to which a pose counts as reached: rounding, enlarged where two branches meet."""


@dataclass(frozen=True, eq=False)
class IKBranches:
    """The eight branches of an arm at one pose or many.

    `q` is (..., 8, 6), without NaN: a branch that cannot reach the pose stretches towards it. `error` is the larger of
    what is left, in metres and radians; `is_reached` where that is rounding, `is_within` where the joints' limits hold.
    `labels` (8, 3) are shoulder, elbow and wrist of each branch, 1 or −1.

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
        """Return the joints (..., 6) of one branch; raise if some pose is out of its reach."""
        label = (shoulder, elbow, wrist)
        if label not in LABELS:
            raise InputError(f"pick: expected 1 or −1 for shoulder, elbow and wrist, got {label}")
        i = LABELS.index(label)
        if not self.is_reached[..., i].all():
            worst = float(self.error[..., i].max())
            raise InputError(
                f"pick: branch {label} does not reach the goal, it is {worst:.3g} off; is_reached says which do"
            )
        return self.q[..., i, :]


def analytic_ik(robot: Robot, goal: ArrayLike, frame: str | None = None) -> IKBranches:
    """Return the joints of all eight branches with which a frame takes up poses (..., 4, 4).

    For arms of six joints whose last three axes meet: PUMA, Stanford, RX-90 and most industrial arms; others are
    refused with the reason. Axes that meet but for the rounding of a file (1.5708 for π/2) are taken to meet, and the
    joints then polished on the robot as it is. Without a name the frame is the last of the robot's file.

    Of the labels, shoulder 1 reaches forward, to where the upper arm points at q = 0, and −1 backward over the
    shoulder; elbow 1 is up, above the line from shoulder to wrist (a sliding third joint: pushed out); wrist 1 has the
    fifth joint on the positive side of the wrist's singular angle. Each turning joint is given the whole turns that
    bring it within its limits, if any do, and lies within ±π if not. On a singular pose, where angles are free, one of
    them is chosen.

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
    """Return joints with the whole turns that bring them within their limits, and whether all then are."""
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
