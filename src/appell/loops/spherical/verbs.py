"""The table of a spherical robot's verbs: what each takes, what it gives, and the program behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from appell.errors import InputError
from appell.kernels.recipe import Recipe
from appell.loops.spherical import programs
from appell.loops.spherical.mechanism import Mechanism
from appell.model.build import listed
from appell.recursion.regressor import PER_BODY
from appell.trace.count import Count, count
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

N = 3
"""Coordinates, velocities, legs and motors of every spherical robot."""
BODIES = 7


@dataclass(frozen=True)
class Verb:
    """One computation. `is_driven` says that the motors' rows enter its results, which a leg out of reach makes NaN."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    program: Callable[..., Any]
    is_driven: bool = False

    @property
    def ports(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the input and output ports."""
        return tuple(Port(name, (N,)) for name in self.inputs), tuple(Port(*output) for output in self.outputs)

    @cached_property
    def single(self) -> int:
        """Return how many axes one sample's result has."""
        return len(self.outputs[0][1])

    def tape(self, robot: Mechanism, body: int | None = None) -> Tape:
        """Return the verified program of the verb for a robot, about one of its bodies where the verb is about one."""
        program = self.program if body is None else partial(_about, self.program, body)
        return verify(trace(self.name, partial(program, robot), *self.ports))

    def recipe(self, robot: Mechanism, body: int | None = None) -> Recipe:
        """Return what determines the verb's kernel."""
        bare = replace(robot, name="", coordinates=("", "", ""), joints=("", "", ""), home=(0.0, 0.0, 0.0), spread=0.0)
        return Recipe(f"spherical_{self.name}", *self.ports, repr((bare, body)), lambda: self.tape(robot, body))


def _about(program: Callable[..., Any], body: int, robot: Mechanism, q: Any) -> Any:
    return program(robot, q, body)


_STATE, _TORQUE, _SQUARE, _LEGS = ("q", "v", "a"), (("tau", (N,)),), (N, N), (N, N)
VERBS = {
    verb.name: verb
    for verb in (
        Verb("inverse_dynamics", _STATE, _TORQUE, programs.inverse_dynamics, is_driven=True),
        Verb(
            "inverse_dynamics_loaded",
            (*_STATE, "moment"),
            _TORQUE,
            programs.inverse_dynamics_loaded,
            is_driven=True,
        ),
        Verb("forward_dynamics", ("q", "v", "tau"), (("a", (N,)),), programs.forward_dynamics, is_driven=True),
        Verb(
            "forward_dynamics_loaded",
            ("q", "v", "tau", "moment"),
            (("a", (N,)),),
            programs.forward_dynamics_loaded,
            is_driven=True,
        ),
        Verb("generalised_forces", _STATE, (("Q", (N,)),), programs.generalised_forces),
        Verb("mass_matrix", ("q",), (("M", _SQUARE),), programs.mass_matrix),
        Verb("coriolis_matrix", ("q", "v"), (("C", _SQUARE),), programs.coriolis_matrix),
        Verb("coriolis_as_printed", ("q", "v"), (("C", _SQUARE),), programs.coriolis_as_printed),
        Verb("gravity", ("q",), (("G", (N,)),), programs.gravity),
        Verb("bias", ("q", "v"), (("Q", (N,)),), programs.bias),
        Verb("regressor", _STATE, (("Y", (N, PER_BODY * BODIES)),), programs.regressor, is_driven=True),
        Verb("gibbs", _STATE, (("S", ()),), programs.gibbs),
        Verb("kinetic_energy", ("q", "v"), (("T", ()),), programs.kinetic_energy),
        Verb("potential_energy", ("q",), (("V", ()),), programs.potential_energy),
        Verb(
            "inverse_dynamics_derivatives",
            _STATE,
            (("dtau_dq", _SQUARE), ("dtau_dv", _SQUARE), ("dtau_da", _SQUARE)),
            programs.inverse_dynamics_derivatives,
            is_driven=True,
        ),
        Verb(
            "forward_dynamics_derivatives",
            ("q", "v", "tau"),
            (("da_dq", _SQUARE), ("da_dv", _SQUARE), ("da_dtau", _SQUARE)),
            programs.forward_dynamics_derivatives,
            is_driven=True,
        ),
        Verb("discriminants", ("q",), (("D", (N,)),), programs.discriminants),
        Verb("actuator_jacobian", ("q",), (("J", _SQUARE),), programs.actuator_jacobian, is_driven=True),
        Verb("joint_angles", ("q",), (("sine", _LEGS), ("cosine", _LEGS)), programs.joint_angles, is_driven=True),
        Verb("joint_rates", ("q", "v"), (("rate", _LEGS),), programs.joint_rates, is_driven=True),
        Verb("joint_accelerations", _STATE, (("acceleration", _LEGS),), programs.joint_accelerations, is_driven=True),
        Verb(
            "singularity_measures",
            ("q",),
            (("serial", (N,)), ("rows", _SQUARE), ("coordinates", ())),
            programs.singularity_measures,
            is_driven=True,
        ),
        Verb("closure", ("q", "theta"), (("gap", (N,)), ("slope", _SQUARE)), programs.closure),
        Verb("pose", ("q",), (("X", (4, 4)),), programs.pose),
        Verb("jacobian", ("q",), (("J", (6, N)),), programs.body_jacobian),
    )
}
FRAMED = ("pose", "jacobian")
"""Verbs about one body, named in the call."""


def operations(robot: Mechanism, name: str) -> Count:
    """Return the operation count of a verb as it is compiled."""
    if name not in VERBS or name in FRAMED:
        raise InputError(f"operations: no verb '{name}'; known: {listed(v for v in VERBS if v not in FRAMED)}")
    return count(VERBS[name].tape(robot))
