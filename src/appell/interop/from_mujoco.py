"""MuJoCo: conversion of compiled models and of states."""

from __future__ import annotations

from typing import Any

from appell.errors import InputError
from appell.interop.convention import MUJOCO_FREE, W_FIRST, Convention, convention, tree_of
from appell.loading import load, warn_of_loose
from appell.read.compiled import import_mujoco, names_of
from appell.read.mjcf import model_of_compiled
from appell.robot.robot import Robot

MUJOCO = {"free": MUJOCO_FREE, "ball": W_FIRST}
"""Conversion rules of the joints that differ in MuJoCo."""


def from_mujoco(
    model: Any, *, friction: bool = True, armature: bool = True, mimic: bool = False, loops: bool = True
) -> Robot:
    """Convert a compiled ``mujoco.MjModel`` to a robot, with its gravity and closed loops.

    Supported elements are those of MJCF files.

    Parameters
    ----------
    model : mujoco.MjModel
        The compiled model.
    friction : bool
        False omits joint damping and Coulomb friction.
    armature : bool
        False omits rotor inertia.
    mimic : bool
        True couples joints by their equality constraints; see :func:`appell.load`.
    loops : bool
        False omits the loop closures ``connect`` and ``weld``.

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    InputError
        When it is not a compiled model.

    Warns
    -----
    AppellWarning
        Once, with all ignored elements that affect the motion: servos, contacts, fluids, …

    Examples
    --------
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
    """Return the convention of MuJoCo for a robot's states: qpos, qvel, qacc, qfrc.

    Quaternions are w x y z; the linear velocity of a free body is in world axes, its angular velocity in body axes.

    Parameters
    ----------
    robot : Robot
        The robot.
    model : mujoco.MjModel, optional
        The model that defines the joint order. Default: this robot's order, which is MuJoCo's for the same MJCF file.

    Returns
    -------
    Convention
        The conversion.

    Raises
    ------
    InputError
        When the joints of the model do not match the robot's.

    Examples
    --------
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
