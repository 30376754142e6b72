"""Which rows, which coordinates, which order: what is decided about closed loops once, on numbers.

At a few closed configurations the Jacobian of the closures is looked at, in pure numbers. Its rank is where its
singular values fall off. Among its columns the dependent velocities are chosen, the best conditioned first and motors
last, so that what is left to move independently are the motors and, after them, the passive modes that the motors leave
free. In the block of the dependent columns the pivots of an elimination are then chosen among all rows and columns,
each good at all configurations and, among the good ones, the one that spoils fewest zeros. Rows that never come to be a
pivot say nothing new, and are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from appell.errors import InputError, ModelError
from appell.loops.assembly import Assembler
from appell.loops.checks import check_mobility
from appell.loops.rank import NOTHING, loops_along, rank, rank_of
from appell.model import manifold
from appell.model.build import listed
from appell.model.model import Model
from appell.recursion import closure
from appell.recursion.elimination import Order
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.recursion.kinematics import links
from appell.robot.coordinates import velocity_names
from appell.robot.kind import Rank
from appell.spatial.scalar import Array

SAMPLES = 10
"""Closed configurations that decisions are made on."""
SPREAD = 0.25
"""How far they are from the first, in radians of the independent motions."""
GOOD = 0.05
"""What a pivot must have of its column's largest entry."""


@dataclass(frozen=True)
class Structure:
    """What was decided: places in the tree's velocities, and the order of elimination.

    `independent` begins with the velocities whose accelerations inverse dynamics takes, as many as there are
    `actuated` ones. `order` eliminates all rows that count, `closing` those that have a position, and `driving` solves
    for actuator forces where others than the actuators' own accelerations are given. `pivots` and `driving_pivots` are
    typical sizes of the pivots of `order` and `driving`, `zeros` entries of the Jacobian that vanish on closed loops.
    `axes` is as in :mod:`appell.recursion.closure`.
    """

    independent: tuple[int, ...]
    actuated: tuple[int, ...]
    order: Order
    pivots: tuple[float, ...]
    closing: Order
    driving: Order = field(default_factory=Order)
    driving_pivots: tuple[float, ...] = ()
    zeros: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    axes: str = "first"

    @property
    def dependent(self) -> tuple[int, ...]:
        """Return the velocities that follow."""
        return self.order.columns

    @property
    def driven(self) -> tuple[int, ...]:
        """Return the velocities whose accelerations inverse dynamics takes."""
        return self.independent[: len(self.actuated)]

    @property
    def passive(self) -> tuple[int, ...]:
        """Return the independent velocities that no motor holds."""
        return self.independent[len(self.actuated) :]

    @property
    def is_plain(self) -> bool:
        """Return whether the accelerations given are the actuators' own."""
        return self.driven == self.actuated


def idle_actuators(model: Model, structure: Structure) -> list[str]:
    """Return the actuators that move only with the others, and were left out."""
    chosen = {velocity_names(model)[k].partition("[")[0] for k in structure.actuated}
    return [name for name in model.actuators if name not in chosen]


SINGULAR = 1e-3
"""The least singular value, relative to the largest, of a configuration to start from."""
ILL_CONDITIONED = 1e4
"""The largest condition number of the equations for the dependent velocities at a configuration to start from."""
ASIDE = 0.6
"""How far from a singular configuration others are looked for: radians, or lengths of the robot."""


def samples(assembler: Assembler, q: Array, rng: np.random.Generator) -> Array:
    """Return closed configurations about one, itself first."""
    model = assembler.model
    _, matrix = assembler.gap(q)
    _, values, rows = np.linalg.svd(matrix)
    free = rows[rank_of(values, model.nv) :]
    found = [q]
    for spread in (SPREAD, SPREAD / 4.0, SPREAD / 16.0):
        steps = rng.normal(size=(2 * SAMPLES, len(free))) @ free * spread
        starts = manifold.integrate(model, np.tile(q, (len(steps), 1)), steps * assembler.column_scale)
        fit = assembler.close(starts)
        found += list(fit.q[assembler.is_closed(fit)][: SAMPLES - len(found)])
        if len(found) == SAMPLES:
            break
    return np.array(found)


def away_from_singular(assembler: Assembler, configurations: Array, rng: np.random.Generator) -> Array | None:
    """Return a regular closed configuration about the first one where that one is singular, else None.

    Files draw linkages stretched out, where their loops can close in two ways.
    """
    model, first = assembler.model, configurations[0]
    if _regularity(assembler, configurations)[0] >= SINGULAR:
        return None
    steps = rng.normal(size=(len(assembler.labels) * SAMPLES, model.nv)) * ASIDE
    starts = manifold.integrate(model, np.tile(first, (len(steps), 1)), steps * assembler.column_scale)
    fit = assembler.close(starts)
    found = np.array([first, *fit.q[assembler.is_closed(fit)]])
    return np.asarray(found[int(np.argmax(_regularity(assembler, found)))])


