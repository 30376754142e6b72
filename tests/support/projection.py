"""Constrained accelerations by projection, from MuJoCo's mass matrix, bias and Jacobian of equality constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

Array = NDArray[Any]
REDUNDANT = 1e-6


def equalities_alone(mujoco: Any, compiled: Any) -> Any:
    """Return a compiled model with equality constraints, damping and rotors, and nothing else that acts."""
    for name in ("CONTACT", "LIMIT", "FRICTIONLOSS", "SPRING", "ACTUATION"):
        compiled.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    compiled.tendon_damping[:] = compiled.tendon_stiffness[:] = 0.0
    return compiled


def projected(mujoco: Any, compiled: Any, qpos: Array, qvel: Array, force: Array, step: float = 1e-4) -> Array:
    """Return the accelerations a with J·a + J̇·v = 0 and Nᵀ(M·a − f) = 0, where N spans the motions that J leaves free.

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
    applied = force + data.qfrc_passive - data.qfrc_bias
    # files are rounded, so rows that say the same differ by 1e-8
    particular = -np.linalg.pinv(jacobian, rcond=REDUNDANT) @ drift
    basis = null_space(jacobian, rcond=REDUNDANT)
    along = np.linalg.solve(basis.T @ mass @ basis, basis.T @ (applied - mass @ particular))
    a: Array = particular + basis @ along
    return a
