"""A robot as something to draw: where its bodies are at q, and what is on them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.loops.spherical.robot import SphericalRobot
from appell.model.model import Model
from appell.read.xml import outermost
from appell.recursion.coupling import expand_q
from appell.recursion.kinematics import world_poses
from appell.robot.robot import Robot
from appell.view.bones import Bones, bones, plates, wheels
from appell.view.files import Finder
from appell.view.meshes import Outfit, Piece, outfit
from appell.view.mjcf import mjcf_outfit
from appell.view.palette import upward
from appell.view.spherical import SphericalPuppet
from appell.view.visuals import urdf_looks

Array = NDArray[Any]
XML = (".urdf", ".xml", ".mjcf")


class Puppet(Protocol):
    """What the stage needs to know of a robot."""

    @property
    def names(self) -> Sequence[str]:
        """Return the bodies."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """Return what is on them."""

    @property
    def bones(self) -> Bones | None:
        """Return the rods that are drawn in place of shapes, if any are."""

    @property
    def up(self) -> Array:
        """Return the way against gravity."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return what could not be drawn, in sentences."""

    def poses(self, q: ArrayLike) -> Array:
        """Return the poses (n + 1, 4, 4) of the bodies and, last, of the world."""


class TreePuppet(NamedTuple):
    """A robot of bodies and joints, open or closed."""

    model: Model
    names: Sequence[str]
    pieces: Sequence[Piece]
    bones: Bones | None
    up: Array
    remarks: Sequence[str]

    def poses(self, q: ArrayLike) -> Array:
        """Return the poses of the bodies and, last, of the world."""
        return tree_poses(self.model, q)


def tree_poses(model: Model, q: ArrayLike) -> Array:
    """Return the poses (n + 1, 4, 4) of a model's bodies and, last, of the world, which -1 so finds.

    >>> import appell
    >>> tree_poses(appell.load("two-link").model, [0.0, 0.0]).shape
    (3, 4, 4)
    """
    found = world_poses(model.whole, expand_q(model, tuple(np.asarray(q, dtype=float).tolist())))
    poses = np.tile(np.eye(4), (len(found) + 1, 1, 1))
    for k, (rotation, position) in enumerate(found):
        poses[k, :3, :3], poses[k, :3, 3] = rotation, position
    return poses


def puppet(
    robot: Robot | SphericalRobot,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> Puppet:
    """Return a robot to draw: with the shapes of its file where they are found, else with rods.

    >>> import appell
    >>> puppet(appell.load("two-link")).bones.rods.tolist()
    [[0, 1], [1, 2]]
    """
    if isinstance(robot, SphericalRobot):
        return SphericalPuppet(robot)
    model = robot.model
    dressed = _outfit(model, source, packages)
    wanted = dressed.bare if dressed.pieces else set(range(len(model.bodies)))
    rods = bones(model, tree_poses(model, robot.neutral()), wanted) if wanted else None
    pieces = [*dressed.pieces, *((*plates(rods), *wheels(model)) if rods is not None else ())]
    return TreePuppet(model, [body.name for body in model.bodies], pieces, rods, upward(model.gravity), dressed.remarks)


def _outfit(model: Model, source: str | os.PathLike[str] | None, packages: Iterable[str | os.PathLike[str]]) -> Outfit:
    folders = [Path(folder).expanduser() for folder in packages]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"view: packages: there is no folder '{folder}'; name one that holds the meshes' package")
    file = Path(source if source is not None else model.source)
    if source is not None and not file.is_file():
        raise InputError(f"view: source: there is no file '{file}'; name the robot's URDF or MJCF file")
    if file.suffix.lower() not in XML or not file.is_file():
        return Outfit([], set(), [])
    if outermost(file) == "mujoco":
        return mjcf_outfit(model, file)
    return outfit(model, urdf_looks(file), Finder(file, folders))
