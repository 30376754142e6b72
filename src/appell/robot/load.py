"""Loading robots: from files, from the catalogue, from tables, at random."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from appell.catalogue import chain as _chain
from appell.catalogue import names
from appell.catalogue import read as _from_catalogue
from appell.errors import AppellWarning, InputError
from appell.model.build import listed
from appell.model.mimic import coupled
from appell.model.model import Model
from appell.read import from_dh as _from_dh
from appell.read import read
from appell.read.closures import with_loops
from appell.robot.robot import Robot

MJCF = (".xml", ".mjcf")
"""Files whose equalities of joints MuJoCo enforces, so that leaving them loose is worth a word."""


def load(
    source: str | os.PathLike[str],
    *,
    floating: bool = False,
    friction: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
) -> Robot:
    """Return the open robot of a file or of the catalogue; the options are those of :func:`appell.load`.

    >>> load("puma600")
    <Robot 'puma600': 6 bodies, nq 6, nv 6>
    """
    return Robot(read_model(source, floating=floating, friction=friction, mimic=mimic, gravity=gravity))


def read_model(
    source: str | os.PathLike[str],
    *,
    floating: bool = False,
    friction: bool = True,
    mimic: bool = False,
    gravity: Sequence[float] | None = None,
    loops: str | os.PathLike[str] | None = None,
) -> Model:
    """Return the model that :func:`load` makes a robot of, with the closures of its file or of a file of loops."""
    place = os.fspath(source)
    if place in names():
        model = _from_catalogue(place, gravity=gravity)
    elif not Path(place).suffix and not Path(place).exists():
        raise InputError(f"load: '{place}' is neither a file nor in the catalogue: {listed(names())}")
    else:
        model = read(place, gravity=gravity)
    model = with_loops(model, loops) if loops is not None else model
    if Path(place).suffix.lower() in MJCF:
        warn_of_loose(model, place, mimic=mimic, remedy="load with mimic=True")
    return as_asked(model, floating=floating, friction=friction, mimic=mimic)


def warn_of_loose(model: Model, place: str, *, mimic: bool, remedy: str) -> None:
    """Warn of joints that MuJoCo would bind and this robot moves by themselves."""
    loose = [body.joint.name for body in model.bodies if body.joint.mimic is not None]
    if loose and not mimic:
        warnings.warn(
            f"{place}: equalities of joints are not enforced ({listed(loose)}); {remedy} to bind them",
            AppellWarning,
            stacklevel=4,
        )


def as_asked(model: Model, *, floating: bool = False, friction: bool = True, mimic: bool = False) -> Model:
    """Return the model with its followers bound, its base free, its friction left out, as asked."""
    model = coupled(model) if mimic else model
    model = model.floating() if floating else model
    return model if friction else model.without_friction()


def from_dh(rows: Sequence[Any], *, modified: bool = True, **options: Any) -> Robot:
    """Return the robot of a Denavit–Hartenberg table; see :func:`appell.read.from_dh` for its rows and options.

    >>> import appell, math
    >>> appell.from_dh([{"a": 0.0, "mass": 1.0, "centre": [0.5, 0.0, 0.0]}, {"a": 1.0}])
    <Robot 'robot': 2 bodies, nq 2, nv 2>
    """
    return Robot(_from_dh(rows, modified=modified, **options))


def chain(n: int, rng: np.random.Generator, *, vertical: bool = False) -> Robot:
    """Return a random general arm of n revolute joints; its first axis is vertical if asked.

    >>> import appell, numpy as np
    >>> appell.chain(4, np.random.default_rng(0)).nv
    4
    """
    return Robot(_chain(n, rng, vertical=vertical))
