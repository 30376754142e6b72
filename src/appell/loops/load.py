"""Loading any robot, open or closed: the `load` and `catalogue` that appell shows.

Open robots are :mod:`appell.robot.load`'s; here the kinds of closed robots are told apart.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from appell.catalogue import file_text, names
from appell.errors import InputError
from appell.loops.closed import close
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.read import is_spherical, read_spherical
from appell.loops.spherical.robot import SphericalRobot
from appell.read.toml import tables
from appell.robot import load as opened
from appell.robot.robot import Robot

Spherical = Literal["agile-wrist", "sst"]


@overload
def load(  # type: ignore[overload-overlap]  # a name of the catalogue is known; a file of one's own is not
    source: Spherical, *, gravity: Sequence[float] | None = None
) -> SphericalRobot: ...
@overload
def load(
    source: str | os.PathLike[str],
    *,
    floating: bool = False,
    friction: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
    loops: str | os.PathLike[str],
) -> ClosedRobot: ...
@overload
def load(
    source: str | os.PathLike[str],
    *,
    floating: bool = False,
    friction: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
    loops: str | os.PathLike[str] | bool = True,
) -> Robot: ...
def load(
    source: str | os.PathLike[str],
    *,
    floating: bool = False,
    friction: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
    loops: str | os.PathLike[str] | bool = True,
) -> Robot | SphericalRobot:
    """Return the robot of a file or of the catalogue.

    Parameters
    ----------
    source
        A ``.urdf``, MJCF (``.xml``, ``.mjcf``) or ``.toml`` file, or a name from :func:`appell.catalogue`, such as
        "puma600" or "agile-wrist".
    floating
        True sets the base free: a first joint "root" of six velocities.
    friction
        False leaves out joint damping, Coulomb friction and rotor inertia.
    mimic
        What becomes of joints that the file, of whatever format, lets follow another by q = multiplier·q' + offset.
        False, the default, moves each by itself, as Pinocchio's default does: nq and nv count them. True binds them:
        nq, nv, ``joint_names`` and all verbs are of the independent joints, whose forces move the followers too.
    gravity
        Acceleration of gravity in world axes [m/s²]; the file's own, or (0, 0, −9.81), when not given.
    loops
        A file that closes the loops of a tree: the ``robot.yaml`` of example-parallel-robots, or appell's toml. True,
        the default, closes those that the robot's own file describes, False leaves them open.

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
    <SphericalRobot 'agile-wrist': 7 bodies, nq 3, nv 3>
    >>> appell.load("five-bar")
    <ClosedRobot 'five-bar': 4 bodies, 1 closure, nq 4, nv 2>
    """
    place = os.fspath(source)
    if is_spherical(_toml(place)):
        for option, is_set in (("floating", floating), ("mimic", mimic)):
            if is_set:
                raise InputError(f"load: '{place}' is a spherical parallel robot, which has no {option}=True")
        if place in names():
            return SphericalRobot(read_spherical(file_text(place), gravity=gravity, source=f"{place}.toml"))
        return SphericalRobot(read_spherical(Path(place), gravity=gravity))
    beside = None if isinstance(loops, bool) else loops
    model = opened.read_model(source, floating=floating, friction=friction, mimic=mimic, gravity=gravity, loops=beside)
    if loops is False:
        model = replace(model, closures=(), actuators=(), home=())
    return close(model) if model.closures else Robot(model)


def _toml(place: str) -> Mapping[str, Any]:
    """Return the tables of a robot in appell's own format; none of other files, or of a file that is not there."""
    if place in names():
        return tables(file_text(place), f"{place}.toml")[0]
    path = Path(place)
    return tables(path)[0] if path.suffix.lower() == ".toml" and path.is_file() else {}


def catalogue() -> list[str]:
    """Return the names that :func:`load` knows without a file, of open and closed robots.

    >>> import appell
    >>> "puma560" in appell.catalogue(), "sst" in appell.catalogue()
    (True, True)
    """
    return names()
