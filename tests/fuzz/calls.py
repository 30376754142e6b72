"""Targets that are functions and exporters: one argument, or two, replaced by something hostile."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import appell
from appell.errors import AppellError
from appell.model.model import Model
from appell.robot.robot import Robot
from tests.fuzz.engine import BrokenPropertyError, Input, Target, ensure
from tests.fuzz.mutators import WORDS


def _nested() -> Any:
    """Return a list in a list, a hundred times."""
    found: Any = [1.0, 2.0]
    for _ in range(100):
        found = [found]
    return found


OBJECTS: Mapping[str, Callable[[], Any]] = {
    "none": lambda: None, "true": lambda: True, "nan": lambda: math.nan, "inf": lambda: math.inf, "-1": lambda: -1,
    "0": lambda: 0,
    "1e300": lambda: 1e300, "1e-300": lambda: 1e-300, "1e4": lambda: 1e4, "2**70": lambda: 2**70,
    "text": lambda: "text", "": lambda: "",
    "bytes": lambda: b"\xff", "list": list, "dict": dict, "nans": lambda: [math.nan] * 2,
    "infs": lambda: np.full(2, np.inf),
    "big": lambda: [1e308, -1e308], "one": lambda: [1.0], "three": lambda: [1.0, 2.0, 3.0],
    "strings": lambda: ["a", "b"],
    "nones": lambda: [None], "ragged": lambda: [[1.0], [1.0, 2.0]], "object": object, "class": lambda: int,
    "lambda": lambda: _text,
    "generator": lambda: (x for x in (1.0, 2.0)), "empty": lambda: np.zeros((0, 2)), "complex": lambda: [1j, 0],
    "masked": lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]), "batch": lambda: np.zeros((3, 2)),
    "ints": lambda: [1, 2],
    "robot": lambda: appell.load("two-link"), "pose": lambda: np.eye(4), "date": lambda: np.datetime64("2020-01-01"),
    "path": lambda: Path("/dev/null"), "folder": Path, "long": lambda: "a" * 5000, "null": lambda: "a\x00b",
    "float32": lambda: np.zeros(2, np.float32),
    "nested": _nested, "raises": lambda: _raises,
    "slow": lambda: 1e-9,
}  # fmt: skip
"""What replaces an argument, by name."""


def _text(*_: Any) -> Any:
    return "x"


class UserError(Exception):
    """An exception of a function of the user's, which may pass through appell unchanged."""


def _raises(*_: Any) -> Any:
    raise UserError


@functools.cache
def arm() -> Robot:
    """Return the robot that functions are about."""
    return appell.load("two-link")


@functools.cache
def _closed() -> Robot:
    return appell.load("four-bar")


def _law(t: Any, q: Any, v: Any) -> Any:
    return -3.0 * np.asarray(v)


def _threads(n: Any) -> None:
    try:
        appell.threads(n)
    finally:
        appell.threads(1)


