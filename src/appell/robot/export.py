"""Export: verbs of a robot as text for other languages.

A :class:`Source` is what the writer asks of any kind of robot; open robots make theirs here, closed ones in their own
rooms. The table :data:`TARGETS` says which languages there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appell.errors import InputError
from appell.kernels.c99 import REALS, Function, Guard, Sheet, header_text, identifier, source_text
from appell.kernels.casadi_text import CASADI
from appell.kernels.jax_text import JAX
from appell.kernels.python_text import Dialect, python_text, run_text
from appell.model.build import listed
from appell.model.model import Model
from appell.read.files import write
from appell.recursion.regressor import n_parameters
from appell.robot import rolled
from appell.robot.arguments import UNIT, has_quaternions
from appell.robot.compile import recipe
from appell.robot.strain import quaternion_places, with_strain
from appell.robot.verbs import FRAMED, VERBS
from appell.robot.words import AXES, EXTENTS, MEANINGS, ports_in_words, verb_in_words
from appell.trace.tape import Tape

NOT_UNIT = Guard(
    "strain",
    "{x} <= {0} && {x} >= -{0}",
    (2.0 * UNIT,),
    "NOT_UNIT",
    f"a quaternion in q is not of unit length to {UNIT:g}: normalise it; the results mean nothing",
)
TARGETS = {"c": ".c", "casadi": ".py", "jax": ".py"}
"""The languages, with the ending of their files."""
PYTHON = {"casadi": CASADI, "jax": JAX}
"""Those that are Python: their modules can be had without a file."""


@dataclass(frozen=True)
class Source:
    """A robot as an exporter sees it: its verbs and how each is made, its sizes, and the order of its coordinates."""

    name: str
    verbs: tuple[str, ...]
    framed: tuple[str, ...]
    frames: tuple[str, ...]
    sizes: dict[str, int]
    order: tuple[str, ...]
    make: Callable[[str, str | None], tuple[Tape, tuple[Guard, ...]]]


def open_source(model: Model) -> Source:
    """Return an open robot as an exporter sees it."""
    independent = model.independent
    return Source(
        model.name,
        tuple(VERBS),
        FRAMED,
        tuple(model.frame_index),
        {"NQ": independent.nq, "NV": independent.nv, "NP": n_parameters(model)},
        (*coordinates(independent), *velocities(independent)),
        lambda verb, frame: open_program(model, verb, frame),
    )


def open_program(model: Model, verb: str, frame: str | None) -> tuple[Tape, tuple[Guard, ...]]:
    """Return the tape of an open robot's verb, with what tells of bad quaternions where there are any."""
    if rolled.is_long(model):
        raise InputError(
            f"export: robot '{model.name}' has {len(model.bodies)} bodies; programs are written out for robots of "
            f"up to {rolled.LONG}; export the part of it that the controller moves, its other joints fixed in the file"
        )
    tape = recipe(model, verb, frame).make()
    assert isinstance(tape, Tape)  # a program that is not long is written out
    return guarded(model.independent, tape) if VERBS[verb].is_strict else (tape, ())


def guarded(model: Model, tape: Tape) -> tuple[Tape, tuple[Guard, ...]]:
    """Return a tape whose first input is q with one more result, how far its quaternions are from unit length."""
    if not has_quaternions(model):
        return tape, ()
    return with_strain(tape, quaternion_places(model)), (NOT_UNIT,)


def coordinates(model: Model) -> list[str]:
    """Return a line per joint: where its coordinates stand in q, and their units."""
    return _places("q", ((b.joint.name, s, AXES[b.joint.kind][0]) for b, s in _joints(model, model.q_slices)))


def velocities(model: Model) -> list[str]:
    """Return a line per joint: where its velocities stand in v, and their units."""
    return _places("v", ((b.joint.name, s, AXES[b.joint.kind][1]) for b, s in _joints(model, model.v_slices)))


def _joints(model: Model, slices: Sequence[slice]) -> Iterable[tuple[Any, slice]]:
    return zip(model.bodies, slices, strict=True)


def _places(letter: str, rows: Iterable[tuple[str, slice, str]]) -> list[str]:
    lines = []
    for name, at, words in rows:
        where = f"{letter}[{at.start}]" if at.stop - at.start == 1 else f"{letter}[{at.start}..{at.stop - 1}]"
        lines.append(f"  {where:<10} {name}: {words}")
    return lines


