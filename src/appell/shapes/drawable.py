"""A robot as something to draw: where its bodies are at q, and what is on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError, quiet
from appell.model.shapes import COLLISION, Shape
from appell.read import read
from appell.recursion.kinematics import world_poses
from appell.robot.robot import Robot
from appell.shapes.meshes import Outfit, Piece, outfit
from appell.shapes.palette import upward
from appell.shapes.stick_figure import StickFigure, plates, stick_figure, wheels
from appell.spatial.scalar import Array


class Drawable(NamedTuple):
    """What is drawn of a robot: `names` of its bodies, `pieces` on them, the `stick_figure` in place of shapes, if any.

    `up` is the way against gravity, `remarks` lists shapes that were not drawn. `collisions` returns the collision
    shapes; None for a robot without shapes.
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
    """Return a robot to draw: with its shapes, or those of the file `source`, where they are found, else with rods.

    >>> import appell
    >>> drawable(appell.load("two-link")).stick_figure.rods.tolist()
    [[0, 1], [1, 2]]
    """
    model, folders = robot.model, _folders(packages)
    shapes = model.shapes if source is None else _shapes_of(source)
    dressed = outfit(model, shapes, folders)
    wanted = dressed.bare if dressed.pieces else set(range(len(model.bodies)))
    rods = stick_figure(robot, body_poses(robot, robot.neutral()), wanted) if wanted else None
    pieces = [*dressed.pieces, *((*plates(model, rods), *wheels(model)) if rods is not None else ())]
    colliding = [shape for shape in shapes if shape.use == COLLISION]
    collisions = partial(outfit, model, colliding, folders) if shapes else None
    return Drawable(robot, robot.link_names, pieces, rods, upward(model.gravity), dressed.remarks, collisions)


def _shapes_of(source: str | os.PathLike[str]) -> tuple[Shape, ...]:
    """Return the shapes of a robot's file; its reader's warnings are about other things."""
    if not Path(source).is_file():
        raise InputError(f"view: source: there is no file '{source}'; name the robot's file")
    with quiet():
        return read(source).shapes


def _folders(packages: Iterable[str | os.PathLike[str]]) -> list[Path]:
    folders = [Path(folder).expanduser() for folder in packages]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"view: packages: no such folder '{folder}'; name one with the meshes' package")
    return folders
