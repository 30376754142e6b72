"""The structure of closed loops, chosen once numerically: rows, coordinates, order of elimination.

The dimensionless Jacobian of the closures is evaluated at a few closed configurations. Its rank is given by its
singular values. The dependent velocities are chosen among its columns, the best conditioned first and actuators last,
so that the independent velocities are those of the actuators and then the passive ones. In the block of the dependent
columns the pivots of an elimination are then chosen among all rows and columns, each good at all configurations and,
among these, with the least fill-in. Rows that are never a pivot are redundant, and are dropped. The equations for
actuator forces and passive accelerations have an order of elimination of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from appell.errors import InputError, ModelError
from appell.loops.assembly import Assembler, check_mobility
from appell.loops.rank import NOTHING, choose_dependent, choose_order, loops_along, rank, rank_of
from appell.messages import listed
from appell.model import manifold
from appell.model.model import WORLD, Model
from appell.model.parameters import velocity_names
from appell.recursion import closure
from appell.recursion.elimination import Order
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.recursion.kinematics import links
from appell.robot.kind import Rank
from appell.spatial.scalar import Array

SAMPLES = 10
"""Number of closed configurations at which the structure is chosen."""
SPREAD = 0.25
"""Their distance from the first, in radians of the independent motions."""
WELL_CONDITIONED = 1e3
"""Condition number up to which the velocities of a base are good coordinates of a robot on its feet."""


@dataclass(frozen=True)
class Structure:
    """The structure of loops: indices among the tree's velocities, and the order of elimination.

    `independent` begins with the `n_driven` velocities whose accelerations inverse dynamics takes: as many as there are
    `actuated` ones, fewer where actuators are redundant. `order` eliminates all rows that count, `closing` those that
    have a position, and `driving` solves for actuator forces where others than the actuators' own accelerations are
    given. `pivots` and `driving_pivots` are
    typical sizes of the pivots of `order` and `driving`, `zeros` entries of the Jacobian that vanish on closed loops.
    `axes` is as in :mod:`appell.recursion.closure`.
    """

    independent: tuple[int, ...]
    actuated: tuple[int, ...]
    n_driven: int
    order: Order
    pivots: tuple[float, ...]
    closing: Order
    driving: Order = field(default_factory=Order)
    driving_pivots: tuple[float, ...] = ()
    zeros: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    axes: str = "first"

    @property
    def dependent(self) -> tuple[int, ...]:
        """Return the dependent velocities."""
        return self.order.columns

    @property
    def driven(self) -> tuple[int, ...]:
        """Return the velocities whose accelerations inverse dynamics takes."""
        return self.independent[: self.n_driven]

    @property
    def passive(self) -> tuple[int, ...]:
        """Return the passive independent velocities."""
        return self.independent[self.n_driven :]

    @property
    def is_plain(self) -> bool:
        """Return whether the given accelerations are those of the actuators."""
        return self.driven == self.actuated

    @property
    def is_redundant(self) -> bool:
        """Return whether actuators are redundant."""
        return len(self.actuated) > self.n_driven


SINGULAR = 1e-3
"""The least singular value, relative to the largest, of a configuration to start from."""
ILL_CONDITIONED = 1e4
"""The largest condition number of the equations for the dependent velocities at a configuration to start from."""
ASIDE = 0.6
"""Distance from a singular configuration at which others are searched: radians, or lengths of the robot."""


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

    Files often describe linkages stretched out, where their loops can close in two ways.
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
    """Return the first closed configuration, or the best one if independent velocities are ill conditioned there."""
    found = condition(assembler, structure, configurations)
    return np.asarray(configurations[0 if found[0] <= ILL_CONDITIONED else int(np.argmin(found))])


def _regularity(assembler: Assembler, q: Array) -> Array:
    """Return the smallest nonzero singular value, relative to the largest."""
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


def decide(
    assembler: Assembler,
    configurations: Array,
    independent: Sequence[int] | None = None,
    frames: Model | None = None,
    axes: str = "first",
    chosen: Structure | None = None,
) -> tuple[Structure, Rank]:
    """Return the structure of a robot's loops, with independent velocities given or chosen, or those of another one.

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
    is_given = independent is not None
    actuated: Sequence[int]
    if chosen is not None:
        independent, actuated, n_driven = chosen.independent, chosen.actuated, chosen.n_driven
    else:
        independent, actuated, n_driven = _choose(assembler, scaled, found, independent)
    dependent = [k for k in range(model.nv) if k not in independent]
    _check_independent(model, assembler, scaled, dependent, found)
    order, pivots = choose_order(scaled, dependent, found.value)
    sizes = np.median(np.abs(pivots), axis=0) if found.value else np.zeros(0)
    units = [assembler.row_scale[r] * assembler.column_scale[c] for r, c in zip(*order, strict=True)]
    zeros = np.argwhere(np.abs(scaled).max(axis=0, initial=0.0) <= NOTHING * np.abs(scaled).max(initial=1e-300))
    systems = np.zeros((len(configurations), 0, 0))
    if list(independent[:n_driven]) != list(actuated):
        acting = actuation(model, configurations, raw, order, independent, actuated)
        if chosen is None and n_driven < len(actuated):  # counted above at a home that may be singular
            scale = assembler.column_scale
            n_driven = rank(acting.motors * scale[list(independent)][:, None] / scale[list(actuated)]).value
            if n_driven < len(independent) and not (is_given and is_regular(driving_systems(acting, n_driven))):
                at = passive_last(acting, n_driven, [i for i, k in enumerate(independent) if k in actuated])
                independent, acting = [independent[i] for i in at], acting.in_order(at)
        systems = driving_systems(acting, n_driven)
    driving, driving_pivots = driving_order(systems)
    held = [k for k, (name, row) in enumerate(assembler.labels) if has_position(model, name, row)]
    structure = Structure(
        tuple(independent),
        tuple(actuated),
        n_driven,
        order,
        tuple(float(x / u) for x, u in zip(sizes, units, strict=True)),
        _closing(scaled, held, order),
        driving,
        driving_pivots,
        frozenset((int(i), int(k)) for i, k in zeros),
        axes,
    )
    return structure, found