_ZEROS = [0.0, 0.0]
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "load": (
        appell.load,
        {"source": "two-link", "floating": False, "friction": True, "mimic": False, "gravity": None, "loops": True},
    ),
    "read_log": (appell.read_log, {"path": "no.csv", "columns": None, "gains": None, "robot": None}),
    "Run.load": (appell.Run.load, {"path": "no.npz"}),
    "from_dh": (appell.from_dh, {"rows": [[0.0, 0.0, 0.0, 0.0]], "modified": True, "name": "robot", "gravity": None}),
    "random": (lambda **k: arm().random(np.random.default_rng(1), **k), {"size": 3}),
    "integrate": (lambda **k: arm().integrate(**k), {"q": _ZEROS, "dv": _ZEROS}),
    "difference": (lambda **k: arm().difference(**k), {"q0": _ZEROS, "q1": _ZEROS}),
    "assemble": (lambda **k: arm().assemble(**k), {"guess": _ZEROS}),
    "integrate closed": (lambda **k: _closed().integrate(_closed().neutral(), **k), {"dv": [0.1]}),
    "assemble closed": (lambda **k: _closed().assemble(**k), {"guess": None}),
    "project closed": (lambda **k: _closed().project(_closed().neutral(), **k), {"v": [0.1]}),
    "pose": (lambda **k: arm().pose(**k), {"q": _ZEROS, "frame": "link2"}),
    "export": (
        lambda **k: arm().export(**k),
        {
            "verb": "gravity",
            "to": "c",
            "path": "folder/x.c",
            "frame": None,
            "real": "double",
            "libm": True,
            "prefix": None,
            "parametric": False,
            "formulation": None,
        },
    ),
    "operations": (lambda **k: arm().operations(**k), {"verb": "gravity", "formulation": None}),
    "using": (lambda **k: arm().using(**k), {"formulation": "vector"}),
    "reorder": (lambda **k: arm().reorder(**k), {"names": ["joint1", "joint2"]}),
    "save": (lambda **k: arm().save(**k), {"path": "folder/x.toml"}),
    "wrenches": (lambda **k: arm().inverse_dynamics(_ZEROS, _ZEROS, _ZEROS, **k), {"wrenches": {"link2": [0.0] * 6}}),
    "parameters": (lambda **k: arm().gravity(_ZEROS, **k), {"parameters": None, "formulation": None, "out": None}),
    "simulate": (
        lambda **k: appell.simulate(arm(), **k),
        {
            "q0": _ZEROS,
            "v0": _ZEROS,
            "duration": 0.01,
            "control": _law,
            "walls": [appell.walls.Circle(9.0)],
            "restitution": 1.0,
            "friction": 0.0,
            "tie_window": 1e-4,
            "impact_law": "newton",
            "points": None,
            "limits": False,
            "events": (),
            "method": "dop853",
            "step": None,
            "rtol": 1e-6,
            "atol": 1e-9,
            "rest_speed": 1e-6,
            "rate": None,
        },
    ),
    "rollout": (
        lambda **k: appell.rollout(arm(), **k),
        {
            "q0": _ZEROS,
            "v0": _ZEROS,
            "tau": np.zeros((4, 2)),
            "dt": 1e-3,
            "steps": None,
            "control": None,
            "save_every": 1,
        },
    ),
    "inverse_kinematics": (lambda **k: appell.inverse_kinematics(arm(), **k), {"goal": np.eye(4), "frame": "link2"}),
    "circle": (lambda **k: _struck(appell.walls.Circle(**k)), {"radius": 9.0}),
    "plane": (lambda **k: _struck(appell.walls.Plane(**k)), {"point": (0.0, -9.0, 0.0), "normal": (0.0, 1.0, 0.0)}),
    "sphere": (lambda **k: _struck(appell.walls.Sphere(**k)), {"radius": 9.0}),
    "pd": (
        lambda **k: appell.control.PointToPoint(arm(), **k)(0.0, np.zeros(2), np.zeros(2)),
        {"goal": _ZEROS, "kp": 1.0, "kd": 1.0},
    ),
    "spline": (appell.trajectory.Spline, {"times": [0.0, 1.0], "points": [_ZEROS, [1.0, 1.0]]}),
    "random_chain": (lambda **k: appell.random_chain(rng=np.random.default_rng(1), **k), {"n": 2, "vertical": False}),
    "threads": (_threads, {"n": 1}),
}
"""Public functions with arguments that are good."""


def _struck(wall: Any) -> Any:
    """Return a short run with a wall."""
    return appell.simulate(arm(), _ZEROS, _ZEROS, 0.01, walls=[wall])


def draw(rng: Random) -> Input:
    """Return a call of a function as JSON: its name, and what some of its arguments are replaced by."""
    name = rng.choice(list(FUNCTIONS))
    arguments = list(FUNCTIONS[name][1])
    chosen = rng.sample(arguments, min(len(arguments), rng.choice((1, 1, 1, 2))))
    case = {"function": name, "replaced": {key: rng.choice(list(OBJECTS)) for key in chosen}}
    return Input(json.dumps(case).encode(), len(chosen))


def call(path: Path) -> None:
    """Call a function as a case says."""
    case = json.loads(path.read_text(encoding="utf-8"))
    function, arguments = FUNCTIONS[case["function"]]
    with np.errstate(over="ignore"), contextlib.suppress(UserError):  # NumPy's remark that a result is infinite
        function(**(arguments | {key: OBJECTS[name]() for key, name in case["replaced"].items()}))
    for file in sorted(Path("folder").glob("*")):  # what it was asked to write
        file.unlink()
    if Path("folder").is_dir():
        Path("folder").rmdir()


# Exporters

