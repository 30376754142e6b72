"""What closures say of a tree's motion: residuals, rows of the Jacobian, and their drift J̇·v.

A closure ties frame A of body a to frame B of body b. Only the joints between them matter, those on the two ways up to
the body where the ways meet. Directions and arms travel up these ways from the tips, body by body, in the bodies' own
axes. So what is simple there (the end of a leg moves across the leg by turning and along it by sliding) stays simple,
and a trace finds the zeros.

    sliding rows      d·(ṗ_B − ṗ_A),  the point being B's, and d an axis of A
    turning rows      d·(ω_B − ω_A);  where fewer than three, σ (b × a)·(ω_B − ω_A), the rate of σ a·b           (1)

with a an axis of A and b one of B (:mod:`appell.model.closure`). Where three sliding rows hold, B's point is A's, and
any three directions do: of A, of B, or of the body where the ways meet. The same goes for three turning rows. A wheel's
lowest point, at ρ from its centre, has

    ρ = −r (n − (n·a) a)/√(1 − (n·a)²),     n: the plane's normal, a: the axle.                                 (2)

On closed loops the rows here are exact, and so are their drifts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from appell.model.closure import Closure
from appell.model.model import WORLD, Frame, Model
from appell.recursion.gibbs import Acceleration, accelerations
from appell.recursion.kinematics import Link, Scalars, Velocity, velocities
from appell.spatial.inertia import NULL
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector, sqrt
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, scale, sub, transpose

Row = dict[int, Scalar]
AXES = ("first", "second", "common")
"""Whose axes the rows of a whole point or of a whole turn are along."""


class Tie(NamedTuple):
    """A closure in a model: its frames, the two ways from their bodies to where they meet, and the axes of its rows."""

    closure: Closure
    first: Frame
    second: Frame
    first_way: tuple[int, ...]
    second_way: tuple[int, ...]
    axes: str = "first"

    @property
    def all_shifts(self) -> bool:
        """Return whether the origins coincide."""
        return len(self.closure.shifts) == 3 and not self.closure.is_rolling

    @property
    def all_turns(self) -> bool:
        """Return whether the axes coincide."""
        return len(self.closure.turns) == 3


def ties(model: Model, axes: str = "first") -> tuple[Tie, ...]:
    """Return the model's closures with the ways between their frames."""
    return tuple(_tie(model, closure, axes) for closure in model.closures)


def _tie(model: Model, closure: Closure, axes: str) -> Tie:
    first, second = model.frame_index[closure.first], model.frame_index[closure.second]
    ways = [tuple(model.ancestors(frame.body)) for frame in (first, second)]
    shared = {*ways[0]} & {*ways[1]}
    a, b = (tuple(i for i in way if i not in shared) for way in ways)
    return Tie(closure, first, second, a, b, axes)


# Carrying vectors and points along the ways


def _raised(chain: Sequence[Link], way: Sequence[int], vector: Vector) -> Vector:
    for i in way:
        vector = chain[i].up(vector)
    return vector


def _lowered(chain: Sequence[Link], way: Sequence[int], vector: Vector) -> Vector:
    for i in reversed(way):
        vector = chain[i].down(vector)
    return vector


def _raised_point(chain: Sequence[Link], way: Sequence[int], point: Vector) -> Vector:
    for i in way:
        point = add(chain[i].position, chain[i].up(point))
    return point


def _lowered_point(chain: Sequence[Link], way: Sequence[int], point: Vector) -> Vector:
    for i in reversed(way):
        point = chain[i].down(sub(point, chain[i].position))
    return point


def _to_first(chain: Sequence[Link], tie: Tie, vector: Vector) -> Vector:
    return _lowered(chain, tie.first_way, _raised(chain, tie.second_way, vector))


def _to_second(chain: Sequence[Link], tie: Tie, vector: Vector) -> Vector:
    return _lowered(chain, tie.second_way, _raised(chain, tie.first_way, vector))


def relative_pose(chain: Sequence[Link], tie: Tie) -> Pose:
    """Return X_AB, the pose of the second frame in the first."""
    columns = transpose(tie.second.placement.rotation)
    turned = [_to_first(chain, tie, column) for column in columns]
    point = _point_in_first(chain, tie, tie.second.placement.position)
    inverse = tie.first.placement.inverse()
    rotation = transpose((turned[0], turned[1], turned[2]))
    return inverse.then(Pose(rotation, point))


