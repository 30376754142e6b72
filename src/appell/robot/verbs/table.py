"""The table of verbs: arguments, results, and the checks of each.

One table serves every kind of robot, native code and text alike. Sizes are numbers or letters that a kind of robot
fills in: q its coordinates, v its independent velocities, u its actuators, d the accelerations that inverse dynamics
takes, t the velocities of its spanning tree, p its parameters, c its closures, r the rows that close positions, n the
points or columns that a call is about; "v+d" is a sum of them.
A new verb is one row here, with its programs in :mod:`appell.robot.verbs.programs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from appell.trace.tape import Port

Size = str | int

MASS, UNIT, CLOSED, PIVOTS, REACH, ACTUATION = "mass", "unit", "closed", "pivots", "reach", "actuation"
"""The checks of programs: a regular mass matrix, unit quaternions, closed loops, pivots of their equations that are not
small, legs within reach, motors that constrain the platform."""
ALWAYS = (UNIT, CLOSED, PIVOTS, REACH, ACTUATION)
DIVIDING = (MASS, *ALWAYS)
"""Of verbs that divide by M."""
OF_TREE = (UNIT, REACH)
"""Of verbs of q alone, which no loop enters."""
ON_THE_WAY = (PIVOTS, REACH)
"""Of verbs that integrators call, whose stages may be open, or off the unit sphere, by a little."""


@dataclass(frozen=True)
class Verb:
    """One computation.

    `about` is the further argument of a call besides its arrays: none, a frame, points, or columns of the regressor.
    `is_lean`: the result is the same on the lean model (:mod:`appell.model.lean`). `guards` are checked if the kind of
    robot has them. `chosen_as` is the verb by whose cost the formulation is chosen; by default the verb itself.
    `by_parameters` are outputs that come last where parameters are an input: derivatives by these, which the verb's
    programs are then given last.
    """

    name: str
    inputs: tuple[tuple[str, Size], ...]
    outputs: tuple[tuple[str, tuple[Size, ...]], ...]
    guards: tuple[str, ...] = ALWAYS
    is_lean: bool = True
    about: str = ""
    chosen_as: str = ""
    by_parameters: tuple[tuple[str, tuple[Size, ...]], ...] = ()

    @property
    def symbols(self) -> dict[str, tuple[Size, ...]]:
        """Return the sizes of every argument and result, as letters where they have one."""
        outputs = dict((*self.outputs, *self.by_parameters))
        return {**{name: (size,) for name, size in self.inputs}, **outputs, "parameters": ("p",)}

    def ports(
        self, sizes: Mapping[str, int], *, is_parametric: bool = False
    ) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the input and output ports for a robot's sizes."""

        def size(x: Size) -> int:
            return sum(sizes[letter] for letter in x.split("+")) if isinstance(x, str) else x

        inputs = tuple(Port(name, (size(x),)) for name, x in self.inputs)
        outputs = (*self.outputs, *self.by_parameters) if is_parametric else self.outputs
        return inputs, tuple(Port(name, tuple(size(x) for x in shape)) for name, shape in outputs)


_Q, _V, _A, _LOAD = ("q", "q"), ("v", "v"), ("a", "v"), ("load", "v")
_DRIVEN, _FORCED = (_Q, _V, ("a", "d")), (_Q, _V, ("tau", "u"))
_TAU, _RATES = (("tau", ("u",)),), (("a", ("v",)),)
_FORCES = (("tau", ("v",)),)
_WEIGHED = (*_DRIVEN, ("w", "u"))
_TIMED = (*_FORCED, ("dt", 1))
_STATE = (("q", ("q",)), ("v", ("v",)))
_TRANSITION = (("A", ("v+v", "v+v")), ("B", ("v+v", "u")))

