"""Files and tables to models: URDF, MJCF, appell's own TOML, Denavit–Hartenberg tables; errors name file and line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from appell.errors import ReadError
from appell.model.build import listed
from appell.model.model import Model
from appell.read.dh import from_dh
from appell.read.mjcf import read_mjcf
from appell.read.regular import as_path, shortened
from appell.read.toml import read_toml
from appell.read.urdf import read_urdf
from appell.read.xml import outermost

__all__ = ["READERS", "from_dh", "read", "read_mjcf", "read_toml", "read_urdf"]


def _read_xml(path: Path, *, gravity: Sequence[float] | None = None) -> Model:
    reader = read_mjcf if outermost(path) == "mujoco" else read_urdf
    return reader(path, gravity=gravity)


READERS: dict[str, Callable[..., Model]] = {
    ".urdf": read_urdf,
    ".xml": _read_xml,
    ".mjcf": read_mjcf,
    ".toml": read_toml,
}
"""What reads a file, by the end of its name; an .xml is MJCF where its outermost element is <mujoco>, else URDF."""


def read(path: str | os.PathLike[str], *, gravity: Sequence[float] | None = None) -> Model:
    """Return the model of a robot's file, by the end of its name: .urdf, .mjcf, .xml (MJCF or URDF) or .toml.

    Parameters
    ----------
    path
        The file.
    gravity
        Gravity in world axes [m/s²]; the file's own, or 9.81 along −z, unless given.

    Raises
    ------
    ReadError
        When the file is of another kind, cannot be read or does not describe a robot; the message names the file and,
        where the format tells it, the line.
    InputError
        When gravity is not three finite numbers.

    Examples
    --------
    >>> read("robot.step")
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: robot.step: unknown kind of file '.step'; known are '.urdf', '.xml', '.mjcf', '.toml'
    """
    file = as_path(path, "read")
    suffix = file.suffix.lower()
    if suffix not in READERS:
        unknown = f"unknown kind of file '{shortened(Path(suffix))}'"
        kind = unknown if suffix else "a file without an ending such as .urdf"
        raise ReadError(f"{kind}; known are {listed(READERS)}", shortened(file))
    return READERS[suffix](file, gravity=gravity)
