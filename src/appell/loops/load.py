"""Loading robots: the factory that tells the kinds of robot apart, from files, the catalogue, tables, and at random."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import AppellWarning, InputError
from appell.loops.closed import close
from appell.loops.spherical.kind import Spherical
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.read import is_spherical, read_legs
from appell.model.build import alternatives, listed
from appell.model.check import check_numbers
from appell.model.mimic import coupled, with_couplings
from appell.model.model import Model
from appell.read import catalogue as _catalogue
from appell.read import from_dh as _from_dh
from appell.read import read
from appell.read.closures import with_loops
from appell.read.extras import is_installed
from appell.read.packages import SCHEME, Folders, description, package_folders
from appell.read.regular import as_path, is_file, shortened
from appell.read.srdf import with_states
from appell.read.toml import read_toml as _read_toml
from appell.read.toml import tables
from appell.read.values import gravity_vector
from appell.robot.arguments import truth
from appell.robot.long.kind import open_kind
from appell.robot.robot import Robot

MJCF = (".xml", ".mjcf")
"""Files whose equalities of joints MuJoCo enforces, so that leaving them loose is worth a warning."""


def load(  # noqa: PLR0913 (options of the one way to load)
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
    """Return the robot of a file or of the catalogue.

    Parameters
    ----------
    source
        A ``.urdf``, ``.xacro``, ``.sdf``, MJCF (``.xml``, ``.mjcf``) or ``.toml`` file, also as ``~/…`` or
        ``package://…``; a
        name from :func:`appell.catalogue`, such as "puma600" or "agile-wrist"; where the package robot_descriptions
        is installed, one of its names, such as "panda_description"; or a model, as
        :func:`appell.model.build.build` makes it.
    floating
        True gives the robot a floating base: a first joint "root" of six velocities.
    friction
        False leaves out joint damping and Coulomb friction.
    armature
        False leaves out rotor inertia.
    mimic
        What becomes of joints that the file, of whatever format, lets follow another by q = multiplier·q' + offset.
        False, the default, moves each by itself, as Pinocchio's default does: nq and nv count them. True binds them:
        nq, nv, ``joint_names`` and all verbs are of the independent joints, whose forces move the followers too. In a
        robot with loops each follower is one more closure, and ``q`` is that of the whole tree.
    gravity
        Acceleration of gravity in world axes [m/s²]; the file's own, or (0, 0, −9.81), when not given.
    loops
        A file that closes the loops of a tree: the ``robot.yaml`` of example-parallel-robots, or appell's toml. True,
        the default, closes those that the robot's own file describes, False leaves them open.
    xacro
        Values for the arguments of a ``.xacro`` file, by name: text, numbers or truth values. A xacro file may run
        Python; load only those that you trust.
    packages
        Folders of ROS packages, or the packages themselves, for ``$(find …)`` in xacro and for ``package://``; those
        of ``ROS_PACKAGE_PATH``, and for xacro the folders above the file, are searched too.
    srdf
        An SRDF file whose group states become named configurations, :attr:`appell.Robot.configurations`.

    Raises
    ------
    ReadError
        When the file does not describe a robot, or a joint cannot follow as the file says (``mimic=True``); the
        message names the file and the line.
    InputError
        When there is no such robot, or an option that it cannot have.

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
    if is_spherical(_toml(place)):
        for option, is_set in (("floating", floating), ("mimic", mimic)):
            if is_set:
                raise InputError(f"load: '{place}' is a spherical parallel robot, which has no {option}=True")
        if srdf is not None:
            raise InputError(f"load: '{place}' is a spherical parallel robot, whose joints have no states of an srdf")
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
    return Robot(close(model) if model.closures else open_kind(model))


def _place(source: object) -> str:
    """Return the file or the name that a caller gave, as text."""
    if not isinstance(source, str | os.PathLike) or not isinstance(os.fspath(source), str):
        expected = "expected the path of a robot's file, a name of the catalogue or a model"
        raise InputError(f"load: {expected}, got {type(source).__name__}")
    place = str(os.fspath(source))
    return str(as_path(place, "load")) if place.startswith("~") else place


def _spherical(own: Mechanism | Model) -> Robot:
    return load(own) if isinstance(own, Model) else Robot(Spherical(own))


def _read(place: str, gravity: Sequence[float] | None, xacro: Mapping[str, object] | None, packages: Folders) -> Model:
    if place in _catalogue.names():
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
    """Return the tables of a robot in appell's own format; none of other files, or of a file that is not there."""
    is_toml = Path(place).suffix.lower() == ".toml" and is_file(Path(place))
    return tables(*_text(place))[0] if place in _catalogue.names() or is_toml else {}


def _text(place: str) -> tuple[str | Path, str | None]:
    """Return the toml text of a robot of the catalogue and its name in messages, or the path of a file."""
    return (_catalogue.file_text(place), f"{place}.toml") if place in _catalogue.names() else (Path(place), None)


def read_text(text: str, source: str) -> Robot:
    """Return the robot of the text of a toml file, as ``robot.kind.text()`` gives it."""
    if is_spherical(tables(text, source)[0]):
        return _spherical(read_legs(text, source=source))
    return load(_read_toml(text, source=source))


def warn_of_loose(model: Model, place: str, *, mimic: bool, remedy: str) -> None:
    """Warn of joints that MuJoCo would bind and this robot moves by themselves."""
    loose = [body.joint.name for body in model.bodies if body.joint.mimic is not None]
    if loose and not mimic:
        warnings.warn(
            f"{place}: equalities of joints are not enforced ({listed(loose)}); {remedy} to bind them",
            AppellWarning,
            stacklevel=3,
        )


def from_dh(rows: Sequence[Any], *, modified: bool = True, **options: Any) -> Robot:
    """Return the robot of a Denavit–Hartenberg table; see :func:`appell.read.from_dh` for its rows and options.

    >>> import appell, math
    >>> appell.from_dh([{"a": 0.0, "mass": 1.0, "centre": [0.5, 0.0, 0.0]}, {"a": 1.0}])
    <Robot 'robot': 2 bodies, nq 2, nv 2>
    """
    return load(_from_dh(rows, modified=modified, **options))


def random_chain(n: int, rng: np.random.Generator, *, vertical: bool = False) -> Robot:
    """Return a random general arm of n revolute joints; its first axis is vertical if asked.

    >>> import appell, numpy as np
    >>> appell.random_chain(4, np.random.default_rng(0)).nv
    4
    """
    return load(_catalogue.random_chain(n, rng, vertical=truth("random_chain: vertical", vertical)))


def catalogue() -> list[str]:
    """Return the names that :func:`load` knows without a file.

    >>> import appell
    >>> "puma560" in appell.catalogue(), "sst" in appell.catalogue()
    (True, True)
    """
    return _catalogue.names()
