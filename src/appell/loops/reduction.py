"""Closed loops without multipliers: independent quasi-velocities v, v_tree = Γ(q)·v, and the tree's Gibbs function.

The closures require J_d v_d = −J_i v, so that v_tree = Γv and a_tree = Γa + γ with

    J_d γ_d = −J̇v_tree,   γ_i = 0.                                                                         (1)

S is differentiated by a instead of a_tree. By the chain rule ∂S/∂a = Γᵀ ∂S/∂a_tree, and the results of the tree's
recursions need neither multipliers nor forces in the cut joints (:mod:`appell.robot.verbs.embedding`). Γ itself is
seldom formed: Γv is a solution with the factors of J_d, and Γᵀf = f_i − J_iᵀ J_d⁻ᵀ f_d is one with their transposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from appell.loops.structure import Structure
from appell.model.model import Model
from appell.recursion import closure, elimination, forward
from appell.recursion.kinematics import Scalars, links
from appell.recursion.rates import coordinate_rates, speeds
from appell.robot.verbs.coordinates import normalised, quaternion_places, tracking_error
from appell.robot.verbs.embedding import Actuation, Forces, Posture, dot
from appell.spatial.scalar import Scalar
from appell.trace.derive import along


@dataclass(frozen=True)
class Loops:
    """A closed robot: frames of its closures, a model of its dynamics, and the structure of its loops."""

    frames: Model
    dynamics: Model
    structure: Structure
    filed: Loops | None = None
    """The loops in the frames of the file and the first frames' axes, in which they are closed; these where none."""

    def at(self, q: Scalars) -> Posture:
        """Return a configuration with its loops factorised."""
        return self.posture(q)

    def posture(self, q: Scalars) -> ClosedPosture:
        """Return a configuration with its loops factorised."""
        return ClosedPosture(self, q)

    def tracking_error(self, q: Scalars, goal: Scalars) -> Scalars:
        """Return goal ⊖ q of the velocities whose accelerations inverse dynamics takes."""
        error = tracking_error(self.frames, q, goal)
        return tuple(error[k] for k in self.structure.driven)

    def finished(self, q: Scalars) -> Forces:
        """Return q after one Newton step towards closed loops."""
        return closing_step(self.filed or self, q)[0]

    def weightless(self) -> Loops:
        """Return the robot without gravity and springs."""
        return replace(self, dynamics=self.dynamics.weightless())


class _Sharing(NamedTuple):
    """λ, the passive accelerations, the rows of Γ_aᵀW⁻¹ in units of the mean of W⁻¹, and the factors of the system."""

    multipliers: Scalars
    passive: Scalars
    eased: list[list[Scalar]]
    factors: elimination.Factors


