"""``appell bench``: speed of appell and Pinocchio in one run on one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from appell.cli.common import AsJson, Plot, RobotOptions, argument, check_endings, option, plain, show, show_json
from appell.cli.compare import Peer, from_model, pinocchio, ur5
from appell.errors import AppellError, CompileError, InputError
from appell.files import write
from appell.kernels.runtime.threads import threads
from appell.loading import catalogue
from appell.messages import listed
from appell.reports.bars import Measured, times
from appell.reports.machine import described, machine
from appell.reports.table import Cell, Table
from appell.results.style import PICTURES, written
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

Rows = list[dict[str, Any]]

VERBS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
_NATIVE = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
_SINGLE = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba"}


def command(
    robots: list[str] | None = argument("ROBOT", "Robot files or catalogue names; default the UR5.", catalogue),
    out: Path = option("--out -o FILE", "Save the measurements as JSON.", default=Path("out/bench.json")),
    batch: int = option("--batch", "Samples per batch.", min=1, default=8192),
    seconds: float = option("--seconds", "Duration of each measurement [s].", min=0.0, default=2.0),
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Measure speed, and compare it with Pinocchio if that is installed.

    Batches, single calls and compile times. Both libraries run on one thread, alternately; the fastest of many
    repetitions counts. Friction is ignored, as in Pinocchio.

    Example: appell bench puma560 --plot out/bench.png
    """
    check_endings({"--plot": (plot, PICTURES)})
    pin, default = pinocchio(), ur5()
    names = list(robots or ([str(default)] if default else ["puma560"]))
    opened = [(name, RobotOptions(name, no_friction=True, no_armature=True).load()[0]) for name in names]
    closed = [robot.name for _, robot in opened if robot.nv < robot.model.nv]
    if closed:
        raise InputError(
            f"bench: {listed(closed)}: robots with closed loops have no batch calls in Pinocchio; name open robots"
        )
    if len({robot.name for _, robot in opened}) < len(opened):
        raise InputError("bench: two robots of one name; name each robot once")
    if pin is None:
        typer.echo("Pinocchio is not installed (pip install pin); only appell is measured", err=True)
    rows: Rows = []
    before = threads()
    threads(1)
    try:
        for name, robot in opened:
            typer.echo(f"{robot.name} …", err=True)
            peer = None if pin is None else _peer(pin, name, robot)
            rows += _batches(robot, peer, batch, seconds)
            rows += _singles(robot, peer, seconds)
            rows += _compiles(name, robot, repeats=3 if seconds else 1)
    finally:
        threads(before)
    result = {"machine": machine(), "batch": batch, "threads": 1, "measurements": rows}
    write(out, json.dumps(plain(result), ensure_ascii=False, indent=2) + "\n")
    if plot is not None:
        title = f"{', '.join(robot.name for _, robot in opened)}: one run, one thread"
        written("bench", plot, lambda: times(title, _bars(rows, len(opened) > 1), "Pinocchio"))
        typer.echo(f"written: {plot}", err=True)
    if as_json:
        show_json(result)
    else:
        show(_table(result))
    typer.echo(f"written: {out}", err=True)


def _peer(pin: Any, name: str, robot: Robot) -> Peer | None:
    """Return the peer of a robot; without one, print the reason on stderr."""
    try:
        by_file = Path(name).is_file() and Path(name).suffix.lower() in (".urdf", ".xml")
        return Peer.of(pin, robot, pin.buildModelFromUrdf(name) if by_file else from_model(pin, robot.model))
    except (AppellError, ValueError, RuntimeError) as error:
        typer.echo(f"Pinocchio cannot load {robot.name}; only appell is measured: {error}", err=True)
        return None


ROUNDS = 5
"""Calls in one turn: the first finds the caches as the other library left them."""


