"""Samples of a robot's motion: from the command line, from .csv and .npz, and back."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from appell.cli.common import numbers, open_any, show, show_json, warn
from appell.errors import InputError
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.read.files import write
from appell.results.table import Table
from appell.robot.robot import Robot

Array = NDArray[np.float64]

_LIST = "NUMBERS"
Q = Annotated[str | None, typer.Option("-q", metavar=_LIST, help="Coordinates, separated by commas [rad, m].")]
V = Annotated[str | None, typer.Option("-v", metavar=_LIST, help="Velocities; zero if left out.")]
A = Annotated[str | None, typer.Option("-a", metavar=_LIST, help="Accelerations; zero if left out.")]
Tau = Annotated[str | None, typer.Option("--tau", metavar=_LIST, help="Joint forces [N·m, N]; zero if left out.")]
Source = Annotated[Path | None, typer.Option("--in", metavar="FILE", help="Samples to read, .csv or .npz.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write samples, .csv or .npz.")]

KINDS = ("q", "v", "a", "tau")
TIME = "t"


@dataclass(frozen=True)
class Choice:
    """The options that inverse and forward dynamics share."""

    source: Path | None
    out: Path | None
    no_friction: bool
    gravity: str | None
    as_json: bool
    floating: bool
    mimic: bool
    loops: str | None = None


def run(name: str, verb: str, given: dict[str, str | None], result: str, choice: Choice) -> None:
    """Evaluate a verb on the samples of the command line or of a file, and print or write what comes."""
    options = {"floating": choice.floating, "mimic": choice.mimic}
    robot, remarks = open_any(name, choice.no_friction, choice.gravity, loops=choice.loops, **options)
    if choice.out is not None and choice.out.suffix.lower() not in (".csv", ".npz"):
        raise InputError(f"--out: {choice.out}: expected a file named .csv or .npz")
    written = {kind: text for kind, text in given.items() if text is not None}
    if choice.source is not None:
        if written:
            raise InputError(f"give samples by --in or by {', '.join('-' + k for k in written)}, not both")
        arrays = read(choice.source, robot)
    else:
        if "q" not in written:
            raise InputError(f"-q: expected {robot.nq} numbers separated by commas, or a file by --in")
        arrays = {k: np.array([numbers(_option(k), text, len(labels(robot, k)))]) for k, text in written.items()}
    count = len(arrays["q"])
    inputs = {kind: arrays.get(kind, np.zeros((count, len(labels(robot, kind))))) for kind in given}
    times = {TIME: arrays[TIME]} if TIME in arrays else {}
    everything = {**times, **inputs, result: getattr(robot, verb)(*inputs.values())}
    warn(remarks)
    if choice.out is not None:
        write(choice.out, _npz(everything) if choice.out.suffix.lower() == ".npz" else _csv(everything, robot))
        typer.echo(f"{count} samples, {choice.out}", err=True)
    if choice.as_json:
        single = choice.source is None
        show_json(
            {
                "robot": robot.name,
                "joints": robot.joint_names,
                **{k: x[0] if single else x for k, x in everything.items()},
            }
        )
    elif choice.out is None and choice.source is not None:
        typer.echo(_csv(everything, robot), nl=False)
    elif choice.out is None:
        title = f"{verb.replace('_', ' ').capitalize()}, {robot.name}"
        named = {kind: labels(robot, kind, x.shape[-1]) for kind, x in everything.items()}
        for names in [list(names) for names in dict.fromkeys(tuple(names) for names in named.values())]:
            kinds = [kind for kind in everything if named[kind] == names]
            columns = (everything[kind][0].tolist() for kind in kinds)
            show(Table(title, ("joint", *kinds), tuple(zip(names, *columns, strict=True))))


def labels(robot: Robot | SphericalRobot, kind: str, size: int | None = None) -> list[str]:
    """Return a name for each number of q, or of v, a or τ: the joint's, numbered where the joint has several.

    A closed robot's v are its independent velocities, its τ its actuators' forces; its a are the actuators' where they
    are given and all independent ones where they are found, as `size` then tells.
    """
    if isinstance(robot, ClosedRobot) and kind != "q":
        return (
            robot.independent[:size]
            if kind != "tau" and size
            else robot.independent
            if kind == "v"
            else robot.actuators
        )
    if isinstance(robot, SphericalRobot):
        return robot.actuators if kind == "tau" else robot.joint_names
    names: list[str] = []
    for joint in (body.joint for body in robot.model.independent.bodies):
        count = joint.type.nq if kind == "q" else joint.type.nv
        names += [joint.name] if count == 1 else [f"{joint.name}.{k + 1}" for k in range(count)]
    return names


def _option(kind: str) -> str:
    return f"-{kind}" if len(kind) == 1 else f"--{kind}"


def read(path: Path, robot: Robot | SphericalRobot) -> dict[str, Array]:
    """Return the samples of a .csv or .npz file: q of shape (N, nq), and t, v, a, tau where the file has them."""
    readers = {".csv": _read_csv, ".npz": _read_npz}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path}: expected a file named .csv or .npz")
    try:
        arrays = readers[path.suffix.lower()](path, robot)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if "q" not in arrays:
        raise InputError(f"{path}: has no coordinates: expected q1 … q{robot.nq}, or q.{robot.joint_names[0]} …")
    return arrays


def _read_csv(path: Path, robot: Robot | SphericalRobot) -> dict[str, Array]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        header = [name.strip() for name in next(lines, [])]
        places = _places(path, header, robot)
        rows = []
        for row in lines:
            if row:
                if len(row) != len(header):
                    raise InputError(f"{path}:{lines.line_num}: expected {len(header)} values, got {len(row)}")
                rows.append([_number(path, lines.line_num, name, x) for name, x in zip(header, row, strict=True)])
    if not rows:
        raise InputError(f"{path}: has no samples below its header")
    values = np.array(rows)
    return {kind: values[:, columns] for kind, columns in places.items()}


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{path}:{line}: column '{column}': expected a number, got '{text}'") from None
    if not math.isfinite(value):
        raise InputError(f"{path}:{line}: column '{column}': expected a finite number, got '{text}'")
    return value


def _places(path: Path, header: Sequence[str], robot: Robot | SphericalRobot) -> dict[str, Any]:
    """Return, per kind of value, its columns in the robot's order; t is one column, not a list."""
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(f"{path}:1: column '{repeated[0]}' is there twice")
    left = set(header)
    places: dict[str, Any] = {}
    for kind in KINDS:
        own = labels(robot, kind)
        for names in ([f"{kind}{k + 1}" for k in range(len(own))], [f"{kind}.{name}" for name in own]):
            missing = [name for name in names if name not in left]
            if len(missing) == len(names):
                continue
            if missing or kind in places:
                problem = f"misses '{missing[0]}'" if missing else f"has {kind} twice, by number and by joint"
                raise InputError(f"{path}:1: {problem}; robot '{robot.name}' needs {', '.join(names)}")
            places[kind] = [header.index(name) for name in names]
            left.difference_update(names)
    if TIME in left:
        places[TIME] = header.index(TIME)
        left.remove(TIME)
    if left:
        known = f"t, and q, v, a, tau with 1 … {robot.nv} or .<joint> behind"
        raise InputError(f"{path}:1: unknown column '{min(left, key=header.index)}'; known are {known}")
    return places


