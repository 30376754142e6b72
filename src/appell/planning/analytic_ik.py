"""Closed-form inverse kinematics: all solutions of arms with a spherical wrist, branch by branch.

A problem without a solution gives the nearest angle instead of NaN; the caller compares the resulting pose with the
target. Where every angle is a solution (a point on its own axis), the result is zero.

The joint axes are lines in the world at q = 0. Joint i moves all links after it by Eᵢ(qᵢ), a rotation about its line or
a translation along it, so that the pose is E₁…E₆·X₀ (product of exponentials). The last three axes meet in a point c.
The pose X puts it at w = X·X₀⁻¹·c, which determines the first three joints; the remaining rotation determines the last
three (D.L. Pieper, 1968).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.model.model import WORLD, Model
from appell.planning.goal import check_open, checked_frame, checked_poses, misfit
from appell.planning.inverse_kinematics import polished
from appell.robot.robot import Robot
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import matvec

# Subproblems, on arrays with any leading axes


def turned(axis: Array, angle: Array, x: Array) -> Array:
    """Return x rotated about a unit axis: Rodrigues' formula."""
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    return c * x + s * np.cross(axis, x) + (1.0 - c) * dot(axis, x)[..., None] * axis


def matrix(axis: Array, angle: Array) -> Array:
    """Return the rotation about a unit axis as (..., 3, 3)."""
    rows = turned(axis, angle[..., None], np.eye(3))  # of the unit vectors: the columns of the matrix
    return rows.swapaxes(-1, -2)


def dot(x: Array, y: Array) -> Array:
    """Return the scalar product along the last axis."""
    return (x * y).sum(axis=-1)


def across(axis: Array, x: Array) -> Array:
    """Return the component of x perpendicular to a unit axis."""
    return x - dot(axis, x)[..., None] * axis


def carrying(axis: Array, x: Array, y: Array) -> Array:
    """Return the angle about an axis that carries x over y, as nearly as a rotation about it can."""
    x, y = across(axis, x), across(axis, y)
    return np.arctan2(dot(axis, np.cross(x, y)), dot(x, y))


def harmonic(A: Array, B: Array, C: Array, side: float, *, is_near: bool = False) -> Array:
    """Return an angle with A cos x + B sin x = C: on the `side` (±1) of the maximum of the left-hand side.

    With `is_near` the side refers to the extremum, maximum or minimum, that is nearer to zero.
    """
    A, B, C = np.broadcast_arrays(A, B, C)
    if is_near:
        flip = np.where(A < 0.0, -1.0, 1.0)
        A, B, C = flip * A, flip * B, flip * C
    size = np.hypot(A, B)
    # arccos(C/size), by atan2 so that it is exact near 0 and π too; clamped to them where |C| > size
    away = np.arctan2(np.sqrt(np.maximum((size - C) * (size + C), 0.0)), C)
    return np.where(size > 0.0, np.arctan2(B, A) + side * away, 0.0)


def sliding(direction: Array, x: Array, squared: Array, side: float) -> Array:
    """Return the d with |x + d·direction|² = squared that is larger (side 1) or smaller (−1); the direction is a unit.

    d² + 2d·(x·u) + |x|² − squared = 0
    """
    middle = -dot(direction, x)
    nearest = dot(x, x) - middle**2  # squared distance of the line from the origin
    return middle + side * np.sqrt(np.maximum(squared - nearest, 0.0))


def principal(angle: Array) -> Array:
    """Return the equivalent angle between −π and π."""
    return angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi))


# Arms

EXACT = 1e-9
"""Distance of lines [of the arm's size], or angle of directions, up to which they meet or are parallel exactly."""
ROUNDED = 1e-4
"""The same for files that give π/2 or a length in few digits."""
LABELS = tuple((shoulder, elbow, wrist) for shoulder, elbow, wrist in product((1, -1), repeat=3))
"""Shoulder, elbow and wrist of the eight branches, in order."""


