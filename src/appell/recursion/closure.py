"""Closures in a tree's motion: residuals, rows of the Jacobian, and their bias accelerations J̇·v.

A closure constrains frame A of body a and frame B of body b. Only the joints between them matter, those on the two
paths up to their common ancestor. Directions and arms are carried along these paths from the tips, body by body, in the
bodies' own axes, which keeps simple expressions simple: the trace finds the zeros.

    sliding rows      d·(ṗ_B − ṗ_A),  the point being B's, and d an axis of A
    turning rows      d·(ω_B − ω_A);  where fewer than three, d = σ (b × a), and the row is the rate of σ a·b    (1)

with a an axis of A and b one of B (:mod:`appell.model.closure`). Where three sliding rows hold, B's point is A's, and
any three directions do: of A, of B, or of the body where the ways meet. The same goes for three turning rows. A wheel's
lowest point, at ρ from its centre, has

    ρ = −r (n − k a)/s,     k = n·a,  s = √(1 − k²),     n: the plane's normal, a: the axle.                    (2)

Seen from A, with ω and u what B's turning and its point's velocity are there, the rows change by

    sliding     d·(p̈_B − p̈_A − 2 ω_A × u),   and on a wheel by  d·(ω̇ × ρ + ω × ρ̇)  more
    turning     d·(ω̇_B − ω̇_A − ω_A × ω) + ḋ·ω,   ḋ = σ (ω × b) × a                                            (3)

where three rows hold, u and ω vanish. On closed loops the rows are exact, and so are their bias accelerations.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from appell.model.closure import Closure
from appell.model.model import Frame, Model
from appell.recursion.gibbs import Acceleration, accelerations
from appell.recursion.kinematics import Link, Scalars, velocities
from appell.recursion.sweep import PerBody, Unrolled
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Scalar, Vector, sqrt
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, matvec_t, scale, sub, transpose

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
    terms: tuple[tuple[int, int, float], ...] = ()
    """Of a coupling: where its joints stand in q and in v, and their coefficients."""

    @property
    def bases(self) -> tuple[Matrix, Matrix]:
        """Return the axes of both frames, in their bodies' axes."""
        return transpose(self.first.placement.rotation), transpose(self.second.placement.rotation)

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
    if closure.is_coupling:
        index = {body.joint.name: i for i, body in enumerate(model.bodies)}
        bodies = tuple(index[name] for name, _ in closure.coupling)
        places = ((model.q_slices[i].start, model.v_slices[i].start) for i in bodies)
        terms = tuple((*place, x) for place, (_, x) in zip(places, closure.coupling, strict=True))
        return Tie(closure, first, second, bodies, (), axes, terms)
    ways = [tuple(model.ancestors(frame.body)) for frame in (first, second)]
    a, b = (tuple(i for i in way if i not in other) for way, other in (ways, ways[::-1]))
    return Tie(closure, first, second, a, b, axes)


def _carried(
    chain: Sequence[Link], vector: Vector, up: Sequence[int], down: Sequence[int], weight: float = 0.0
) -> Vector:
    """Return a vector, or with weight 1 a point, of the tip of one way in the axes of the tip of another."""
    if up == down:
        return vector
    for i in up:
        vector = add(scale(weight, chain[i].position), chain[i].up(vector))
    for i in reversed(down):
        vector = chain[i].down(sub(vector, scale(weight, chain[i].position)))
    return vector


# Rows of the Jacobian


class End(NamedTuple):
    """One end of a closure in its body's axes: directions of sliding, the point that slides, directions of turning."""

    sliding: list[Vector]
    arm: Vector
    turning: list[Vector]

    def rows(self, linear: Vector, angular: Vector) -> list[Scalar]:
        """Return a motion of the body along every row: that of the arm's point, and the body's turning."""
        return [dot(d, linear) for d in self.sliding] + [dot(d, angular) for d in self.turning]

    def up(self, link: Link) -> End:
        """Return the end in the axes of the parent of its body."""
        arm = add(link.position, link.up(self.arm))
        return End([link.up(d) for d in self.sliding], arm, [link.up(d) for d in self.turning])


