"""Gradients of the dynamics of a long robot as passes over its bodies, and Hessian–vector products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from appell.model.model import Model
from appell.robot.long.dynamics import FORWARD, INVERSE
from appell.robot.long.plan import Plan
from appell.robot.long.reverse import adjoint, tangent


def _hvp(model: Model, *, is_parametric: bool) -> Plan:
    """Return the tangent of the gradient of inverse dynamics."""
    return tangent(adjoint(INVERSE, ("q", "v", "a"), model, is_parametric=False), {"q": "dq", "v": "dv", "a": "da"})


PLANS: dict[str, Callable[..., Plan]] = {
    "inverse_dynamics_vjp": partial(adjoint, INVERSE, ("q", "v", "a")),
    "forward_dynamics_vjp": partial(adjoint, FORWARD, ("q", "v", "tau")),
    "inverse_dynamics_hvp": _hvp,
}
"""Verbs by what makes their passes."""
