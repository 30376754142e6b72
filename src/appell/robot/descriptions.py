"""What verbs, their arguments and the coordinates of joints are, in plain ASCII for the headers of exported code."""

from __future__ import annotations

from collections.abc import Iterable

from appell.trace.tape import Port

AXES = {
    "revolute": ("angle [rad]", "rate [rad/s]"),
    "continuous": ("angle [rad]", "rate [rad/s]"),
    "prismatic": ("position [m]", "speed [m/s]"),
    "helical": ("angle [rad]", "rate [rad/s]"),
    "cylindrical": ("angle [rad], position [m]", "rate [rad/s], speed [m/s]"),
    "planar": ("position x y [m], angle [rad]", "velocity in the body's axes [m/s], rate [rad/s]"),
    "ball": ("quaternion x y z w", "angular velocity in the body's axes [rad/s]"),
    "free": (
        "position x y z [m], quaternion x y z w",
        "linear [m/s], then angular velocity [rad/s], in the body's axes",
    ),
}
"""Per kind of joint what its coordinates and its velocities are."""

MACROS = {
    "q": ("NQ", "coordinates q"),
    "v": ("NV", "velocities v"),
    "u": ("NU", "actuator forces"),
    "d": ("ND", "accelerations that inverse dynamics takes"),
    "t": ("NT", "velocities of the spanning tree"),
    "p": ("NP", "inertial and joint parameters"),
    "c": ("NC", "closures"),
    "m": ("NM", "numbers that the law remembers"),
}
"""The macros of sizes, by the letters of the table of verbs, with their meanings."""