def _ends(chain: Sequence[Link], tie: Tie) -> tuple[End, End]:
    """Return the ends A and B of a closure; of a wheel, with the arm of its centre."""
    axes_a, axes_b = tie.bases
    bases = {"first": (axes_a, tie.first_way), "second": (axes_b, tie.second_way), "common": (IDENTITY, ())}

    def end(way: tuple[int, ...], arm: Vector) -> End:
        def along(which: Sequence[int], axes: str) -> list[Vector]:
            basis, since = bases[axes]
            return [_carried(chain, basis[k], since, way) for k in which]

        def across(sign: float, j: int, f: int) -> Vector:
            a, b = _carried(chain, axes_a[j], tie.first_way, way), _carried(chain, axes_b[f], tie.second_way, way)
            return scale(sign, cross(b, a))

        turns = tie.closure.turns
        turning = along(turns, tie.axes) if tie.all_turns else [across(*pair) for pair in pairs(turns)]
        return End(along(tie.closure.shifts, tie.axes if tie.all_shifts else "first"), arm, turning)

    point = tie.second.placement.position
    seen = _carried(chain, point, tie.second_way, tie.first_way, 1.0)
    return end(tie.first_way, tie.first.placement.position if tie.all_shifts else seen), end(tie.second_way, point)


def pairs(turns: Sequence[int]) -> Iterator[tuple[float, int, int]]:
    """Yield σ and the axes of A and B of Eq. (1), for one or two turning rows."""
    for i in turns:
        free = 3 - sum(turns) if len(turns) == 2 else (i + 2) % 3
        other = 3 - i - free
        yield (-1.0 if (i + 1) % 3 == other else 1.0), other, free


def rows(model: Model, chain: Sequence[Link], tie: Tie) -> list[Row]:
    """Return the rows of one closure, sliding before turning: what each velocity of the tree adds to its motion."""
    if tie.terms:
        return [{k: x for _, k, x in tie.terms}]
    result: list[Row] = [{} for _ in tie.closure.rows]
    first, second = _ends(chain, tie)
    for tip, way, sign in ((second, tie.second_way, 1.0), (first, tie.first_way, -1.0)):
        end = tip._replace(arm=add(tip.arm, _contact(chain, tie, way))) if tie.closure.is_rolling else tip
        for i in way:
            for k, (angular, linear) in zip(model.velocities(i), model.bodies[i].joint.columns, strict=True):
                sliding = [dot(d, linear) + dot(angular, cross(end.arm, d)) for d in end.sliding]
                for row, entry in zip(result, [*sliding, *(dot(d, angular) for d in end.turning)], strict=True):
                    row[k] = sign * entry
            end = end.up(chain[i])
    return result


def _contact(chain: Sequence[Link], tie: Tie, way: Sequence[int]) -> Vector:
    """Return ρ of Eq. (2) in the axes of the tip of a way."""
    (*_, normal), (*_, axle) = tie.bases
    normal, axle = _carried(chain, normal, tie.first_way, way), _carried(chain, axle, tie.second_way, way)
    lean = dot(normal, axle)
    return scale(-tie.closure.radius / sqrt(1.0 - lean * lean), sub(normal, scale(lean, axle)))


def wrench(tie: Tie, rows_of: Sequence[Scalar], chain: Sequence[Link]) -> tuple[Scalar, ...]:
    """Return the force and moment on the second body of given multipliers.

    About B's origin (a wheel's lowest point), along A's axes; the first body feels the opposite. A coupling has none.
    """
    if tie.terms:
        return (0.0,) * 6
    end, count = _ends(chain, tie)[0], len(tie.closure.shifts)

    def total(directions: Sequence[Vector], multipliers: Sequence[Scalar]) -> Vector:
        parts = (scale(x, d) for d, x in zip(directions, multipliers, strict=True))
        return matvec_t(tie.first.placement.rotation, functools.reduce(add, parts, ZERO))

    return (*total(end.sliding, rows_of[:count]), *total(end.turning, rows_of[count:]))


# Residuals


def relative_pose(chain: Sequence[Link], tie: Tie) -> Pose:
    """Return X_AB, the pose of the second frame in the first; that of a coupling means nothing."""
    if tie.terms:
        return Pose()
    rotation, position = tie.second.placement
    x, y, z = (_carried(chain, axis, tie.second_way, tie.first_way) for axis in transpose(rotation))
    point = _carried(chain, position, tie.second_way, tie.first_way, 1.0)
    return tie.first.placement.inverse().then(Pose(transpose((x, y, z)), point))


def residual(chain: Sequence[Link], tie: Tie, q: Scalars) -> list[Scalar]:
    """Return the closure error, one number per row: along A's axes, and sines of angles.

    A wheel's rows in the plane have no position; theirs are zero.
    """
    if tie.terms:
        return [sum((x * q[i] for i, _, x in tie.terms), -tie.closure.offset)]
    r, position = relative_pose(chain, tie)
    if tie.closure.is_rolling:
        height = tie.closure.radius * sqrt(1.0 - r[2][2] * r[2][2])
        return [position[2] - height if k == 2 else 0.0 for k in tie.closure.shifts]
    turns = [sign * r[j][f] for sign, j, f in pairs(tie.closure.turns)]
    if tie.all_turns:
        turns = [0.5 * (r[2][1] - r[1][2]), 0.5 * (r[0][2] - r[2][0]), 0.5 * (r[1][0] - r[0][1])]
    return [*(position[k] for k in tie.closure.shifts), *turns]