class ClosedPosture(Posture):
    """A robot with loops at q: links, the closures' rows, and the factors of J_d."""

    def __init__(self, loops: Loops, q: Scalars) -> None:
        frames, structure = loops.frames, loops.structure
        self.loops, self.model, self.own, self.q = loops, loops.dynamics, q, q
        self.n, self.n_driven = len(structure.independent), structure.n_driven
        self.n_actuators = len(structure.actuated)
        self.chain = links(frames, q)
        self.ties = closure.ties(frames, structure.axes)
        rows = [row for tie in self.ties for row in closure.rows(frames, self.chain, tie)]
        needed = set(structure.order.rows)
        self.rows: list[closure.Row] = [
            {k: x for k, x in row.items() if (i, k) not in structure.zeros} if i in needed else {}
            for i, row in enumerate(rows)
        ]
        self.factors = elimination.factorise(self.rows, structure.order)

    def pivot_growth(self, size: float, weight: float) -> Scalar:
        """Return the mean of (usual pivot / pivot)²: about 1, and large where a pivot is small.

        Loops that are open add (distance / size)² and angle², times a weight.
        """
        total = _growth(self.factors, self.loops.structure.pivots)
        if weight:
            for tie in self.ties:
                total = total + weight * closure.openness(self.chain, tie, size, self.q)
        return total

    def regularity(self) -> Scalar:
        """Return det J_d in units of its usual pivots: about ±1, with a sign change at a singularity."""
        product: Scalar = 1.0
        for inverse, usual in zip(self.factors.inverse, self.loops.structure.pivots, strict=True):
            product = product * (usual * inverse)
        return 1.0 / product

    # Γ

    def _completed(self, v: Sequence[Scalar], biases: Sequence[Scalar] | None = None) -> Scalars:
        """Return Γv, or Γv + γ where J̇v_tree is given."""
        independent = self.loops.structure.independent
        right: list[Scalar] = [0.0] * len(self.rows)
        for r in self.loops.structure.order.rows:
            total = biases[r] if biases is not None else 0.0
            for k, x in zip(independent, v, strict=True):
                if k in self.rows[r]:
                    total = total + self.rows[r][k] * x
            right[r] = -total
        solved = elimination.solve(self.factors, right)
        own = dict(zip(independent, v, strict=True))
        return tuple(own[k] if k in own else solved[k] for k in range(self.loops.frames.nv))

    def velocities(self, v: Scalars) -> Scalars:
        """Return Γv."""
        return self._completed(v)

    def accelerations(self, v: Scalars, moving: Scalars, a: Scalars) -> Scalars:
        """Return Γa + γ, Eq. (1)."""
        bodies = closure.motions(self.loops.frames, self.chain, moving)
        return self._completed(a, [x for tie in self.ties for x in closure.bias_acceleration(self.chain, tie, bodies)])

    def gathered(self, forces: Forces) -> Forces:
        """Return Γᵀf."""
        structure = self.loops.structure
        multipliers = elimination.solve_transposed(self.factors, {k: forces[k] for k in structure.dependent})
        result = []
        for k in structure.independent:
            total = forces[k]
            for r, multiplier in multipliers.items():
                if k in self.rows[r]:
                    total = total - self.rows[r][k] * multiplier
            result.append(total)
        return result

    def turned(self, v: Scalars, moving: Scalars, columns: Sequence[Scalars]) -> list[Forces]:
        """Return Γ̇x for several columns Γx, from J_d Γ̇_d = −J̇Γ."""
        direction = list(zip(self.q, self.rates(v, moving), strict=True))
        order = self.loops.structure.order
        places = [(r, k) for r in order.rows for k in self.rows[r]]
        entries = along([self.rows[r][k] for r, k in places], [direction])
        changes = dict(zip(places, (x for (x,) in entries), strict=True))
        turned: list[Forces] = []
        for column in columns:
            right: list[Scalar] = [0.0] * len(self.rows)
            for r in order.rows:
                right[r] = -dot([changes[r, k] for k in self.rows[r]], [column[k] for k in self.rows[r]])
            solved = elimination.solve(self.factors, right)
            turned.append([solved.get(k, 0.0) for k in range(self.loops.frames.nv)])
        return turned

    def rates(self, v: Scalars, moving: Scalars) -> Scalars:
        """Return q̇ of the tree."""
        return coordinate_rates(self.loops.frames, self.q, moving)

    def speeds(self, rates: Scalars) -> Scalars:
        """Return the independent ones of the tree's velocities."""
        every = speeds(self.loops.frames, self.q, rates)
        return tuple(every[k] for k in self.loops.structure.independent)

    # Actuators

    def pushed(self, tau: Scalars) -> Forces:
        """Return Γ_aᵀτ."""
        if self.loops.structure.is_plain:
            return (*tau, *(0.0 for _ in self.loops.structure.passive))
        return [dot(row, tau) for row in self._motor_rows()]

    def _motor_rows(self) -> list[list[Scalar]]:
        """Return Γ_aᵀ: the actuator velocities of each independent unit velocity."""
        return [[column[k] for k in self.loops.structure.actuated] for column in self.columns(range(self.n))]

    def actuated(self, total: Forces, shares: Sequence[Forces], weights: Scalars = ()) -> Actuation:
        """Return actuator forces and passive accelerations from Γ_aᵀτ − M_p a_p = total."""
        structure = self.loops.structure
        if structure.is_redundant:
            return self._shared(total, shares, weights)
        m, passive = len(structure.actuated), range(len(structure.actuated), self.n)
        if not structure.is_plain:
            motors = self._motor_rows()
            matrix = [dict(enumerate((*motors[k], *(-s[k] for s in shares)))) for k in range(self.n)]
            factors = elimination.factorise(matrix, structure.driving)
            solved = elimination.solve(factors, total)
            growth = partial(_growth, factors, structure.driving_pivots)
            return Actuation([solved[k] for k in range(m)], tuple(solved[k] for k in passive), growth)
        if not passive:
            return Actuation(total)
        block = tuple(tuple(share[k] for share in shares) for k in passive)
        free = forward.solve(block, list(range(-1, len(passive) - 1)), tuple(-total[k] for k in passive))
        return Actuation([total[k] + dot([share[k] for share in shares], free) for k in range(m)], free)

    def _shared(self, total: Forces, shares: Sequence[Forces], weights: Scalars) -> Actuation:
        """Return the actuator forces of least τᵀWτ: τ = W⁻¹Γ_a λ, and M_pᵀλ = 0."""
        found = self._sharing(total, shares, weights)
        forces = [dot(column, found.multipliers) for column in zip(*found.eased, strict=True)]
        return Actuation(forces, found.passive, partial(_growth, found.factors, self.loops.structure.driving_pivots))

    def multipliers(self, total: Forces) -> Scalars:
        """Return λ of redundant actuators, τ = Γ_a λ, where there are no passive modes."""
        return self._sharing(total, (), ()).multipliers

    def _sharing(self, total: Forces, shares: Sequence[Forces], weights: Scalars) -> _Sharing:
        motors, n = self._motor_rows(), self.n
        eased = motors
        if weights:
            mean = sum(weights[1:], start=weights[0]) / len(weights)  # pivots stay of their usual size
            eased = [[x * (mean / w) for x, w in zip(row, weights, strict=True)] for row in motors]
        rows = [[dot(row, other) for other in eased] + [-share[k] for share in shares] for k, row in enumerate(motors)]
        rows += [[*share, *(0.0 for _ in shares)] for share in shares]
        factors = elimination.factorise([dict(enumerate(row)) for row in rows], self.loops.structure.driving)
        solved = elimination.solve(factors, [*total, *(0.0 for _ in shares)])
        passive = tuple(solved[n + k] for k in range(len(shares)))
        return _Sharing(tuple(solved[k] for k in range(n)), passive, eased, factors)

    def held(self, forces: Scalars, actuators: Forces) -> Sequence[Forces]:
        """Return the force and moment of each closure on its second frame's body, in the first frame's axes."""
        structure, loads = self.loops.structure, list(forces)
        for k, push in zip(structure.actuated, actuators, strict=True):
            loads[k] = loads[k] - push
        multipliers = elimination.solve_transposed(self.factors, {k: loads[k] for k in structure.dependent})
        result, start = [], 0
        for tie in self.ties:
            count = len(tie.closure.rows)
            own = [multipliers.get(r, 0.0) for r in range(start, start + count)]
            result.append(closure.wrench(tie, own, self.chain))
            start += count
        return result


