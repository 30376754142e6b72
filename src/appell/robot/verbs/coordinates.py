"""The coordinates of a model's joints: names, limits, quaternions, and the error between two configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError
from appell.messages import alternatives, listed
from appell.model.joints import QUATERNION
from appell.model.model import Model
from appell.model.parameters import velocity_names
from appell.recursion.kinematics import Scalars
from appell.robot.descriptions import AXES
from appell.robot.verbs.guards import QUATERNION_TOLERANCE
from appell.spatial.rotation import from_quaternion
from appell.spatial.scalar import Array, Scalar, cos, sign, sin, sqrt
from appell.spatial.vector import matvec_t

CURVED = ("free", "ball", "planar")
"""Joint types whose velocities are not the rates of their coordinates."""


class Limits(NamedTuple):
    """Limits of a robot: `lower` and `upper` (nq), `velocity` and `effort` (nv); infinite where the file has none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


# Names, places and limits


def velocity_places(model: Model, names: Sequence[str]) -> list[int]:
    """Return the indices in v of velocities by name."""
    known = velocity_names(model)
    unknown = [name for name in names if name not in known]
    if unknown or len(set(names)) != len(names):
        what = f"no velocity {listed(unknown)}" if unknown else "a velocity is repeated"
        raise InputError(f"robot '{model.name}': {what}; {alternatives(unknown[0] if unknown else None, known, 60)}")
    return [known.index(name) for name in names]


def curved_joints(model: Model, independent: Sequence[int]) -> list[tuple[str, Sequence[int]]] | None:
    """Return type and indices in v of joints whose velocities are not rates; None if one is partly independent.

    `independent` are the indices of v among the velocities of the model.
    """
    at = {k: place for place, k in enumerate(independent)}
    found: list[tuple[str, Sequence[int]]] = []
    for i, body in enumerate(model.bodies):
        own = [at[k] for k in model.velocities(i) if k in at]
        if body.joint.kind in CURVED and own:
            if len(own) < body.joint.type.nv:
                return None
            found.append((body.joint.kind, own))
    return found


def coordinates_of(model: Model, velocities: Sequence[int], what: str) -> list[int]:
    """Return the indices in q of some velocities; raise if a joint has several coordinates."""
    slices = zip(model.v_slices, model.q_slices, strict=True)
    at = {v.start: q.start for v, q in slices if q.stop - q.start == 1}
    if any(k not in at for k in velocities):
        raise InputError(f"{what}: robot '{model.name}' has actuated joints of several coordinates")
    return [at[k] for k in velocities]


def joint_limits(model: Model) -> Limits:
    """Return the limits of every coordinate and velocity; infinite for quaternions and positions of a free joint."""
    joints = [body.joint for body in model.bodies]

    def each(name: str, size: str) -> Array:
        return np.array([getattr(j.limits, name) for j in joints for _ in range(getattr(j.type, size))], dtype=float)

    return Limits(each("lower", "nq"), each("upper", "nq"), each("velocity", "nv"), each("effort", "nv"))


def coordinate_lines(model: Model, *, with_velocities: bool = True) -> list[str]:
    """Return one line per joint: the indices of its coordinates in q and of its velocities in v, with units."""
    letters = (("q", model.q_slices, 0), ("v", model.v_slices, 1))[: 2 if with_velocities else 1]
    return [
        line
        for letter, slices, column in letters
        for line in _lines(letter, zip(model.bodies, slices, strict=True), column)
    ]


def _lines(letter: str, rows: Iterable[tuple[Any, slice]], column: int) -> Iterable[str]:
    for body, at in rows:
        where = f"{letter}[{at.start}]" if at.stop - at.start == 1 else f"{letter}[{at.start}..{at.stop - 1}]"
        yield f"  {where:<10} {body.joint.name}: {AXES[body.joint.kind][column]}"


# Quaternions


