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

MEANINGS = {
    "NQ": "coordinates q",
    "NV": "velocities v",
    "NU": "actuators",
    "NT": "velocities of the spanning tree",
    "NP": "inertial parameters",
    "NC": "closures",
    "NM": "numbers that the law remembers",
}
_N, _NN = (("NV", "NU"),), (("NV", "NU"), ("NV", "NU"))
EXTENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "q": (("NQ",),),
    "rate": (("NQ",),),
    **dict.fromkeys(("goal", "goal_q"), (("NQ",),)),
    **dict.fromkeys(("goal_v", "goal_a"), (("NV",),)),
    "memory": (("NM",),),
    "v": (("NV", "NT"),),
    "a": (("NV", "NU", "NT"),),
    "tau": (("NU", "NV"),),
    "G": _N,
    "Q": _N,
    "M": _NN,
    "C": _NN,
    "Y": (("NV", "NU"), ("NP",)),
    "J": ((), ("NV",)),
    "A": ((), ("NV",)),
    "w": (("NC",), ()),
    **dict.fromkeys(("dtau_dq", "dtau_dv", "dtau_da", "da_dq", "da_dv", "da_dtau"), _NN),
}
"""Per argument and axis the sizes that it may have by name."""

_VERBS = {
    "inverse_dynamics": "forces of the actuators for a motion, M(q) a + C(q, v) v + G(q) + friction",
    "inverse_dynamics_loaded": "torques of the motors for a motion under a moment on the platform",
    "forward_dynamics": "accelerations under forces of the actuators",
    "forward_dynamics_loaded": "accelerations under torques of the motors and a moment on the platform",
    "motion": "rates of the coordinates, and accelerations, under forces of the actuators",
    "mass_matrix": "inertia matrix M(q), rotor inertias included",
    "coriolis_matrix": "matrix C(q, v) of Coriolis and centrifugal forces C v, with dM/dt - 2 C skew",
    "coriolis_as_printed": "matrix C(q, v) of abedloo2014, with the same C v",
    "gravity": "forces G(q) that hold the robot still",
    "bias": "forces at zero acceleration, C(q, v) v + G(q) + friction",
    "generalised_forces": "forces by the coordinates, M a + C v + G",
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
    "pose": "pose of a frame in the world",
    "jacobian": "matrix from v to a frame's velocity in world axes",
    "inverse_dynamics_derivatives": "derivatives of the inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of the forward dynamics",
    "constraint_forces": "force and moment that hold each closure, on its second frame, in the first frame's axes",
    "expand": "velocities of every joint of the spanning tree",
    "expand_acceleration": "accelerations of every joint of the spanning tree",
    "regularity": "determinant of the equations that give the dependent velocities",
    "closing_step": "one step of Newton's method towards closed loops, the independent coordinates held",
    "discriminants": "per leg what is positive inside the workspace",
    "actuator_jacobian": "matrix from v to the rates of the motors",
    "joint_angles": "sines and cosines of the angles of every leg's joints",
    "joint_rates": "rates of every leg's joints",
    "joint_accelerations": "accelerations of every leg's joints",
    "singularity_measures": "what singularities of the legs, the motors and the angles are told by",
    "closure": "how far motor angles and posture disagree, and the slope of that by q",
}
_COMPUTED = "inverse dynamics M(q) u + C(q, v) v + G(q) + friction, within the limits above, of"
_VERBS |= {
    "point_to_point": f"{_COMPUTED} u = kp (goal - q) - kd v",
    "tracking": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q)",
    "tracking_with_integral": f"{_COMPUTED} u = goal_a + kd (goal_v - v) + kp (goal_q - q) + ki z; dz/dt = goal_q - q "
    "but where the force is at its limit and z would drive it further",
    "pd_gravity": "forces G(q) + kp (goal - q) - kd v, within the limits above",
}
_FORCE = "[N m], or [N] where a joint slides"
_PORTS = {
    "q": "configuration, in the order above",
    "v": "velocities, in the order above",
    "a": "accelerations [rad/s^2] or [m/s^2], in the order of v",
    "tau": f"forces {_FORCE}",
    "goal": "configuration to reach, in the order of q",
    "goal_q": "configuration of the reference now, in the order of q",
    "goal_v": "velocities of the reference now, in the order of v",
    "goal_a": "accelerations of the reference now [rad/s^2] or [m/s^2], in the order of v",
    "dt": "time since the last call [s]; 0 at the first",
    "memory": "z, then the last errors goal_q - q: zeros before the first call, then what the last call gave out",
    "wrench": "force [N] and moment [N m] in world axes about the frame's origin",
    "moment": "moment on the platform [N m] in base axes",
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
    "roughness": "about 1; the mean square of usual pivot over pivot, plus what open loops add",
}
_OF_A_VERB = {
    ("potential_energy", "V"): "energy [J]",
    ("velocity", "V"): "velocity [m/s], [rad/s]",
    ("acceleration", "A"): "acceleration [m/s^2], [rad/s^2]",
    ("momentum_matrix", "A"): "6 rows: linear, then angular",
    ("joint_rates", "rate"): "one row per leg [rad/s]",
    ("expand", "v"): "velocities: in, of v's order above; out, of every joint of the tree in its order",
    ("expand_acceleration", "a"): "accelerations: in, of v's order above; out, of every joint of the tree in its order",
    ("closing_step", "q"): "configuration, in the order above",
}


def verb_in_words(verb: str) -> str:
    """Return what a verb computes.

    >>> verb_in_words("gravity")
    'forces G(q) that hold the robot still'
    """
    return _VERBS[verb]


def ports_in_words(verb: str, ports: Iterable[Port]) -> dict[str, str]:
    """Return what each argument of a verb is; one without words of its own is called by its name.

    >>> ports_in_words("velocity", [Port("V", (6,))])
    {'V': 'velocity [m/s], [rad/s]'}
    """

    def words(name: str) -> str:
        return _OF_A_VERB.get((verb, name)) or _PORTS.get(name) or name.replace("_", " ")

    return {port.name: words(port.name) for port in ports}
