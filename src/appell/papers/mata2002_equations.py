"""mata2002's algorithms as written, ``formulation="mata2002"``, against others on a general arm of six joints."""

from __future__ import annotations

import numpy as np

from appell.papers.lagrangian import forces
from appell.papers.mata2002_counts import general_arm
from appell.papers.paper import Check, checks
from appell.reports.table import Table

SAMPLES = 200


def equations() -> Table:
    """Return the differences between sections 2 to 4 as written and independent algorithms."""
    arm = general_arm(6)
    rng = np.random.default_rng(2002)
    q, v, a = rng.normal(size=(3, SAMPLES, arm.nv))
    tau = arm.inverse_dynamics(q, v, a, formulation="mata2002")
    matrix = arm.mass_matrix(q, formulation="mata2002")
    rates = arm.forward_dynamics(q, v, tau, formulation="mata2002")
    # S is quadratic in a: its central difference of any width is its gradient
    ahead, behind = (arm.gibbs(q[:, None], v[:, None], a[:, None] + s * np.eye(arm.nv)) for s in (1.0, -1.0))
    newton = arm.inverse_dynamics(q, v, a, formulation="newton-euler")
    articulated = arm.forward_dynamics(q, v, tau, formulation="articulated")
    composite = arm.mass_matrix(q, formulation="composite")
    lagrange = forces(arm.model, q, v, a)
    rows: tuple[Check, ...] = (
        ("(1)–(6)", "τ = ∂G/∂q̈", tau, 0.5 * (ahead - behind), "differences of the Gibbs function"),
        ("(7)–(16), 4.1", "inverse dynamics", tau, newton, "Newton–Euler"),
        ("Sections 2, 4.1", "inverse dynamics", tau, lagrange, "Lagrange's equations, differentiated automatically"),
        ("(19)–(22), 4.2", "inertia matrix D", matrix, composite, "composite bodies"),
        ("(17), 4.2", "forward dynamics", rates, articulated, "articulated bodies"),
        ("Section 3", "D q̈ + C + G", (matrix @ a[..., None])[..., 0] + arm.bias(q, v, formulation="mata2002"), lagrange,
         "Lagrange's equations, differentiated automatically"),
    )  # fmt: skip
    notes = (f"{SAMPLES} random states of an arm of six general links.",)
    return checks("Sections 2 to 4. The algorithms as written against others", rows, notes)