def better_conditioned(assembler: Assembler, structure: Structure, configurations: Array) -> Array:
    """Return the first closed configuration, or the best one where the independent velocities are ill chosen there."""
    found = condition(assembler, structure, configurations)
    return np.asarray(configurations[0 if found[0] <= ILL_CONDITIONED else int(np.argmin(found))])


def _regularity(assembler: Assembler, q: Array) -> Array:
    """Return the least singular value that counts, relative to the largest of all."""
    values = np.linalg.svd(assembler.gap(q)[1], compute_uv=False)
    rank = max((rank_of(each, assembler.model.nv) for each in values), default=0)
    return values[:, rank - 1] / values.max() if rank else np.ones(len(q))


def jacobians(model: Model, axes: str, q: Array) -> Array:
    """Return the closures' rows (samples, rows, nv), by the recursion on arrays."""
    columns = tuple(np.moveaxis(q, -1, 0))
    chain = links(model, columns)
    rows = [row for tie in closure.ties(model, axes) for row in closure.rows(model, chain, tie)]
    result = np.zeros((len(q), len(rows), model.nv))
    for i, row in enumerate(rows):
        for k, entry in row.items():
            result[:, i, k] = entry
    return result


def choose_dependent(scaled: Array, count: int, last: Sequence[int]) -> list[int]:
    """Return `count` columns that determine the others, best conditioned first.

    Those in `last` are taken only where the rest does not do, and of them the last that will do. Where the columns have
    a lower rank in most samples, they are fewer.
    """
    rest = scaled.copy()
    chosen: list[int] = []
    reference = np.linalg.norm(rest, axis=1).max()
    open_columns = [k for k in range(rest.shape[-1]) if k not in last]
    is_rest = True
    while len(chosen) < count:
        norms = np.linalg.norm(rest, axis=1)  # (samples, columns)
        scores = np.exp(np.log(np.maximum(norms, 1e-300)).mean(axis=0))
        best = max(open_columns, key=lambda k: scores[k], default=None)
        if best is None or scores[best] < 1e-7 * reference:
            if not is_rest:
                return chosen
            open_columns, is_rest = [k for k in reversed(last) if k not in chosen], False
            continue
        if not is_rest:
            best = next(k for k in open_columns if scores[k] >= 0.1 * scores[best])
        chosen.append(best)
        open_columns.remove(best)
        unit = rest[:, :, best] / norms[:, best, None]
        rest -= unit[:, :, None] * np.einsum("sr,src->sc", unit, rest)[:, None, :]
    return chosen


def choose_order(scaled: Array, columns: Sequence[int], count: int) -> tuple[Order, Array]:
    """Return an order of `count` pivots among all rows and some columns, and the pivots in every sample.

    Of the entries that are good pivots in all samples, the one is taken that makes fewest new entries (Markowitz 1957).
    """
    work = scaled.copy()
    rows_left, columns_left = list(range(work.shape[1])), list(columns)
    scale = np.abs(work).max(initial=0.0)
    rows: list[int] = []
    picked: list[int] = []
    pivots = []
    for _ in range(count):
        block = np.abs(work[:, rows_left][:, :, columns_left])
        pattern = (block > NOTHING * scale).any(axis=0)
        tallest = np.maximum(block.max(axis=1, keepdims=True), 1e-300)
        quality = (block / tallest).min(axis=0) * (block.min(axis=0) > 1e-7 * scale)
        if not quality.any() and not block[0].any():
            raise ModelError(
                f"the loops hold {count} velocities near the home configuration and {len(rows)} in it: it is singular; "
                "give another home, and check the closures' frames and radii"
            )
        if not quality.any():  # no entry is alive in all samples; the best of the first will have to do
            quality = block[0] / block[0].max()
        fill = np.outer(pattern.sum(axis=1) - 1, pattern.sum(axis=0) - 1)
        good = quality >= min(GOOD, float(quality.max()))
        i, j = min(zip(*np.nonzero(good), strict=True), key=lambda at: (fill[at], -quality[at]))
        row, column = rows_left.pop(int(i)), columns_left.pop(int(j))
        rows.append(row)
        picked.append(column)
        pivot = work[:, row, column].copy()
        pivots.append(pivot)
        ratio = work[:, :, column] / np.where(pivot == 0.0, np.inf, pivot)[:, None]
        ratio[:, row] = 0.0
        ratio[:, rows] = 0.0
        work -= ratio[:, :, None] * work[:, row, None, :]
    return Order(tuple(rows), tuple(picked)), np.array(pivots).reshape(count, len(work)).T