def quaternion_places(model: Model) -> list[int]:
    """Return the index in q at which each quaternion begins."""
    return [
        at.start + QUATERNION[body.joint.kind].start
        for body, at in zip(model.bodies, model.q_slices, strict=True)
        if body.joint.kind in QUATERNION
    ]


def quaternion_errors(places: Sequence[int], q: Scalars) -> list[Scalar]:
    """Return ‖quaternion‖² − 1 of each."""
    squares = [[x * x for x in q[k : k + 4]] for k in places]
    return [x + y + z + w - 1.0 for x, y, z, w in squares]


def normalised(places: Sequence[int], q: Sequence[Scalar]) -> list[Scalar]:
    """Return q with every quaternion of unit length."""
    result = list(q)
    for k in places:
        scale = 1.0 / sqrt(sum((x * x for x in q[k : k + 4]), start=0.0))
        result[k : k + 4] = [scale * x for x in q[k : k + 4]]
    return result


def check_quaternions(robot: str, places: Sequence[int], names: Sequence[str], q: Array) -> None:
    """Raise if a quaternion in q is not of unit length; `names` are those of the joints that have them."""
    for place, name in zip(places, names, strict=True):
        part = q[..., place : place + 4]
        x, y, z, w = (part[..., k] for k in range(4))  # four strided products are faster than any reduction
        squares = x * x + y * y + z * z + w * w
        off = np.abs(squares - 1.0) > 2.0 * QUATERNION_TOLERANCE
        if off.any():
            index = np.unravel_index(int(np.argmax(off)), np.shape(off)) if np.ndim(off) else ()
            sample = f" of sample {tuple(map(int, index))}" if index else ""
            norm = float(np.sqrt(squares[index]))
            raise InputError(
                f"q: the quaternion of joint '{name}'{sample} has norm {norm:.9g}, expected 1 for robot '{robot}'; "
                "normalise it, or move with robot.integrate"
            )


def quaternion_joints(model: Model) -> list[str]:
    """Return the joints that have quaternions, in the order of :func:`quaternion_places`."""
    return [body.joint.name for body in model.bodies if body.joint.kind in QUATERNION]


# The error of a configuration, for control laws


def tracking_error(model: Model, q: Scalars, goal: Scalars) -> Scalars:
    """Return goal ⊖ q, one number per velocity: the motion to the goal.

    Errors of free, ball and planar joints are in the child's frame; that of a rotation is twice the vector part of
    q⁻¹ ⊗ goal, of length 2 sin(θ/2), and leads along the shorter path.
    """
    error: list[Scalar] = []
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        error += _ERRORS.get(body.joint.kind, _difference)(q[at], goal[at])
    return tuple(error)


def _difference(q: Scalars, goal: Scalars) -> Scalars:
    return tuple(b - a for a, b in zip(q, goal, strict=True))


def _ball_error(q: Scalars, goal: Scalars) -> Scalars:
    """Return 2 sign(w)·(x, y, z) of q⁻¹ ⊗ goal = (x, y, z, w)."""
    (x, y, z, w), (a, b, c, d) = q, goal
    turn = 2.0 * sign(w * d + x * a + y * b + z * c)
    return (
        turn * (w * a - d * x - (y * c - z * b)),
        turn * (w * b - d * y - (z * a - x * c)),
        turn * (w * c - d * z - (x * b - y * a)),
    )


def _free_error(q: Scalars, goal: Scalars) -> Scalars:
    x, y, z = _difference(q[:3], goal[:3])
    return (*matvec_t(from_quaternion(*q[3:]), (x, y, z)), *_ball_error(q[3:], goal[3:]))


def _planar_error(q: Scalars, goal: Scalars) -> Scalars:
    x, y, angle = _difference(q, goal)
    c, s = cos(q[2]), sin(q[2])
    return (c * x + s * y, c * y - s * x, angle)


_ERRORS = {"ball": _ball_error, "free": _free_error, "planar": _planar_error}