def _choose(
    assembler: Assembler, scaled: Array, found: Rank, given: Sequence[int] | None
) -> tuple[Sequence[int], Sequence[int], int]:
    """Return independent velocities, those of the actuators, and how many accelerations these determine.

    Independent actuators come first, then passive velocities. On one foot the velocities of a floating base follow from
    those of the joints. On several feet actuators are redundant: the velocities of the base are independent, and the
    joints of the legs follow unless stretched.
    """
    model, count = assembler.model, found.value
    motors, every = _places(model, model.actuators), range(model.nv)
    following = choose_dependent(scaled, count, motors)
    if len(following) < count:
        raise ModelError(_undecided(assembler, scaled, found))
    n_driven = sum(k not in following for k in motors)
    is_redundant = n_driven < len(motors)
    base = _places(model, [b.joint.name for b in model.bodies if b.parent == WORLD and b.joint.kind == "free"])
    choices = [following]
    if base and motors and not set(base) & set(motors):
        choices = [base[:count], following]
        if is_redundant:
            choices = [base[:count], choose_dependent(scaled, count, base), choose_dependent(scaled[:1], count, ())]
    own = next((k for k in choices if _is_good(scaled[0], k, count)), following)
    moving = [k for k in every if k not in own]
    first = [] if is_redundant and own is not following else [k for k in motors if k in moving]
    independent = given or [*first, *(k for k in moving if k not in first)]
    return independent, motors or independent, n_driven if motors else len(independent)


def _is_good(matrix: Array, columns: Sequence[int], count: int) -> bool:
    """Return whether as many columns determine the others well."""
    if len(columns) != count or not count:
        return len(columns) == count
    return bool(np.linalg.cond(matrix[:, list(columns)]) < WELL_CONDITIONED)


def _undecided(assembler: Assembler, scaled: Array, found: Rank) -> str:
    """Return the message of loops whose rank is not the same in most configurations."""
    values = np.linalg.svd(scaled, compute_uv=False)[:, found.value - 1]
    best = int(np.argmax(values))
    loops = loops_along(np.linalg.svd(scaled[best])[0][:, found.value - 1], assembler.labels)
    return (
        f"robot '{assembler.model.name}': the rank of the loops {listed(loops)} is ambiguous: it is "
        f"{found.value} in one closed configuration and lower in most others; write the frames of these closures and "
        "the joints between them with more digits, or a home away from singular configurations"
    )


def has_position(model: Model, name: str, row: str) -> bool:
    """Return whether a row constrains a position, not only a velocity."""
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


