"""Export of verbs as text for other languages, listed in the table :data:`TARGETS`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from appell.errors import InputError
from appell.files import extension, write, write_together
from appell.kernels.text.c99 import ErrorCode, Function, Sheet, header_text, source_text
from appell.kernels.text.c99_values import REALS
from appell.kernels.text.casadi import CASADI
from appell.kernels.text.jax import JAX
from appell.kernels.text.python_text import Dialect, python_text, run_text
from appell.messages import alternatives, listed, shown
from appell.program.nodes import Program, straight
from appell.robot.calls import compile
from appell.robot.descriptions import MACROS, port_descriptions, verb_description
from appell.robot.kind import Key, Kind
from appell.robot.verbs.table import Size
from appell.syntax import identifier

TARGETS = {"c": ".c", "casadi": ".py", "jax": ".py", "sympy": ".py", "latex": ".tex", "ros2": ""}
"""The target languages, with their file extensions."""
PACKAGES = ("ros2",)
"""Targets that are folders with a fixed set of verbs, written by :mod:`appell.robot.export.ros2`."""
PYTHON = {"casadi": CASADI, "jax": JAX}
"""Targets that are Python modules, also available without a file."""
EQUATIONS = ("sympy", "latex")
"""Targets of readable equations, by :mod:`appell.robot.export.equations`, also available without a file."""


class Job(NamedTuple):
    """A function of a room above that is no verb: where its source is described, and by which options."""

    module: str
    """A module whose `source` takes the robot and the options and returns a :class:`Source`."""
    options: tuple[str, ...]


JOBS = {
    "rollout": Job(
        "appell.simulation.rollout.export", ("control", "method", "parametric", "walls", "points", "limits")
    ),
    "inverse_kinematics": Job("appell.planning.export", ("frame", "tasks", "steps")),
}
"""What is exported alone, by name. Its module is imported on use: this room knows none above it."""


@dataclass(frozen=True)
class Source:
    """The source of exported functions: a robot, or a control law.

    `make` gives the program of a key for a target, written out or as loops, and the codes of its guards.
    """

    name: str
    sizes: Mapping[str, int]
    order: Sequence[str]
    symbols: Callable[[str], Mapping[str, tuple[Size, ...]]]
    """The sizes of a verb's arguments and results, as letters where they have one."""
    make: Callable[[Key, str], tuple[Program, tuple[ErrorCode, ...]]]


def source(kind: Kind) -> Source:
    """Return a robot as a source of exported functions."""
    facts, symbols = kind.facts, {name: verb.symbols for name, verb in kind.verbs.items()}
    return Source(kind.model.name, facts.sizes, facts.lines, symbols.__getitem__, partial(_made, kind))


def _made(kind: Kind, key: Key, to: str) -> tuple[Program, tuple[ErrorCode, ...]]:
    """Return the program of a verb, with loops if the target supports them; Python does without guards."""
    if to in PYTHON and (to == "casadi" or kind.loops(key) is None):
        return straight(compile.tape(kind, key, is_guarded=False)), ()
    program = compile.program(kind, key)
    return program.spec.program(), tuple(guard.code for guard in program.guards)


def job_source(robot: Any, name: str, to: Any, options: Mapping[str, Any]) -> Source:
    """Return a job as the source of an exported function, after checking which options are given."""
    job = JOBS[name]
    if to not in ("c", "jax"):
        raise InputError(f"export: '{name}' is written to c and jax, got {shown(to)}")
    given = {option: x for option, x in options.items() if not (x is None or x is False or x == ())}
    unknown = [option for option in given if option not in job.options]
    if unknown:
        raise InputError(f"export: '{name}' takes {listed(job.options)}; leave out {listed(unknown)}")
    found: Source = importlib.import_module(job.module).source(robot, **given)
    return found


