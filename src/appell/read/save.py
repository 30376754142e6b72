"""Models to files, by the end of the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from appell.errors import InputError
from appell.model.build import listed
from appell.model.model import Model
from appell.read.files import write
from appell.read.write_toml import toml_text
from appell.read.write_urdf import urdf_text

ENDINGS = (".urdf", ".toml")


def save(model: Model, path: str | os.PathLike[str], toml: Callable[[], str] | None = None) -> Path:
    """Write a model to a .urdf or .toml file, in one step, and return its path.

    `toml` gives the text of a toml file where the model alone does not say all of the robot.

    Raises
    ------
    InputError
        When the file's name ends otherwise or its place cannot be written to.
    ModelError
        When the format cannot hold the robot.

    Examples
    --------
    >>> save(Model("nothing", ()), "robot.step")
    Traceback (most recent call last):
    ...
    appell.errors.InputError: save: unknown extension of 'robot.step'; known: '.urdf', '.toml'
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"save: expected a path, got {type(path).__name__}")
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"save: unknown extension of '{file.name}'; known: {listed(ENDINGS)}")
    if file.suffix.lower() == ".toml":
        return write(file, toml_text(model) if toml is None else toml())
    return write(file, urdf_text(model))
