"""The table of verbs: what each takes, what it gives, and the recursion behind it.

A verb with several formulations is computed by the one that counts fewest operations on the robot at hand; the others
stay reachable by name for comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
    newton_euler,
    regressor,
    vector_form,
)
from appell.robot import derivatives
from appell.trace.count import Count, count
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

Formulation = Callable[..., Any]
Shape = Callable[[Model], tuple[int, ...]]


def _v(model: Model) -> tuple[int, ...]:
    return (model.nv,)


def _vv(model: Model) -> tuple[int, ...]:
    return (model.nv, model.nv)


def _scalar(model: Model) -> tuple[int, ...]:
    return ()


def _parameters(model: Model) -> tuple[int, ...]:
    return (model.nv, regressor.n_parameters(model))


def _four(model: Model) -> tuple[int, ...]:
    return (4, 4)


def _six(model: Model) -> tuple[int, ...]:
    return (6, model.nv)


@dataclass(frozen=True)
class Verb:
    """One public computation.

    `formulations` are programs of equal results; those named in `candidates` compete to be compiled. `is_lean` says
    that the result is the same on the lean model (:mod:`appell.model.lean`), on which it is then traced.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, Shape], ...]
    formulations: dict[str, Formulation]
    candidates: tuple[str, ...] = field(default=())
    is_lean: bool = True

    def ports(self, model: Model) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the input and output ports for a model."""
        sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv}
        inputs = tuple(Port(name, (sizes[name],)) for name in self.inputs)
        return inputs, tuple(Port(name, shape(model)) for name, shape in self.outputs)

    def tape(self, model: Model, formulation: str | None = None, frame: str | None = None) -> Tape:
        """Return the tape of one formulation on the model as filed, or of the cheapest on the lean model."""
        if formulation is not None:
            if formulation not in self.formulations:
                raise InputError(f"{self.name}: no formulation '{formulation}'; known: {listed(self.formulations)}")
            return self._trace(model, self.formulations[formulation], frame)
        traced = lean(model) if self.is_lean else model
        names = self.candidates or tuple(self.formulations)[:1]
        tapes = [self._trace(traced, self.formulations[name], frame) for name in names]
        return min(tapes, key=_cost)

    def _trace(self, model: Model, formulation: Formulation, frame: str | None) -> Tape:
        program = partial(formulation, model) if frame is None else partial(_framed, formulation, model, frame)
        try:
            return verify(trace(self.name, program, *self.ports(model)))
        except ZeroDivisionError:
            raise ModelError(
                f"{self.name}: robot '{model.name}' has joints that move nothing with an inertia, "
                f"{listed(_weightless(model))}; give their links mass or the joints rotor inertia"
            ) from None


def _weightless(model: Model) -> list[str]:
    """Return the joints of which M has a zero on the diagonal."""
    matrix = inertia_matrix.mass_matrix_composite(model, (0.5,) * model.nq)
    return [body.joint.name for k, body in enumerate(model.bodies) if matrix[k][k] == 0.0]


def _framed(formulation: Formulation, model: Model, frame: str, *arguments: Any) -> Any:
    return formulation(model, *arguments, frame)


def _cost(tape: Tape) -> int:
    operations = count(tape)
    return operations.multiplications + operations.additions


_TAU = (("tau", _v),)
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
                "newton-euler": newton_euler.inverse_dynamics,
            },
        ),
        Verb(
            "forward_dynamics",
            ("q", "v", "tau"),
            (("a", _v),),
            {
                "gibbs": forward.forward_dynamics_gibbs,
                "composite": forward.forward_dynamics_composite,
                "articulated": articulated.forward_dynamics,
            },
            candidates=("gibbs", "composite", "articulated"),
        ),
        Verb(
            "mass_matrix",
            ("q",),
            (("M", _vv),),
            {"gibbs": inertia_matrix.mass_matrix_gibbs, "composite": inertia_matrix.mass_matrix_composite},
            candidates=("gibbs", "composite"),
        ),
        Verb("coriolis_matrix", ("q", "v"), (("C", _vv),), {"gibbs": coriolis.coriolis_matrix}),
        Verb("gravity", ("q",), _TAU, {"gibbs": gibbs.gravity}),
        Verb("bias", ("q", "v"), _TAU, {"gibbs": gibbs.bias}),
        Verb("regressor", ("q", "v", "a"), (("Y", _parameters),), {"gibbs": regressor.regressor}, is_lean=False),
        Verb("gibbs", ("q", "v", "a"), (("S", _scalar),), {"gibbs": gibbs.gibbs}, is_lean=False),
        Verb("kinetic_energy", ("q", "v"), (("T", _scalar),), {"gibbs": energy.kinetic_energy}, is_lean=False),
        Verb("potential_energy", ("q",), (("V", _scalar),), {"gibbs": energy.potential_energy}, is_lean=False),
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
        ),
    )
}


def operations(model: Model, name: str, formulation: str | None = None) -> Count:
    """Return the operation count of a verb: as compiled, or of a named formulation on the frames of the file."""
    if name not in VERBS or name in ("pose", "jacobian"):
        raise InputError(
            f"operations: no verb '{name}'; known: {listed(v for v in VERBS if v not in ('pose', 'jacobian'))}"
        )
    return count(VERBS[name].tape(model, formulation))
