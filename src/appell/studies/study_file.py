"""A study as a TOML file, for ``appell sweep``.

The keys::

function = "wrist.py:design"       # required: a function of a Python file relative to this one, or
"package.module:name" engine = "threads"                 # or "processes", "dask", or the address of a Dask scheduler
workers = 2                        # all cores by default checkpoint = "out/wrist"           # a folder relative to this
file seed = 0 robot = "puma560"                  # the argument `robot`, if any: a name, a file, or a table as in
scenarios

[fixed]                            # arguments common to all cases
payload = 2.0

[space]
kind = "sobol"                     # "grid" (the default), "latin_hypercube", "sobol", "random" or "cases"
n = 1024                           # number of samples, except for "grid" and "cases"
seed = 0
[space.values]
mass = [1.0, 3.0]                  # values of a grid; low and high of samples
# [[space.cases]]                  # for "cases", one table per case
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appell.arguments import whole
from appell.errors import AppellError, InputError
from appell.extras import extra, is_installed
from appell.files import is_file, shortened
from appell.messages import alternatives, shown
from appell.read.place import Place, check_keys
from appell.read.toml import tables
from appell.read.values import sequence, table, text
from appell.simulation.scenario import read_robot
from appell.studies import space
from appell.studies.sweep import Study, sweep

KEYS = ("function", "engine", "workers", "checkpoint", "seed", "robot", "fixed", "space")
SAMPLED: Mapping[str, Callable[..., space.Space]] = {
    "latin_hypercube": space.latin_hypercube,
    "sobol": space.sobol,
    "random": space.random,
}
KINDS = ("grid", "cases", *SAMPLED)


@dataclass(frozen=True)
class StudyFile:
    """A study as data: its function, its cases and the options of :func:`appell.sweep`."""

    function: Callable[..., Any]
    space: space.Space
    options: Mapping[str, Any]

    def run(self, **options: Any) -> Study:
        """Run the study; options given here replace those of the file."""
        return sweep(self.function, self.space, **{**self.options, **options})


def read_study(path: str | os.PathLike[str]) -> StudyFile:
    """Read a study from a file.

    Parameters
    ----------
    path
        A TOML file, described in :mod:`appell.studies.study_file`.

    Returns
    -------
    StudyFile

    Raises
    ------
    ReadError
        When the file cannot be read or is not a valid study; the message names the file and the key.
    """
    top, place = tables(path)
    check_keys(top, KEYS, place)
    for key in ("function", "space"):
        if key not in top:
            raise place.error(f"'{key}' is missing; add it")
    folder = Path(place.source).parent
    fixed = dict(table(top.get("fixed", {}), place.at("fixed")))
    if "robot" in top:
        fixed["robot"] = read_robot(top["robot"], place.at("robot"))
    function = _function(text(top["function"], place.at("function")), folder, place.at("function"))
    options: dict[str, Any] = {}
    for key, low in (("workers", 1), ("seed", 0)):
        if key in top:
            with _named(place.at(key)):
                options[key] = whole(key, top[key], low)
    if "engine" in top:
        options["engine"] = text(top["engine"], place.at("engine"))
    if "checkpoint" in top:
        options["checkpoint"] = folder / text(top["checkpoint"], place.at("checkpoint"))
    cases = _space(table(top["space"], place.at("space")), place.at("space"))
    return StudyFile(functools.partial(function, **fixed) if fixed else function, cases, options)


def _space(entries: Mapping[str, object], place: Place) -> space.Space:
    kind = text(entries.get("kind", "grid"), place.at("kind"))
    known = {"grid": ("values",), "cases": ("cases",)}.get(kind, ("n", "seed", "values"))
    if kind not in KINDS:
        raise place.at("kind").error(f"unknown kind of space '{kind}'; {alternatives(kind, KINDS)}")
    check_keys(entries, ("kind", *known), place)
    with _named(place):
        if kind == "cases":
            return space.cases([table(x, place) for x in sequence(entries.get("cases", []), place.at("cases"))])
        values: dict[str, Any] = dict(table(entries.get("values", {}), place.at("values")))
        if kind == "grid":
            return space.grid(**values)
        for key in ("n", "seed"):
            if key in values:
                raise place.at("values").error(f"an argument '{key}' cannot be sampled; rename it in the function")
        count, seed = whole("n", entries.get("n"), 1), whole("seed", entries.get("seed", 0), 0)
        return SAMPLED[kind](count, seed=seed, **values)


@contextlib.contextmanager
def _named(place: Place) -> Any:
    """Name the place of the file in errors."""
    try:
        yield
    except InputError as error:
        raise place.error(str(error)) from None


def _function(name: str, folder: Path, place: Place) -> Callable[..., Any]:
    """Return a function of a module, or of a Python file in a folder."""
    module_name, _, function = name.rpartition(":")
    if not module_name or not function:
        raise place.error(f"expected 'file.py:function' or 'package.module:function', got '{name}'")
    is_path = module_name.endswith(".py")
    if is_path:
        if not is_file(folder / module_name):
            raise place.error(f"file not found: '{shortened(folder / module_name)}'")
        file = (folder / module_name).resolve()
        sys.path.insert(0, str(file.parent))  # where other processes search for it too
        module_name = file.stem
    try:
        module = importlib.import_module(module_name)
        found = getattr(module, function)
    except AppellError:
        raise
    except Exception as error:
        raise place.error(f"'{name}' cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise place.error(f"'{name}' is {shown(found)}, not a function")
    if is_path and is_installed("cloudpickle"):
        # workers on other machines do not have the file
        extra("cloudpickle", "studies on other machines need").register_pickle_by_value(module)
    return found