_VERBS = {
    "inverse_dynamics": "forces of the actuators for a motion, M(q) a + C(q, v) v + G(q) + friction",
    "inverse_dynamics_loaded": "forces of the actuators for a motion under outside forces on the velocities",
    "inverse_dynamics_weighted": "forces of the actuators of least weighted squares for a motion under outside forces",
    "forward_dynamics": "accelerations under forces of the actuators",
    "forward_dynamics_loaded": "accelerations under forces of the actuators and outside forces on the velocities",
    "motion": "rates of the coordinates, and accelerations, under forces of the actuators",
    "mass_matrix": "inertia matrix M(q), rotor inertias included",
    "coriolis_matrix": "matrix C(q, v) of Coriolis and centrifugal forces C v, with dM/dt - 2 C skew",
    "gravity": "forces G(q) that hold the robot still",
    "bias": "forces at zero acceleration, C(q, v) v + G(q) + friction",
    "generalised_forces": "forces on the independent velocities, M a + C v + G + friction",
    "base_regressor": "matrix Y with forces = Y times the base parameters",
    "regressor": "matrix Y with forces = Y times the inertial parameters",
    "gibbs": "Gibbs function, the energy of accelerations",
    "kinetic_energy": "kinetic energy",
    "potential_energy": "potential energy of gravity",
    "centre_of_mass": "mass centre of all moving bodies in the world",
    "momentum": "linear momentum, then angular momentum about the mass centre, in world axes",
    "momentum_matrix": "matrix from v to the momentum",
    "velocity": "velocity of a frame in world axes",
    "acceleration": "classical acceleration of a frame in world axes, gravity left out",
    "wrench_forces": "forces by the velocities that a force and moment on a frame are worth",
    "tree_wrench_forces": "forces by the velocities of the tree that a force and moment on a frame are worth",
    "pose": "pose of a frame in the world",
    "jacobian": "matrix from v to a frame's velocity in world axes",
    "inverse_dynamics_derivatives": "derivatives of the inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of the forward dynamics",
    "inverse_dynamics_vjp": "weights w times the derivatives of the inverse dynamics by q, v, a (and the parameters)",
    "forward_dynamics_vjp": "weights w times the derivatives of the forward dynamics by q, v, tau (and the parameters)",
    "inverse_dynamics_hessian": "second derivatives of w times the inverse dynamics by (q, v, a)",
    "inverse_dynamics_hvp": "second derivatives of w times the inverse dynamics by (q, v, a), times (dq, dv, da)",
    "pose_derivatives": "derivatives of the pose of a frame along the velocities",
    "jacobian_derivatives": "derivatives of the matrix from v to a frame's velocity along the velocities",
    "momentum_derivatives": "derivatives of the momentum along q and by v",
    "kinetic_energy_derivatives": "derivatives of the kinetic energy along q and by v",
    "potential_energy_derivatives": "derivatives of the potential energy along q",
    "passive_inverse_dynamics": "forces M(q) a_r + C(q, v) v_r + G(q) of a reference motion, with dM/dt - 2 C skew",
    "momentum_regressor": "matrix Y with momentum = Y times the parameters, about the mass centre",
    "energy_regressor": "rows Y with kinetic and potential energy = Y times the parameters",
    "step": "configuration and velocities after a semi-implicit Euler step",
    "step_rk4": "configuration and velocities after a Runge-Kutta step of fourth order",
    "step_derivatives": "derivatives of a semi-implicit Euler step by (q, v) and by tau, along the velocities",
    "step_rk4_derivatives": "derivatives of a Runge-Kutta step by (q, v) and by tau, along the velocities",
    "constraint_forces": "force and moment that hold each closure, on its second frame, in the first frame's axes",
    "contact_forces": "force and moment on each held frame or closure under forces of the actuators",
    "contact_forces_loaded": "the same, under outside forces on the joints of the tree besides",
    "actuation": "forces on the velocities that forces of the actuators amount to",
    "actuator_forces": "forces of the actuators that amount to forces on the velocities",
    "tree_velocity": "velocities of every joint of the spanning tree",
    "tree_acceleration": "accelerations of every joint of the spanning tree",
    "tree_mass_matrix": "inertia matrix of the spanning tree",
    "coordinate_rates": "rates of the coordinates",
    "tracking_error": "goal - q, one number per force",
    "finished_step": "configuration with unit quaternions and closed loops",
    "point_positions": "positions of points in the world",
    "point_velocities": "velocities of points in the world",
    "point_biases": "accelerations of points while v does not change",
    "regularity": "determinant of the equations that give the dependent velocities",
    "closing_step": "one step of Newton's method towards closed loops, the independent coordinates held",
    "discriminants": "per leg what is positive inside the workspace",
    "actuator_jacobian": "matrix from v to the rates of the motors",
    "leg_angles": "sines and cosines of the angles of every leg's joints",
    "leg_rates": "rates of every leg's joints",
    "leg_accelerations": "accelerations of every leg's joints",
    "singularity_measures": "what singularities of the legs, the motors and the angles are told by",
    "leg_closure": "how far motor angles and posture disagree, and the slope of that by q",
}
_COMPUTED = "inverse dynamics M(q) u + C(q, v) v + G(q) + friction, within the limits above, of"
_VERBS |= {
    "point_to_point": f"{_COMPUTED} u = kp (goal - q) - kd v",
    "tracking": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q)",
    "tracking_with_integral": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q) + ki z; dz/dt = goal_q - q "
    "but where the force is at its limit and z would drive it further",
    "pd": "forces kp (goal - q) - kd v, within the limits above",
    "pd_gravity": "forces G(q) + kp (goal - q) - kd v, within the limits above",
}
_FORCE = "[N m], or [N] where a joint slides"
_PORTS = {
    "q": "configuration, in the order above",
    "v": "velocities, in the order above",
    "a": "accelerations [rad/s^2] or [m/s^2], in the order of v",
    "v_tree": "velocities of every joint of the tree, in its order",
    "a_tree": "accelerations of every joint of the tree, in its order",
    "tau": f"forces {_FORCE}",
    "goal": "configuration to reach, in the order of q",
    "goal_q": "configuration of the reference now, in the order of q",
    "goal_v": "velocities of the reference now, in the order of v",
    "goal_a": "accelerations of the reference now [rad/s^2] or [m/s^2], in the order of v",
    "dt": "time since the last call [s]; 0 at the first",
    "v_r": "reference velocities, in the order of v",
    "a_r": "rates of the reference velocities, in the order of v",
    "dq": "direction in q, in the order of v",
    "dv": "direction in v",
    "da": "direction in a",
    "H": "square matrix by (q, v, a), in the order of v each",
    "Hx": "vector by (q, v, a), in the order of v each",
    "memory": "z, then the last errors goal_q - q: zeros before the first call, then what the last call gave out",
    "wrench": "force [N] and moment [N m] in world axes about the frame's origin",
    "force": f"forces on the velocities {_FORCE}",
    "load": f"outside forces on the velocities {_FORCE}",
    "weights": "positive weights of the squared forces",
    "parameters": "inertial and joint parameters pi",
    "rate": "rates of the coordinates",
    "theta": "angles of the motors [rad]",
    "M": "inertia matrix [kg m^2], [kg m], [kg]",
    "C": "matrix [N m s/rad], [N s/m]",
    "Y": "one row per force, one column per parameter",
    "S": "Gibbs function [kg m^2/s^4]",
    "T": "energy [J]",
    "c": "position [m]",
    "p": "momentum [kg m/s], [kg m^2/s]",
    "X": "4x4 matrix of rotation and position [m]",
    "J": "matrix, six rows for a frame: linear, then angular",
    "G": f"forces by the coordinates {_FORCE}",
    "Q": f"forces by the coordinates {_FORCE}",
    "w": "per closure force [N], then moment [N m]",
    "D": "discriminants, one per leg",
    "det": "determinant",
    "open": "how far each row is open [m] or [rad]",
    "inverse_mass_norm": "square of how much of rounding accelerations have, about; large near a singular mass matrix",
    "pivot_growth": "about 1; the mean square of usual pivot over pivot, plus what open loops add",
}
_OF_A_VERB = {
    ("potential_energy", "V"): "energy [J]",
    ("velocity", "V"): "velocity [m/s], [rad/s]",
    ("acceleration", "A"): "acceleration [m/s^2], [rad/s^2]",
    ("momentum_matrix", "A"): "6 rows: linear, then angular",
    **{
        (verb, "w"): "weight of every force"
        for verb in ("inverse_dynamics_vjp", "inverse_dynamics_hessian", "inverse_dynamics_hvp")
    },
    ("contact_forces_loaded", "load"): f"outside forces on the joints of the tree {_FORCE}",
    ("tree_wrench_forces", "force"): f"forces on the joints of the tree {_FORCE}",
    ("forward_dynamics_vjp", "w"): "weight of every acceleration",
    **{(verb, "dt"): "time step [s]" for verb in _VERBS if verb.startswith("step")},
    **{(verb, "A"): "from (dq, dv) before to (dq, dv) after" for verb in _VERBS if verb.startswith("step")},
    **{(verb, "B"): "from changes of tau to (dq, dv) after" for verb in _VERBS if verb.startswith("step")},
    ("momentum_regressor", "Y"): "6 rows: linear, then angular; one column per parameter",
    ("energy_regressor", "Y"): "2 rows: kinetic, potential; one column per parameter",
    ("leg_rates", "rate"): "one row per leg [rad/s]",
    ("closing_step", "q"): "configuration, in the order above",
}


def verb_description(verb: str) -> str:
    """Return what a verb computes.

    >>> verb_description("gravity")
    'forces G(q) that hold the robot still'
    """
    return _VERBS[verb]


def port_descriptions(verb: str, ports: Iterable[Port]) -> dict[str, str]:
    """Return what each argument of a verb is; one without words of its own is called by its name.

    >>> port_descriptions("velocity", [Port("V", (6,))])
    {'V': 'velocity [m/s], [rad/s]'}
    """

    def words(name: str) -> str:
        return _OF_A_VERB.get((verb, name)) or _PORTS.get(name) or name.replace("_", " ")

    return {port.name: words(port.name) for port in ports}