def _read_npz(path: Path, robot: Robot | SphericalRobot) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name], dtype=float) for name in file.files}
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"{path}: is no .npz file of numbers: {error}") from None
    unknown = [name for name in arrays if name not in (*KINDS, TIME)]
    if unknown:
        raise InputError(f"{path}: unknown array '{unknown[0]}'; known are {', '.join((*KINDS, TIME))}")
    rows = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    n = rows.get("q", 0)
    for name, array in arrays.items():
        expected = (n,) if name == TIME else (n, len(labels(robot, name)))
        if array.shape != expected or not n:
            wanted = "(samples,)" if name == TIME else f"(samples, {len(labels(robot, name))})"
            raise InputError(f"{path}: {name}: expected shape {wanted}, one row a sample of q, got {array.shape}")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise InputError(f"{path}: {name}: row {row} is not finite")
    return arrays


def _csv(arrays: dict[str, Array], robot: Robot | SphericalRobot) -> str:
    names = [
        [kind] if kind == TIME else [f"{kind}.{name}" for name in labels(robot, kind, x.shape[-1])]
        for kind, x in arrays.items()
    ]
    columns = np.column_stack(list(arrays.values()))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for group in names for name in group])
    writer.writerows([repr(float(x)) for x in row] for row in columns)
    return text.getvalue()


def _npz(arrays: dict[str, Array]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # names of arrays, none of them allow_pickle
    return stream.getvalue()
