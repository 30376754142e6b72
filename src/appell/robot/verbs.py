"""The table of verbs: what each takes, what it gives, and the recursion behind it.

A verb with several formulations is computed by the one that counts fewest operations on the robot at hand; the others
stay reachable by name for comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from appell.errors import InputError, ModelError
from appell.model.build import listed
from appell.model.lean import lean
from appell.model.model import Model
from appell.recursion import (
    articulated,
    coriolis,
    energy,
    forward,
    gibbs,
    inertia_matrix,
    kinematics,
    mixed,
    momentum,
    newton_euler,
    rates,
    regressor,
    vector_form,
)
from appell.recursion.forward import weightless
from appell.robot import derivatives
from appell.robot.reduction import reduced
from appell.trace.count import Count, count
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

COMPETING = 20
"""Bodies up to which several forms of a model are traced to find the one of fewest operations."""

Formulation = Callable[..., Any]
Shape = Callable[[Model], tuple[int, ...]]


def _v(model: Model) -> tuple[int, ...]:
    return (model.independent.nv,)


def _q(model: Model) -> tuple[int, ...]:
    return (model.independent.nq,)


def _vv(model: Model) -> tuple[int, ...]:
    return (model.independent.nv, model.independent.nv)


def _scalar(model: Model) -> tuple[int, ...]:
    return ()


def _parameters(model: Model) -> tuple[int, ...]:
    return (model.independent.nv, regressor.n_parameters(model))


def _four(model: Model) -> tuple[int, ...]:
    return (4, 4)


def _three(model: Model) -> tuple[int, ...]:
    return (3,)


def _wrench(model: Model) -> tuple[int, ...]:
    return (6,)


def _six(model: Model) -> tuple[int, ...]:
    return (6, model.independent.nv)


@dataclass(frozen=True)
class Verb:
    """One public computation.

    `formulations` are programs of equal results; those named in `candidates` compete to be compiled. `is_lean` says
    that the result is the same on the lean model (:mod:`appell.model.lean`), on which it is then traced. Of a coupled
    model a formulation gives the tree's result, which is then reduced; those named in `coupled` reduce it themselves,
    as the ones must that solve for accelerations, and the verb then has no other. `is_strict` says that quaternions
    must be of unit length; the field that an integrator follows is given what its stages lead to.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, Shape], ...]
    formulations: dict[str, Formulation]
    candidates: tuple[str, ...] = field(default=())
    is_lean: bool = True
    coupled: tuple[str, ...] = ()
    is_strict: bool = True

    def ports(self, model: Model) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the input and output ports for a model."""
        nq, nv = model.independent.nq, model.independent.nv
        sizes = {"q": nq, "v": nv, "a": nv, "tau": nv, "wrench": 6}
        inputs = tuple(Port(name, (sizes[name],)) for name in self.inputs)
        return inputs, tuple(Port(name, shape(model)) for name, shape in self.outputs)

    def tape(self, model: Model, formulation: str | None = None, frame: str | None = None) -> Tape:
        """Return the tape of one formulation on the model as filed, or of the cheapest on the lean model."""
        known = self.coupled if self.coupled and model.is_coupled else tuple(self.formulations)
        if formulation is not None:
            if formulation not in known:
                raise InputError(f"{self.name}: no formulation '{formulation}'; known: {listed(known)}")
            return self._trace(model, self.formulations[formulation], frame)
        names = [name for name in self.candidates if name in known] or list(known[:1])
        if len(model.bodies) > COMPETING and len(names) > 1:
            # on large robots the later forms win, and tracing takes long
            names = names[-1:] if len(model.bodies) > 2 * COMPETING else names[1:]
        first, *others = variants(model) if self.is_lean else (model,)
        tapes = {name: self._trace(first, self.formulations[name], frame) for name in names}
        best = min(names, key=lambda name: _cost(tapes[name]))
        competing = [tapes[best], *(self._trace(other, self.formulations[best], frame) for other in others)]
        return min(competing, key=_cost)

    def _trace(self, model: Model, formulation: Formulation, frame: str | None) -> Tape:
        program = formulation if frame is None else partial(_framed, formulation, frame)
        try:
            if model.is_coupled and not self.coupled:
                tree = trace(self.name, partial(program, model.whole), *self.ports(model.whole))
                inputs, outputs = self.ports(model)
                return verify(trace(self.name, partial(reduced, model, tree, outputs), inputs, outputs))
            program = partial(program, model)
            return verify(trace(self.name, program, *self.ports(model)))
        except ZeroDivisionError:
            raise ModelError(
                f"{self.name}: robot '{model.name}' has joints that move nothing with an inertia, "
                f"{listed(weightless(model))}; give their links mass or the joints rotor inertia"
            ) from None


def _framed(formulation: Formulation, frame: str, model: Model, *arguments: Any) -> Any:
    return formulation(model, *arguments, frame)


def variants(model: Model) -> tuple[Model, ...]:
    """Return models of the same dynamics that compete to be compiled: lean, lean without bundles, as filed.

    Which takes the fewest operations depends on the robot: rods in a plane, for one, are leanest in their own frames.
    Of a large robot only one is traced by every formulation: lean, with its bundles if those spare work.
    """
    slim = lean(model)
    plain = replace(slim, late=frozenset())
    if len(model.bodies) <= COMPETING:
        return (slim, plain, model) if slim.late else (slim, model)
    return (min((slim, plain), key=_inverse_cost),) if slim.late else (slim,)


def _inverse_cost(model: Model) -> int:
    return _cost(VERBS["inverse_dynamics"]._trace(model, gibbs.inverse_dynamics, None))


def _cost(tape: Tape) -> int:
    operations = count(tape)
    return operations.multiplications + operations.additions


_TAU = (("tau", _v),)
_FORWARD = {
    "gibbs": forward.forward_dynamics_gibbs,
    "mixed": mixed.forward_dynamics,
    "composite": forward.forward_dynamics_composite,
    "articulated": articulated.forward_dynamics,
}
VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "inverse_dynamics",
            ("q", "v", "a"),
            _TAU,
            {
                "gibbs": gibbs.inverse_dynamics,
                "vector": vector_form.inverse_dynamics,
                "mixed": mixed.inverse_dynamics,
                "newton-euler": newton_euler.inverse_dynamics,
            },
        ),
        Verb(
            "forward_dynamics",
            ("q", "v", "tau"),
            (("a", _v),),
            _FORWARD,
            candidates=("gibbs", "composite", "articulated"),
            coupled=("gibbs", "composite"),
        ),
        Verb(
            "motion",
            ("q", "v", "tau"),
            (("rate", _q), ("a", _v)),
            {name: rates.motion(formulation) for name, formulation in _FORWARD.items()},
            candidates=("gibbs", "composite", "articulated"),
            coupled=("gibbs", "composite"),
            is_strict=False,
        ),
        Verb(
            "mass_matrix",
            ("q",),
            (("M", _vv),),
            {
                "gibbs": inertia_matrix.mass_matrix_gibbs,
                "mixed": mixed.mass_matrix,
                "composite": inertia_matrix.mass_matrix_composite,
            },
            candidates=("gibbs", "composite"),
        ),
        Verb("coriolis_matrix", ("q", "v"), (("C", _vv),), {"gibbs": coriolis.coriolis_matrix}),
        Verb("gravity", ("q",), _TAU, {"gibbs": gibbs.gravity}),
        Verb("bias", ("q", "v"), _TAU, {"gibbs": gibbs.bias}),
        Verb("regressor", ("q", "v", "a"), (("Y", _parameters),), {"gibbs": regressor.regressor}, is_lean=False),
        Verb("gibbs", ("q", "v", "a"), (("S", _scalar),), {"gibbs": gibbs.gibbs}, is_lean=False),
        Verb("kinetic_energy", ("q", "v"), (("T", _scalar),), {"gibbs": energy.kinetic_energy}, is_lean=False),
        Verb("potential_energy", ("q",), (("V", _scalar),), {"gibbs": energy.potential_energy}, is_lean=False),
        Verb("centre_of_mass", ("q",), (("c", _three),), {"gibbs": momentum.centre_of_mass}, is_lean=False),
        Verb("momentum", ("q", "v"), (("p", _wrench),), {"gibbs": momentum.momentum}, is_lean=False),
        Verb("momentum_matrix", ("q",), (("A", _six),), {"gibbs": momentum.momentum_matrix}, is_lean=False),
        Verb("velocity", ("q", "v"), (("V", _wrench),), {"gibbs": momentum.velocity}, is_lean=False),
        Verb("acceleration", ("q", "v", "a"), (("A", _wrench),), {"gibbs": momentum.acceleration}, is_lean=False),
        Verb("wrench_forces", ("q", "wrench"), _TAU, {"gibbs": momentum.wrench_forces}, is_lean=False),
        Verb("pose", ("q",), (("X", _four),), {"gibbs": kinematics.pose}, is_lean=False),
        Verb("jacobian", ("q",), (("J", _six),), {"gibbs": kinematics.jacobian}, is_lean=False),
        Verb(
            "inverse_dynamics_derivatives",
            ("q", "v", "a"),
            (("dtau_dq", _vv), ("dtau_dv", _vv), ("dtau_da", _vv)),
            {"gibbs": derivatives.inverse_dynamics},
        ),
        Verb(
            "forward_dynamics_derivatives",
            ("q", "v", "tau"),
            (("da_dq", _vv), ("da_dv", _vv), ("da_dtau", _vv)),
            {"gibbs": derivatives.forward_dynamics},
            coupled=("gibbs",),
        ),
    )
}


FRAMED = ("pose", "jacobian", "velocity", "acceleration", "wrench_forces")
"""Verbs about one frame of the robot, named in the call."""
COUNTED = [name for name in VERBS if name not in (*FRAMED, "motion")]
"""Verbs that have an operation count: of the robot as a whole, and not forward dynamics again with rates beside it."""


def operations(model: Model, name: str, formulation: str | None = None) -> Count:
    """Return the operation count of a verb: as compiled, or of a named formulation on the frames of the file."""
    if name not in COUNTED:
        raise InputError(f"operations: no verb '{name}'; known: {listed(COUNTED)}")
    return count(VERBS[name].tape(model, formulation))