def _growth(factors: elimination.Factors, pivots: Sequence[float]) -> Scalar:
    """Return the mean of (usual pivot / pivot)²."""
    total: Scalar = 0.0
    for inverse, usual in zip(factors.inverse, pivots, strict=True):
        total = total + (usual * inverse) * (usual * inverse)
    return total / len(pivots) if pivots else 1.0


def closing_step(loops: Loops, q: Scalars) -> tuple[Forces, Forces]:
    """Return q after one step of Newton's towards closed loops, and the residuals that it starts from.

    The independent coordinates are kept, and determine the closed configuration.
    """
    frames, order = loops.frames, loops.structure.closing
    chain = links(frames, q)
    ties = closure.ties(frames)
    rows = [row for tie in ties for row in closure.rows(frames, chain, tie)]
    rows = [{k: x for k, x in row.items() if (i, k) not in loops.structure.zeros} for i, row in enumerate(rows)]
    residuals = [x for tie in ties for x in closure.residual(chain, tie, q)]
    solved = elimination.solve(elimination.factorise(rows, order), [-x for x in residuals])
    rates = coordinate_rates(frames, q, tuple(solved.get(k, 0.0) for k in range(frames.nv)))
    closer = [x + rate for x, rate in zip(q, rates, strict=True)]
    return normalised(quaternion_places(frames), closer), [residuals[r] for r in order.rows]