def _point_in_first(chain: Sequence[Link], tie: Tie, point: Vector) -> Vector:
    return _lowered_point(chain, tie.first_way, _raised_point(chain, tie.second_way, point))


# Rows of the Jacobian


class _Directions(NamedTuple):
    """Unit vectors once in body a's frame and once in body b's."""

    first: list[Vector]
    second: list[Vector]


def _directions(chain: Sequence[Link], tie: Tie, which: Sequence[int], *, free: bool) -> _Directions:
    """Return the directions of some rows: A's axes, or where the choice is free, those that the tie asks for."""
    axes = tie.axes if free else "first"
    if axes == "common":
        units = [IDENTITY[k] for k in which]
        ways = tie.first_way, tie.second_way
        return _Directions(*([_lowered(chain, way, unit) for unit in units] for way in ways))
    frame = tie.first if axes == "first" else tie.second
    own = [transpose(frame.placement.rotation)[k] for k in which]
    if axes == "first":
        return _Directions(own, [_to_second(chain, tie, d) for d in own])
    return _Directions([_to_first(chain, tie, d) for d in own], own)


def _contact(chain: Sequence[Link], tie: Tie) -> Vector:
    """Return ρ of Eq. (2) in the wheel's body frame."""
    normal = _to_second(chain, tie, transpose(tie.first.placement.rotation)[2])
    axle = transpose(tie.second.placement.rotation)[2]
    lean = dot(normal, axle)
    return scale(-tie.closure.radius / sqrt(1.0 - lean * lean), sub(normal, scale(lean, axle)))


def _arms(chain: Sequence[Link], tie: Tie) -> tuple[Vector, Vector]:
    """Return the point whose sliding the rows stop, in body a's frame and in body b's."""
    second = tie.second.placement.position
    if tie.all_shifts:
        return tie.first.placement.position, second
    if tie.closure.is_rolling:
        second = add(second, _contact(chain, tie))
    return _point_in_first(chain, tie, second), second


def pairs(turns: Sequence[int]) -> Iterator[tuple[float, int, int]]:
    """Yield σ and the axes of A and B of Eq. (1), for one or two turning rows."""
    for i in turns:
        free = 3 - sum(turns) if len(turns) == 2 else (i + 2) % 3
        other = 3 - i - free
        yield (-1.0 if (i + 1) % 3 == other else 1.0), other, free


def _turning(chain: Sequence[Link], tie: Tie) -> _Directions:
    """Return σ (b × a) of every turning row, or its axes where there are three."""
    if tie.all_turns:
        return _directions(chain, tie, range(3), free=True)
    axes_a, axes_b = transpose(tie.first.placement.rotation), transpose(tie.second.placement.rotation)
    result = _Directions([], [])
    for sign, j, f in pairs(tie.closure.turns):
        a, b = axes_a[j], axes_b[f]
        result.first.append(scale(sign, cross(_to_first(chain, tie, b), a)))
        result.second.append(scale(sign, cross(b, _to_second(chain, tie, a))))
    return result


def rows(model: Model, chain: Sequence[Link], tie: Tie) -> list[Row]:
    """Return the rows of one closure, sliding before turning: what each velocity of the tree adds to its motion."""
    sliding = _directions(chain, tie, tie.closure.shifts, free=tie.all_shifts)
    turning = _turning(chain, tie)
    arms = _arms(chain, tie) if tie.closure.shifts else (ZERO, ZERO)
    result: list[Row] = [{} for _ in (*sliding.first, *turning.first)]
    ways = (tie.second_way, 1.0), (tie.first_way, -1.0)
    for (way, sign), side in zip(ways, (1, 0), strict=True):
        _add_rows(model, chain, way, sign, (list(sliding[side]), arms[side], list(turning[side])), result)
    return result


def _add_rows(
    model: Model,
    chain: Sequence[Link],
    way: Sequence[int],
    sign: float,
    carried: tuple[list[Vector], Vector, list[Vector]],
    result: list[Row],
) -> None:
    """Add what the joints of one way contribute, from the tip up: d·l + w·(arm × d), and d·w for turning."""
    sliding, arm, turning = carried
    for i in way:
        for k, column in zip(model.velocities(i), model.bodies[i].joint.columns, strict=True):
            entries = [dot(d, column.linear) + dot(column.angular, cross(arm, d)) for d in sliding]
            entries += [dot(d, column.angular) for d in turning]
            for row, entry in zip(result, entries, strict=True):
                row[k] = sign * entry
        link = chain[i]
        sliding, turning = [link.up(d) for d in sliding], [link.up(d) for d in turning]
        arm = add(link.position, link.up(arm))


