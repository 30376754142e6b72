"""Closing loops: damped least squares with limited steps on the manifold of configurations, from many starts.

The Levenberg–Marquardt step δ = −(JᵀJ + λ)⁻¹Jᵀe is limited in length, since the linearisation of a linkage is valid for
a fraction of a radian, and accepted only if it reduces the residual. If a start stalls in a local minimum, another
start is used. The residual of three rotation rows is the logarithm of the rotation, which is valid up to half a turn;
two rotation rows align an axis, which must not be reversed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from appell.errors import ModelError
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.loops.rank import held_still, rank_of
from appell.messages import listed
from appell.model import manifold
from appell.model.closure import Closure
from appell.model.model import WORLD, Model
from appell.once import once_property
from appell.recursion import closure
from appell.recursion.kinematics import Scalars, links, world_poses
from appell.robot.kind import Rank
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import cross, matvec
from appell.trace.tape import Port, trace

REACH = 0.3
"""The longest step: radians, or lengths of the robot."""
ITERATIONS = 200
PATIENCE = 15
"""Consecutive steps that reduce the residual by less than a thousandth, after which a start is abandoned."""
STARTS = 64
"""Random starts, half of them near the first guess, if that one does not lead to closed loops."""
CLOSED = 1e-10
"""Residual, in lengths of the robot, at which loops are closed."""
ROUNDED = 2e-5
"""Residual that rounded numbers of a file may leave in overconstrained loops."""


class ClosureFit(NamedTuple):
    """Configurations and their closure errors: the largest residual, in lengths of the robot and radians."""

    q: Array
    error: Array


@dataclass(frozen=True)
class Assembler:
    """The loops of one model, ready to be closed."""

    model: Model

    @cached_property
    def ties(self) -> tuple[closure.Tie, ...]:
        """Return the closures with their paths."""
        return closure.ties(self.model)

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Return the closure's name and the blocked motion of each row."""
        return [(c.name, row) for c in self.model.closures for row in _rows_of(c)]

    @cached_property
    def size(self) -> float:
        """Return a characteristic length of the robot [m], which makes angles and distances comparable."""
        arms = [np.linalg.norm(body.joint.placement.position) for body in self.model.bodies]
        arms += [np.linalg.norm(f.placement.position) for tie in self.ties for f in (tie.first, tie.second)]
        long = [float(arm) for arm in arms if arm > 0.0]
        return float(np.mean(long)) if long else 1.0

    @cached_property
    def row_scale(self) -> Array:
        """Return the scale that makes each row dimensionless: 1/length for translation rows."""
        return np.array([1.0 / self.size if row in "xyz" else 1.0 for _, row in self.labels])

    @cached_property
    def column_scale(self) -> Array:
        """Return the scale that makes each velocity dimensionless: a length for translations."""
        columns = [c for body in self.model.bodies for c in body.joint.columns]
        return np.array([1.0 if any(c.angular) else self.size for c in columns])

    @cached_property
    def _entries(self) -> list[tuple[int, int]]:
        """Return the entries of the Jacobian whose joint is on one of the closure's two paths; the others are zero."""
        places, row = [], 0
        for tie in self.ties:
            columns = sorted(k for i in (*tie.first_way, *tie.second_way) for k in self.model.velocities(i))
            for _ in tie.closure.rows:
                places += [(row, k) for k in columns]
                row += 1
        return places

    @once_property
    def kernel(self) -> Kernel:
        """Return the native program from q to the poses X_AB of all closures and the entries of the Jacobian."""
        inputs = (Port("q", (self.model.nq,)),)
        outputs = Port("X", (len(self.ties), 3, 4)), Port("J", (len(self._entries),))
        frames = [frame for tie in self.ties for frame in (tie.first, tie.second)]
        bare = replace(self.model, name="", source="", frames=(), configurations=())
        fingerprint = repr((bare, frames))

        def program(q: Scalars) -> Any:
            chain = links(self.model, q)
            poses = [closure.relative_pose(chain, tie) for tie in self.ties]
            flat = [[(*row, x) for row, x in zip(*pose, strict=True)] for pose in poses]
            rows = [row for tie in self.ties for row in closure.rows(self.model, chain, tie)]
            return flat, [rows[i][k] for i, k in self._entries]

        return Kernel(
            ProgramSpec("closure", inputs, outputs, fingerprint, lambda: trace("closure", program, inputs, outputs))
        )

    def gap(self, q: Array) -> tuple[Array, Array]:
        """Return the residual of every row and the Jacobian's rows, dimensionless."""
        poses, entries = self.kernel(np.ascontiguousarray(q, dtype=float))
        whole = [k for k, tie in enumerate(self.ties) if tie.all_turns]
        logarithms = dict(zip(whole, np.moveaxis(_logarithm(poses[..., whole, :, :3]), -2, 0), strict=True))
        parts = [_residual(tie, q, poses[..., k, :, :], logarithms.get(k)) for k, tie in enumerate(self.ties)]
        matrix = np.zeros((*entries.shape[:-1], len(self.labels), self.model.nv))
        if self._entries:
            matrix[..., *np.array(self._entries).T] = entries
        return np.concatenate(parts, axis=-1) * self.row_scale, self.jacobian_scaled(matrix)

    def jacobian_scaled(self, matrix: Array) -> Array:
        """Return a Jacobian (…, rows, nv), dimensionless."""
        scaled: Array = matrix * self.row_scale[:, None] * self.column_scale
        return scaled

    def error(self, q: Array) -> Array:
        """Return the largest residual of every configuration, dimensionless."""
        return np.asarray(np.abs(self.gap(q)[0]).max(axis=-1, initial=0.0))

    def is_closed(self, fit: ClosureFit) -> Array:
        """Return which configurations are closed: to rounding, or as far as the rounded numbers of a file allow.

        Overconstrained loops may leave a residual below `ROUNDED`. It is orthogonal to all motions of the joints, to a
        thousandth; any other residual belongs to a start that has not converged.
        """
        closed = fit.error <= CLOSED
        for i in np.flatnonzero(~closed & (fit.error <= ROUNDED)):
            e, matrix = self.gap(fit.q[i])
            rows, values, _ = np.linalg.svd(matrix)
            count = rank_of(values, self.model.nv)
            closed[i] = count < len(e) and np.linalg.norm(rows[:, :count].T @ e) <= max(CLOSED, 1e-3 * fit.error[i])
        return closed

    def close(self, start: Array, iterations: int = ITERATIONS) -> ClosureFit:
        """Return the configurations (n, nq) that the starts (n, nq) lead to, closed or not."""
        q = np.array(start, dtype=float)
        e, matrix = self.gap(q)
        damping, cost = np.full(len(q), 1e-3), (e * e).sum(-1)
        active, stalls = np.ones(len(q), dtype=bool), np.zeros(len(q), dtype=int)
        for _ in range(iterations):
            at = np.flatnonzero(active)
            if not len(at):
                break
            step = self._step(e[at], matrix[at], damping[at])
            tried = manifold.integrate(self.model, q[at], step * self.column_scale)
            e_new, matrix_new = self.gap(tried)
            cost_new = (e_new * e_new).sum(-1)
            better = cost_new < cost[at]
            gained = at[better]
            progress = np.where(better, 1.0 - cost_new / np.where(cost[at] > 0.0, cost[at], 1.0), 0.0)
            q[gained], e[gained], matrix[gained], cost[gained] = (
                x[better] for x in (tried, e_new, matrix_new, cost_new)
            )
            damping[at] = np.where(better, np.maximum(damping[at] / 5.0, 1e-12), damping[at] * 8.0)
            done = (cost[at] < 1e-30) | (damping[at] > 1e8) | (better & (progress < 1e-9) & (damping[at] < 1e-8))
            stalls[at] = np.where(progress < 1e-3, stalls[at] + 1, 0)
            active[at[done | (stalls[at] > PATIENCE)]] = False
        return ClosureFit(q, np.abs(e).max(-1, initial=0.0))

    def _step(self, e: Array, matrix: Array, damping: Array) -> Array:
        """Return the damped step of every start, capped."""
        if self.model.nv <= e.shape[-1]:
            normal = np.swapaxes(matrix, -1, -2) @ matrix + damping[:, None, None] * np.eye(self.model.nv)
            step = -np.linalg.solve(normal, np.swapaxes(matrix, -1, -2) @ e[..., None])[..., 0]
        else:
            # the same step by the smaller matrix: Jᵀ(JJᵀ + λ)⁻¹
            normal = matrix @ np.swapaxes(matrix, -1, -2) + damping[:, None, None] * np.eye(e.shape[-1])
            step = -(np.swapaxes(matrix, -1, -2) @ np.linalg.solve(normal, e[..., None]))[..., 0]
        longest = np.abs(step).max(-1, keepdims=True, initial=0.0)
        return np.asarray(step * np.minimum(1.0, REACH / np.maximum(longest, 1e-300)))

    def assemble(self, guess: Array, rng: np.random.Generator) -> Array:
        """Return a closed configuration, the one nearest the guess of those that many starts lead to.

        Raises
        ------
        ModelError
            When no start leads to closed loops; the message names the loops that stay open in the best of them.
        """
        fit = self.close(guess[None])
        if fit.error[0] > CLOSED:
            noise = rng.normal(size=(STARTS // 2, self.model.nv)) * np.linspace(0.1, 1.5, STARTS // 2)[:, None]
            near = manifold.integrate(self.model, np.tile(guess, (len(noise), 1)), noise * self.column_scale)
            far = manifold.random(_bounded(self.model), rng, (STARTS - len(noise),))
            others = self.close(np.concatenate([near, far]), ITERATIONS // 4)
            if others.error.min() > CLOSED:  # the best few may need longer
                others = self.close(others.q[np.argsort(others.error)[: STARTS // 8]])
            fit = ClosureFit(np.concatenate([fit.q, others.q]), np.concatenate([fit.error, others.error]))
        closed = np.flatnonzero(fit.error <= CLOSED)
        if not len(closed) and fit.error.min() <= ROUNDED:
            closed = np.flatnonzero(fit.error <= 2.0 * fit.error.min())
        if not len(closed):
            raise ModelError(self._refusal(fit.q[int(np.argmin(fit.error))]))
        away = np.abs(manifold.difference(self.model, np.tile(guess, (len(closed), 1)), fit.q[closed]))
        return np.asarray(fit.q[closed[int(np.argmin((away / self.column_scale).max(-1)))]])

    def _refusal(self, best: Array) -> str:
        """Return the message of loops that cannot be closed."""
        rows = np.abs(self.gap(best)[0] / self.row_scale)
        worst: dict[str, dict[str, float]] = {}
        for (name, row), x in zip(self.labels, rows, strict=True):
            unit = "m" if row in "xyz" else "rad"
            parts = worst.setdefault(name, {})
            parts[unit] = max(parts.get(unit, 0.0), float(x))
        open_ones = {
            name: parts
            for name, parts in worst.items()
            if max(x / (self.size if unit == "m" else 1.0) for unit, x in parts.items()) > ROUNDED
        }
        where = f" of {self.model.source}" if self.model.source else ""
        errors = "; ".join(
            f"'{name}' by " + ", ".join(f"{x:.3g} {unit}" for unit, x in parts.items() if x > 0.0)
            for name, parts in open_ones.items()
        )
        return (
            f"robot '{self.model.name}'{where}: the loops cannot be closed: of {len(worst)} loops {len(open_ones)} "
            f"stay open in the best of {STARTS + 1} starts ({errors}); check the types of these closures and of the "
            "joints between their frames, or use a guess nearer to a closed configuration"
        )


def _rows_of(tie: Closure) -> list[str]:
    return [*tie.rows] if tie.is_coupling else [*("xyz"[k] for k in tie.shifts), *("r" + "xyz"[k] for k in tie.turns)]


def _bounded(model: Model) -> Model:
    """Return the model with limits of rotating joints within one turn, so that random starts are distributed evenly."""
    bodies = []
    for body in model.bodies:
        limits = body.joint.limits
        lower, upper = max(limits.lower, -np.pi), min(limits.upper, np.pi)
        within = replace(limits, lower=lower, upper=upper) if lower < upper else limits
        bodies.append(replace(body, joint=replace(body.joint, limits=within)))
    return replace(model, bodies=tuple(bodies))


def _residual(tie: closure.Tie, q: Array, poses: Array, turn: Array | None) -> Array:
    """Return the residual of one closure's rows from the poses X_AB (…, 3, 4), and the turn where all rows hold it."""
    if tie.terms:
        return np.asarray(sum(x * q[..., i] for i, _, x in tie.terms) - tie.closure.offset)[..., None]
    rotation, position = poses[..., :3], poses[..., 3]
    if tie.closure.is_rolling:
        height = tie.closure.radius * np.sqrt(np.maximum(0.0, 1.0 - rotation[..., 2, 2] ** 2))
        columns = [position[..., 2] - height if k == 2 else 0.0 * position[..., 2] for k in tie.closure.shifts]
        return np.stack(columns, axis=-1)
    columns = [position[..., k] for k in tie.closure.shifts]
    if turn is not None:
        return np.concatenate([np.stack(columns, -1), turn] if columns else [turn], axis=-1)
    turns = tie.closure.turns
    axis = 3 - sum(turns) if len(turns) == 2 else -1
    for sign, j, f in closure.pairs(turns):
        value = sign * rotation[..., j, f]
        if axis >= 0:  # a reversed axis has the largest residual, not zero
            value = np.where(rotation[..., axis, axis] > 0.0, value, np.where(value < 0.0, -2.0 - value, 2.0 - value))
        columns.append(value)
    return np.stack(columns, axis=-1)


def _logarithm(r: Array) -> Array:
    """Return the angle vector of rotations, also near half a turn, where the sines vanish but the cosine does not."""
    sines = np.stack([r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]], -1) / 2.0
    cosine = np.clip((r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2] - 1.0) / 2.0, -1.0, 1.0)[..., None]
    sine = np.linalg.norm(sines, axis=-1, keepdims=True)
    angle = np.arctan2(sine, cosine)
    usual = sines * np.where(sine > 1e-8, angle / np.where(sine > 1e-8, sine, 1.0), 1.0)
    # near half a turn R + Rᵀ − 2c·1 = 2(1 − c) n nᵀ: take n from its longest column, with the sign of the sines
    both = (r + np.swapaxes(r, -1, -2)) / 2.0 - cosine[..., None] * np.eye(3)
    longest = np.argmax(np.diagonal(both, axis1=-2, axis2=-1), axis=-1)
    axis = np.take_along_axis(both, longest[..., None, None], axis=-1)[..., 0]
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    axis = axis / np.where(length > 0.0, length, 1.0)
    axis = axis * np.where((axis * sines).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.asarray(np.where((cosine < -0.9) & (length > 0.0), angle * axis, usual))


def home(model: Model) -> Array:
    """Return the configuration at which closing starts: the model's home, neutral by default."""
    q = manifold.neutral(model)
    given = dict(model.home)
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.name in given:
            q[at] = given[body.joint.name]
    return manifold.integrate(model, q, np.zeros(model.nv))  # a file's quaternion is rounded


ACROSS = 1e-6
"""The smallest sine of the angle between a wheel's axle and the normal of its plane."""


def check_closures(model: Model, q: Array) -> None:
    """Reject closures within one link, and wheels that lie flat at q.

    Raises
    ------
    ModelError
        The message names the closure, its links and the remedy.
    """
    poses = [*world_poses(model, tuple(q.tolist())), Pose()]  # the world comes last, where its index of −1 finds it
    for tie in closure.ties(model):
        if not tie.terms and tie.first.body == tie.second.body:
            raise ModelError(
                f"{_subject(model, tie.closure)} connects two frames of link '{_link(model, tie.first.body)}', which "
                "no joint separates; remove it, or use a frame of another link"
            )
        if tie.closure.is_rolling:
            rotations = [poses[frame.body].then(frame.placement).rotation for frame in (tie.first, tie.second)]
            normal, axle = (matvec(rotation, (0.0, 0.0, 1.0)) for rotation in rotations)
            if np.linalg.norm(cross(normal, axle)) < ACROSS:
                raise ModelError(
                    f"{_subject(model, tie.closure)} is a wheel on link '{_link(model, tie.second.body)}' with its "
                    "axle (z of the second frame) along the normal of its plane (z of the first), so that it cannot "
                    "roll; rotate one of the two frames, or use a home in which the wheel is upright"
                )


def check_mobility(assembler: Assembler, found: Rank) -> None:
    """Reject loops that lock every joint."""
    model = assembler.model
    if found.value == model.nv:
        raise ModelError(
            f"robot '{model.name}': the loops leave no motion (mobility 0): {listed(c.name for c in model.closures)} "
            f"constrain all {model.nv} velocities of the joints {listed(body.joint.name for body in model.bodies)} "
            f"(least singular value {found.kept:.1e} of the largest); remove a closure, use fewer rows ('3d', not "
            "'6d'), or, if the loop should move, write its frames with more digits"
        )


def standstill(assembler: Assembler, configurations: Array, found: Rank) -> tuple[list[str], list[str]]:
    """Return the loops that lock all of their joints, in a robot that moves otherwise, and these joints."""
    model, still = assembler.model, set(held_still(assembler.gap(configurations)[1], found.value))
    loops, bodies = [], set()
    for tie in assembler.ties:
        way = {*tie.first_way, *tie.second_way}
        if still >= {k for i in way for k in model.velocities(i)}:
            loops.append(tie.closure.name)
            bodies |= way
    return loops, [model.bodies[i].joint.name for i in sorted(bodies)]


def _subject(model: Model, tie: Closure) -> str:
    line = f" (line {tie.line})" if tie.line else ""
    return f"robot '{model.name}': closure '{tie.name}'{line} of frames '{tie.first}' and '{tie.second}'"


def _link(model: Model, body: int) -> str:
    return model.base.name if body == WORLD else model.bodies[body].name