def _systems(model: Model, q: Array, raw: Array, structure: Structure) -> Array:
    """Return the equations for actuator forces; of size 0 where the accelerations given are the actuators' own."""
    if structure.is_plain:
        return np.zeros((len(q), 0, 0))
    acting = actuation(model, q, raw, structure.order, structure.independent, structure.actuated)
    return driving_systems(acting, structure.n_driven)


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
    systems = _systems(assembler.model, q[None], raw, replace(structure, order=order))
    return replace(
        structure,
        order=order,
        pivots=tuple(float(x / u) for x, u in zip(sizes, units, strict=True)),
        driving=driving_order(systems)[0],
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
    systems = _systems(assembler.model, q, raw, structure)
    values = np.linalg.svd(systems / np.abs(systems).max(axis=(0, 1)), compute_uv=False)
    return np.asarray(values[:, 0] / np.maximum(values[:, -1], 1e-300))


def singular_loops(assembler: Assembler, structure: Structure, q: Array) -> list[str]:
    """Return the loops whose dependent velocities are worst conditioned at one q; all of them if q is too large."""
    _, matrix = assembler.gap(q)
    if not np.isfinite(matrix).all():
        return list(dict.fromkeys(name for name, _ in assembler.labels))
    rows, values, _ = np.linalg.svd(matrix[:, list(structure.dependent)])
    weak = np.flatnonzero(values <= 10.0 * values[-1] + NOTHING * values[0])
    return loops_along(np.linalg.norm(rows[:, weak], axis=1), assembler.labels)


REGULAR = 1e10
"""Condition number up to which a sample is used for the order of pivots."""


class Actuation(NamedTuple):
    """The action of actuators at some samples: Γ_aᵀ (samples, nv, nu), and M = ΓᵀM_treeΓ."""

    motors: Array
    mass: Array

    def in_order(self, at: Sequence[int]) -> Actuation:
        """Return the same with the independent velocities in another order."""
        return Actuation(self.motors[:, at], self.mass[:, at][:, :, at])


def actuation(
    model: Model, q: Array, raw: Array, order: Order, independent: Sequence[int], actuated: Sequence[int]
) -> Actuation:
    """Return the action of actuators at configurations q where the closures have the rows `raw`."""
    n = len(independent)
    gamma = np.zeros((len(q), model.nv, n))
    gamma[:, list(independent), range(n)] = 1.0
    rows, columns = list(order.rows), list(order.columns)
    if rows:
        block = raw[:, rows]
        gamma[:, columns] = -np.linalg.solve(block[:, :, columns], block[:, :, list(independent)])
    tree = mass_matrix_composite(model, tuple(np.moveaxis(q, -1, 0)))
    mass = np.stack([np.stack([np.broadcast_to(x, len(q)) for x in row], -1) for row in tree], -2)
    return Actuation(_turned(gamma[:, list(actuated)]), _turned(gamma) @ mass @ gamma)


def driving_systems(found: Actuation, n_driven: int) -> Array:
    """Return the matrices of Γ_aᵀτ − M_p·a_p = …, solved for actuator forces τ and passive accelerations a_p.

    For redundant actuators τ = Γ_a λ is the least-squares solution, and λ and a_p are solved for, with M_pᵀλ = 0.
    """
    motors, passive = found.motors, found.mass[:, :, n_driven:]
    if motors.shape[-1] == n_driven:
        return np.concatenate([motors, -passive], axis=-1)
    nothing = np.zeros((len(motors), passive.shape[-1], passive.shape[-1]))
    rows = np.concatenate([motors @ _turned(motors), -passive], axis=-1)
    return np.concatenate([rows, np.concatenate([_turned(passive), nothing], axis=-1)], axis=-2)


def driving_order(systems: Array) -> tuple[Order, tuple[float, ...]]:
    """Return the order of elimination of the systems, and the usual sizes of its pivots."""
    n = systems.shape[-1]
    if not n:
        return Order(), ()
    size = np.abs(systems).max(axis=(0, 1))
    regular = _regular(systems)
    order, pivots = choose_order(systems[regular] / size if regular.any() else systems / size, range(n), n)
    return order, tuple(float(x) for x in np.median(np.abs(pivots), axis=0) * size[list(order.columns)])


def is_regular(systems: Array) -> bool:
    """Return whether the systems have a solution at any sample."""
    return bool(_regular(systems).any())


def _regular(systems: Array) -> Array:
    scaled = systems / np.maximum(np.abs(systems).max(axis=(0, 1)), 1e-300)
    return np.asarray(np.linalg.cond(scaled) < REGULAR)


def passive_last(found: Actuation, n_driven: int, motors: Sequence[int]) -> list[int]:
    """Return the order of the velocities with those last whose accelerations the others and no force determine best.

    With N the motions in which no actuator moves, these are columns of NᵀM; not those in `motors` where others will do.
    """
    n = found.mass.shape[-1]
    still = _turned(np.linalg.svd(found.motors)[0][:, :, n_driven:])
    passive = choose_dependent(still @ found.mass, n - n_driven, motors)
    return [*(i for i in range(n) if i not in passive), *sorted(passive)]


def _turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)
