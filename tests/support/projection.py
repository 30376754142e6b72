"""Constrained accelerations by projection, from MuJoCo's mass matrix, bias and Jacobian of equality constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def equalities_alone(mujoco: Any, compiled: Any) -> Any:
    """Return a compiled model with equality constraints, damping and rotors, and nothing else that acts."""
    for name in ("CONTACT", "LIMIT", "FRICTIONLOSS", "SPRING", "ACTUATION"):
        compiled.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    compiled.tendon_damping[:] = compiled.tendon_stiffness[:] = 0.0
    return compiled


def projected(mujoco: Any, compiled: Any, qpos: Array, qvel: Array, force: Array, step: float = 1e-4) -> Array:
    """Return the accelerations that Gauss's principle gives: M(a − a₀) is least while J·a + J̇·v = 0.

    J̇·v is the derivative of J·v along the motion, by central differences and Richardson's extrapolation.
    """
    data = mujoco.MjData(compiled)

    def rows(q: Array) -> Array:
        data.qpos[:], data.qvel[:] = q, qvel
        mujoco.mj_forward(compiled, data)
        rows: Array = data.efc_J.reshape(-1, compiled.nv)[: data.ne].copy()
        return rows

    def moved(h: float) -> Array:
        q = qpos.copy()
        mujoco.mj_integratePos(compiled, q, qvel, h)
        return rows(q) @ qvel

    def slope(h: float) -> Array:
        return (moved(h) - moved(-h)) / (2.0 * h)

    drift = (4.0 * slope(step / 2.0) - slope(step)) / 3.0
    jacobian, mass = rows(qpos), np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, mass)
    free = np.linalg.solve(mass, force + data.qfrc_passive - data.qfrc_bias)
    weight = jacobian @ np.linalg.solve(mass, jacobian.T)
    multipliers = np.linalg.pinv(weight, rcond=1e-10) @ (jacobian @ free + drift)
    a: Array = free - np.linalg.solve(mass, jacobian.T @ multipliers)
    return a
