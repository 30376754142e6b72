"""Loading robots from files, the catalogue and Denavit–Hartenberg tables; the factory of the kinds of robot."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from appell.arguments import truth
from appell.errors import InputError, warn
from appell.extras import is_installed
from appell.files import as_path, is_file, shortened
from appell.loops.closed import kind_of
from appell.loops.spherical.kind import Spherical
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.read import read_legs
from appell.messages import alternatives, listed
from appell.model.check import check_numbers
from appell.model.mimic import coupled, with_couplings
from appell.model.model import Model
from appell.read import catalogue as _catalogue
from appell.read import from_dh as _from_dh
from appell.read import read
from appell.read.closures import with_loops
from appell.read.packages import SCHEME, Folders, description, package_folders
from appell.read.srdf import with_states
from appell.read.toml import read_toml as _read_toml
from appell.read.toml import tables
from appell.read.values import gravity_vector
from appell.robot.robot import Robot

MJCF = (".xml", ".mjcf")
"""Files whose joint equalities MuJoCo enforces: a warning reports that they are not coupled here."""


def load(  # noqa: PLR0913  (optional arguments are given by name)
    source: str | os.PathLike[str] | Model,
    *,
    floating: bool = False,
    friction: bool = True,
    armature: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
    loops: str | os.PathLike[str] | bool = True,
    xacro: Mapping[str, object] | None = None,
    packages: Folders = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Robot:
    """Return the robot of a file, of the catalogue or of a model.

    Parameters
    ----------
    source
        A ``.urdf``, ``.xacro``, ``.sdf``, MJCF (``.xml``, ``.mjcf``) or ``.toml`` file, also as ``~/…`` or
        ``package://…``; a name from :func:`appell.catalogue`, such as "puma600" or "agile-wrist"; a name of the package
        robot_descriptions, such as "panda_description", if it is installed; or a model made by
        :func:`appell.model.build.build`.
    floating
        True adds a floating base: a first joint "root" with six velocities.
    friction
        False removes joint damping and Coulomb friction.
    armature
        False removes rotor inertia.
    mimic
        How to treat joints that follow another by q = multiplier·q' + offset. False moves each independently, as
        Pinocchio does by default: nq and nv count them. True couples them: nq, nv, ``joint_names`` and all verbs refer
        to the independent joints, whose torques move the followers too. In a robot with loops each follower is one more
        closure, and ``q`` contains all joints of the tree.
    gravity
        Acceleration of gravity in world axes [m/s²]; by default that of the file, or (0, 0, −9.81).
    loops
        A file that closes the loops of a tree: the ``robot.yaml`` of example-parallel-robots, or appell's toml. True
        closes the loops described in the robot's own file, False leaves them open.
    xacro
        Values for the arguments of a ``.xacro`` file, by name: text, numbers or truth values. A xacro file may run
        Python; load only files that you trust.
    packages
        Folders of ROS packages, or the packages themselves, for ``$(find …)`` in xacro and for ``package://``; those
        of ``ROS_PACKAGE_PATH``, and for xacro the folders above the file, are searched too.
    srdf
        An SRDF file whose group states become named configurations, :attr:`appell.Robot.configurations`.

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    ReadError
        When the file does not describe a robot, or a joint cannot follow another as described (``mimic=True``); the
        message names the file and the line.
    InputError
        When the robot is unknown, or an option does not apply to it.

    Examples
    --------
    >>> import appell
    >>> appell.load("puma600")
    <Robot 'puma600': 6 bodies, nq 6, nv 6>
    >>> appell.load("agile-wrist")
    <Robot 'agile-wrist': 7 bodies, 3 legs, nq 3, nv 3>
    >>> appell.load("five-bar")
    <Robot 'five-bar': 4 bodies, 1 closure, nq 4, nv 2>
    """
    for option, is_set in (("floating", floating), ("friction", friction), ("armature", armature), ("mimic", mimic)):
        truth(f"load: {option}", is_set)
    place = "" if isinstance(source, Model) else _place(source)
    if "spherical" in _toml(place):
        for option, is_set in (("floating", floating), ("mimic", mimic)):
            if is_set:
                raise InputError(f"load: '{place}' is a spherical parallel robot, which does not support {option}=True")
        if srdf is not None:
            raise InputError(f"load: '{place}' is a spherical parallel robot, which does not support srdf=")
        text, origin = _text(place)
        return _spherical(read_legs(text, gravity=gravity, source=origin))
    model = source if isinstance(source, Model) else _read(place, gravity, xacro, packages)
    if not isinstance(loops, bool):
        model = with_loops(model, loops)
    if Path(place).suffix.lower() in MJCF:
        warn_of_loose(model, place, mimic=mimic, remedy="load with mimic=True")
    model = replace(model, gravity=gravity_vector(gravity, model.gravity))
    check_numbers(model)
    model = model if loops else replace(model, closures=(), actuators=(), home=())
    if mimic:
        model = with_couplings(model) if model.closures else coupled(model)
    model = model.floating() if floating else model
    model = model if friction else model.without_friction()
    model = model if armature else model.without("armature")
    model = model if srdf is None else with_states(model, srdf)
    return Robot(kind_of(model))


def _place(source: object) -> str:
    """Return the given file or name as text."""
    if not isinstance(source, str | os.PathLike) or not isinstance(os.fspath(source), str):
        expected = "expected the path of a robot file, a name of the catalogue or a model"
        raise InputError(f"load: {expected}, got {type(source).__name__}")
    place = str(os.fspath(source))
    return str(as_path(place, "load")) if place.startswith("~") else place


def _spherical(own: Mechanism | Model) -> Robot:
    return load(own) if isinstance(own, Model) else Robot(Spherical(own))


def _read(place: str, gravity: Sequence[float] | None, xacro: Mapping[str, object] | None, packages: Folders) -> Model:
    if _is_known(place):
        return _catalogue.read(place, gravity=gravity)
    if not Path(place).suffix and not is_file(Path(place)) and not place.startswith(SCHEME):
        found = description(place)
        if found is None:
            given = shortened(Path(place)) if place else ""
            known = alternatives(place, catalogue())
            raise InputError(f"load: '{given}' is neither a file nor in the catalogue; {known}{_hint(place)}")
        arguments = found.xacro if xacro is None else {**(found.xacro or {}), **xacro}
        return read(
            found.path, gravity=gravity, xacro=arguments, packages=(*package_folders(packages), *found.packages)
        )
    return read(place, gravity=gravity, xacro=xacro, packages=packages)


def _hint(name: str) -> str:
    missing = name.endswith("_description") and not is_installed("robot_descriptions")
    return "; for names of robot_descriptions, pip install robot_descriptions" if missing else ""


def _toml(place: str) -> Mapping[str, Any]:
    """Return the tables of a robot in appell's toml format; empty for other files and for missing ones."""
    is_toml = Path(place).suffix.lower() == ".toml" and is_file(Path(place))
    return tables(*_text(place))[0] if _is_known(place) or is_toml else {}