def decide(
    assembler: Assembler,
    configurations: Array,
    independent: Sequence[int] | None = None,
    frames: Model | None = None,
    axes: str = "first",
    actuated: Sequence[int] | None = None,
) -> tuple[Structure, Rank]:
    """Return the structure of a robot's loops, with the independent and actuated velocities given or chosen.

    `frames` is the model with the same joints whose frames the rows are computed in, as filed where none is given.

    Raises
    ------
    InputError
        When the given velocities are not independent, or too few or many.
    """
    model = assembler.model
    raw = jacobians(frames or model, axes, configurations)
    scaled = assembler.jacobian_scaled(raw)
    found = rank(scaled)
    check_mobility(assembler, found)
    if independent is None or actuated is None:
        motors = _places(model, model.actuators)
        following = choose_dependent(scaled, found.value, motors)
        if len(following) < found.value:
            raise ModelError(_undecided(assembler, scaled, found))
        moving = [k for k in range(model.nv) if k not in following]
        first = [k for k in motors if k in moving]
        independent = independent or [*first, *(k for k in moving if k not in first)]
        actuated = first if motors else independent
    dependent = [k for k in range(model.nv) if k not in independent]
    _check_independent(model, assembler, scaled, dependent, found)
    order, pivots = choose_order(scaled, dependent, found.value)
    sizes = np.median(np.abs(pivots), axis=0) if found.value else np.zeros(0)
    units = [assembler.row_scale[r] * assembler.column_scale[c] for r, c in zip(*order, strict=True)]
    zeros = np.argwhere(np.abs(scaled).max(axis=0, initial=0.0) <= NOTHING * np.abs(scaled).max(initial=1e-300))
    driving, driving_pivots = _driving(driving_systems(model, configurations, raw, order, independent, actuated))
    held = [k for k, (name, row) in enumerate(assembler.labels) if has_position(model, name, row)]
    structure = Structure(
        tuple(independent),
        tuple(actuated),
        order,
        tuple(float(x / u) for x, u in zip(sizes, units, strict=True)),
        _closing(scaled, held, order),
        driving,
        driving_pivots,
        frozenset((int(i), int(k)) for i, k in zeros),
        axes,
    )
    return structure, found


def _undecided(assembler: Assembler, scaled: Array, found: Rank) -> str:
    """Return the message of loops whose rank is not the same in most configurations."""
    values = np.linalg.svd(scaled, compute_uv=False)[:, found.value - 1]
    best = int(np.argmax(values))
    loops = loops_along(np.linalg.svd(scaled[best])[0][:, found.value - 1], assembler.labels)
    return (
        f"robot '{assembler.model.name}': the rank of the loops {listed(loops)} cannot be decided: it is "
        f"{found.value} in one closed configuration and lower in most others; give the frames of these closures and "
        "the joints between them with more digits, or a home away from singular configurations"
    )


def has_position(model: Model, name: str, row: str) -> bool:
    """Return whether a row holds a position and not a velocity alone."""
    tie = next(c for c in model.closures if c.name == name)
    return not tie.is_rolling or row == "z"


def _closing(scaled: Array, held: Sequence[int], order: Order) -> Order:
    """Return the order of the rows that have a position; the whole one where all have."""
    if len(held) == scaled.shape[1]:
        return order
    if not held:
        return Order()
    block = scaled[:, held][:, :, list(order.columns)]  # of the rank of all columns, since the others follow from these
    count = rank(block).value
    own, _ = choose_order(block, choose_dependent(block, count, ()), count)
    columns = tuple(order.columns[k] for k in own.columns)
    return Order(tuple(held[k] for k in own.rows), columns)


def driving_systems(
    model: Model, q: Array, raw: Array, order: Order, independent: Sequence[int], actuated: Sequence[int]
) -> Array:
    """Return the matrices of Γ_aᵀτ − M·a_p = …, solved for actuator forces τ and passive accelerations a_p.

    They are of size 0 where the accelerations given are the actuators' own.
    """
    n, driven = len(independent), len(actuated)
    if list(independent[:driven]) == list(actuated):
        return np.zeros((len(q), 0, 0))
    gamma = np.zeros((len(q), model.nv, n))
    gamma[:, list(independent), range(n)] = 1.0
    rows, columns = list(order.rows), list(order.columns)
    if rows:
        block = raw[:, rows]
        gamma[:, columns] = -np.linalg.solve(block[:, :, columns], block[:, :, list(independent)])
    tree = mass_matrix_composite(model, tuple(np.moveaxis(q, -1, 0)))
    mass = np.stack([np.stack([np.broadcast_to(x, len(q)) for x in row], -1) for row in tree], -2)
    reduced = np.swapaxes(gamma, -1, -2) @ mass @ gamma
    return np.concatenate([np.swapaxes(gamma[:, list(actuated)], -1, -2), -reduced[:, :, driven:]], axis=-1)


