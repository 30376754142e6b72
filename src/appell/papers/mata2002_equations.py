"""mata2002's algorithms as written, ``formulation="mata2002"``, against others on a general arm of six joints."""

from __future__ import annotations

import numpy as np

from appell.papers.mata2002_counts import general_arm
from appell.reports.rules import Checked
from appell.reports.table import Table
from appell.spatial.scalar import Array

SAMPLES = 200


def equations() -> Table:
    """Return the differences between sections 2 to 4 as written and independent algorithms."""
    arm = general_arm(6)
    rng = np.random.default_rng(2002)
    q, v, a = rng.normal(size=(3, SAMPLES, arm.nv))
    tau = arm.inverse_dynamics(q, v, a, formulation="mata2002")
    matrix = arm.mass_matrix(q, formulation="mata2002")
    condition = float(np.linalg.cond(matrix).max())
    rates = arm.forward_dynamics(q, v, tau, formulation="mata2002")
    # S is quadratic in a: its central difference of any width is its gradient
    ahead, behind = (arm.gibbs(q[:, None], v[:, None], a[:, None] + s * np.eye(arm.nv)) for s in (1.0, -1.0))
    known = (
        ("(1)–(6)", "τ = ∂G/∂q̈", tau, 0.5 * (ahead - behind), 1e-12, "differences of the Gibbs function"),
        (
            "(7)–(16), 4.1",
            "inverse dynamics",
            tau,
            arm.inverse_dynamics(q, v, a, formulation="newton-euler"),
            1e-12,
            "Newton–Euler",
        ),
        (
            "(19)–(22), 4.2",
            "inertia matrix D",
            matrix,
            arm.mass_matrix(q, formulation="composite"),
            1e-12,
            "composite bodies",
        ),
        (
            "(17), 4.2",
            "forward dynamics",
            rates,
            arm.forward_dynamics(q, v, tau, formulation="articulated"),
            1e-14 * condition + 1e-12,
            "articulated bodies",
        ),
    )
    rows = tuple(
        (where, what, error, Checked(below, by)(error))
        for where, what, ours, other, below, by in known
        for error in (_relative(ours, other),)
    )
    return Table(
        "Sections 2 to 4. The algorithms as written against others: largest relative differences",
        ("equations", "what", "difference", "verdict"),
        rows,
        (f"{SAMPLES} random states of an arm of six general links; condition numbers of D up to {condition:.1e}.",),
    )


def _relative(ours: Array, other: Array) -> float:
    """Return the largest error of a sample relative to its largest value."""
    axes = tuple(range(1, ours.ndim))
    return float((np.abs(ours - other).max(axis=axes) / np.abs(other).max(axis=axes)).max())
