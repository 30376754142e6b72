"""One step of inverse kinematics as a program: residuals, Jacobians, and a damped Gauss–Newton step within limits.

The cost is |e|² + Σ w²p² for the weighted residuals e of frames and the centre of mass, with Jacobian J, and the
residuals p of postures, whose Jacobian is the identity. The step of K. Levenberg and D. Marquardt minimises
|e + Jδ|² + Σ w²(p + δ)² + λ|δ|². With K = 1/(w² + λ) for joints that are free to move and 0 for joints that their
limits stop,

    δ₀ = −K w²p,    δ = δ₀ − K Jᵀ(1 + J K Jᵀ)⁻¹(e + Jδ₀),

a system as large as there are rows in e, whatever the number of joints. A trial that lowers the cost is accepted, and λ
follows the share of the predicted decrease that was found. The program keeps J, e and p of the last accepted
configuration, so that a rejected trial costs one evaluation.

One native call runs many steps on many samples.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.kernels.runtime.stepping import run_steps
from appell.once import once
from appell.program.nodes import Loop, Program
from appell.program.stepping import Fragment, Keep, Stepping, now, part
from appell.recursion import kinematics, momentum
from appell.recursion.forward import cholesky, solve_cholesky
from appell.recursion.kinematics import Scalars
from appell.robot.kind import FILE
from appell.robot.robot import Robot
from appell.robot.verbs.embedding import Embedding, Matrix, Posture, dot
from appell.spatial.scalar import Array, Scalar, Vector, select, sqrt
from appell.spatial.scalar import Matrix as Rotation
from appell.spatial.vector import IDENTITY, matmul, transpose
from appell.trace.tape import Port

# Residuals of tasks and their Jacobians, on scalars of any type

_TERMS = 12
"""Terms of the arctangent's series up to tan(π/16): the next one is below rounding."""


class TaskResidual(NamedTuple):
    """Three numbers, zero at the target, and their derivatives by the independent velocities."""

    value: Sequence[Scalar]
    rows: Matrix


def position(at: Posture, goal: Sequence[Scalar], frame: str) -> TaskResidual:
    """Return p − p_goal in world axes, and its Jacobian."""
    pose = kinematics.pose(at.model, at.q, frame)
    value = [pose[k][3] - goal[k] for k in range(3)]
    return TaskResidual(value, at.reduced_columns(kinematics.jacobian(at.model, at.q, frame)[:3]))


def centre_of_mass(at: Posture, goal: Sequence[Scalar], _: None) -> TaskResidual:
    """Return c − c_goal in world axes, and its Jacobian: that of the momentum, divided by the mass."""
    value = [x - y for x, y in zip(momentum.centre_of_mass(at.model, at.q), goal, strict=True)]
    mass = momentum.total_mass(at.model)
    rows = [[x / mass for x in row] for row in momentum.momentum_matrix(at.model, at.q)[:3]]
    return TaskResidual(value, at.reduced_columns(rows))


def orientation(at: Posture, goal: Sequence[Scalar], frame: str) -> TaskResidual:
    """Return the rotation vector e of R_goalᵀR, and its Jacobian J_l⁻¹(e) R_goalᵀ J_ω."""
    turned = transpose((tuple(goal[:3]), tuple(goal[3:6]), tuple(goal[6:])))
    pose = kinematics.pose(at.model, at.q, frame)
    R = tuple(tuple(row[:3]) for row in pose[:3])
    value, inverse = logarithm(matmul(turned, R))  # type: ignore[arg-type]  # three rows of three
    angular = at.reduced_columns(kinematics.jacobian(at.model, at.q, frame)[3:])
    columns = list(zip(*angular, strict=True))
    return TaskResidual(value, [[dot(row, column) for column in columns] for row in matmul(inverse, turned)])