# Residuals


def residual(chain: Sequence[Link], tie: Tie) -> list[Scalar]:
    """Return how far the closure is open, a number for each of its rows: along A's axes, and sines of angles.

    A wheel's rows in the plane have no position; theirs are zero.
    """
    rotation, position = relative_pose(chain, tie)
    result: list[Scalar] = [position[k] for k in tie.closure.shifts]
    if tie.closure.is_rolling:
        lean = rotation[2][2]
        height = tie.closure.radius * sqrt(1.0 - lean * lean)
        return [position[2] - height if k == 2 else 0.0 for k in tie.closure.shifts]
    if tie.all_turns:
        r = rotation
        return [*result, 0.5 * (r[2][1] - r[1][2]), 0.5 * (r[0][2] - r[2][0]), 0.5 * (r[1][0] - r[0][1])]
    return [*result, *(sign * rotation[j][f] for sign, j, f in pairs(tie.closure.turns))]


def openness(chain: Sequence[Link], tie: Tie, size: float) -> Scalar:
    """Return how far the closure is open, squared and summed over its rows, lengths in units of `size`.

    Where whole points or whole turns are tied, of what the rows have computed on their way.
    """
    total: Scalar = 0.0
    shifts: Sequence[Scalar] = ()
    turns: Sequence[Scalar] = ()
    if tie.all_shifts:
        first = _raised_point(chain, tie.first_way, tie.first.placement.position)
        shifts = sub(_raised_point(chain, tie.second_way, tie.second.placement.position), first)
    if tie.all_turns:
        own = transpose(tie.second.placement.rotation)
        seen = [_to_second(chain, tie, d) for d in transpose(tie.first.placement.rotation)]
        turns = [dot(seen[(k + 1) % 3], own[(k + 2) % 3]) for k in range(3)]
    if not (shifts and turns) and not (tie.all_shifts and not tie.closure.turns):
        rest = residual(chain, tie)
        shifts = shifts or rest[: len(tie.closure.shifts)]
        turns = turns or rest[len(tie.closure.shifts) :]
    for x in shifts:
        total = total + (x / size) * (x / size)
    for x in turns:
        total = total + x * x
    return total


# Drift


class Motions(NamedTuple):
    """Velocities of all bodies, and their accelerations while no joint accelerates and nothing weighs."""

    velocities: list[Velocity]
    accelerations: list[Acceleration]


def motions(model: Model, chain: list[Link], v: Scalars) -> Motions:
    """Return what the drifts of all closures need."""
    weightless = replace(model, gravity=ZERO)
    return Motions(velocities(model, chain, v), accelerations(weightless, chain, v, (0.0,) * model.nv))


_RESTING = Acceleration(ZERO, ZERO, NULL, ZERO)


def _acceleration(moving: Motions, body: int) -> Acceleration:
    return _RESTING if body == WORLD else moving.accelerations[body]


def _velocity(moving: Motions, body: int) -> Velocity:
    return Velocity(ZERO, ZERO) if body == WORLD else moving.velocities[body]


def drift(chain: Sequence[Link], tie: Tie, moving: Motions) -> list[Scalar]:
    """Return J̇·v of one closure's rows: the rates of its rows while the tree's joints do not accelerate."""
    return [*_sliding_drift(chain, tie, moving), *_turning_drift(chain, tie, moving)]


def _sliding_drift(chain: Sequence[Link], tie: Tie, moving: Motions) -> list[Scalar]:
    a, b = (_acceleration(moving, frame.body) for frame in (tie.first, tie.second))
    if tie.all_shifts:
        directions = _directions(chain, tie, range(3), free=True)
        at_a = add(a.origin, matvec(a.tensor, tie.first.placement.position))
        at_b = add(b.origin, matvec(b.tensor, tie.second.placement.position))
        both = zip(directions.first, directions.second, strict=True)
        return [dot(second, at_b) - dot(first, at_a) for first, second in both]
    if not tie.closure.shifts:
        return []
    gone = _relative(chain, tie, moving, tie.second.placement.position)
    rate = gone.acceleration
    if tie.closure.is_rolling:
        rho, rho_rate = _contact_motion(chain, tie, gone)
        rate = add(rate, add(cross(gone.alpha, rho), cross(gone.omega, rho_rate)))
    axes = transpose(tie.first.placement.rotation)
    return [dot(axes[k], rate) for k in tie.closure.shifts]


