"""Open robots: trees of bodies, all joints moving by themselves or some following others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.kernels.runtime import cache
from appell.messages import listed
from appell.model import manifold
from appell.model.model import Model
from appell.model.parameters import n_parameters, parameters, velocity_names
from appell.recursion.coupling import expand_q
from appell.recursion.kinematics import Scalars
from appell.robot.calls import compile
from appell.robot.kind import COMPETING, FILE, Facts, Failure, Key, Kind
from appell.robot.singular import recovery
from appell.robot.singular.massless import inverse_norm_bound
from appell.robot.verbs import coordinates, embedding
from appell.robot.verbs.derivatives import forward_dynamics_vjp
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.formulations import FORMULATIONS
from appell.robot.verbs.guards import REGULAR, REGULAR_SINGLE
from appell.robot.verbs.programs import ARTICULATED, Formulation, motion
from appell.robot.verbs.steps import OF_TREES, steps
from appell.robot.verbs.table import MASS, UNIT
from appell.spatial.scalar import Array

SHORT = 3
"""Bodies up to which derivatives operation by operation, slow to trace, may cost less than their recursion."""


@dataclass(frozen=True, eq=False)
class Tree(Kind):
    """A tree of bodies without loops; `model.is_coupled` binds the joints that follow others."""

    model: Model
    factory: Callable[[Model], Kind]
    """Returns the kind of a model, with closures or without."""

    def __reduce__(self) -> Any:
        return type(self), (self.model, self.factory)

    @cached_property
    def facts(self) -> Facts:
        """Return names and sizes: every joint that follows no other has its coordinates, velocities and forces."""
        model, own = self.model, self.model.independent
        names, velocities = [body.joint.name for body in own.bodies], velocity_names(own)
        free = [i for i, body in enumerate(model.bodies) if not (model.is_coupled and body.joint.mimic is not None)]
        places = coordinates.quaternion_places(own)
        return Facts(
            {"q": own.nq, "v": own.nv, "u": own.nv, "d": own.nv, "t": model.nv, "p": n_parameters(model), "c": 0},
            names,
            [body.joint.type.nq for body in own.bodies],
            velocities,
            names,
            velocities,
            [k for i in free for k in model.velocities(i)],
            parameters(model),
            coordinates.joint_limits(own),
            {MASS: 1, UNIT: len(places)},
            coordinates.coordinate_lines(own),
            places,
            coordinates.curved_joints(own, range(own.nv)),
        )

    # Programs

    @cached_property
    def _inverse_norm_bound(self) -> float:
        """Return a bound of M⁻¹, from the cache if it is there: computing it takes longer than loading native code."""
        if self.model.is_coupled:
            return math.inf
        name = cache.digest("inverse norm bound", repr(self.fingerprint(is_parametric=False)))
        known = cache.load(name)
        if known is not None:
            return float.fromhex(known.decode())
        bound = inverse_norm_bound(self.model)
        cache.save(name, bound.hex().encode())
        return bound

    def guards(self, key: Key) -> Mapping[str, int]:
        """Return the guards of a program, without that of M where the inertias of all bodies make M regular."""
        if key.is_parametric or MASS not in self.verbs[key.verb].guards:
            return self.facts.guards
        is_regular = self._inverse_norm_bound <= (REGULAR_SINGLE if key.is_single else REGULAR)
        return {**self.facts.guards, MASS: int(not is_regular)}

    def fingerprint(self, *, is_parametric: bool) -> Any:
        """Return the model without names."""
        return self.nameless(is_parametric=is_parametric)

    def formulations(self, verb: str) -> Mapping[str, Formulation]:
        """Return the algorithms of a verb; articulated bodies for trees whose joints all move by themselves."""
        if verb in OF_TREES:
            is_small = len(self.model.bodies) <= SHORT
            others = {name: f._replace(competes=is_small and f.competes) for name, f in FORMULATIONS[verb].items()}
            return {**others, **OF_TREES[verb]}
        own = {} if self.model.is_coupled else OF_OPEN.get(verb.removesuffix("_loaded"), {})
        return {**FORMULATIONS[verb], **own}

    def variants(self, verb: str) -> Sequence[str]:
        """Return the models of the same dynamics: lean, with parallel axes bundled where there are any, as filed.

        Of a large robot, the one in which inverse dynamics costs least.
        """
        if len(self.model.bodies) > COMPETING and verb != "inverse_dynamics":
            return (compile.choice(self, Key("inverse_dynamics")).variant,)
        return ("bundled", "lean", FILE) if self.lean.deferred else ("lean", FILE)

    def is_composed(self, key: Key) -> bool:
        """Return whether a verb of a large robot is composed of calls of others."""
        return len(self.model.bodies) > COMPETING and key.verb in LARGE and key.formulation is None

    def embedding(self, variant: str, pi: Scalars | None = None) -> Embedding:
        """Return the tree in the frames of a variant."""
        return embedding.Tree(self.tree_in(variant, pi), self.model, self.tree_in(FILE, pi))

    def checks(self, embedding: Embedding, guards: Sequence[str], q: Scalars) -> dict[str, Sequence[Any]]:
        """Return how far quaternions are from unit length."""
        return {UNIT: coordinates.quaternion_errors(self.facts.quaternions, q) if UNIT in guards else ()}

    def recovered(self, key: Key, guard: str, call: Failure) -> list[Array]:
        """Raise for quaternions that are not of unit length; warn of singular mass matrices."""
        return recovery.recovered(self, key, call) if guard == MASS else self.refuse_quaternions(call)

    # Configurations

    def neutral(self) -> Array:
        """Return the configuration with every joint at zero."""
        return manifold.neutral(self.model.independent)

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Return random configurations within the joints' limits."""
        return manifold.random(self.model.independent, rng, (count,))

    def integrate(self, q: Array, dv: Array) -> Array:
        """Return q ⊕ dv."""
        return manifold.integrate(self.model.independent, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """Return q1 ⊖ q0."""
        return manifold.difference(self.model.independent, q0, q1)

    def tree_configuration(self, q: Array) -> Array:
        """Return the coordinates of every joint, followers included."""
        if not self.model.is_coupled:
            return q
        columns = expand_q(self.model, tuple(np.moveaxis(q, -1, 0)))
        return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else q

    def reduced(self, q: Array, x: Array) -> Array:
        """Return the velocities of the joints that follow no other."""
        return x[..., list(self.facts.actuated)]

    def from_actuators(self, positions: Array, guess: Array) -> Array:
        """Return the positions: every coordinate is an actuator's."""
        wide = [body.joint.name for body in self.model.independent.bodies if body.joint.type.nq != 1]
        if wide:
            raise InputError(
                f"from_actuators: robot '{self.model.name}' has joints of several coordinates, {listed(wide)}; "
                "move with robot.integrate"
            )
        return positions

    def with_model(self, model: Model) -> Kind:
        """Return the robot with another model of the same joints."""
        return type(self)(model, self.factory)

    def make(self, model: Model) -> Kind:
        """Return the kind of a robot with other joints or closures."""
        return self.factory(model)


LARGE = ("inverse_dynamics_hessian", "step_rk4_derivatives")
"""Verbs whose programs grow with the square of the robot's size, or faster."""
OF_OPEN = {
    "forward_dynamics": {"articulated": ARTICULATED},
    "motion": {"articulated": Formulation(motion(ARTICULATED.program))},
    "forward_dynamics_vjp": {"articulated": Formulation(forward_dynamics_vjp(ARTICULATED.program))},
    **steps({"articulated": ARTICULATED}),
}
