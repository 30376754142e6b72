"""The regressor columns of base parameters: names, nominal values, and random states.

Ten inertial parameters per body, in the order of :attr:`appell.Robot.parameters`; with rotors, also one inertia per
motor, which acts on the motor's acceleration: column j has a_j in row j; with springs, the stiffness of every joint
spring, and stiffness and damping of every spring between joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.model.model import Joint
from appell.model.parameters import OF_JOINTS, PER_BODY, PER_SPRING, PER_VELOCITY
from appell.robot.properties import base_columns
from appell.robot.properties.base_columns import OF_A_BODY, State
from appell.robot.robot import Robot

Array = NDArray[np.float64]

ROTOR = "Ia"


def parameter_names(robot: Robot, *, rotors: bool = False, springs: bool = False) -> tuple[str, ...]:
    """Return one name per column: the parameter and the number of its body, from 1 in the order of `link_names`.

    A rotor inertia is `Ia` with the number of its velocity; springs are named as in `robot.parameter_names`.

    >>> import appell
    >>> parameter_names(appell.load("two-link"), rotors=True)[-5:]
    ('Ixz2', 'Iyz2', 'Izz2', 'Ia1', 'Ia2')
    """
    bodies = range(1, len(robot.link_names) + 1)
    names = [f"{name}{k}" for k in bodies for name in OF_A_BODY]
    between = (robot.parameter_names[k] for k in (spring_places(robot) if springs else ()))
    return (*names, *(f"{ROTOR}{k + 1}" for k in (motors(robot) if rotors else ())), *between)


def spring_places(robot: Robot) -> list[int]:
    """Return the indices in `robot.parameters` of joint springs, and of springs and dampers between joints.

    >>> import appell
    >>> spring_places(appell.load("two-link").with_joint("joint2", stiffness=3.0))
    [27]
    """
    if not robot.model.has_springs:
        return []
    n, start = len(robot.parameters), PER_BODY * len(robot.model.bodies) + OF_JOINTS.index("k")
    own = [start + PER_VELOCITY * k for k, joint in enumerate(robot.model.joint_parameters) if joint.stiffness]
    return [*own, *range(n - PER_SPRING * len(robot.model.springs), n)]


def motors(robot: Robot) -> tuple[int, ...]:
    """Return the indices of the actuators that may have a rotor: all except those of free and ball joints.

    >>> import appell
    >>> motors(appell.load("two-link"))
    (0, 1)
    """
    return tuple(k for k, joint in enumerate(motor_joints(robot)) if joint.kind not in ("free", "ball"))


def motor_joints(robot: Robot) -> list[Joint]:
    """Return the joint of each actuator, (nu).

    >>> import appell
    >>> [joint.name for joint in motor_joints(appell.load("agile-wrist"))]
    ['theta1', 'theta2', 'theta3']
    """
    joints = [body.joint for body in robot.model.bodies for _ in range(body.joint.type.nv)]
    return [joints[k] for k in robot.facts.actuated]


def motor_velocities(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Return the velocities of the motors (..., nu) in states of the robot."""
    return robot.tree_velocity(q, v)[..., list(robot.facts.actuated)]


def motor_accelerations(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return the accelerations of the motors (..., nu) for accelerations a (..., nv) of the robot."""
    return robot.tree_acceleration(q, v, a)[..., list(robot.facts.actuated)]


def nominal(robot: Robot, *, rotors: bool = False, springs: bool = False) -> Array:
    """Return the nominal value of every column's parameter.

    >>> import appell
    >>> nominal(appell.load("puma560"), rotors=True)[-6:].round(3)
    array([0.784, 2.325, 0.577, 0.191, 0.171, 0.194])
    """
    inertial = np.array(robot.parameters[: PER_BODY * len(robot.link_names)])
    own = robot.parameters[spring_places(robot) if springs else []]
    return np.concatenate([inertial, rotor_inertias(robot) if rotors else [], own])


def rotor_inertias(robot: Robot) -> Array:
    """Return the rotor inertia of every motor in the robot's file [kg·m²], or [kg] for prismatic joints."""
    joints = motor_joints(robot)
    return np.array([joints[k].armature for k in motors(robot)], dtype=float)


def columns(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, rotors: bool = False, springs: bool = False
) -> Array:
    """Return the inertial columns of the regressor (..., rows, 10·nb), then those of rotors and springs if requested.

    >>> import appell
    >>> columns(appell.load("puma560"), [0.0] * 6, [0.0] * 6, [1.0] * 6, rotors=True).shape
    (6, 66)
    """
    whole: Array = robot.regressor(q, v, a)
    inertial = whole[..., : PER_BODY * len(robot.link_names)]
    more = [whole[..., spring_places(robot)]] if springs else []
    if rotors:
        own = rotor_columns(robot, q, v, a)
        more.insert(0, np.broadcast_to(own, (*inertial.shape[:-1], own.shape[-1])))
    return np.concatenate([inertial, *more], axis=-1) if more else inertial


def rotor_columns(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return the torques of a unit rotor inertia at each motor, (..., rows, motors).

    >>> import appell
    >>> rotor_columns(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], [3.0, 4.0])
    array([[3., 0.],
           [0., 4.]])
    """
    return motor_columns(robot, q, motor_accelerations(robot, q, v, a))


def motor_columns(robot: Robot, q: ArrayLike, forces: Array) -> Array:
    """Return motor torques (..., nu) as columns in the rows of the regressor: (..., rows, motors).

    The rows are generalised forces on the independent velocities, Jᵀτ, or motor torques, depending on the verb.
    """
    rows = robot.verbs["regressor"].outputs[0][1][0]
    share = np.eye(robot.nu) if rows == "u" else np.swapaxes(robot.actuator_jacobian(q), -1, -2)
    return (share * forces[..., None, :])[..., list(motors(robot))]


def random_states(robot: Robot, size: int, rng: np.random.Generator) -> State:
    """Return random states: configurations of `robot.random`, normally distributed velocities and accelerations.

    >>> import appell, numpy as np
    >>> random_states(appell.load("two-link"), 7, np.random.default_rng(0)).a.shape
    (7, 2)
    """
    return base_columns.random_states(robot.kind, size, rng)


def preference(robot: Robot, *, rotors: bool = False, springs: bool = False) -> list[int]:
    """Return the order of preference of the columns: rotors and springs before the dependent inertial ones.

    >>> import appell
    >>> names = parameter_names(appell.load("two-link"))
    >>> [names[k] for k in preference(appell.load("two-link"))[-3:]]
    ['Iyy2', 'mcz2', 'm2']
    """
    return base_columns.preference(robot.kind, len(parameter_names(robot, rotors=rotors, springs=springs)))
