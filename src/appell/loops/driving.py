"""Actuator forces of closed robots: the equations that are solved for them, and the passive modes they leave free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.loops.choice import choose_dependent, choose_order
from appell.model.model import Model
from appell.recursion.elimination import Order
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.spatial.scalar import Array

REGULAR = 1e10
"""Condition number up to which a sample has a say in the order of pivots."""


def driving_systems(
    model: Model,
    q: Array,
    raw: Array,
    order: Order,
    independent: Sequence[int],
    actuated: Sequence[int],
    n_driven: int,
) -> Array:
    """Return the matrices of Γ_aᵀτ − M_p·a_p = …, solved for actuator forces τ and passive accelerations a_p.

    Of redundant actuators τ = Γ_a λ is the least of all, and λ and a_p are solved for, with M_pᵀλ = 0. The matrices are
    of size 0 where the accelerations given are the actuators' own.
    """
    if list(independent[:n_driven]) == list(actuated):
        return np.zeros((len(q), 0, 0))
    motors, mass = reduced(model, q, raw, order, independent, actuated)
    passive = mass[:, :, n_driven:]
    if len(actuated) == n_driven:
        return np.concatenate([motors, -passive], axis=-1)
    nothing = np.zeros((len(q), passive.shape[-1], passive.shape[-1]))
    rows = np.concatenate([motors @ np.swapaxes(motors, -1, -2), -passive], axis=-1)
    return np.concatenate([rows, np.concatenate([np.swapaxes(passive, -1, -2), nothing], axis=-1)], axis=-2)


def reduced(
    model: Model, q: Array, raw: Array, order: Order, independent: Sequence[int], actuated: Sequence[int]
) -> tuple[Array, Array]:
    """Return Γ_aᵀ and ΓᵀMΓ."""
    n = len(independent)
    gamma = np.zeros((len(q), model.nv, n))
    gamma[:, list(independent), range(n)] = 1.0
    rows, columns = list(order.rows), list(order.columns)
    if rows:
        block = raw[:, rows]
        gamma[:, columns] = -np.linalg.solve(block[:, :, columns], block[:, :, list(independent)])
    tree = mass_matrix_composite(model, tuple(np.moveaxis(q, -1, 0)))
    mass = np.stack([np.stack([np.broadcast_to(x, len(q)) for x in row], -1) for row in tree], -2)
    return np.swapaxes(gamma[:, list(actuated)], -1, -2), np.swapaxes(gamma, -1, -2) @ mass @ gamma


def driving_order(systems: Array) -> tuple[Order, tuple[float, ...]]:
    """Return the order in which the systems are solved, and the usual sizes of its pivots."""
    n = systems.shape[-1]
    if not n:
        return Order(), ()
    size = np.abs(systems).max(axis=(0, 1))
    regular = np.linalg.cond(systems / size) < REGULAR
    order, pivots = choose_order(systems[regular] / size if regular.any() else systems / size, range(n), n)
    return order, tuple(float(x) for x in np.median(np.abs(pivots), axis=0) * size[list(order.columns)])


def passive_last(
    model: Model,
    q: Array,
    raw: Array,
    order: Order,
    independent: Sequence[int],
    actuated: Sequence[int],
    n_driven: int,
) -> list[int]:
    """Return independent velocities with those at the end whose accelerations the others and no force determine best.

    With N the motions in which no actuator moves, these are columns of NᵀM.
    """
    motors, mass = reduced(model, q, raw, order, independent, actuated)
    still = np.swapaxes(np.linalg.svd(motors)[0][:, :, n_driven:], -1, -2)
    own = [i for i, k in enumerate(independent) if k in actuated]
    passive = choose_dependent(still @ mass, len(independent) - n_driven, own)
    moved = [i for i in range(len(independent)) if i not in passive]
    return [independent[i] for i in (*moved, *sorted(passive))]