def _driving(systems: Array) -> tuple[Order, tuple[float, ...]]:
    """Return the order in which the systems are solved, and the usual sizes of its pivots."""
    n = systems.shape[-1]
    if not n:
        return Order(), ()
    size = np.abs(systems).max(axis=(0, 1))
    order, pivots = choose_order(systems / size, range(n), n)
    return order, tuple(float(x) for x in np.median(np.abs(pivots), axis=0) * size[list(order.columns)])


def repivoted(structure: Structure, assembler: Assembler, q: Array) -> Structure:
    """Return the structure with the pivots that suit one configuration; rows and columns stay the same ones."""
    raw = jacobians(assembler.model, structure.axes, q[None])
    scaled = assembler.jacobian_scaled(raw)
    rows = np.array(structure.order.rows)
    order, pivots = choose_order(scaled[:, rows], structure.order.columns, len(rows))
    order = Order(tuple(int(rows[k]) for k in order.rows), order.columns)
    units = [assembler.row_scale[r] * assembler.column_scale[c] for r, c in zip(*order, strict=True)]
    usual = float(np.median(np.abs(pivots)))
    sizes = np.maximum(np.abs(pivots[0]), 1e-2 * usual)
    systems = driving_systems(assembler.model, q[None], raw, order, structure.independent, structure.actuated)
    return replace(
        structure,
        order=order,
        pivots=tuple(float(x / u) for x, u in zip(sizes, units, strict=True)),
        driving=_driving(systems)[0],
    )


def _places(model: Model, actuators: Sequence[str]) -> list[int]:
    """Return the velocities of the joints that have motors."""
    at = {body.joint.name: model.velocities(i) for i, body in enumerate(model.bodies)}
    return [k for name in actuators for k in at[name]]


def _check_independent(
    model: Model, assembler: Assembler, scaled: Array, dependent: Sequence[int], found: Rank
) -> None:
    names = velocity_names(model)
    if len(dependent) != found.value:
        raise InputError(
            f"robot '{model.name}' moves by {model.nv - found.value} independent velocities, got "
            f"{model.nv - len(dependent)}; its joints are {listed(names, 60)}"
        )
    if not found.value:
        return
    values = np.linalg.svd(scaled[:, :, list(dependent)], compute_uv=False)[:, : found.value]
    condition = float((values[:, 0] / np.maximum(values[:, -1], 1e-300)).min(initial=np.inf))
    if condition > 1e10:
        chosen = [names[k] for k in range(model.nv) if k not in dependent]
        raise InputError(
            f"robot '{model.name}': the velocities {listed(chosen)} do not determine the others (condition number "
            f"{condition:.1e}); choose others"
        )


def condition(assembler: Assembler, structure: Structure, q: Array) -> Array:
    """Return the condition number of the dependent block of the closures' Jacobian; infinity where q is not finite."""
    if not structure.order.rows:
        return np.ones(np.shape(q)[:-1])
    _, matrix = assembler.gap(q)
    block = matrix[..., list(structure.dependent)]
    is_finite = np.asarray(np.isfinite(block).all(axis=(-2, -1)))
    block = np.where(is_finite[..., None, None], block, 0.0)
    values: Array = np.linalg.svd(block, compute_uv=False)[..., : len(structure.dependent)]
    return np.where(is_finite, values[..., 0] / np.maximum(values[..., -1], 1e-300), np.inf)


def driving_condition(assembler: Assembler, structure: Structure, q: Array) -> Array:
    """Return the condition numbers of the systems for actuator forces, their columns scaled, at q (n, nq)."""
    if structure.is_plain:
        return np.ones(len(q))
    raw = jacobians(assembler.model, structure.axes, q)
    systems = driving_systems(assembler.model, q, raw, structure.order, structure.independent, structure.actuated)
    values = np.linalg.svd(systems / np.abs(systems).max(axis=(0, 1)), compute_uv=False)
    return np.asarray(values[:, 0] / np.maximum(values[:, -1], 1e-300))


def singular_loops(assembler: Assembler, structure: Structure, q: Array) -> list[str]:
    """Return the loops whose dependent velocities are determined worst at one q; all of them where q is too large."""
    _, matrix = assembler.gap(q)
    if not np.isfinite(matrix).all():
        return list(dict.fromkeys(name for name, _ in assembler.labels))
    rows, values, _ = np.linalg.svd(matrix[:, list(structure.dependent)])
    weak = np.flatnonzero(values <= 10.0 * values[-1] + NOTHING * values[0])
    return loops_along(np.linalg.norm(rows[:, weak], axis=1), assembler.labels)
