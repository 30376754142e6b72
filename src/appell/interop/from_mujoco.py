"""MuJoCo: robots of its compiled models, and its convention of states."""

from __future__ import annotations

from typing import Any

from appell.errors import InputError
from appell.interop.convention import Convention, convention, tree_of
from appell.interop.rules import MUJOCO_FREE, W_FIRST
from appell.loops.load import load, warn_of_loose
from appell.read.compiled import import_mujoco, names_of
from appell.read.mjcf import model_of_compiled
from appell.robot.robot import Robot

MUJOCO = {"free": MUJOCO_FREE, "ball": W_FIRST}
"""Joints that differ in MuJoCo."""


def from_mujoco(
    model: Any, *, friction: bool = True, armature: bool = True, mimic: bool = False, loops: bool = True
) -> Robot:
    """Return the robot of a compiled ``mujoco.MjModel``, with its gravity; a closed one where it ties bodies together.

    What is read, and what not, is as for an MJCF file.

    Parameters
    ----------
    model
        The ``mujoco.MjModel``.
    friction
        False leaves out joint damping and Coulomb friction.
    armature
        False leaves out rotor inertia.
    mimic
        True binds joints that equalities tie to others; see :func:`appell.load`.
    loops
        False leaves open the loops that ``connect`` and ``weld`` close.

    Raises
    ------
    InputError
        When it is not a compiled model.

    Warns
    -----
    AppellWarning
        Once, naming everything that acts on the motion and is left out: servos, contacts, fluids, …

    >>> import appell, mujoco
    >>> compiled = mujoco.MjModel.from_xml_string('''<mujoco model="rod"><worldbody><body>
    ...   <joint name="hinge" axis="0 1 0"/><inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>
    ... </body></worldbody></mujoco>''')
    >>> appell.interop.from_mujoco(compiled)
    <Robot 'rod': 1 bodies, nq 1, nv 1>
    """
    package = import_mujoco("from_mujoco")
    _check(package, model)
    read = model_of_compiled(package, model, "from_mujoco")
    warn_of_loose(read, read.name, mimic=mimic, remedy="give mimic=True")
    return load(read, friction=friction, armature=armature, mimic=mimic, loops=loops)


def mujoco(robot: Robot, model: Any = None) -> Convention:
    """Return the states of a robot as MuJoCo has them: qpos, qvel, qacc, qfrc.

    Quaternions are w x y z; a free body's linear velocity is in world axes, its angular velocity in the body's.

    Parameters
    ----------
    robot
        The robot.
    model
        The ``mujoco.MjModel`` whose order of joints is meant; this robot's order, which is MuJoCo's for the same MJCF
        file, if not given.

    Raises
    ------
    InputError
        When the joints of the model are not the robot's.

    >>> import appell
    >>> robot = appell.load("two-link", floating=True)
    >>> there = appell.interop.mujoco(robot)
    >>> there
    <Convention 'mujoco' of robot 'two-link': nq 9, nv 8>
    """
    tree = tree_of(robot, "mujoco")
    names = [body.joint.name for body in tree.bodies]
    if model is not None:
        package = import_mujoco("mujoco")
        _check(package, model)
        names = names_of(package, model, "mujoco").joints
    return convention("mujoco", tree, names, MUJOCO)


def _check(package: Any, model: Any) -> None:
    if not isinstance(model, package.MjModel):
        raise InputError(f"expected a compiled mujoco.MjModel, got {type(model).__name__}")