class _Relative(NamedTuple):
    """How a point of b and b itself move as seen from a, in body a's frame."""

    velocity: Vector
    acceleration: Vector
    omega: Vector
    alpha: Vector


def _relative(chain: Sequence[Link], tie: Tie, moving: Motions, point: Vector) -> _Relative:
    """Return the motion of b's point as an observer on a sees it: less a's own, and less Coriolis' term 2ω × ṗ."""
    arm = _point_in_first(chain, tie, point)
    (omega_a, speed_a), (omega_b, speed_b) = (_velocity(moving, frame.body) for frame in (tie.first, tie.second))
    a, b = (_acceleration(moving, frame.body) for frame in (tie.first, tie.second))

    def seen(vector: Vector) -> Vector:
        return _to_first(chain, tie, vector)

    velocity = sub(seen(add(speed_b, cross(omega_b, point))), add(speed_a, cross(omega_a, arm)))
    at_b = seen(add(b.origin, matvec(b.tensor, point)))
    rate = sub(at_b, add(a.origin, matvec(a.tensor, arm)))
    omega = sub(seen(omega_b), omega_a)
    alpha = sub(sub(seen(b.alpha), a.alpha), cross(omega_a, omega))
    return _Relative(velocity, sub(rate, scale(2.0, cross(omega_a, velocity))), omega, alpha)


def _contact_motion(chain: Sequence[Link], tie: Tie, gone: _Relative) -> tuple[Vector, Vector]:
    """Return ρ of Eq. (2) and its rate as seen from the plane: the axle turns by ȧ = ω × a, the normal stays."""
    normal = transpose(tie.first.placement.rotation)[2]
    axle = _to_first(chain, tie, transpose(tie.second.placement.rotation)[2])
    axle_rate = cross(gone.omega, axle)
    lean, lean_rate = dot(normal, axle), dot(normal, axle_rate)
    inverse = 1.0 / sqrt(1.0 - lean * lean)
    up = scale(inverse, sub(normal, scale(lean, axle)))
    # d(1/s)/dt = k k̇/s³ with s² = 1 − k²
    changed = add(scale(lean_rate, axle), scale(lean, axle_rate))
    up_rate = add(scale(lean * lean_rate * inverse * inverse, up), scale(-inverse, changed))
    return scale(-tie.closure.radius, up), scale(-tie.closure.radius, up_rate)


def _turning_drift(chain: Sequence[Link], tie: Tie, moving: Motions) -> list[Scalar]:
    if tie.all_turns:
        directions = _directions(chain, tie, range(3), free=True)
        a, b = (_acceleration(moving, frame.body).alpha for frame in (tie.first, tie.second))
        both = zip(directions.first, directions.second, strict=True)
        return [dot(second, b) - dot(first, a) for first, second in both]
    if not tie.closure.turns:
        return []
    gone = _relative(chain, tie, moving, ZERO)
    axes_a, axes_b = transpose(tie.first.placement.rotation), transpose(tie.second.placement.rotation)
    result = []
    for sign, j, f in pairs(tie.closure.turns):
        a, b = axes_a[j], _to_first(chain, tie, axes_b[f])
        # d/dt (b × a)·ω with ȧ = 0 and ḃ = ω × b, as seen from A
        rate = dot(gone.alpha, cross(b, a)) + dot(gone.omega, cross(cross(gone.omega, b), a))
        result.append(sign * rate)
    return result


def wrench(tie: Tie, rows_of: Sequence[Scalar], chain: Sequence[Link]) -> tuple[Scalar, ...]:
    """Return the force and moment on the second body that multipliers of the rows amount to.

    About B's origin (a wheel's lowest point), along A's axes; the first body feels the opposite.
    """
    placement = tie.first.placement
    sliding = _directions(chain, tie, tie.closure.shifts, free=tie.all_shifts).first
    turning = _turning(chain, tie).first
    force, moment = ZERO, ZERO
    for direction, multiplier in zip((*sliding, *turning), rows_of, strict=True):
        if len(sliding):
            force, sliding = add(force, scale(multiplier, direction)), sliding[1:]
        else:
            moment = add(moment, scale(multiplier, direction))
    inverse = Pose(placement.rotation).inverse()
    return (*inverse.apply(force), *inverse.apply(moment))