def openness(chain: Sequence[Link], tie: Tie, size: float, q: Scalars) -> Scalar:
    """Return the squared closure error, summed over its rows, lengths in units of `size`.

    Where whole points or whole turns are tied, of what the rows have computed on their way.
    """
    count, rest = len(tie.closure.shifts), residual(chain, tie, q)
    shifts, turns = rest[:count], rest[count:]
    if tie.all_shifts:
        ends = (tie.first, tie.first_way), (tie.second, tie.second_way)
        a, b = (_carried(chain, frame.placement.position, way, (), 1.0) for frame, way in ends)
        shifts = [*sub(b, a)]
    if tie.all_turns:
        axes_a, axes_b = tie.bases
        seen = [_carried(chain, d, tie.first_way, tie.second_way) for d in axes_a]
        turns = [dot(seen[(k + 1) % 3], axes_b[(k + 2) % 3]) for k in range(3)]
    total: Scalar = 0.0
    for x in (*(x / size for x in shifts), *turns):
        total = total + x * x
    return total


# Bias accelerations


class Motions(NamedTuple):
    """Velocities of all bodies, and their accelerations while no joint accelerates and nothing weighs.

    The world's come last, where its index of −1 finds them.
    """

    velocities: PerBody
    accelerations: PerBody

    def at(self, body: int, arm: Vector) -> tuple[Vector, Vector, Acceleration]:
        """Return velocity and acceleration of a body's point, and the motion of the body."""
        motion = self.accelerations[body]
        velocity = add(self.velocities[body].linear, cross(motion.omega, arm))
        return velocity, add(motion.origin, matvec(motion.tensor, arm)), motion


def motions(model: Model, chain: list[Link], v: Scalars) -> Motions:
    """Return what the bias accelerations of all closures need."""
    tree = Unrolled(replace(model, gravity=ZERO), (), lambda: chain)
    unforced = accelerations(tree, v, (0.0,) * model.nv)
    return Motions(velocities(tree, v), unforced)


def bias_acceleration(chain: Sequence[Link], tie: Tie, moving: Motions) -> list[Scalar]:
    """Return J̇·v of one closure's rows, Eq. (3): their rates while the tree's joints do not accelerate."""
    if tie.terms:
        return [0.0]
    first, second = _ends(chain, tie)
    velocity_a, rate_a, a = moving.at(tie.first.body, first.arm)
    velocity_b, rate_b, b = moving.at(tie.second.body, second.arm)

    def seen(vector: Vector) -> Vector:
        return _carried(chain, vector, tie.second_way, tie.first_way)

    omega, sliding, turning = sub(seen(b.omega), a.omega), ZERO, ZERO
    if not tie.all_shifts:
        sliding = scale(-2.0, cross(a.omega, sub(seen(velocity_b), velocity_a)))
    if not tie.all_turns:
        turning = cross(omega, a.omega)
    if tie.closure.is_rolling:
        alpha = add(sub(seen(b.alpha), a.alpha), turning)
        rho = _contact(chain, tie, tie.first_way)
        sliding = add(sliding, add(cross(alpha, rho), cross(omega, _contact_rate(chain, tie, omega, rho))))
    terms = second.rows(rate_b, b.alpha), first.rows(rate_a, a.alpha), first.rows(sliding, turning)
    result = [x - y + z for x, y, z in zip(*terms, strict=True)]
    if not tie.all_turns:
        axes_a, axes_b = tie.bases
        for k, (sign, j, f) in enumerate(pairs(tie.closure.turns), start=len(first.sliding)):
            result[k] = result[k] + sign * dot(omega, cross(cross(omega, seen(axes_b[f])), axes_a[j]))
    return result


def _contact_rate(chain: Sequence[Link], tie: Tie, omega: Vector, rho: Vector) -> Vector:
    """Return ρ̇ as seen from A: the axle turns by ȧ = ω × a, the normal n = k a − s ρ/r stays."""
    normal, axle = tie.bases[0][2], _carried(chain, tie.bases[1][2], tie.second_way, tie.first_way)
    rate = cross(omega, axle)
    lean, lean_rate = dot(normal, axle), dot(normal, rate)
    inverse = 1.0 / sqrt(1.0 - lean * lean)
    # ρ̇ = r/s (k̇ a + k ȧ) + k k̇/s² ρ
    changed = add(scale(lean_rate, axle), scale(lean, rate))
    return add(scale(tie.closure.radius * inverse, changed), scale(lean * lean_rate * inverse * inverse, rho))
