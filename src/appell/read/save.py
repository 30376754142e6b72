"""Models to files, by the end of the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from appell.errors import ModelError
from appell.model.model import Model
from appell.read.files import extension, write
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
    for body in model.bodies:
        if not all(map(str.strip, (model.name, body.name, body.joint.name))):
            raise ModelError(f"robot '{model.name}': body '{body.name}' or its joint '{body.joint.name}' has no name")
    if extension("save", path, ENDINGS) == ".toml":
        return write(path, toml_text(model) if toml is None else toml())
    return write(path, urdf_text(model))
