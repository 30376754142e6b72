"""Changes of printed inputs and of formulas, one at a time in a copy of the package, and their effect on verdicts."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import appell

SOURCE = Path(appell.__file__).parent


class Change(NamedTuple):
    """A part of a file of the package and what replaces it; the tables of a paper that should notice."""

    name: str
    paper: str
    file: str
    start: int
    end: int
    text: str
    tables: tuple[str, ...] = ("data",)


# Robots of the papers, the keys of their files that are not printed, and the constants of the papers' runs.
ROBOTS = {
    "two-link": "mata2002",
    "puma600": "valera2003",
    "shafei-tree": "shafei2018",
    "agile-wrist": "abedloo2014",
    "sst": "enferadi2010",
}
NOT_PRINTED = ("d_sign", "modified", "home", "spread", "axis")
LINE = ("START", "END", "ATTITUDE", "SPEED", "DURATION", "INTERVAL", "TOLERANCE")
MOTION = ("RADIUS", "RESTITUTION", "_BASE", "_ANGLES", "PRINTED", "STILL")
CONSTANTS = (
    ("valera2003", "papers/valera2003_line.py", LINE[:4], "data"),
    ("valera2003", "control/plant.py", ("counts", "POTENTIOMETER", "volts"), "unit"),
    ("mata2002", "papers/mata2002_line.py", LINE, "data"),
    ("mata2002", "papers/mata2002.py", ("DEGREES",), "data"),
    ("shafei2018", "papers/shafei2018_motion.py", MOTION, "data"),
    ("abedloo2014", "papers/abedloo2014_loop.py", ("AMPLITUDE", "FREQUENCY"), "data"),
    ("enferadi2010", "papers/enferadi2010_motion.py", ("DURATION", "pole", "trajectory"), "data references"),
)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE]-?\d+)?(?![\w.])")


def formulas() -> list[Change]:
    """Return the sixteen formulas of formulas.toml, wrong wherever their right text stands."""
    found = []
    for entry in tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))["formulas"]:
        text = (SOURCE / entry["file"]).read_text(encoding="utf-8")
        assert entry["right"] in text, entry["name"]
        wrong = text.replace(entry["right"], entry["wrong"])
        place = entry["paper"], entry["file"], 0, len(text)
        found.append(Change(entry["name"], *place, wrong, tuple(entry["tables"])))
    return found


def of_robot(robot: str) -> list[Change]:
    """Return a change of every printed number of the file of a robot; a corner of the star-triangle is a direction."""
    file = f"data/{robot}.toml"
    text, at, found = (SOURCE / file).read_text(encoding="utf-8"), 0, list[Change]()
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        key, _, value = line.partition("#")[0].partition("=")
        if (value and not value.strip().startswith('"')) or value.strip().endswith('deg"'):
            parts = NUMBER.finditer(value) if key.strip() not in NOT_PRINTED else ()
            start = at + len(key) + 1
            for k, m in enumerate(parts):
                span = start + m.start(), start + m.end()
                found.append(Change(f"{robot}:{number} {key.strip()} {k}", ROBOTS[robot], file, *span, more(m[0])))
        at += len(line)
    return [change for change in found if "corners" not in change.name or change.text != "1.01"]


def constants() -> list[Change]:
    """Return a change of every constant of the papers' runs."""
    found = []
    for paper, file, names, tables in CONSTANTS:
        text = (SOURCE / file).read_text(encoding="utf-8")
        for name, start, end in _literals(text, names):
            own = f"{name} {text[start:end]} at {start}"
            found.append(Change(own, paper, file, start, end, more(text[start:end]), tuple(tables.split())))
    return found


def more(number: str) -> str:
    """Return a number with one hundredth more: an integer stays one."""
    if re.fullmatch(r"-?\d+", number):
        return str(int(number) + 1)
    return repr(1.01 * float(number) or 0.01)


def _literals(text: str, names: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    """Return the numbers in the values of names and of keyword arguments, and the floats in functions."""
    raw = text.encode()
    lines = [0, 0]
    for line in raw.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        bound = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        bound.add(getattr(node, "arg", None) or getattr(node, "name", None) or "")
        kinds = (float,) if isinstance(node, ast.FunctionDef) else (float, int)
        if bound & set(names) and isinstance(node, ast.Assign | ast.AnnAssign | ast.keyword | ast.FunctionDef):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and type(part.value) in kinds:
                    start = lines[part.lineno] + part.col_offset
                    place = len(raw[:start].decode())
                    yield min(bound & set(names)), place, place + len(ast.get_source_segment(text, part) or "")


WORKER = """
import json, sys
import appell
for paper, tables in json.loads(sys.argv[1]):
    report = appell.reproduce(paper, tables=tables)
    rows = [(t.title, str(r[0]), v.kind.value) for t in report.tables for r in t.rows for v in r if hasattr(v, "kind")]
    if sys.argv[2] == "figures":
        report.drawn()
    print(json.dumps(rows))
"""


class Copy:
    """A copy of the package, in which one file is changed at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SOURCE, folder / "appell", ignore=shutil.ignore_patterns("__pycache__"))
        self._right: dict[tuple[str, tuple[str, ...]], list[list[str]]] = {}

    def verdicts(self, paper: str, tables: tuple[str, ...], *, figures: bool = False) -> list[list[str]]:
        """Return title, row and kind of every verdict."""
        task = json.dumps([[paper, list(tables)]])
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-W", "ignore", "-c", WORKER, task, "figures" if figures else ""]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=900)
        assert done.returncode == 0, done.stderr[-2000:]
        rows: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
        return rows

    def turned(self, change: Change, *, figures: bool = False) -> set[str]:
        """Return the rows whose verdict is "differs" with a change and not without it."""
        key = change.paper, change.tables
        if key not in self._right:
            self._right[key] = self.verdicts(*key)
        path = self.folder / "appell" / change.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: change.start] + change.text + text[change.end :], encoding="utf-8")
        try:
            wrong = self.verdicts(*key, figures=figures)
        finally:
            path.write_text(text, encoding="utf-8")
        known = {(title, row) for title, row, kind in self._right[key] if kind == "differs"}
        return {f"{title}: {row}" for title, row, kind in wrong if kind == "differs" and (title, row) not in known}
