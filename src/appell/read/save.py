"""Models to files, by extension."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from appell.errors import InputError, ModelError
from appell.files import extension, write
from appell.model.model import Model
from appell.read.outline import names
from appell.read.template import from_template
from appell.read.write_mjcf import mjcf_text
from appell.read.write_sdf import sdf_text
from appell.read.write_toml import toml_text
from appell.read.write_urdf import urdf_text

WRITERS: dict[str, Callable[[Model, Path], str]] = {
    ".urdf": urdf_text,
    ".toml": toml_text,
    ".xml": mjcf_text,
    ".mjcf": mjcf_text,
    ".sdf": sdf_text,
}
"""The writer of each extension; .xml is MJCF."""


def save(
    model: Model,
    path: str | os.PathLike[str],
    toml: Callable[[], str] | None = None,
    template: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a model to a file, atomically, and return its path.

    `toml` returns the text of a toml file for robots that a model does not describe completely. `template` is a URDF
    file of which only the numbers of inertias, damping, friction and limits change.

    Raises
    ------
    InputError
        When the extension is unknown or the file cannot be written.
    ModelError
        When the format cannot represent the robot, or the template describes another one.

    Examples
    --------
    >>> save(Model("nothing", ()), "robot.step")
    Traceback (most recent call last):
    ...
    appell.errors.InputError: save: unknown extension of 'robot.step'; known: '.urdf', '.toml', '.xml', '.mjcf', '.sdf'
    """
    kind = extension("save", path, tuple(WRITERS))
    for what, name in names(model):
        if not name.strip():
            raise ModelError(f"robot '{model.name}': a {what} has no name, but {name!r}; name it to save the robot")
    if template is not None:
        if kind != ".urdf":
            raise InputError(f"save: a template is for .urdf files; '{Path(path).name}' has another extension")
        return write(path, from_template(model, template))
    if kind == ".toml" and toml is not None and not model.shapes:
        return write(path, toml())
    return write(path, WRITERS[kind](model, Path(path).absolute().parent))