def best(calls: dict[str, Callable[[], object]], seconds: float, repeats: int = 5) -> dict[str, float]:
    """Return the shortest time of each call [s]; calls alternate, so that the load of the machine is the same for all.

    >>> sorted(best({"a": lambda: None, "b": lambda: None}, seconds=0.0))
    ['a', 'b']
    """
    least = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds
    while repeats > 0 or time.perf_counter() < end:
        repeats -= 1
        for name, call in calls.items():
            for _ in range(ROUNDS):
                start = time.perf_counter()
                call()
                least[name] = min(least[name], time.perf_counter() - start)
    return least


def _batches(robot: Robot, peer: Peer | None, batch: int, seconds: float) -> Rows:
    """Measure batches in double and single precision, ns per sample."""
    rng = np.random.default_rng(2002)
    q, v, x = robot.random(rng, batch), *rng.normal(size=(2, batch, robot.nv))
    rows: Rows = []
    for verb in VERBS:
        inputs = (q,) if verb == "mass_matrix" else (q, v, x)
        narrow = tuple(part.astype(np.float32) for part in inputs)
        call = getattr(robot, verb)
        ours, small = call(*inputs), call(*narrow)  # compiles both, and gives places to write to
        calls: dict[str, Callable[[], object]] = {
            "float64": partial(call, *inputs, out=ours),
            "float32": partial(call, *narrow, out=small),
        }
        theirs = None if peer is None else _peer_batch(peer, verb, inputs)
        if theirs is not None:
            calls["peer"] = theirs.run
        least = {name: 1e9 * t / batch for name, t in best(calls, seconds).items()}
        wide = None if theirs is None or least["peer"] <= theirs.overhead else least["peer"] - theirs.overhead
        error = None if theirs is None else _difference(ours, theirs.result())
        rows.append(_row(robot, verb, f"batch of {batch}", "ns", least["float64"], wide, error))
        rows.append(_row(robot, verb, f"batch of {batch}, float32", "ns", least["float32"], wide))
    return rows


class _Contender(NamedTuple):
    """A batch with Pinocchio: the call, its overhead [ns per sample], and its last result."""

    run: Callable[[], object]
    overhead: float
    result: Callable[[], Array]


def _peer_batch(peer: Peer, verb: str, inputs: tuple[Array, ...]) -> _Contender:
    """Return the call of Pinocchio for a batch.

    Inverse and forward dynamics have batch calls. The mass matrix is called for every sample from Python; the time of
    the same loop on a model with one joint, which is nearly all overhead, is subtracted.
    """
    pin, there, back, data = peer.pin, peer.there, peer.order, peer.model.createData()
    q = there.q(inputs[0])
    if verb == "mass_matrix":

        def last() -> Array:  # Pinocchio computes one matrix in one place, its upper triangle only
            upper = np.triu(data.M)
            full: Array = upper + np.triu(upper, 1).T
            return full[np.ix_(back, back)]

        return _Contender(_looped(pin, peer.model, data, q), _crba_overhead(pin), last)
    columns = [np.asfortranarray(part.T) for part in (q, *(there.v(inputs[0], x) for x in inputs[1:]))]
    native, result, pool = getattr(pin, _NATIVE[verb]), np.empty_like(columns[1]), pin.ModelPool(peer.model, 1)
    return _Contender(lambda: native(1, pool, *columns, result), 0.0, lambda: result.T[:, back])


def _looped(pin: Any, model: Any, data: Any, rows: Array) -> Callable[[], object]:
    def run() -> None:
        crba = pin.crba
        for q in rows:
            crba(model, data, q)

    return run