MARK = "intruder"
"""The name that must not become code."""
NAMES = (
    *filter(str.strip, WORDS), f"*/ int {MARK}; /*", f'"""\nimport {MARK}\n"""', f"x\n{MARK} = 1", f"\\\n{MARK}",
    "??/", f"a; int {MARK}", f"'''{MARK}'''",
    f"\"); {MARK}(", f"\r{MARK}()", f"\u2028{MARK}()", f"\x0c{MARK} = 1", f"%s {MARK}", f"</robot><{MARK}/>",
    f'"\n{MARK} = 1', "int", "for",
    "double", "lambda", "1x", "a b", "_", "__", "q", "tau", "a.b", "A", "a", f"// {MARK} \\", "{0.__class__}",
    f"]]\n[[{MARK}]]",
)  # fmt: skip
"""Names of robots, links and joints, and prefixes."""
VERBS = ("gravity", "pose", "mass_matrix", "inverse_dynamics")


def draw_export(rng: Random) -> Input:
    """Return an export as JSON: names of a robot, of its joints and links, and the options."""
    target = rng.choice(("c", "casadi", "jax", "urdf", "toml"))
    case = {
        "to": target,
        "verb": rng.choice(VERBS),
        "robot": rng.choice(NAMES),
        "joints": rng.sample(NAMES, 2),
        "links": rng.sample(NAMES, 2),
        "prefix": rng.choice((None, None, rng.choice(NAMES))),
        "real": rng.choice(("double", "float")) if target == "c" else "double",
        "libm": rng.random() < 0.5 if target == "c" else True,
        "file": rng.choice(("x", "x", "a b", "é", "-x", "x.y", "%s", f"x*{MARK}", '"x"')),
    }
    return Input(json.dumps(case).encode(), 5 + (case["prefix"] is not None))


def renamed(model: Model, name: str, joints: list[str], links: list[str]) -> Model:
    """Return a model of two bodies with other names."""
    bodies = tuple(
        replace(body, name=link, joint=replace(body.joint, name=joint))
        for body, joint, link in zip(model.bodies, joints, links, strict=True)
    )
    known = dict(zip([body.name for body in model.bodies], links, strict=True))
    frames = tuple(replace(frame, name=known.get(frame.name, frame.name)) for frame in model.frames)
    return replace(model, name=name, bodies=bodies, frames=frames)


def export(path: Path) -> None:
    """Export a robot with odd names and check that they stay in comments and strings."""
    case = json.loads(path.read_text(encoding="utf-8"))
    robot = appell.load(renamed(arm().model, case["robot"], case["joints"], case["links"]))
    ending = {"c": ".c", "casadi": ".py", "jax": ".py"}.get(case["to"], f".{case['to']}")
    file = Path("folder", case["file"] + ending)
    if case["to"] in ("urdf", "toml"):
        robot.save(file)
        try:
            again = appell.load(file)
        except AppellError as error:
            raise BrokenPropertyError(f"saved, but not loaded: {error}") from None
        ensure(
            (again.name, again.joint_names) == (robot.name, robot.joint_names), f"names changed: {again.joint_names}"
        )
        file.unlink()
    else:
        frame = case["links"][1] if case["verb"] == "pose" else None
        made = robot.export(
            case["verb"],
            to=case["to"],
            path=file,
            frame=frame,
            prefix=case["prefix"],
            real=case["real"],
            libm=case["libm"],
        )
        for written in {Path(made), *([file.with_suffix(".h")] if case["to"] == "c" else [])}:
            text = written.read_text(encoding="utf-8")
            _check_c(text) if case["to"] == "c" else _check_python(text)
            written.unlink()
    file.parent.rmdir()


def _check_c(text: str) -> None:
    joined = re.sub(r"\?\?/", r"\\", text)
    joined = re.sub(r"\\[ \t]*\r?\n", "", joined)  # a line that ends so goes on
    code = re.sub(r"/\*.*?\*/|//[^\n\r]*", " ", joined, flags=re.S)
    code = re.sub(r'#include[^\n]*"[^"\n]*"', "", code)
    ensure(MARK.lower() not in _without_names(code).lower(), "a name became code")
    ensure(
        code.count("{") == code.count("}") and "/*" not in code and "*/" not in code,
        "a comment does not end where it should",
    )


def _without_names(code: str) -> str:
    """Return C without identifiers: a name may be part of one."""
    return re.sub(rf"\b[A-Za-z_]\w*_{MARK}\w*|\b{MARK}_\w+|\b\w*_?{MARK.upper()}_\w+", "", code, flags=re.I)


def _check_python(text: str) -> None:
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imports = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names
    }
    ensure(MARK not in names | imports, "a name became code")


CALLS = [
    Target("functions", ".json", draw, call, 1.5, 40),
    Target("export", ".json", draw_export, export, 0.3, 10),
]
