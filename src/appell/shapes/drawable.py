"""A robot as something to draw: where its bodies are at q, and what is on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model.model import Model
from appell.read.xml import outermost
from appell.recursion.kinematics import world_poses
from appell.robot.robot import Robot
from appell.shapes.files import Finder
from appell.shapes.meshes import Outfit, Piece, outfit
from appell.shapes.mjcf import mjcf_outfit
from appell.shapes.palette import upward
from appell.shapes.stick_figure import StickFigure, plates, stick_figure, wheels
from appell.shapes.visuals import Looks, urdf_looks
from appell.spatial.scalar import Array

XML = (".urdf", ".xml", ".mjcf")


class Drawable(NamedTuple):
    """What is drawn of a robot: `names` of its bodies, `pieces` on them, the `stick_figure` in place of shapes, if any.

    `up` is the way against gravity, `remarks` lists shapes that were not drawn. `collisions` reads the collision shapes
    of the robot's file; None for a robot without a file of shapes.
    """

    robot: Robot
    names: Sequence[str]
    pieces: Sequence[Piece]
    stick_figure: StickFigure | None
    up: Array
    remarks: Sequence[str]
    collisions: Callable[[], Outfit] | None = None

    def poses(self, q: ArrayLike) -> Array:
        """Return the poses (n + 1, 4, 4) of the bodies and, last, of the world."""
        return body_poses(self.robot, q)


def body_poses(robot: Robot, q: ArrayLike) -> Array:
    """Return the poses (n + 1, 4, 4) of a robot's bodies and, last, of the world, which -1 so finds.

    >>> import appell
    >>> body_poses(appell.load("two-link"), [0.0, 0.0]).shape
    (3, 4, 4)
    """
    found = world_poses(robot.model, tuple(robot.tree_configuration(q).tolist()))
    poses = np.tile(np.eye(4), (len(found) + 1, 1, 1))
    for k, (rotation, position) in enumerate(found):
        poses[k, :3, :3], poses[k, :3, 3] = rotation, position
    return poses


def drawable(
    robot: Robot,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> Drawable:
    """Return a robot to draw: with the shapes of its file where they are found, else with rods.

    >>> import appell
    >>> drawable(appell.load("two-link")).stick_figure.rods.tolist()
    [[0, 1], [1, 2]]
    """
    model = robot.model
    file, folders = _file(model, source), _folders(packages)
    dressed, collisions = (Outfit([], set(), []), None) if file is None else _outfits(model, file, folders)
    wanted = dressed.bare if dressed.pieces else set(range(len(model.bodies)))
    rods = stick_figure(robot, body_poses(robot, robot.neutral()), wanted) if wanted else None
    pieces = [*dressed.pieces, *((*plates(model, rods), *wheels(model)) if rods is not None else ())]
    return Drawable(robot, robot.link_names, pieces, rods, upward(model.gravity), dressed.remarks, collisions)


def _file(model: Model, source: str | os.PathLike[str] | None) -> Path | None:
    """Return the file that has a robot's shapes; None for a robot without one."""
    file = Path(source if source is not None else model.source)
    if source is not None and not file.is_file():
        raise InputError(f"view: source: there is no file '{file}'; name the robot's URDF or MJCF file")
    return file if file.suffix.lower() in XML and file.is_file() else None


def _folders(packages: Iterable[str | os.PathLike[str]]) -> list[Path]:
    folders = [Path(folder).expanduser() for folder in packages]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"view: packages: no such folder '{folder}'; name one with the meshes' package")
    return folders


def _outfits(model: Model, file: Path, folders: list[Path]) -> tuple[Outfit, Callable[[], Outfit]]:
    """Return the visual shapes of a file, and a function that reads its collision shapes."""
    finder = Finder(file, folders)
    if outermost(file) == "mujoco":
        return mjcf_outfit(model, file, finder), partial(mjcf_outfit, model, file, finder, of_collisions=True)
    looks = urdf_looks(file)
    return outfit(model, looks, finder), partial(outfit, model, Looks(looks.collisions, [], []), finder)
