"""Actuator forces of closed robots: their equations, and the passive velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from appell.loops.choice import choose_dependent, choose_order
from appell.model.model import Model
from appell.recursion.elimination import Order
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.spatial.scalar import Array

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