def _crba_overhead(pin: Any, calls: int = 4096) -> float:
    """Return the overhead of calling crba from Python in a loop over rows [ns per call]."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    loop = _looped(pin, model, model.createData(), np.zeros((calls, 1)))
    return 1e9 * best({"loop": loop}, 0.2)["loop"] / calls


def _difference(ours: Array, theirs: Array) -> float:
    """Return the largest difference relative to the largest value; theirs may be the last sample only."""
    mine = ours if ours.shape == theirs.shape else ours[-1]
    return float(np.abs(mine - theirs).max() / np.abs(theirs).max())


def _singles(robot: Robot, peer: Peer | None, seconds: float, calls: int = 1000) -> Rows:
    """Measure one call after the other from Python, µs per call."""
    rng = np.random.default_rng(2003)
    q, v, x = robot.random(rng), *rng.normal(size=(2, robot.nv))
    rows: Rows = []
    for verb in VERBS:
        inputs = (q,) if verb == "mass_matrix" else (q, v, x)
        contest = {"ours": _repeated(getattr(robot, verb), inputs, calls)}
        if peer is not None:
            places = peer.there.q(q), *(peer.there.v(q, part) for part in inputs[1:])
            native, data = getattr(peer.pin, _SINGLE[verb]), peer.model.createData()
            contest["peer"] = _repeated(native, (peer.model, data, *places), calls)
        least = {name: 1e6 * t / calls for name, t in best(contest, seconds).items()}
        rows.append(_row(robot, verb, "single call", "µs", least["ours"], least.get("peer")))
    return rows


def _repeated(call: Callable[..., object], arguments: tuple[Any, ...], times: int) -> Callable[[], object]:
    def run() -> None:
        for _ in range(times):
            call(*arguments)

    return run


_FRESH = """
import sys, time, warnings
import appell
warnings.simplefilter("ignore")
robot = appell.load(sys.argv[1], friction=False, armature=False)
start = time.perf_counter()
robot.kernel(sys.argv[2])
print(time.perf_counter() - start)
"""


def _compiles(name: str, robot: Robot, repeats: int) -> Rows:
    """Measure the first use of a verb in a new process, without and with its code in the cache, ms."""
    rows: Rows = []
    for verb in VERBS:
        cold, cached = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(1e3 * _fresh(name, verb, folder))
                cached.append(1e3 * _fresh(name, verb, folder))
        rows.append(_row(robot, verb, "compile, cold", "ms", min(cold), None))
        rows.append(_row(robot, verb, "compile, cached", "ms", min(cached), None))
    return rows


def _fresh(name: str, verb: str, folder: str) -> float:
    """Return the time to make the kernel of a verb in a new process with its own cache folder [s]."""
    environment = {**os.environ, "APPELL_CACHE": folder}
    command = [sys.executable, "-c", _FRESH, name, verb]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise CompileError(f"bench: compiling {verb} in a new process failed: {run.stderr.strip().splitlines()[-1]}")
    return float(run.stdout)


def _row(
    robot: Robot, verb: str, what: str, unit: str, ours: float, peer: float | None, error: float | None = None
) -> dict[str, Any]:
    ratio = None if peer is None else peer / ours
    measured = {"unit": unit, "appell": ours, "pinocchio": peer, "ratio": ratio, "difference": error}
    return {"robot": robot.name, "what": what, "verb": verb, **measured}


def _bars(rows: Rows, is_named: bool) -> list[Measured]:
    """Return the measurements as bars, with the name of the robot if there are several."""
    labels = (
        f"{row['robot'] + ': ' if is_named else ''}{row['verb'].replace('_', ' ')}, {row['what']}" for row in rows
    )
    return [
        Measured(label, row["unit"], row["appell"], row["pinocchio"]) for label, row in zip(labels, rows, strict=True)
    ]


def _table(result: dict[str, Any]) -> Table:
    columns = ("robot", "what", "verb", "unit", "appell", "pinocchio", "ratio", "difference")
    rows: list[tuple[Cell, ...]] = [tuple(row[column] for column in columns) for row in result["measurements"]]
    notes = (
        "Ratio: time of Pinocchio over time of appell. Batches: time per sample on one thread; rneaInParallel and "
        "abaInParallel with one thread; crba is called from Python for every sample, and the overhead of the call is "
        "subtracted.",
        "Difference: largest difference relative to the largest value. Compile: in a new process, tracing included.",
        described(result["machine"]),
    )
    return Table("appell against Pinocchio, one run", columns, tuple(rows), notes)
