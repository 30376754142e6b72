"""Targets that are readers of files: robots, loops, scenarios, runs, studies, logs, meshes."""

from __future__ import annotations

import functools
import io
import json
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import appell
from appell.errors import AppellError, AppellWarning
from appell.loading import read_text
from appell.logs import joint_states, table
from appell.read.catalogue import file_text
from appell.robot.kind import FILE
from appell.robot.verbs.programs import Actuated
from appell.shapes.drawable import drawable
from appell.simulation.scenario import read_scenario
from appell.studies.store import Checkpoint
from appell.studies.study_file import read_study
from tests.fuzz import structures as form
from tests.fuzz.engine import Input, Target, ensure
from tests.fuzz.examples import text_logs, valid
from tests.fuzz.mutators import OF_BYTES, OF_TEXT, Mutator, mutated
from tests.support.pool import pool

HUGE = 1e60
"""Numbers beyond this overflow where they are multiplied: results need not be finite."""
Seeds = Callable[[], Sequence[bytes]]


def maker(start: Seeds, *groups: Sequence[Mutator]) -> Callable[[Random], Input]:
    """Return a function that draws a mutated seed; each group of mutators is as likely as the others."""
    return lambda rng: Input(*mutated(rng, rng.choice(start()), rng.choice(groups)))


def options(path: Path, choices: Sequence[Any]) -> Any:
    """Return one of several options, by the file's content, so that the file alone repeats a finding."""
    return choices[zlib.crc32(path.read_bytes()) % len(choices)]


# Robots

LOADED: Sequence[dict[str, Any]] = (
    {}, {}, {}, {"floating": True}, {"mimic": True}, {"friction": False}, {"gravity": (1, 2, -3)}, {"loops": False},
)  # fmt: skip


def check_robot(robot: appell.Robot, path: Path) -> None:
    """Check a robot that was accepted: finite numbers, sizes that fit, inverse dynamics at neutral()."""
    model = robot.model
    numbers = np.concatenate(
        [robot.parameters, model.gravity, *(body.joint.placement.position for body in model.bodies)]
    )
    rotations = np.array([body.joint.placement.rotation for body in model.bodies]).reshape(-1, 3, 3)
    ensure(np.isfinite(numbers).all(), "a parameter, gravity or position is not finite")
    ensure(np.allclose(rotations @ rotations.transpose(0, 2, 1), np.eye(3), atol=1e-6), "a rotation is not orthonormal")
    ensure(len(set(robot.joint_names)) == len(robot.joint_names), "two joints have one name")
    q = robot.neutral()
    ensure(q.shape == (robot.nq,) and np.isfinite(q).all(), f"neutral() is {q}")
    for body in model.bodies:
        limits = body.joint.limits
        ensure(
            limits is None or not np.isnan([limits.lower, limits.upper]).any(), f"limits of {body.joint.name}: {limits}"
        )
    if not robot.nv or not numbers.size or np.abs(numbers).max() > HUGE:
        return
    arguments = [q, np.zeros(robot.nv), np.zeros(len(robot.driven))]
    try:
        tau = _by_recursion(robot, arguments)
    except (ValueError, ArithmeticError) as error:  # a singular or unreachable configuration, where native code refuses
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always", AppellWarning)
            robot.inverse_dynamics(*arguments)
        ensure(bool(doubts), f"inverse dynamics at neutral: {error}")
        return
    ensure(tau.shape == (robot.nu,) and np.isfinite(tau).all(), f"inverse dynamics at neutral: {tau}")
    again = read_text(robot.kind.text(), "text")
    ensure(again.joint_names == robot.joint_names, "the joints have other names once saved")
    np.testing.assert_allclose(again.parameters, robot.parameters, rtol=1e-9, atol=1e-9 * np.abs(numbers).max())
    if zlib.crc32(path.read_bytes()) % 100 == 0:  # native code takes longer to compile than a file takes to read
        found = robot.inverse_dynamics(*arguments)
        ensure(
            np.allclose(found, tau, rtol=1e-6, atol=1e-6 * (1.0 + np.abs(tau).max()) + 1e-12 * np.abs(numbers).max()),
            f"native code: {found}, not {tau}",
        )