def export(
    source: Source,
    keys: Sequence[Key],
    to: str,
    path: str | os.PathLike[str] | None,
    *,
    real: str = "double",
    libm: bool = True,
    prefix: str | None = None,
    is_one: bool = False,
) -> Any:
    """Write verbs of a robot and return the path: C99 with a header beside it, or a module of Python.

    Without a path, return the functions of the Python module, one per key; a single function if `is_one`.
    """
    if isinstance(to, str) and to in (*EQUATIONS, *PACKAGES):
        known = listed(x for x in TARGETS if x not in (*EQUATIONS, *PACKAGES))
        raise InputError(f"export: '{to}' is for robots; controllers are written to {known}")
    file = checked(to, path, real, libm)
    name = prefix if prefix is not None else "" if to in PYTHON else identifier(source.name).lower()
    if not isinstance(name, str) or (name != identifier(name) and (name or prefix is not None)):
        raise InputError(f"export: prefix: expected letters, digits and single underscores, got {shown(prefix)}")
    if not keys:
        raise InputError("export: expected at least one verb, got none")
    unique = list(dict.fromkeys(key._replace(is_single=real == "float") for key in keys))
    functions = tuple(_function(source, key, to, name) for key in unique)
    verbs = [key.verb for key in unique]
    if to in PYTHON:
        made = _python(source, verbs, functions, PYTHON[to], file)
        return made[0] if isinstance(made, tuple) and is_one else made
    assert file is not None  # of C, as checked above
    sheet = _sheet(source, verbs, functions, real, name)
    text = source_text(sheet, file.stem, REALS[real], name, libm=libm)
    write_together({file.with_suffix(".h"): header_text(sheet, file.stem, REALS[real], name), file: text})
    return file


def checked(to: str, path: str | os.PathLike[str] | None, real: str, libm: bool) -> Path | None:
    """Return the file to write, if any, after checking the options of the target."""
    if not isinstance(to, str) or to not in TARGETS:
        raise InputError(f"export: no target {shown(to)}; {alternatives(to, TARGETS)}")
    if not isinstance(real, str) or real not in REALS:
        raise InputError(f"export: real: expected {listed(REALS)}, got {shown(real)}")
    if to != "c" and (real != "double" or not libm):
        raise InputError(f"export: real and libm apply to C only; leave them out for '{to}'")
    if path is None:
        if to == "c":
            raise InputError(f"export: '{to}' needs a file; set path=, such as 'robot{TARGETS[to]}'")
        return None
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"export: expected a path, got {shown(path)}")
    extension("export", path, (TARGETS[to],))
    if to not in PYTHON and not Path(path).suffix:
        raise InputError(f"export: '{to}' needs a file name with extension '{TARGETS[to]}', got {path}")
    return Path(path)


def _python(
    source: Source, verbs: list[str], functions: tuple[Function, ...], dialect: Dialect, file: Path | None
) -> Path | tuple[Any, ...]:
    """Write a Python module, or run it and return its functions."""
    remarks = (
        "SI units and radians; vectors of six have the linear part first.",
        "",
        "Order of coordinates and velocities:",
        *source.order,
    )
    title = f"{', '.join(verbs)} of robot '{source.name}' for {dialect.package}, written by appell."
    text = python_text(Sheet(title, remarks, (), functions), dialect)
    return run_text(text, [f.name for f in functions], dialect) if file is None else write(file, text)


def _function(source: Source, key: Key, to: str, prefix: str) -> Function:
    program, guards = source.make(key, to)
    frame = key.about if isinstance(key.about, str) else ""
    name = "_".join(part for part in (prefix, key.verb, identifier(frame) if frame else "") if part)
    text = verb_description(key.verb) + (f" (frame: {frame})" if frame else "")
    ports = (*program.inputs, *program.outputs)
    symbols = source.symbols(key.verb)
    extents = {port.name: _extents(port.shape, symbols.get(port.name, ()), prefix) for port in ports}
    return Function(name, program, text, port_descriptions(key.verb, ports), extents, guards)


def _extents(shape: tuple[int, ...], symbols: tuple[Size, ...], prefix: str) -> tuple[str, ...]:
    """Return the extents of an argument: macros where its sizes have letters, else numbers."""
    letters = (*symbols, *(0,) * (len(shape) - len(symbols)))
    return tuple(
        f"{prefix}_{MACROS[letter][0]}".upper() if letter in MACROS else str(size)
        for size, letter in zip(shape, letters, strict=True)
    )


def _sheet(source: Source, verbs: list[str], functions: tuple[Function, ...], real: str, prefix: str) -> Sheet:
    used = {extent for function in functions for extents in function.extents.values() for extent in extents}
    macros = tuple(
        (name, source.sizes[letter], meaning)
        for letter, (macro, meaning) in MACROS.items()
        if (name := f"{prefix}_{macro}".upper()) in used or letter in ("q", "v")
    )
    remarks = (
        f"Precision: {real}. SI units and radians; vectors of six have the linear part first.",
        "Every function is reentrant: it uses its arguments and the stack, allocates nothing and keeps nothing.",
        "All arguments are read before any result is written, so arrays may overlap.",
        "Do not compile with -ffast-math or the like: signs, reductions of angles and codes rely on IEEE arithmetic.",
        "",
        "Order of coordinates and velocities:",
        *source.order,
    )
    return Sheet(f"{', '.join(verbs)} of robot '{source.name}', C99 written by appell", remarks, macros, functions)