VERBS = {
    verb.name: verb
    for verb in (
        Verb("inverse_dynamics", _DRIVEN, _TAU),
        Verb("inverse_dynamics_loaded", (*_DRIVEN, _LOAD), _TAU, chosen_as="inverse_dynamics"),
        Verb("inverse_dynamics_weighted", (*_DRIVEN, _LOAD, ("weights", "u")), _TAU, chosen_as="inverse_dynamics"),
        Verb("forward_dynamics", _FORCED, _RATES, DIVIDING),
        Verb("forward_dynamics_loaded", (*_FORCED, _LOAD), _RATES, DIVIDING, chosen_as="forward_dynamics"),
        Verb("motion", _FORCED, (("rate", ("q",)), *_RATES), (MASS, *ON_THE_WAY), chosen_as="forward_dynamics"),
        Verb("generalised_forces", (_Q, _V, _A), _FORCES),
        Verb("mass_matrix", (_Q,), (("M", ("v", "v")),)),
        Verb("coriolis_matrix", (_Q, _V), (("C", ("v", "v")),)),
        Verb("gravity", (_Q,), _FORCES),
        Verb("bias", (_Q, _V), _FORCES),
        Verb("regressor", (_Q, _V, _A), (("Y", ("v", "p")),), is_lean=False),
        Verb("base_regressor", (_Q, _V, _A), (("Y", ("v", "n")),), is_lean=False, about="columns"),
        Verb("gibbs", (_Q, _V, _A), (("S", ()),), is_lean=False),
        Verb("kinetic_energy", (_Q, _V), (("T", ()),), is_lean=False),
        Verb("potential_energy", (_Q,), (("V", ()),), OF_TREE, is_lean=False),
        Verb("centre_of_mass", (_Q,), (("c", (3,)),), OF_TREE, is_lean=False),
        Verb("momentum", (_Q, _V), (("p", (6,)),), is_lean=False),
        Verb("momentum_matrix", (_Q,), (("A", (6, "v")),), is_lean=False),
        Verb("pose", (_Q,), (("X", (4, 4)),), OF_TREE, is_lean=False, about="frame"),
        Verb("jacobian", (_Q,), (("J", (6, "v")),), is_lean=False, about="frame"),
        Verb("velocity", (_Q, _V), (("V", (6,)),), is_lean=False, about="frame"),
        Verb("acceleration", (_Q, _V, _A), (("A", (6,)),), is_lean=False, about="frame"),
        Verb("wrench_forces", (_Q, ("wrench", 6)), _FORCES, is_lean=False, about="frame"),
        Verb("tree_wrench_forces", (_Q, ("wrench", 6)), (("force", ("t",)),), OF_TREE, is_lean=False, about="frame"),
        Verb(
            "inverse_dynamics_derivatives",
            _DRIVEN,
            (("dtau_dq", ("u", "v")), ("dtau_dv", ("u", "v")), ("dtau_da", ("u", "d"))),
        ),
        Verb(
            "forward_dynamics_derivatives",
            _FORCED,
            (("da_dq", ("v", "v")), ("da_dv", ("v", "v")), ("da_dtau", ("v", "u"))),
            DIVIDING,
        ),
        Verb(
            "inverse_dynamics_vjp",
            _WEIGHED,
            (("w_dtau_dq", ("v",)), ("w_dtau_dv", ("v",)), ("w_dtau_da", ("d",))),
            chosen_as="inverse_dynamics",
            by_parameters=(("w_dtau_dparameters", ("p",)),),
        ),
        Verb(
            "forward_dynamics_vjp",
            (*_FORCED, ("w", "v")),
            (("w_da_dq", ("v",)), ("w_da_dv", ("v",)), ("w_da_dtau", ("u",))),
            DIVIDING,
            chosen_as="forward_dynamics",
            by_parameters=(("w_da_dparameters", ("p",)),),
        ),
        Verb("inverse_dynamics_hessian", _WEIGHED, (("H", ("v+v+d", "v+v+d")),), chosen_as="inverse_dynamics"),
        Verb(
            "inverse_dynamics_hvp",
            (*_WEIGHED, ("dq", "v"), ("dv", "v"), ("da", "d")),
            (("Hx", ("v+v+d",)),),
            chosen_as="inverse_dynamics",
        ),
        Verb("pose_derivatives", (_Q,), (("dX_dq", (4, 4, "v")),), is_lean=False, about="frame"),
        Verb("jacobian_derivatives", (_Q,), (("dJ_dq", (6, "v", "v")),), is_lean=False, about="frame"),
        Verb("momentum_derivatives", (_Q, _V), (("dp_dq", (6, "v")), ("dp_dv", (6, "v"))), is_lean=False),
        Verb("kinetic_energy_derivatives", (_Q, _V), (("dT_dq", ("v",)), ("dT_dv", ("v",))), is_lean=False),
        Verb("potential_energy_derivatives", (_Q,), (("dV_dq", ("v",)),), is_lean=False),
        Verb("passive_inverse_dynamics", (_Q, _V, ("v_r", "v"), ("a_r", "v")), _FORCES),
        Verb("momentum_regressor", (_Q, _V), (("Y", (6, "p")),), is_lean=False),
        Verb("energy_regressor", (_Q, _V), (("Y", (2, "p")),), is_lean=False),
        Verb("step", _TIMED, _STATE, DIVIDING, chosen_as="forward_dynamics"),
        Verb("step_rk4", _TIMED, _STATE, DIVIDING, chosen_as="forward_dynamics"),
        Verb("step_derivatives", _TIMED, _TRANSITION, DIVIDING, chosen_as="forward_dynamics_derivatives"),
        Verb("step_rk4_derivatives", _TIMED, _TRANSITION, DIVIDING, chosen_as="forward_dynamics_derivatives"),
        Verb("constraint_forces", _DRIVEN, (("w", ("c", 6)),)),
        Verb("contact_forces", _FORCED, (("w", ("c", 6)),), DIVIDING, chosen_as="forward_dynamics"),
        Verb(
            "contact_forces_loaded",
            (*_FORCED, ("load", "t")),
            (("w", ("c", 6)),),
            DIVIDING,
            chosen_as="forward_dynamics",
        ),
        Verb("actuator_jacobian", (_Q,), (("J", ("u", "v")),)),
        Verb("actuation", (_Q, ("tau", "u")), (("force", ("v",)),)),
        Verb("actuator_forces", (_Q, ("force", "v")), _TAU),
        Verb("tree_velocity", (_Q, _V), (("v_tree", ("t",)),), ON_THE_WAY),
        Verb("tree_acceleration", (_Q, _V, _A), (("a_tree", ("t",)),)),
        Verb("coordinate_rates", (_Q, _V), (("rate", ("q",)),), ON_THE_WAY),
        Verb("tree_mass_matrix", (_Q,), (("M", ("t", "t")),), OF_TREE),
        Verb("tracking_error", (_Q, ("goal", "q")), (("e", ("d",)),), (), is_lean=False),
        Verb("finished_step", (_Q,), (("q", ("q",)),), (), is_lean=False),
        Verb("point_positions", (_Q,), (("p", ("n", 3)),), (REACH,), is_lean=False, about="points"),
        Verb("point_velocities", (_Q, _V), (("p", ("n", 3)),), ON_THE_WAY, is_lean=False, about="points"),
        Verb("point_biases", (_Q, _V), (("p", ("n", 3)),), ON_THE_WAY, is_lean=False, about="points"),
    )
}
