"""Which kind of kernel computes a verb of a robot: written out, rolled, interpreted, or constant."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.kernels.constant import ConstantKernel
from appell.kernels.interpreted import InterpretedKernel
from appell.kernels.kernel import Kernel
from appell.kernels.recipe import Recipe, delivered
from appell.model.model import Model
from appell.recursion.rates import coordinate_rates
from appell.robot import rolled
from appell.robot.verbs import VERBS

AnyKernel = Kernel | ConstantKernel | InterpretedKernel | Any


def recipe(model: Model, verb: str, frame: str | None) -> Recipe:
    """Return what determines the kernel of a verb."""
    what = VERBS[verb]
    inputs, outputs = what.ports(model)
    fingerprint = repr((replace(model, name="", source="", frames=()), frame and model.frame_index[frame]))
    if rolled.is_long(model) and verb in rolled.PLANS:
        return Recipe(verb, inputs, outputs, fingerprint, lambda: rolled.program(model, verb))
    return Recipe(verb, inputs, outputs, fingerprint, lambda: what.tape(model, frame=frame))


def kernel(model: Model, verb: str, frame: str | None) -> AnyKernel:
    """Return the kernel of a verb, compiled if it is to be.

    A long robot's program is rolled where it can be; its inertia matrix comes column by column from rolled inverse
    dynamics, its motion from rolled forward dynamics; the rest is interpreted, on all samples at once.
    """
    made = recipe(model, verb, frame)
    if not model.nq:
        return ConstantKernel(made)
    if not rolled.is_long(model) or verb in rolled.PLANS:
        return Kernel(made)
    if verb == "motion":
        return _WithRates(model, made, kernel(model, "forward_dynamics", None))
    if verb == "mass_matrix":
        return _ByColumns(made, kernel(model, "inverse_dynamics", None), kernel(model, "gravity", None))
    if verb.endswith("_derivatives"):
        raise InputError(
            f"{verb}: robot '{model.name}' has {len(model.bodies)} bodies; derivatives are compiled for robots of up "
            f"to {rolled.LONG}; take finite differences of the verb itself"
        )
    formulation = next(iter(VERBS[verb].formulations.values()))
    program = partial(formulation, model)
    return InterpretedKernel(made, program if frame is None else lambda *x: program(*x, frame))


class _ByColumns:
    """M(q) of a long robot: column k is the inverse dynamics of a unit acceleration, at rest and less gravity."""

    def __init__(self, made: Recipe, inverse_dynamics: AnyKernel, gravity: AnyKernel) -> None:
        self.recipe, self._inverse, self._gravity = made, inverse_dynamics, gravity

    def __call__(self, q: Any, out: Any = None) -> Any:
        """Return M of every sample."""
        given = np.asarray(q)
        n = self.recipe.outputs[0].shape[0]
        unit = np.eye(n, dtype=given.dtype if given.dtype == np.float32 else float)
        weight = self._gravity(given)[..., None, :]
        columns = self._inverse(given[..., None, :], np.zeros(n, dtype=unit.dtype), unit) - weight
        return delivered([0.5 * (columns + np.swapaxes(columns, -1, -2))], out)

    def direct(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general


class _WithRates:
    """q̇ and a of a long robot: the rates of its coordinates in NumPy beside its forward dynamics."""

    def __init__(self, model: Model, made: Recipe, forward_dynamics: AnyKernel) -> None:
        self.recipe, self._forward = made, forward_dynamics
        self._rates = InterpretedKernel(
            replace(made, inputs=made.inputs[:2], outputs=made.outputs[:1]), partial(coordinate_rates, model)
        )

    def __call__(self, q: Any, v: Any, tau: Any, out: Any = None) -> Any:
        """Return q̇ and a of every sample."""
        a = self._forward(q, v, tau)
        rate = np.broadcast_to(self._rates(q, v), (*a.shape[:-1], *self.recipe.outputs[0].shape))
        return delivered([rate.astype(a.dtype), a], out)

    def direct(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general