def logarithm(R: Rotation) -> tuple[Vector, Rotation]:
    """Return the rotation vector e of a rotation, and J_l⁻¹(e), which takes the angular velocity to ė.

    The quaternion is taken from the largest of its four squares, so that half a turn is no exception. With
    t = tan(θ/16), which two roots give from s = sin(θ/2) and w = cos(θ/2), θ = 16 atan t is a short series:

        e = (θ/s)·(x, y, z),    J_l⁻¹ = 1 − ½[e]ₓ + c [e]ₓ²,    c = (1 − (θ/2) cot(θ/2)) / θ².
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    squares = [1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i]
    choices = [
        (h - f, c - g, d - b, squares[0]),
        (squares[1], b + d, c + g, h - f),
        (b + d, squares[2], f + h, c - g),
        (c + g, f + h, squares[3], d - b),
    ]
    largest, numbers = squares[0], choices[0]
    for square, other in zip(squares[1:], choices[1:], strict=True):
        is_larger = square - largest
        largest = select(is_larger, square, largest)
        numbers = tuple(select(is_larger, new, old) for new, old in zip(other, numbers, strict=True))
    scale = 0.5 / sqrt(largest)
    scale = select(numbers[3], scale, -scale)  # the shorter way round
    x, y, z, w = (scale * number for number in numbers)
    s2 = x * x + y * y + z * z
    ratio = 1.0 / (1.0 + w)  # tan(θ/4) / s, and by halves tan(θ/16) / s
    for _ in range(2):
        ratio = ratio / (1.0 + sqrt(1.0 + s2 * (ratio * ratio)))
    u = s2 * (ratio * ratio)
    series: Scalar = 1.0 / (2 * _TERMS - 1)
    for k in reversed(range(1, _TERMS)):
        series = 1.0 / (2 * k - 1) - u * series
    factor = 16.0 * ratio * series  # θ/s
    vector = (factor * x, factor * y, factor * z)
    square = factor * factor * s2
    near = 1.0 / 12.0 + square * (1.0 / 720.0 + square / 30240.0)
    is_large = square - 1e-4
    curved = select(is_large, (1.0 - 0.5 * factor * w) / select(is_large, square, 1.0), near)
    return vector, _inverse_left_jacobian(vector, square, curved)


def _inverse_left_jacobian(e: Vector, square: Scalar, curved: Scalar) -> Rotation:
    """Return 1 − ½[e]ₓ + c(e eᵀ − |e|²)."""
    x, y, z = (0.5 * part for part in e)
    skew = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))
    rest = 1.0 - curved * square
    rows = [
        tuple(curved * (e[i] * e[j]) + skew[i][j] + (rest if IDENTITY[i][j] else 0.0) for j in range(3))
        for i in range(3)
    ]
    return rows[0], rows[1], rows[2]


# The program

_CAP = 0.5
"""The longest step of a joint [rad or m]: about as far as a linearisation holds."""
_CLOSINGS = 4
"""Newton steps that close the loops of a trial."""
_OPEN = 1e-6
"""Residual of loops [m, rad] before the last of them, above which a trial is rejected."""
_DAMPING = (1e-14, 1e9)
"""Bounds of λ, as a share of the trace of JJᵀ."""
_FLOOR = 1e-8
"""The least λ of bold steps."""
START = 1e-3
"""λ of the first step."""
FRAMES = {"Position": (position, 3), "Orientation": (orientation, 9), "CentreOfMass": (centre_of_mass, 3)}
"""By the name of a task: what gives its three residuals, and the numbers of its target. The others are postures."""


class TaskOutline(NamedTuple):
    """What shapes the program: the class and frame of each task."""

    tasks: tuple[tuple[str, str | None], ...]


class DescentSettings(NamedTuple):
    """The numbers that all samples share.

    Weights of the residuals, 1 for those that count towards their task's tolerance and 0 for the others, tolerances per
    task, limits of the joints with one coordinate, and the damping of bold steps: those are accepted whatever the cost,
    with λ this share of |e|². At 0 a step must lower the cost.
    """

    weight: Array
    mask: Array
    tolerance: Array
    lower: Array
    upper: Array
    bold: Array


class Single(NamedTuple):
    """An independent velocity that is the rate of one coordinate: places in v and in q."""

    v: int
    q: int


class Descent(NamedTuple):
    """Where some steps led: configurations, cost, λ, the norms of the residuals, the last step and the steps taken."""

    q: Array
    cost: Array
    damping: Array
    residuals: Array
    step: Array
    taken: NDArray[np.int_]


class _Layout:
    """The slots of the program."""

    def __init__(self, robot: Robot, outline: TaskOutline) -> None:
        self.singles = singles(robot)
        self.is_closed = bool(robot.closure_names)
        n, rows = robot.nv, sum(3 for name, _ in outline.tasks if name in FRAMES)
        goals = [FRAMES[name][1] if name in FRAMES else len(self.singles) for name, _ in outline.tasks]
        widths = [3 if name in FRAMES else len(self.singles) for name, _ in outline.tasks]
        self.goals, self.widths = _slices(goals), _slices(widths)
        count, limits = sum(widths), len(self.singles)
        q = Port("q", (robot.nq,))
        self.states = (
            q,
            Port("trial", q.shape),
            Port("progress", (5,)),  # cost, predicted decrease, λ, longest entry of the step, steps taken
            Port("errors", (len(outline.tasks),)),
            *((Port("gap", (robot.facts.sizes["r"],)),) if self.is_closed else ()),
        )
        sizes = (count, count, len(outline.tasks), limits, limits, 1)  # of Settings
        self.settings = _slices(sizes)
        self.fixed = (Port("goal", (sum(goals),)), Port("settings", (sum(sizes),)))
        postures = sum(name not in FRAMES for name, _ in outline.tasks)
        self.scratch = (
            Port("J", (rows, n)),
            Port("e", (rows,)),
            Port("p", (postures * limits,)),
            Port("rates", (robot.nq, n)),
        )


def singles(robot: Robot) -> list[Single]:
    """Return the independent velocities that are rates of one coordinate."""
    places = robot.places("q")
    return [Single(k, places[x][0]) for k, x in enumerate(robot.independent) if len(places.get(x, ())) == 1]


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = list(itertools.accumulate(sizes, initial=0))
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


class _Held(NamedTuple):
    """What is known about the last accepted configuration."""

    J: Sequence[Sequence[Scalar]]
    e: Sequence[Scalar]
    p: Sequence[Scalar]
    rates: Sequence[Sequence[Scalar]]


TURNS = Port("turns", (1,))
"""The stream that has an entry per step; its numbers are not read."""
_CLOSING = "closing"
"""The axis of the Newton steps that close loops."""


class DescentSolver:
    """The compiled steps of one robot for tasks of some classes and frames."""

    def __init__(self, robot: Robot, outline: TaskOutline) -> None:
        self.robot, self.outline, self.layout = robot, outline, _Layout(robot, outline)
        frames = [(name, frame and robot.model.frame_index[frame]) for name, frame in outline.tasks]
        text, ports = repr((robot.kind.fingerprint(is_parametric=False), frames)), self._ports(Keep.INTERVALS)
        self._kernel = Kernel(ProgramSpec(ports.name, ports.inputs, ports.outputs, text, self.program))

    def __call__(self, q: Array, damping: Array, goals: Array, settings: Array, steps: int) -> Descent:
        """Return where steps lead from configurations (n, nq) with λ (n,) to targets (n, …); settings in one row."""
        rows = len(q)
        fixed = goals, np.broadcast_to(settings, (rows, len(settings)))
        progress = np.zeros((rows, 5))
        progress[:, :2], progress[:, 2] = np.inf, damping
        states = [q, q, progress, *(np.zeros((rows, port.size)) for port in self.layout.states[3:])]
        states[3][:] = np.inf
        turns = np.broadcast_to(0.0, (rows, steps, 1))
        found, _ = run_steps(self._kernel, states, fixed, [turns], range(0, steps + 1, steps))
        q, _, progress, errors, *_ = (x[:, -1] for x in found)
        cost, _, damping, step, count = progress.T
        return Descent(q, cost, damping, np.sqrt(errors), step, count.astype(int))

    def _ports(self, keep: Keep) -> Stepping:
        return Stepping("inverse_kinematics", self.layout.states, self.layout.fixed, (TURNS,), keep)

    def program(self) -> Program:
        """Return the program of many steps."""
        return self._ports(Keep.INTERVALS).program(self.step())

    def step(self) -> Fragment:
        """Return a step, which finds the states in slots and the fixed numbers under their names."""
        layout, robot = self.layout, self.robot
        states = [(port, now(port.name)) for port in layout.states]
        held = [(port, port.name) for port in layout.scratch]
        # the trial twice: as angles, which may be reduced by whole turns, and as numbers, which may not
        angles = Port("angles", layout.states[1].shape), now("trial")
        fixed = [(port, port.name) for port in layout.fixed]
        embedding = robot.kind.embedding(FILE)

        def descend(_: Any, *slots: Scalars) -> Any:
            return self._step(embedding, *slots)

        step = part("descent", descend, [angles, *held, *fixed, *states], [*held, *states])
        step += Fragment(slots=layout.scratch)
        closing = robot.program("closing_step" if layout.is_closed else "finished_step").spec.program()
        trial, *gap = (port for port in (states[1], *states[4:]))
        closed = part("close", lambda call, q: call(closing, q)[: 1 + len(gap)], [trial], [trial, *gap])
        turns = _CLOSINGS if layout.is_closed else 1
        return step + Fragment((Loop(_CLOSING, closed.nodes, turns),), closed.slots)

    # The program

    def _step(self, embedding: Embedding, angles: Scalars, *slots: Scalars) -> Any:
        """Return what is held and all states after one step."""
        J, e, p, rates, goal, settings, q, trial, (cost, promise, damping, _, count), errors, *gaps = slots
        weight, mask, tolerance, lower, upper, (bold,) = (settings[part] for part in self.layout.settings)
        n = self.robot.nv
        old = _Held(
            [J[k : k + n] for k in range(0, len(J), n)], e, p, [rates[k : k + n] for k in range(0, len(rates), n)]
        )
        new, found = self._evaluated(embedding, angles, trial, goal, weight, mask)
        parts = zip(self.outline.tasks, self.layout.widths, strict=True)
        w = [x for (name, _), wide in parts if name not in FRAMES for x in weight[wide]]
        total = dot(new.e, new.e) + dot([x * x for x in w], [x * x for x in new.p])
        gain = select(bold, total + 1.0, cost - total)
        for gap in gaps:  # loops that did not close
            gain = select(_OPEN**2 - dot(gap, gap), gain, -1.0)
        better = functools.partial(_chosen, gain)
        kept = _Held(*(better(a, b) for a, b in zip(new, old, strict=True)))
        q, errors = better(trial, q), better(found, errors)
        cost = select(gain, total, cost)
        count = count + self._unreached(errors, tolerance)
        change = select(gain - 0.75 * promise, 0.2, select(0.25 * promise - gain, 4.0, 1.0))
        change = select(gain, select(bold, 0.01, change), select(bold, 100.0, 4.0))
        damping = _clipped(damping * change, select(bold, _FLOOR, _DAMPING[0]), _DAMPING[1])
        delta = self._damped(kept, w, (damping, bold), q, lower, upper)
        after = [x + dot(row, delta) for x, row in zip(kept.e, kept.J, strict=True)]
        own = [delta[single.v] for single in self.layout.singles]
        later = [x + own[k % len(own)] for k, x in enumerate(kept.p)]
        promise = (dot(kept.e, kept.e) - dot(after, after)) + sum(
            (x * x * (a * a - b * b) for x, a, b in zip(w, kept.p, later, strict=True)), start=0.0
        )
        moved = [x + dot(row, delta) for x, row in zip(q, kept.rates, strict=True)]
        for k, single in enumerate(self.layout.singles):
            moved[single.q] = _clipped(moved[single.q], lower[k], upper[k])
        return (*kept, q, moved, (cost, promise, damping, _largest(delta), count), errors, *gaps)

    def _evaluated(
        self, embedding: Embedding, angles: Scalars, trial: Scalars, goal: Scalars, weight: Scalars, mask: Scalars
    ) -> tuple[_Held, list[Scalar]]:
        """Return residuals and Jacobians at a trial, weighted, and the squared norms of each task's residual."""
        at = embedding.at(angles)
        J: list[list[Scalar]] = []
        e: list[Scalar] = []
        p: list[Scalar] = []
        errors = []
        for (name, frame), own, wide in zip(self.outline.tasks, self.layout.goals, self.layout.widths, strict=True):
            if name in FRAMES:
                value, rows = FRAMES[name][0](at, goal[own], frame)  # type: ignore[operator]  # of one signature each
                e += [w * x for w, x in zip(weight[wide], value, strict=True)]
                J += [[w * x for x in row] for w, row in zip(weight[wide], rows, strict=True)]
            else:
                value = [trial[single.q] - x for single, x in zip(self.layout.singles, goal[own], strict=True)]
                p += value
            errors.append(dot(mask[wide], [x * x for x in value]))
        units = at.columns(range(at.n)), [tuple(float(i == k) for i in range(at.n)) for k in range(at.n)]
        columns = [at.rates(unit, moving) for moving, unit in zip(*units, strict=True)]
        return _Held(J, e, p, list(zip(*columns, strict=True))), errors

    def _unreached(self, errors: Sequence[Scalar], tolerance: Scalars) -> Scalar:
        """Return 1 unless all residuals are within their tolerances."""
        excess: Scalar = 0.0
        for x, limit in zip(errors, tolerance, strict=True):
            excess = select(x - limit * limit, 1.0, excess)
        return excess

    def _damped(
        self,
        kept: _Held,
        w: Sequence[Scalar],
        damping: tuple[Scalar, Scalar],
        q: Sequence[Scalar],
        lower: Scalars,
        upper: Scalars,
    ) -> list[Scalar]:
        """Return the damped step: capped, and cut off at the limits."""
        n, J, e = self.robot.nv, kept.J, kept.e
        stiff: list[Scalar] = [0.0] * n
        towards: list[Scalar] = [0.0] * n  # −w²p, of the postures
        own = len(self.layout.singles)
        for k, (x, p) in enumerate(zip(w, kept.p, strict=True)):
            at = self.layout.singles[k % own].v
            stiff[at] = stiff[at] + x * x
            towards[at] = towards[at] - x * x * p
        pull = [x - dot([row[k] for row in J], e) for k, x in enumerate(towards)]  # −½ of the gradient
        size = sum((dot(row, row) for row in J), start=0.0) + sum(stiff, start=1e-12)
        share, bold = damping
        extra = share * size + bold * dot(e, e)
        K = [1.0 / (s + extra) for s in stiff]
        for k, single in enumerate(self.layout.singles):
            stopped = select(pull[single.v], q[single.q] - upper[k], lower[k] - q[single.q])
            K[single.v] = select(-stopped, K[single.v], 0.0)
        delta = [k * x for k, x in zip(K, towards, strict=True)]
        if e:
            weighted = [[x * k for x, k in zip(row, K, strict=True)] for row in J]
            A = [[dot(row, other) for other in J] for row in weighted]
            matrix = tuple(tuple(x + 1.0 if i == j else x for j, x in enumerate(row)) for i, row in enumerate(A))
            right = tuple(-x - dot(row, delta) for x, row in zip(e, J, strict=True))
            y = solve_cholesky(cholesky(matrix), right)
            delta = [x + dot([row[k] for row in weighted], y) for k, x in enumerate(delta)]
        longest = _largest(delta)
        scale = select(longest - _CAP, _CAP / select(longest, longest, 1.0), 1.0)
        delta = [scale * x for x in delta]
        for k, single in enumerate(self.layout.singles):
            at = q[single.q]
            delta[single.v] = _clipped(delta[single.v], lower[k] - at, upper[k] - at)
        return delta


def solver(robot: Robot, outline: TaskOutline) -> DescentSolver:
    """Return the steps of a robot for tasks of some classes and frames."""
    return once(robot, outline, lambda: DescentSolver(robot, outline))


def _chosen(condition: Scalar, new: Any, old: Any) -> Any:
    """Return new numbers where a condition is above zero and old ones where it is not; constants stay constants."""
    if isinstance(new, list | tuple):
        return [_chosen(condition, a, b) for a, b in zip(new, old, strict=True)]
    return new if isinstance(new, float) else select(condition, new, old)


def _clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    x = select(x - high, high, x)
    return select(low - x, low, x)


def _largest(values: Sequence[Scalar]) -> Scalar:
    largest: Scalar = 0.0
    for x in values:
        size = select(x, x, -x)
        largest = select(size - largest, size, largest)
    return largest