def _by_recursion(robot: appell.Robot, arguments: list[Any]) -> Any:
    """Return joint torques by the recursion in Python, without compiling."""
    formulation = next(iter(robot.kind.formulations("inverse_dynamics").values()))
    scalars = (tuple(map(float, x)) for x in arguments)
    found = Actuated.of(formulation.program(robot.kind.embedding(FILE), *scalars)).results
    return np.array([float(x) for x in found])


def load_robot(path: Path) -> None:
    """Load a robot and check it."""
    check_robot(appell.load(path, **options(path, LOADED)), path)


def catalogue(*names: str) -> Seeds:
    """Return robots of the catalogue as seeds."""
    return lambda: [file_text(name).encode() for name in names]


def load_loops(path: Path) -> None:
    """Close the loops of a tree by a file beside it."""
    check_robot(appell.load(_legs(), loops=path), path)


@functools.cache
def _legs() -> Any:
    """Return the tree of a five-bar linkage, open."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "legs.urdf")
        file.write_bytes(valid(".urdf")["legs"])
        return appell.load(file).model


# Scenarios and runs


def load_scenario(path: Path) -> None:
    """Read a scenario and check it; the simulation is a target of its own."""
    scenario = read_scenario(path)
    robot = scenario.robot
    ensure(scenario.q.shape == (robot.nq,) and np.isfinite(scenario.q).all(), f"start: q = {scenario.q}")
    ensure(scenario.v.shape == (robot.nv,) and np.isfinite(scenario.v).all(), f"start: v = {scenario.v}")
    ensure(0.0 < scenario.duration < np.inf, f"duration {scenario.duration}")


@functools.cache
def runs() -> list[bytes]:
    """Return files of short runs, of an arm and of a closed robot."""
    arm, closed = appell.load("two-link"), appell.load("four-bar")
    made = [
        appell.simulate(
            arm, [0.1, 0.0], [1.0, 0.0], 0.2, walls=[appell.walls.Plane((0, -0.5, 0), (0, 1, 0))], points=["link2"]
        ),
        appell.simulate(closed, closed.neutral(), [0.0], 0.01),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return [run.save(Path(folder, "run.npz")).read_bytes() for run in made]


def load_run(path: Path) -> None:
    """Read a run and use it."""
    run = appell.Run.load(path)
    count = len(run.t)
    for name in ("q", "v", "a", "tau"):
        array = getattr(run, name)
        ensure(
            array.ndim == 2 and len(array) == count and array.dtype.kind == "f", f"{name}: {array.dtype} {array.shape}"
        )
        ensure(np.isfinite(array).all() or run.ended_early, f"{name} is not finite")
    ensure(run.t.shape == run.energy.shape == (count,), "t or energy has another size than the states")
    ensure((np.diff(run.t) >= 0.0).all(), "times do not increase")
    repr(run)
    if count:
        q, v = run.at([run.t[0], run.t[-1]])
        ensure(q.shape == (2, run.nq) and np.isfinite(q).all() and np.isfinite(v).all(), "at() is not finite")
    if run.robot is not None:
        check_robot(run.robot, path)
        ensure(not count or (run.nq, run.v.shape[-1]) == (run.robot.nq, run.robot.nv), "states do not fit the robot")
    for impact in run.impacts:
        ensure(np.isfinite(impact.angles).all() and np.isfinite(impact.loss), "an impact is not finite")
    for rest in run.rests:
        ensure(np.isfinite([rest.start, rest.end]).all(), "a contact interval is not finite")


# Studies


@functools.cache
def checkpoints() -> list[bytes]:
    """Return checkpoints of studies as archives: with numbers and arrays, with errors and text, unfinished."""
    return [_checkpoint(space, count) for space in (NUMBERS, TEXTS) for count in (6, 3)]


NUMBERS = appell.space.grid(x=[0.0, 1.0, 2.0], y=[np.array([1.0, 2.0]), np.array([3.0, 4.0])])
TEXTS = appell.space.cases([{"x": k, "tool": f"tool {k}"} for k in range(6)])


def measured(x: float, y: Any = 0.0, tool: str = "") -> dict[str, Any]:
    """Return the values of a case; the last one fails."""
    if x == TEXTS[-1]["x"]:
        raise ValueError(f"no {tool}")
    return {"sum": x + np.sum(y), "pair": np.array([[x, 1.0]]), "even": x % 2 == 0}


def _checkpoint(space: Any, count: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        appell.sweep(measured, space, checkpoint=folder, workers=1)
        for part in Path(folder).glob("part-*"):
            part.unlink()
        store = Checkpoint(folder)
        found = appell.sweep(measured, space, workers=1).outcomes[:count]
        store.add(found)
        return form.zipped([(path.name, path.read_bytes()) for path in sorted(Path(folder).iterdir())])


def load_checkpoint(path: Path) -> None:
    """Read a checkpoint or resume its study, and use that."""
    with tempfile.TemporaryDirectory() as folder:
        uses: Sequence[Callable[[], appell.Study]] = (
            lambda: appell.Study.load(folder),
            lambda: appell.sweep(measured, NUMBERS, checkpoint=folder, workers=1),
            lambda: appell.sweep(measured, TEXTS, checkpoint=folder, workers=1),
        )
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    Path(folder, Path(member.filename).name).write_bytes(archive.read(member))
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError):
            raise AppellError("no archive") from None
        check_study(options(path, uses), folder)


def check_study(made: Callable[[], appell.Study], folder: str) -> None:
    """Check a study that was accepted."""
    study = made()
    for name, column in study.values.items():
        ensure(len(column) == len(study.cases) and column.dtype.kind in "fiub", f"{name}: {column.dtype}")
    ensure(study.done.sum() <= len(study.cases), "more outcomes than cases")
    ensure(all(isinstance(error, str) for _, error in study.failed), "an error is no text")
    repr(study), study._repr_html_()
    study.save(Path(folder, "study.csv"))
    study.save(Path(folder, "study.parquet"))


FEW = 100
"""Cases of a study that are computed."""


def load_study(path: Path) -> None:
    """Read the file of a study and run it if it is short."""
    study = read_study(path)
    ensure(len(study.space) > 0, "no case")
    ensure(all(len(x) == len(study.space) for x in study.space.columns.values()), "columns of several lengths")
    repr(study.space[-1])
    if len(study.space) <= FEW:
        check_study(lambda: study.run(engine="threads", workers=1, checkpoint=None), str(path.parent))
        for name in ("study.csv", "study.parquet"):
            path.with_name(name).unlink()


# Logs


def columns() -> dict[str, Any]:
    """Return the columns of a short log of two joints."""
    t = np.linspace(0.0, 1.0, 24)
    q = np.column_stack([np.sin(3 * t), np.cos(2 * t)])
    return {"t": t, "q": q, "v": np.gradient(q, t, axis=0), "tau": 3 * q}


ABOUT = {"joints": ["joint1", "joint2"], "source": "a.csv", "repairs": [["left out", "line 3", 1]]}
COLUMNS: Sequence[Any] = (
    None,
    None,
    "t=0,q=1:3",
    {"t": "t", "q": "q*"},
    {"t": 0, "q": [1, 2], "tau": [3, 4]},
    "t=1e-3*0,q=1",
)


def load_log(path: Path) -> None:
    """Read a log and check it."""
    robot = options(path, (None, appell.load("two-link")))
    log = appell.read_log(path, options(path, COLUMNS), robot=robot)
    ensure(log.t.ndim == 1 and len(log) >= 2 and (np.diff(log.t) > 0.0).all(), "times do not increase")
    for name in ("t", "q", "v", "a", "tau", "current"):
        array = getattr(log, name)
        ensure(array is None or (len(array) == len(log.t) and np.isfinite(array).all()), f"{name} is not finite")
    for name, array in log.extra.items():
        ensure(len(array) == len(log.t) and np.isfinite(array).all(), f"{name} is not finite")
    str(log)


@functools.cache
def parquets() -> list[bytes]:
    """Return .parquet files: numbers, lists, gaps, other types."""
    import pyarrow as pa  # an extra of appell's  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    n, flat = 12, {"t": np.linspace(0, 1, 12), "q1": np.sin(np.arange(12)), "q2": np.cos(np.arange(12))}
    others: list[dict[str, Any]] = [
        {"q": [[1.0, 2.0]] * n},
        {"tau1": [None, *[1.0] * (n - 1)]},
        {"x": ["text"] * n},
        {"t": np.arange(n), "b": [True] * n, "s": [{"a": 1}] * n},
        {"t": np.array(np.arange(n), dtype="datetime64[s]")},
        {"q1": [[1.0], [1.0, 2.0]] * (n // 2), "tau1": [2**62] * n},
    ]
    files = [table.parquet_bytes(columns(), ABOUT)]
    for other in others:
        stream = io.BytesIO()
        pq.write_table(pa.table(flat | other), stream)
        files.append(stream.getvalue())
    return files


def mcaps(rng: Random) -> Input:
    """Return an .mcap file: its bytes mutated, or the JSON of its messages."""
    data = joint_states.encoded(columns(), ABOUT)
    if rng.random() < 0.4:
        return Input(*mutated(rng, data, OF_BYTES))
    from mcap.writer import CompressionType, Writer  # an extra of appell's  # noqa: PLC0415

    stream = io.BytesIO()
    writer = Writer(stream, compression=rng.choice(list(CompressionType)))
    writer.start()
    encoding = rng.choice(("json", "json", "cdr", "ros1"))
    schema = writer.register_schema(joint_states.SCHEMA, "jsonschema" if encoding == "json" else "ros2msg", b"")
    channel = writer.register_channel(rng.choice(("/joint_states", "/x", "é")), encoding, schema)
    body: Any = {
        "header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}, "name": ["a", "b"], "position": [0.0, 1.0],
        "velocity": [0.0, 1.0], "effort": [0.0, 1.0],
    }  # fmt: skip
    faults = rng.choice((1, 2, 3))
    bad = body
    for _ in range(faults):
        bad = form.changed(rng, bad)
    share = rng.choice((0.0, 0.2, 1.0))
    for k in range(12):
        one = dict(bad if rng.random() < share and isinstance(bad, dict) else body)
        if one is not bad and isinstance(one.get("header"), dict):
            one["header"] = one["header"] | {"stamp": {"sec": 0, "nanosec": k * 10**7}}
        message = json.dumps(one).encode() if encoding == "json" else rng.randbytes(rng.choice((0, 3, 20, 200)))
        if encoding == "json" and rng.random() < 0.05:
            message, count = mutated(rng, message, (*OF_BYTES, *OF_TEXT))
            faults += count
        clock = rng.choice((k * 10**7, k * 10**7, k * 10**7, rng.randrange(2**63)))
        writer.add_message(channel, clock, message, clock)
    writer.finish()
    return Input(stream.getvalue(), faults)


# Tables and meshes


def load_dh(path: Path) -> None:
    """Read a Denavit–Hartenberg table."""
    try:
        case = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise AppellError("not JSON") from None
    rows: Any = case.get("rows") if isinstance(case, dict) else case
    named = {key: case[key] for key in ("modified", "name", "gravity") if isinstance(case, dict) and key in case}
    check_robot(appell.from_dh(rows, **named), path)


DH: list[bytes] = [
    json.dumps(
        {
            "rows": [
                {"a": 0.0, "d": 0.1, "alpha": 0.0, "mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.1, 0.2, 0.3]},
                {"a": 1.0, "alpha": 1.57, "theta": 0.2, "kind": "prismatic", "mass": 2.0, "damping": 0.1},
            ],
            "modified": True,
        }
    ).encode()
]


def load_mesh(path: Path) -> None:
    """Draw a robot whose link has a mesh in this file."""
    robot_file = path.with_suffix(".urdf")
    robot_file.write_bytes(valid(".urdf")["mesh"].replace(b"MESH", path.name.encode()))
    try:
        drawn = drawable(pool("screws") if robot_file.suffix == path.suffix else appell.load(robot_file), robot_file)
    finally:
        robot_file.unlink()
    for piece in drawn.pieces:
        ensure(np.isfinite(piece.vertices).all(), "a vertex is not finite")
        ensure(
            piece.faces.size == 0 or 0 <= piece.faces.min() <= piece.faces.max() < len(piece.vertices),
            "a face has no vertex",
        )


XML = (
    form.xml_element, form.xml_element, form.xml_attribute, form.xml_attribute, form.xml_attribute, form.xml_document,
    form.xml_encoding, form.xml_control,
)  # fmt: skip
NPZ = (form.npz_member, form.npz_member, form.npz_bomb)
YAML = (form.yaml_tree, form.yaml_tree, form.yaml_alias)
TOML = (OF_TEXT, (form.toml_tree,), OF_BYTES)


def seeds(ending: str) -> Seeds:
    """Return the valid files of an ending as seeds."""
    return lambda: list(valid(ending).values())


def _mesh(kind: str) -> Target:
    return Target(f"mesh-{kind}", f".{kind}", maker(seeds(f"mesh.{kind}"), OF_TEXT, OF_BYTES), load_mesh, 0.2, 4)


TREES = catalogue("two-link", "stanford", "puma560", "shafei-tree")
CLOSED = catalogue("four-bar", "five-bar", "mobile-arm")
FILES = [
    Target("urdf", ".urdf", maker(seeds(".urdf"), OF_TEXT, XML, XML, OF_BYTES), load_robot, 6.0),
    Target("mjcf", ".xml", maker(seeds(".xml"), OF_TEXT, XML, XML, OF_BYTES), load_robot, 1.0),
    Target("sdf", ".sdf", maker(seeds(".sdf"), OF_TEXT, XML, XML, OF_BYTES), load_robot, 4.0),
    Target("toml", ".toml", maker(TREES, *TOML), load_robot, 4.0),
    Target("toml-closed", ".toml", maker(CLOSED, *TOML), load_robot, 0.2, 8),
    Target("toml-spherical", ".toml", maker(catalogue("agile-wrist", "sst"), *TOML), load_robot, 3.0),
    Target("loops-yaml", ".yaml", maker(seeds(".yaml"), OF_TEXT, YAML, OF_BYTES), load_loops, 1.0),
    Target("loops-toml", ".toml", maker(seeds("loops.toml"), *TOML), load_loops, 0.2, 8),
    Target("scenario", ".toml", maker(seeds(".scenario.toml"), *TOML), load_scenario, 4.0),
    Target("run", ".npz", maker(runs, NPZ, NPZ, OF_BYTES), load_run, 2.0),
    Target("checkpoint", ".zip", maker(checkpoints, (form.archive_member,)), load_checkpoint, 1.0),
    Target("study", ".toml", maker(seeds(".study.toml"), *TOML), load_study, 2.0),
    Target("log-text", ".csv", maker(lambda: text_logs(columns()), OF_TEXT, OF_BYTES), load_log, 1.5),
    Target("log-npz", ".npz", maker(lambda: [table.npz_bytes(columns(), ABOUT)], NPZ, NPZ, OF_BYTES), load_log, 2.0),
    Target("log-parquet", ".parquet", maker(parquets, OF_BYTES), load_log, 2.0),
    Target("log-mcap", ".mcap", mcaps, load_log),
    Target("dh", ".json", maker(lambda: DH, (form.json_tree,)), load_dh, 4.0),
    *map(_mesh, ("stl", "obj", "ply", "off", "gltf", "dae")),
]
"""Readers, with seeds, groups of mutators and shares of the inputs: those that take longer have smaller ones."""