def export(
    source: Source,
    verb: str | Sequence[str],
    to: str,
    path: str | os.PathLike[str] | None,
    *,
    frame: str | None = None,
    real: str = "double",
    libm: bool = True,
    prefix: str | None = None,
) -> Any:
    """Write verbs of a robot and return the path: C99 with a header beside it, or a module of Python.

    Without a path, return what the module of Python defines: a function, or one per verb of a list.
    """
    file = _checked(to, path, real, libm)
    name = prefix if prefix is not None else "" if to in PYTHON else identifier(source.name).lower()
    if name != identifier(name) and (name or prefix is not None):
        raise InputError(f"export: prefix: expected letters, digits and single underscores, got '{prefix}'")
    verbs = list(dict.fromkeys([verb] if isinstance(verb, str) else verb))
    functions = tuple(_function(source, one, frame, name) for one in verbs)
    framed = [one for one in verbs if one in source.framed]
    if not verbs or (frame is not None and not framed):
        what = f"{listed(verbs)} is about the whole robot; leave frame out" if verbs else "name at least one verb"
        raise InputError(f"export: {what}")
    if to in PYTHON:
        made = _python(source, verbs, functions, PYTHON[to], file)
        return made[0] if isinstance(made, tuple) and isinstance(verb, str) else made
    assert file is not None  # of C, as checked above
    sheet = _sheet(source, verbs, functions, real, name)
    text = source_text(sheet, file.stem, REALS[real], name, libm=libm)
    write(file.with_suffix(".h"), header_text(sheet, file.stem, REALS[real], name))
    return write(file, text)


def _checked(to: str, path: str | os.PathLike[str] | None, real: str, libm: bool) -> Path | None:
    """Return the file to write, if any, after a look at the options that depend on the target."""
    if to not in TARGETS:
        raise InputError(f"export: no target '{to}'; known: {listed(TARGETS)}")
    if real not in REALS:
        raise InputError(f"export: real: expected {listed(REALS)}, got '{real}'")
    if to in PYTHON and (real != "double" or not libm):
        raise InputError(
            f"export: real and libm are about C; leave them out for '{to}', whose arrays have the precision"
        )
    if path is None:
        if to not in PYTHON:
            raise InputError(f"export: '{to}' is written to a file; name it with path=, such as 'robot{TARGETS[to]}'")
        return None
    file = Path(path)
    if file.suffix != TARGETS[to]:
        raise InputError(f"export: expected a file named '{TARGETS[to]}', got '{file.name}'")
    return file


def _python(
    source: Source, verbs: list[str], functions: tuple[Function, ...], dialect: Dialect, file: Path | None
) -> Path | tuple[Any, ...]:
    """Write a module of Python, or run it and return what it defines."""
    remarks = (
        "SI units and radians; vectors of six have the linear part first.",
        "",
        "Order of coordinates and velocities:",
        *source.order,
    )
    title = f"{', '.join(verbs)} of robot '{source.name}' for {dialect.package}, written by appell."
    text = python_text(Sheet(title, remarks, (), functions), dialect)
    return run_text(text, [f.name for f in functions], dialect) if file is None else write(file, text)


def _function(source: Source, verb: str, frame: str | None, prefix: str) -> Function:
    if verb not in source.verbs:
        raise InputError(f"export: no verb '{verb}' of robot '{source.name}'; known: {listed(source.verbs, 40)}")
    about = frame if verb in source.framed else None
    if verb in source.framed and frame not in source.frames:
        what = f"is about a frame; name one with frame=, got '{frame}'" if frame else "is about a frame; name one"
        raise InputError(f"export: '{verb}' {what}: robot '{source.name}' has {listed(source.frames, 40)}")
    tape, guards = source.make(verb, about)
    name = "_".join(part for part in (prefix, verb, identifier(about) if about else "") if part)
    text = verb_in_words(verb) + (f" (frame: {about})" if about else "")
    ports = (*tape.inputs, *tape.outputs)
    extents = {port.name: _extents(port.name, port.shape, source.sizes, prefix) for port in ports}
    return Function(name, tape, text, ports_in_words(verb, ports), extents, guards)


def _extents(port: str, shape: tuple[int, ...], sizes: dict[str, int], prefix: str) -> tuple[str, ...]:
    """Return the extents of an argument: a macro where one of those that it may be has the size, else the number."""
    known = EXTENTS.get(port, ((),) * len(shape))
    result = []
    for size, macros in zip(shape, known if len(known) == len(shape) else ((),) * len(shape), strict=True):
        fitting = (f"{prefix}_{macro}".upper() for macro in macros if sizes.get(macro) == size)
        result.append(next(fitting, str(size)))
    return tuple(result)


def _sheet(source: Source, verbs: list[str], functions: tuple[Function, ...], real: str, prefix: str) -> Sheet:
    used = {extent for function in functions for extents in function.extents.values() for extent in extents}
    macros = tuple(
        (macro, size, MEANINGS[key])
        for key, size in source.sizes.items()
        if (macro := f"{prefix}_{key}".upper()) in used or key in ("NQ", "NV")
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
