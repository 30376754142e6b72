"""Descriptions of verbs, arguments and joint coordinates, in ASCII for the headers of exported code."""

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
"""Coordinates and velocities of each joint type."""

MACROS = {
    "q": ("NQ", "coordinates q"),
    "v": ("NV", "velocities v"),
    "u": ("NU", "joint torques"),
    "d": ("ND", "accelerations that inverse dynamics takes"),
    "t": ("NT", "velocities of the spanning tree"),
    "p": ("NP", "inertial and joint parameters"),
    "c": ("NC", "closures"),
    "m": ("NM", "memory of the control law"),
}
"""The macros of sizes, by the letters of the table of verbs, with their meanings."""

_VERBS = {
    "inverse_dynamics": "joint torques of a motion, M(q) a + C(q, v) v + G(q) + friction",
    "inverse_dynamics_loaded": "joint torques of a motion under external generalised forces",
    "inverse_dynamics_weighted": "weighted least-squares joint torques of a motion under external generalised forces",
    "forward_dynamics": "accelerations under joint torques",
    "forward_dynamics_loaded": "accelerations under joint torques and external generalised forces",
    "motion": "rates of the coordinates, and accelerations, under joint torques",
    "mass_matrix": "mass matrix M(q), rotor inertias included",
    "coriolis_matrix": "Coriolis matrix C(q, v), with dM/dt - 2 C skew-symmetric",
    "gravity": "gravity torques G(q)",
    "bias": "bias forces, C(q, v) v + G(q) + friction",
    "generalised_forces": "generalised forces, M a + C v + G + friction",
    "base_regressor": "regressor Y: generalised forces = Y times the base parameters",
    "regressor": "regressor Y: generalised forces = Y times the parameters",
    "gibbs": "Gibbs function (acceleration energy)",
    "kinetic_energy": "kinetic energy",
    "potential_energy": "potential energy of gravity and springs",
    "centre_of_mass": "mass centre of all moving bodies in the world",
    "momentum": "linear momentum, then angular momentum about the mass centre, in world axes",
    "momentum_matrix": "centroidal momentum matrix, from v to the momentum",
    "velocity": "velocity of a frame in world axes",
    "acceleration": "classical acceleration of a frame in world axes, without gravity",
    "wrench_forces": "generalised forces of a wrench on a frame",
    "tree_wrench_forces": "joint forces of the spanning tree for a wrench on a frame",
    "pose": "pose of a frame in the world",
    "jacobian": "Jacobian of a frame, from v to its velocity in world axes",
    "inverse_dynamics_derivatives": "derivatives of the inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of the forward dynamics",
    "inverse_dynamics_vjp": "weights w times the derivatives of the inverse dynamics by q, v, a (and the parameters)",
    "forward_dynamics_vjp": "weights w times the derivatives of the forward dynamics by q, v, tau (and the parameters)",
    "inverse_dynamics_hessian": "second derivatives of w times the inverse dynamics by (q, v, a)",
    "inverse_dynamics_hvp": "second derivatives of w times the inverse dynamics by (q, v, a), times (dq, dv, da)",
    "pose_derivatives": "derivatives of the pose of a frame along the velocities",
    "jacobian_derivatives": "derivatives of the Jacobian of a frame along the velocities",
    "momentum_derivatives": "derivatives of the momentum along q and by v",
    "kinetic_energy_derivatives": "derivatives of the kinetic energy along q and by v",
    "potential_energy_derivatives": "derivatives of the potential energy along q",
    "passive_inverse_dynamics": "generalised forces M(q) a_r + C(q, v) v_r + G(q) of a reference motion, with dM/dt - "
    "2 C skew-symmetric",
    "momentum_regressor": "regressor Y: momentum about the mass centre = Y times the parameters",
    "energy_regressor": "regressor Y: kinetic and potential energy = Y times the parameters",
    "step": "configuration and velocities after a semi-implicit Euler step",
    "step_rk4": "configuration and velocities after a Runge-Kutta step of fourth order",
    "step_derivatives": "derivatives of a semi-implicit Euler step by (q, v) and by tau, along the velocities",
    "step_rk4_derivatives": "derivatives of a Runge-Kutta step by (q, v) and by tau, along the velocities",
    "constraint_forces": "constraint force and moment of each closure, on its second frame, in the first frame's axes",
    "contact_forces": "constraint force and moment of each held frame or closure under joint torques",
    "contact_forces_loaded": "the same, under external forces on the joints of the tree too",
    "actuation": "generalised forces of joint torques",
    "actuator_forces": "joint torques of given generalised forces",
    "tree_velocity": "velocities of every joint of the spanning tree",
    "tree_acceleration": "accelerations of every joint of the spanning tree",
    "tree_mass_matrix": "mass matrix of the spanning tree",
    "coordinate_rates": "rates of the coordinates",
    "tracking_error": "goal - q, one number per torque",
    "finished_step": "configuration with unit quaternions and closed loops",
    "point_positions": "positions of points in the world",
    "point_velocities": "velocities of points in the world",
    "point_biases": "accelerations of points while v does not change",
    "regularity": "determinant of the equations that give the dependent velocities",
    "closing_step": "one step of Newton's method towards closed loops, independent coordinates fixed",
    "discriminants": "discriminants of the legs, positive inside the workspace",
    "actuator_jacobian": "matrix from v to the rates of the motors",
    "leg_angles": "sines and cosines of the angles of every leg's joints",
    "leg_rates": "rates of every leg's joints",
    "leg_accelerations": "accelerations of every leg's joints",
    "singularity_measures": "distances from singularities of the legs, the motors and the angles",
    "leg_closure": "residuals of motor angles and posture, and their derivatives by q",
}
_COMPUTED = "inverse dynamics M(q) u + C(q, v) v + G(q) + friction, within the limits above, of"
_VERBS |= {
    "point_to_point": f"{_COMPUTED} u = kp (goal - q) - kd v",
    "tracking": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q)",
    "tracking_with_integral": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q) + ki z; dz/dt = goal_q - q "
    "except where the torque is at its limit and z would increase it",
    "rollout": "the state after many steps under torques that are held over each step",
    "inverse_kinematics": "configuration of least residuals found from a guess, within the joint limits",
    "pd": "joint torques kp (goal - q) - kd v, within the limits above",
    "pd_gravity": "joint torques G(q) + kp (goal - q) - kd v, within the limits above",
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
    "memory": "z, then the last errors goal_q - q: zeros before the first call, then the output of the last call",
    "wrench": "force [N] and moment [N m] in world axes about the frame's origin",
    "force": f"generalised forces {_FORCE}",
    "load": f"external generalised forces {_FORCE}",
    "weights": "positive weights of the squared torques",
    "parameters": "inertial and joint parameters pi",
    "rate": "rates of the coordinates",
    "theta": "angles of the motors [rad]",
    "M": "mass matrix [kg m^2], [kg m], [kg]",
    "C": "matrix [N m s/rad], [N s/m]",
    "Y": "one row per velocity, one column per parameter",
    "S": "Gibbs function [kg m^2/s^4]",
    "T": "energy [J]",
    "c": "position [m]",
    "p": "momentum [kg m/s], [kg m^2/s]",
    "X": "4x4 matrix of rotation and position [m]",
    "J": "matrix, six rows for a frame: linear, then angular",
    "G": f"generalised forces {_FORCE}",
    "Q": f"generalised forces {_FORCE}",
    "w": "per closure force [N], then moment [N m]",
    "D": "discriminants, one per leg",
    "det": "determinant",
    "open": "closure error of each row [m] or [rad]",
    "inverse_mass_norm": "about the square of the rounding error of accelerations; large near a singular mass matrix",
    "pivot_growth": "pivot growth, about 1: mean square of usual pivot over pivot, plus the closure error",
}
_OF_A_VERB = {
    ("potential_energy", "V"): "energy [J]",
    ("velocity", "V"): "velocity [m/s], [rad/s]",
    ("acceleration", "A"): "acceleration [m/s^2], [rad/s^2]",
    ("momentum_matrix", "A"): "6 rows: linear, then angular",
    **{
        (verb, "w"): "weight of every torque"
        for verb in ("inverse_dynamics_vjp", "inverse_dynamics_hessian", "inverse_dynamics_hvp")
    },
    ("contact_forces_loaded", "load"): f"external forces on the joints of the tree {_FORCE}",
    ("tree_wrench_forces", "force"): f"forces on the joints of the tree {_FORCE}",
    ("forward_dynamics_vjp", "w"): "weight of every acceleration",
    **{(verb, "dt"): "time step [s]" for verb in _VERBS if verb.startswith("step")},
    **{(verb, "A"): "from (dq, dv) before to (dq, dv) after" for verb in _VERBS if verb.startswith("step")},
    **{(verb, "B"): "from changes of tau to (dq, dv) after" for verb in _VERBS if verb.startswith("step")},
    ("momentum_regressor", "Y"): "6 rows: linear, then angular; one column per parameter",
    ("energy_regressor", "Y"): "2 rows: kinetic, potential; one column per parameter",
    ("leg_rates", "rate"): "one row per leg [rad/s]",
    ("rollout", "dt"): "step size [s]",
    ("rollout", "tau"): f"torques {_FORCE}, held over each step",
    ("rollout", "memory"): "z, then the last errors goal_q - q, then the time since then: zeros at first",
    ("rollout", "friction"): "coefficient of Coulomb friction of every contact, wall by wall",
    ("rollout", "restitution"): "coefficient of restitution of every contact",
    ("rollout", "offset"): "distance by which the wall of every contact is moved towards its free side [m]",
    ("rollout", "impulse"): "impulses of the contacts in the last step, normal and two tangents [N s]: zeros at first",
    ("rollout", "box"): "impulses of joints with friction, then of those with limits: zeros at first",
    ("rollout", "measure"): "penetration [m], residual [m/s] and energy gain [J] so far: zeros at first",
    ("inverse_kinematics", "residual"): "one per task [m] or [rad]",
    ("closing_step", "q"): "configuration, in the order above",
}


def verb_description(verb: str) -> str:
    """Return the description of a verb.

    >>> verb_description("gravity")
    'gravity torques G(q)'
    """
    return _VERBS[verb]


def port_descriptions(verb: str, ports: Iterable[Port]) -> dict[str, str]:
    """Return the description of each argument of a verb; by default its name.

    >>> port_descriptions("velocity", [Port("V", (6,))])
    {'V': 'velocity [m/s], [rad/s]'}
    """

    def words(name: str) -> str:
        return _OF_A_VERB.get((verb, name)) or _PORTS.get(name) or name.replace("_", " ")

    return {port.name: words(port.name) for port in ports}