def _text(place: str) -> tuple[str | Path, str | None]:
    """Return the toml text of a catalogue robot and its name in messages, or the path of a file."""
    return (_catalogue.file_text(place), f"{place}.toml") if _is_known(place) else (Path(place), None)


def _is_known(place: str) -> bool:
    """Return whether a place is a name of the catalogue, none of which has an extension."""
    return not Path(place).suffix and place in _catalogue.names()


def read_text(text: str, source: str) -> Robot:
    """Return the robot of the text of a toml file, as returned by ``robot.kind.text()``."""
    if "spherical" in tables(text, source)[0]:
        return _spherical(read_legs(text, source=source))
    return load(_read_toml(text, source=source))


def warn_of_loose(model: Model, place: str, *, mimic: bool, remedy: str) -> None:
    """Warn of joints that MuJoCo couples and this robot moves independently."""
    loose = [body.joint.name for body in model.bodies if body.joint.mimic is not None]
    if loose and not mimic:
        warn(f"{place}: joint equalities are not enforced ({listed(loose)}); {remedy} to couple them")


def from_dh(rows: Sequence[Any], *, modified: bool = True, **options: Any) -> Robot:
    """Return the robot of a Denavit–Hartenberg table.

    Parameters
    ----------
    rows
        One row per joint, from the base outwards: (a, α, d, θ) [m, rad, m, rad], or a dictionary with geometry, mass
        and joint attributes; see :func:`appell.read.from_dh`.
    modified
        True for a modified table (Craig, Khalil), False for a standard one (Paul).
    **options
        `d_sign`, `name` and `gravity` of :func:`appell.read.from_dh`.

    Returns
    -------
    Robot
        A serial arm.

    Raises
    ------
    ReadError
        When a row is invalid; the message names the row and the key.

    Examples
    --------
    >>> import appell
    >>> appell.from_dh([{"a": 0.0, "mass": 1.0, "centre": [0.5, 0.0, 0.0]}, {"a": 1.0}])
    <Robot 'robot': 2 bodies, nq 2, nv 2>
    """
    return load(_from_dh(rows, modified=modified, **options))


def random_chain(n: int, rng: np.random.Generator, *, vertical: bool = False) -> Robot:
    """Return a random serial arm of n revolute joints with general geometry and inertias.

    Parameters
    ----------
    n
        The number of joints.
    rng
        The generator of random numbers; the same state gives the same arm.
    vertical
        Whether the first axis is vertical, as on most arms that stand on a floor.

    Returns
    -------
    Robot
        A serial arm.

    Raises
    ------
    InputError
        When n is not a positive integer.

    Examples
    --------
    >>> import appell, numpy as np
    >>> appell.random_chain(4, np.random.default_rng(0)).nv
    4
    """
    return load(_catalogue.random_chain(n, rng, vertical=truth("random_chain: vertical", vertical)))


def catalogue() -> list[str]:
    """Return the names of the robots that :func:`load` finds without a file.

    Returns
    -------
    list
        Names such as "puma560", "stewart" and "sst".

    Examples
    --------
    >>> import appell
    >>> "puma560" in appell.catalogue(), "sst" in appell.catalogue()
    (True, True)
    """
    return _catalogue.names()
