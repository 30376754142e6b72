"""Open robots of many bodies, whose programs are loops over the bodies instead of written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from appell.errors import InputError
from appell.model.model import Model
from appell.program.nodes import Program
from appell.robot.calls import compile
from appell.robot.calls.composed import COMPOSED
from appell.robot.kind import Key, Kind
from appell.robot.long import gradients, programs
from appell.robot.tree import OF_OPEN, Tree
from appell.robot.verbs.guards import GUARDS
from appell.robot.verbs.programs import Formulation
from appell.robot.verbs.table import UNIT, VERBS

LONG = 80
"""Bodies from which a loop is used: a program written out would take long to compile and run no faster."""
FORMULATIONS = {
    **dict.fromkeys(("forward_dynamics", "motion", "forward_dynamics_vjp", "step"), "articulated"),
    "mass_matrix": "composite",
}
"""The algorithms of the loops, where they are not the Gibbs function's."""

WRITTEN = (
    "kinetic_energy_derivatives",
    "potential_energy_derivatives",
    "momentum_regressor",
    "energy_regressor",
    "constraint_forces",
    "contact_forces",
    "contact_forces_loaded",
    "actuator_jacobian",
    "actuation",
    "actuator_forces",
    "tree_velocity",
    "tracking_error",
    "finished_step",
)
"""Verbs that are written out: short ones, and derivatives of energies."""
UNROLLED = ("pose_derivatives", "jacobian_derivatives", "momentum_derivatives")
"""Verbs without loops, too long to be written out."""
LOOPED = {verb for verb in VERBS if verb not in (*WRITTEN, *UNROLLED, *COMPOSED)} | {*gradients.PROGRAMS, "step"}
"""Verbs whose programs are loops."""


def is_long(model: Model) -> bool:
    """Return whether a robot's verbs are computed by loops."""
    return len(model.bodies) > LONG


def open_kind(model: Model, factory: Callable[[Model], Kind]) -> Tree:
    """Return the kind of a robot without loops."""
    return LongTree(model, factory) if is_long(model) else Tree(model, factory)


class LongTree(Tree):
    """A tree of many bodies without loops."""

    is_looped = True

    def formulations(self, verb: str) -> Mapping[str, Formulation]:
        """Return the algorithm of the loops, or of the few verbs that are short for any robot."""
        found, name = super().formulations(verb), FORMULATIONS.get(verb.removesuffix("_loaded"), "gibbs")
        every = {**found, **OF_OPEN.get(verb.removesuffix("_loaded"), {})}
        return {name: every[name]} if verb in LOOPED else found

    def variants(self, verb: str) -> Sequence[str]:
        """Return the lean model, in which loops are made too."""
        return ("lean",)

    def is_composed(self, key: Key) -> bool:
        """Return whether a verb is composed of calls of others."""
        return key.verb in COMPOSED and key.verb not in LOOPED

    def loops(self, key: Key) -> Callable[[], Program] | None:
        """Return what makes the program of a verb."""
        if self.is_composed(key) or key.verb in UNROLLED:
            instead = "inverse_dynamics_hvp" if key.verb.endswith("hessian") else "inverse_dynamics_vjp"
            raise InputError(
                f"{key.verb}: robot '{self.model.name}' has {len(self.model.bodies)} bodies; a single program is made "
                f"for robots of up to {LONG}; "
                + (
                    "export the verb itself and use finite differences"
                    if key.verb in UNROLLED
                    else f"export '{instead}'"
                )
            )
        if key.verb not in LOOPED:
            return None
        inputs, outputs, guards = compile.ports(self, key)
        places = self.facts.quaternions if GUARDS[UNIT] in guards else ()
        options = {"is_parametric": key.is_parametric}
        if key.verb in gradients.PROGRAMS:
            return partial(gradients.program, self.model, key.verb, inputs, outputs, places, **options)
        (formulation,) = self.formulations(key.verb).values()
        return partial(
            programs.program, self.model, key.verb, formulation, key.about, inputs, outputs, places, **options
        )
