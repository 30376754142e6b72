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

WRITERS: dict[str, Callable[[Model], str]] = {".urdf": urdf_text, ".toml": toml_text}
"""What writes a file, by the end of its name."""


def save(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write a model to a .urdf or .toml file, in one step, and return its path.

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
    appell.errors.InputError: save: unknown kind of file 'robot.step'; known are '.urdf', '.toml'
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"save: expected a path, got {type(path).__name__}")
    file = Path(path)
    if file.suffix.lower() not in WRITERS:
        raise InputError(f"save: unknown kind of file '{file.name}'; known are {listed(WRITERS)}")
    return write(file, WRITERS[file.suffix.lower()](model))
