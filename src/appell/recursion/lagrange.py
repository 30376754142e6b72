"""Lagrange's equations by 4×4 matrices, Hollerbach 1980, for trees: what shafei2018 compares its mixed form with.

    τₖ = Tr(∂T/∂qₖ D) − gᵀ ∂T/∂qₖ c,   D = B T̈ᵀ + Σ_children EA D_c,   c = (h, m) + Σ_children EA c_c
    B = ∫ (r, 1)(r, 1)ᵀ dm = [Σ, h; hᵀ, m]

That is :mod:`appell.recursion.mixed` with all of a body's second moment Σ in its 4×4 matrix B, and B₂ = 0: no 3×3
rotation is left. The inertia matrix follows in the same way, from ʲF̃ₖ alone.
"""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion import mixed
from appell.recursion.kinematics import Scalars
from appell.recursion.mixed import Rows, square
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Matrix


def moments(inertia: Inertia) -> tuple[Rows, Matrix]:
    """Return B, and nothing that turns by 3×3 matrices."""
    return square(inertia.second, inertia.first, inertia.first, inertia.mass), NULL


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ summed over the branches, joint friction and rotor inertia included."""
    return mixed.inverse_dynamics(model, q, v, a, moments)


def bias(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return the forces without acceleration."""
    return inverse_dynamics(model, q, v, (0.0,) * model.nv)


def mass_matrix(model: Model, q: Scalars) -> Rows:
    """Return M summed over the branches, rotor inertia included."""
    return mixed.mass_matrix(model, q, moments)
