"""Samples of motion: from the command line and from .csv and .npz files, and to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from appell.cli.common import RobotOptions, check_endings, numbers, option, show, show_json, warn
from appell.errors import InputError
from appell.files import write
from appell.logs.read_log import open_table
from appell.reports.table import Table
from appell.results import plots
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

Q = Annotated[str | None, option("-q NUMBERS", "Configuration, separated by commas [rad, m].", default=...)]
V = Annotated[str | None, option("-v NUMBERS", "Velocities; default zero.", default=...)]
A = Annotated[str | None, option("-a NUMBERS", "Accelerations; default zero.", default=...)]
Tau = Annotated[str | None, option("--tau NUMBERS", "Joint torques [N·m] or forces [N]; default zero.", default=...)]
Source = Annotated[Path | None, option("--in FILE", "Read samples from a .csv or .npz file.", default=...)]
Out = Annotated[Path | None, option("--out -o FILE", "Write the results to a .csv or .npz file.", default=...)]

KINDS = ("q", "v", "a", "tau")
TIME = "t"
ENDINGS = (".csv", ".npz")


class Files(NamedTuple):
    """Input and output files."""

    source: Path | None
    out: Path | None
    as_json: bool


def run(options: RobotOptions, verb: str, given: dict[str, str | None], result: str, files: Files) -> None:
    """Evaluate a verb on the samples of the command line or of a file; print or write the results."""
    robot, remarks = options.load()
    check_endings({"--out": (files.out, ENDINGS)})
    written = {kind: text for kind, text in given.items() if text is not None}
    if files.source is not None:
        if written:
            raise InputError(f"give samples either by --in or by {', '.join(map(_option, written))}, not both")
        arrays = read(files.source, robot)
    else:
        if "q" not in written:
            raise InputError(f"-q: expected {robot.nq} numbers separated by commas, or a file with --in")
        arrays = {k: np.array([numbers(_option(k), text, len(labels(robot, k)))]) for k, text in written.items()}
    count = len(arrays["q"])
    inputs = {kind: arrays.get(kind, np.zeros((count, len(labels(robot, kind))))) for kind in given}
    times = {TIME: arrays[TIME]} if TIME in arrays else {}
    everything = {**times, **inputs, result: robot.evaluate(verb, *inputs.values())}
    warn(remarks)
    if files.out is not None:
        write(files.out, _npz(everything) if files.out.suffix.lower() == ".npz" else _csv(everything, robot))
        typer.echo(f"{count} samples, {files.out}", err=True)
    if files.as_json:
        single = files.source is None
        show_json(
            {
                "robot": robot.name,
                "joints": robot.joint_names,
                **{k: x[0] if single else x for k, x in everything.items()},
            }
        )
    elif files.out is None and files.source is not None:
        typer.echo(_csv(everything, robot), nl=False)
    elif files.out is None:
        title = f"{verb.replace('_', ' ').capitalize()}, {robot.name}"
        named = {kind: labels(robot, kind, x.shape[-1]) for kind, x in everything.items()}
        for names in [list(names) for names in dict.fromkeys(tuple(names) for names in named.values())]:
            kinds = [kind for kind in everything if named[kind] == names]
            columns = (everything[kind][0].tolist() for kind in kinds)
            show(Table(title, ("joint", *kinds), tuple(zip(names, *columns, strict=True))))


def labels(robot: Robot, kind: str, size: int | None = None) -> list[str]:
    """Return a name for each number of q, v, a or τ.

    Given accelerations are those of ``robot.driven``; results have one per velocity, in number `size`.
    """
    return plots.labels(robot, kind)[: size or (len(robot.driven) if kind == "a" else None)]


def _option(kind: str) -> str:
    return f"-{kind}" if len(kind) == 1 else f"--{kind}"


def read(path: Path, robot: Robot) -> dict[str, Array]:
    """Return the samples of a .csv or .npz file: q of shape (N, nq), and t, v, a, tau where the file has them."""
    check_endings({"--in": (path, ENDINGS)})
    table = open_table(path)
    if table.faults:
        what, places = table.faults[0]
        raise InputError(f"{path}:{places[0]}: {what.removeprefix('left out: ')}")
    header = table.names or ()
    found = _places(path, header, robot)
    if "q" not in found:
        raise InputError(f"{path}: no configuration columns; expected q1 … q{robot.nq}, or q.{robot.joint_names[0]} …")
    values = table.take(range(table.width))
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        where = f":{table.places[row]}" if table.word == "line" else f": {table.word} {table.places[row]}"
        raise InputError(f"{path}{where}: column '{header[column]}': expected a finite number")
    return {kind: values[:, columns] for kind, columns in found.items()}


def _places(path: Path, header: Sequence[str], robot: Robot) -> dict[str, Any]:
    """Return, per kind of value, its columns in the robot's order; t is one column, not a list."""
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(f"{path}: column '{repeated[0]}' occurs twice")
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
                raise InputError(f"{path}: {problem}; robot '{robot.name}' needs {', '.join(names)}")
            places[kind] = [header.index(name) for name in names]
            left.difference_update(names)
    if TIME in left:
        places[TIME] = header.index(TIME)
        left.remove(TIME)
    if left:
        known = f"t, and q, v, a, tau with 1 … {robot.nv} or .<joint> behind"
        raise InputError(f"{path}: unknown column '{min(left, key=header.index)}'; known are {known}")
    return places


def _names(kind: str, joints: Sequence[str]) -> list[str]:
    """Return the names of columns: by joint, or by number where a name would break the header."""
    if any(not name.isprintable() or name != name.strip() or set(name) & set(',;"') for name in joints):
        return [f"{kind}{k + 1}" for k in range(len(joints))]
    return [f"{kind}.{name}" for name in joints]


def _csv(arrays: dict[str, Array], robot: Robot) -> str:
    names = [[kind] if kind == TIME else _names(kind, labels(robot, kind, x.shape[-1])) for kind, x in arrays.items()]
    rows = np.column_stack(list(arrays.values())).tolist()
    lines = [",".join(name for group in names for name in group), *(",".join(map(repr, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _npz(arrays: dict[str, Array]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # names of arrays, none of them allow_pickle
    return stream.getvalue()
