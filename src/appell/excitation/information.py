"""Information content of a motion: measures of the base regressor W along it, and their gradients.

With M = WᵀW over samples of a period:

- "d-optimal": −log det M / 2n, the volume of the error ellipsoid;
- "condition": the logarithm of the condition number of W with normalised columns. Extreme eigenvalues are not smooth,
so the
  search uses Schatten norms, ½·(log ‖G‖ₚ + log ‖G⁻¹‖ₚ) of the scaled G = D^−½ M D^−½, a smooth upper bound. A condition
  number does not depend on the amplitude of a motion, so a fraction of the volume is added, which selects between
  motions of nearly equal condition number.

The gradient by W is 2·W·S with S the gradient by M, and that by the states follows from finite differences of all
states in one batch: ∂/∂x = Σ (2WS)·∂Y/∂x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from appell.excitation.bounds import ActuatedPath, Slope
from appell.identification.base_parameters import BaseParameters, motor_columns, motor_velocities, motors, rotor_columns
from appell.model.parameters import PER_BODY
from appell.robot.properties.base_columns import State
from appell.spatial.scalar import Array

POWER = 8
"""Order of the Schatten norms: within a factor of 1.3 of the condition number for 50 columns."""
SIZE = 0.25
"""Weight of the volume in the measure "condition"."""
STEP = 1e-5
"""Step of the central differences [rad, rad/s]."""


class Pull(NamedTuple):
    """∂/∂W at every time, by the parts of W: inertial columns, flattened, rotors, damping, Coulomb friction."""

    inertial: Array
    rotors: Array
    viscous: Array
    coulomb: Array


@dataclass(frozen=True, eq=False)
class Information:
    """The regressor along a motion: a robot's base parameters, optionally with damping and Coulomb friction.

    Coulomb friction is tanh(v/`soft`) for the search, which must be smooth, and sign(v) where soft is 0.
    """

    path: ActuatedPath
    base: BaseParameters
    friction: bool
    soft: Array
    objective: str

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        numbers = [k + 1 for k in motors(self.path.robot)] if self.friction else []
        return (*self.base.labels, *(f"{kind}{k}" for kind in ("damping", "friction") for k in numbers))

    def regressor(self, state: State, *, exact: bool = False) -> Array:
        """Return W (..., rows, columns) at states; with sign(v) if `exact`."""
        Y = self.base.regressor(self.path.robot, *state)
        return np.concatenate([Y, *self._friction(state, exact=exact)], axis=-1) if self.friction else Y

    def _friction(self, state: State, *, exact: bool = False) -> list[Array]:
        """Return the columns of damping and of Coulomb friction, each (..., rows, motors)."""
        robot = self.path.robot
        v = motor_velocities(robot, state.q, state.v)
        coulomb = np.sign(v) if exact else np.tanh(v / self.soft)
        return [motor_columns(robot, state.q, forces) for forces in (v, coulomb)]

    def condition(self, state: State) -> float:
        """Return the condition number of W with normalised columns; infinite if one is zero."""
        W = self.regressor(state, exact=True)
        W = W.reshape(-1, W.shape[-1])
        lengths = np.linalg.norm(W, axis=0)
        return float(np.linalg.cond(W / lengths)) if lengths.all() else np.inf

    def measure(self, state: State) -> float:
        """Return the objective of states (times, …)."""
        W = self.regressor(state)
        rows = W.reshape(-1, W.shape[-1])
        return MEASURES[self.objective](rows.T @ rows / len(W))[0]

    def slope(self, state: State) -> tuple[float, Slope]:
        """Return the objective and its gradient by the coordinates, velocities and accelerations (times, nv)."""
        W = self.regressor(state)
        rows = W.reshape(-1, W.shape[-1])
        value, by_M = MEASURES[self.objective](rows.T @ rows / len(W))
        pull = self._split((2.0 / len(W) * rows @ by_M).reshape(W.shape))
        along = np.eye(state.v.shape[-1])[:, None]
        ahead, behind = (self.path.steps(state.q, h) for h in (STEP, -STEP))
        by_q = self._sum(pull, state._replace(q=ahead)) - self._sum(pull, state._replace(q=behind))
        faster, slower = state.v + STEP * along, state.v - STEP * along
        by_v = self._sum(pull, state._replace(v=faster)) - self._sum(pull, state._replace(v=slower))
        by_a = self._sum(pull, state._replace(a=state.a + along)) - self._sum(pull, state)  # affine: any step is exact
        return value, Slope(by_q.T / (2.0 * STEP), by_v.T / (2.0 * STEP), by_a.T)

    def _split(self, pull: Array) -> Pull:
        """Return ∂/∂W by the parts of W, that of the inertial columns for the full regressor."""
        robot, width, n = self.path.robot, len(self.path.robot.parameters), self.base.n
        inertial = PER_BODY * len(robot.link_names)
        spread = np.zeros((*pull.shape[:-1], max(width, len(self.base.names))))
        spread[..., list(self.base.kept)] = pull[..., :n]
        rotors = spread[..., inertial : len(self.base.names)].copy()
        spread[..., inertial:] = 0.0
        friction = pull[..., n:]
        half = friction.shape[-1] // 2
        return Pull(spread[..., :width].reshape(len(pull), -1), rotors, friction[..., :half], friction[..., half:])

    def _sum(self, pull: Pull, state: State) -> Array:
        """Return Σ pull·W per direction and time, (..., times), without assembling W."""
        robot = self.path.robot
        whole = robot.regressor(*state)
        result = np.einsum("...tx,tx->...t", whole.reshape(*whole.shape[:-2], -1), pull.inertial)
        parts = [(rotor_columns(robot, *state), pull.rotors)] if self.base.rotors else []
        if self.friction:
            parts += zip(self._friction(state), (pull.viscous, pull.coulomb), strict=True)
        for columns, part in parts:
            result = result + np.einsum("...trc,trc->...t", columns, part)
        return np.asarray(result)


Measure = Callable[[Array], tuple[float, Array]]


def condition_measure(M: Array) -> tuple[float, Array]:
    """Return the measure "condition" and its gradient by M.

    >>> round(condition_measure(np.eye(2))[0], 3)  # log 2 / 8, where the norms differ from eigenvalues
    0.087
    """
    shape, by_shape = log_condition(M)
    volume, by_volume = volume_measure(M)
    return shape + SIZE * volume, by_shape + SIZE * by_volume


def log_condition(M: Array) -> tuple[float, Array]:
    """Return the smooth log condition number of W with normalised columns, from M = WᵀW, and its gradient by M.

    >>> value, slope = log_condition(np.diag([1.0, 4.0]))  # normalised columns are orthonormal
    >>> round(value, 3), float(abs(slope).max().round(12))
    (0.087, 0.0)
    """
    root = np.sqrt(np.diag(M))
    root = np.where(root > 0.0, root, np.inf)
    G = M / np.outer(root, root)
    values, vectors = np.linalg.eigh(G)
    values = np.maximum(values, np.finfo(float).eps * values[-1])
    # relative to the extremes, so that no power overflows
    high, low = (values / values[-1]) ** POWER, (values[0] / values) ** POWER
    value = 0.5 * (np.log(values[-1] / values[0]) + (np.log(high.sum()) + np.log(low.sum())) / POWER)
    by_G = 0.5 * (vectors * ((high / high.sum() - low / low.sum()) / values)) @ vectors.T
    # dG = D^−½ dM D^−½ − ½ (D⁻¹dD G + G D⁻¹dD)
    by_M = by_G / np.outer(root, root)
    by_M[np.diag_indices_from(by_M)] -= np.einsum("ij,ij->i", by_G, G) / root**2
    return float(value), by_M


def volume_measure(M: Array) -> tuple[float, Array]:
    """Return −log det M / 2n and its gradient by M.

    >>> volume_measure(np.diag([np.e**2, 1.0]))[0]
    -0.5
    """
    n = len(M)
    values, vectors = np.linalg.eigh(M)
    values = np.maximum(values, np.finfo(float).eps * values[-1])
    return float(-np.log(values).sum() / (2 * n)), -0.5 / n * (vectors / values) @ vectors.T


MEASURES: dict[str, Measure] = {"condition": condition_measure, "d-optimal": volume_measure}