class Axis(NamedTuple):
    """A joint's line in the world at q = 0: a point on it, its direction, and whether the joint turns about it."""

    point: Array
    direction: Array
    turns: bool


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm of six axes whose last three meet in `centre`; `way` names the solution of its first three joints."""

    axes: tuple[Axis, ...]
    centre: Array
    way: str
    is_exact: bool = True
    """Whether lines meet, or are parallel, to machine precision and not only to that of the file."""

    def solve(self, motion: Array, label: tuple[int, int, int]) -> Array:
        """Return the joints (..., 6) of a branch that move the arm from q = 0 by a motion (..., 4, 4) of its hand."""
        shoulder, elbow, wrist = label
        rotation = motion[..., :3, :3]
        w = (rotation @ self.centre) + motion[..., :3, 3]
        q1, q2, q3 = _WAYS[self.way](self, w, shoulder, elbow)
        first, second, third = (a.direction for a in self.axes[:3])
        turn = matrix(first, q1) @ matrix(second, q2)
        if self.axes[2].turns:
            turn = turn @ matrix(third, q3)
        hand = turn.swapaxes(-1, -2) @ rotation
        return np.stack([q1, q2, q3, *self._turns(hand, wrist)], axis=-1)

    def _turns(self, hand: Array, side: float) -> tuple[Array, Array, Array]:
        """Return the last three joints with R₄R₅R₆ = hand."""
        z4, z5, z6 = (a.direction for a in self.axes[3:])
        pointing = hand @ z6
        # R₆ leaves z₆: R₄R₅z₆ = pointing, and R₄ leaves z₄, so z₄·R₅z₆ = z₄·pointing
        across_5 = across(z5, z6)
        C = dot(z4, pointing) - dot(z4, z5) * dot(z5, z6)
        q5 = harmonic(dot(z4, across_5), dot(z4, np.cross(z5, z6)), C, side, is_near=True)
        q4 = carrying(z4, turned(z5, q5, z6), pointing)
        rest = (matrix(z4, q4) @ matrix(z5, q5)).swapaxes(-1, -2) @ hand
        return q4, q5, carrying(z6, z5, rest @ z5)


# The first three joints: E₁E₂E₃c = w


def _parallel(arm: Arm, w: Array, shoulder: int, elbow: int) -> tuple[Array, Array, Array]:
    """Solve arms whose joints 2 and 3 move the wrist in a plane at right angles to axis 2.

    Shoulder 1 is the arm that reaches forward of axis 1, to where its upper arm points at q = 0; elbow 1 has the elbow
    above the line from shoulder to wrist, up being along axis 1 (a third joint that slides: pushed out, not pulled
    through).
    """
    (o1, z1, _), (o2, z2, _), (o3, z3, turns) = arm.axes[:3]
    upper = o3 - o2 if turns else z3
    forward = dot(np.cross(z2, z1), upper)
    first = shoulder if forward > -EXACT * np.linalg.norm(upper) else -shoulder
    # along axis 2 the wrist keeps its place: z₂·(R₁ᵀy + o₁ − o₂) = z₂·(c − o₂) with y = w − o₁
    y = w - o1
    C = dot(z2, arm.centre - o1) - dot(z2, z1) * dot(z1, y)
    q1 = harmonic(dot(across(z1, z2), y), -dot(z2, np.cross(z1, y)), C, first)
    x = across(z2, turned(z1, -q1, y) + o1 - o2)
    if turns:
        h, g = across(z2, o3 - o2), across(z2, arm.centre - o3)
        C = 0.5 * (dot(x, x) - dot(h, h) - dot(g, g))
        side = elbow * first * (1.0 if dot(z2, z3) > 0.0 else -1.0)
        q3 = harmonic(dot(h, g), dot(h, np.cross(z3, g)), C, side)
        reached = h + turned(z3, q3, g)
    else:
        g = across(z2, arm.centre - o2)
        q3 = sliding(z3, g, dot(x, x), elbow)
        reached = g + q3[..., None] * z3
    return q1, carrying(z2, reached, x), q3


def _meeting(arm: Arm, w: Array, shoulder: int, elbow: int) -> tuple[Array, Array, Array]:
    """Solve arms whose first two axes meet, in a point o: joint 3 alone sets how far the wrist is from there.

    The labels are the sides of joint 2 and joint 3 on which they are, seen from the angle nearer to zero at which the
    two branches meet.
    """
    (_, z1, _), (_, z2, _), (o3, z3, turns) = arm.axes[:3]
    o = _meeting_point(arm.axes[:2])
    x = w - o
    if turns:
        h, g = o3 - o, arm.centre - o3
        C = 0.5 * (dot(x, x) - dot(h, h) - dot(g, g)) - dot(h, z3) * dot(z3, g)
        q3 = harmonic(dot(h, across(z3, g)), dot(h, np.cross(z3, g)), C, elbow, is_near=True)
        reached = h + turned(z3, q3, g)
    else:
        q3 = sliding(z3, arm.centre - o, dot(x, x), elbow)
        reached = arm.centre - o + q3[..., None] * z3
    # R₁ leaves z₁: z₁·R₂p = z₁·x
    C = dot(z1, x) - dot(z1, z2) * dot(z2, reached)
    q2 = harmonic(dot(across(z2, z1), reached), dot(z1, np.cross(z2, reached)), C, shoulder, is_near=True)
    return carrying(z1, turned(z2, q2, reached), x), q2, q3


_WAYS = {"parallel": _parallel, "meeting": _meeting}


# Recognising an arm


def arm_of(model: Model, body: int) -> Arm:
    """Return the arm that carries a body; raise an error with the reason if it has no closed form."""
    try:
        return _arm(model, body, EXACT)
    except InputError:
        return replace(_arm(model, body, ROUNDED), is_exact=False)


def _arm(model: Model, body: int, within: float) -> Arm:
    name = f"analytic_ik: robot '{model.name}'"
    instead = "appell.inverse_kinematics solves it numerically"
    chain = list(model.ancestors(body))[::-1] if body != WORLD else []
    if len(chain) != 6 or len(model.bodies) != 6 or any(b.joint.type.nq != 1 for b in model.bodies):
        raise InputError(f"{name} is not an arm of six joints with one coordinate each up to the frame; {instead}")
    axes = _axes(model)
    kinds = [model.bodies[i].joint.kind for i in chain]
    if "helical" in kinds or not all(axes[i].turns for i in (0, 1, 3, 4, 5)):
        raise InputError(
            f"{name}: expected six turning joints, of which the third may slide, got {', '.join(kinds)}; {instead}"
        )
    size = max(float(np.ptp([a.point for a in axes], axis=0).max()), 1e-3)
    centre = _meeting_point(axes[3:])
    off = max(float(np.linalg.norm(across(a.direction, centre - a.point))) for a in axes[3:])
    if off > within * size or not (_is_apart(axes[3][1], axes[4][1]) and _is_apart(axes[4][1], axes[5][1])):
        raise InputError(f"{name}: its last three axes do not meet in a point (they miss it by {off:.3g} m); {instead}")
    return Arm(axes, centre, _way(name, axes, within, size, instead))


def _way(name: str, axes: tuple[Axis, ...], within: float, size: float, instead: str) -> str:
    first, second, third = axes[:3]
    apart = _is_apart(first.direction, second.direction, ROUNDED)
    aligned = dot(second.direction, third.direction)
    if apart and (not _is_apart(second.direction, third.direction, within) if third.turns else abs(aligned) <= within):
        return "parallel"
    o = _meeting_point(axes[:2])
    if apart and all(np.linalg.norm(across(a.direction, o - a.point)) <= within * size for a in axes[:2]):
        return "meeting"
    raise InputError(
        f"{name}: its first three axes have no closed form here, which needs axes 2 and 3 parallel (or at right angles "
        f"where joint 3 slides), or axes 1 and 2 that meet; {instead}"
    )


def _axes(model: Model) -> tuple[Axis, ...]:
    pose, axes = Pose(), []
    for body in model.bodies:
        pose = pose.then(body.joint.placement)
        direction = np.array(matvec(pose.rotation, body.joint.axis), dtype=float)
        axes.append(Axis(np.array(pose.position, dtype=float), direction, body.joint.type.turns))
        pose = pose.then(body.joint.pose((0.0,)))
    return tuple(axes)


def _meeting_point(axes: tuple[Axis, ...]) -> Array:
    """Return the point that is nearest to all lines: Σ (1 − zzᵀ)(p − o) = 0."""
    planes = [np.eye(3) - np.outer(a.direction, a.direction) for a in axes]
    towards = sum(P @ a.point for P, a in zip(planes, axes, strict=True))
    return np.asarray(np.linalg.lstsq(sum(planes), towards, rcond=None)[0], dtype=float)


def _is_apart(x: Array, y: Array, within: float = ROUNDED) -> bool:
    """Return whether two unit vectors are not parallel."""
    return bool(np.linalg.norm(np.cross(x, y)) > within)


# All branches

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
    motion = poses @ np.linalg.inv(robot.pose(np.zeros(6), name))
    found = np.stack([arm.solve(motion, label) for label in LABELS], axis=-2)
    if not arm.is_exact:
        found = polished(robot, name, np.broadcast_to(poses[..., None, :, :], (*found.shape[:-1], 4, 4)), found)
    q, is_within = _seated(robot.model, found)
    error = np.abs(misfit(robot.pose(q, name), poses[..., None, :, :])).max(axis=-1)
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
