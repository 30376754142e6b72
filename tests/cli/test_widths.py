"""Output at every width: no line is longer than the terminal, no number and no name is split, nothing is lost."""

from __future__ import annotations

import functools
import random
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app, bench, identify, reproduce, simulate
from appell.papers import reproduce as made
from appell.reports.layout import tree
from appell.reports.table import Table
from docs.command_page import commands

ROOT = Path(__file__).parents[2]
WIDTHS = (40, 60, 80, 200)
WIDE = 100_000
STUDY = """
function = "{folder}/study.py:energy"
space = {{ kind = "grid", values = {{ a_long_name_of_a_parameter = [1.0, 2.0], mass = [0.1, 0.25, 1e-7] }} }}
"""
EXAMPLES = {
    "info": ["info puma560", "info", "info four-bar", "info agile-wrist", "info two-link --floating"],
    "id": ["id puma560 -q 0,-0.5,1,0,0.3,0 -v 0.1,0,0,0,0,0", "id two-link --floating -q 0,0,0,0,0,0,1,0.1,0.2"],
    "fd": ["fd puma560 -q 0,-0.5,1,0,0.3,0 --tau 0,40,0,0,0,0"],
    "simulate": [f"simulate {ROOT}/examples/scenarios/rod_in_gutter.toml"],
    "sweep": ["sweep {folder}/study.toml"],
    "view": [],  # prints an address alone
    "identify": [
        "identify two-link {folder}/log.csv --map t=0,q=1:3,v=3:5,tau=5:7 --method qr --folds 3 "
        "--validate {folder}/log.csv"
    ],
    "ops": ["ops puma560 inverse_dynamics", "ops puma560 mass_matrix --formulation gibbs"],
    "export": ["export two-link --verb gravity --out {folder}/arm.c"],
    "convert": ["convert two-link {folder}/arm.toml"],
    "bench": ["bench two-link --seconds 0 --batch 8 --out {folder}/bench.json"],
    "compare": ["compare {folder}/arm.urdf --samples 2"],
    "reproduce": ["reproduce mata2002 --out {folder}", "reproduce all --out {folder}"],
    "cache": ["cache"],
}


def fits(text, width):
    """Return whether every line fits, but for tokens (and their indentation) that no line could hold."""
    longest = max((len(token) for token in text.replace("─", "").split()), default=0)
    return max(map(len, text.splitlines()), default=0) <= max(width, longest + 2)


def tokens(text):
    """Return the tokens of an output, without rules, the lines of trees, and times, which differ from run to run."""
    steady = re.sub(r"(wall time \[s\]\s+)\S+|\d+\.\d s\b|\d+ entries|[\d.]+ MiB", r"\1", text)
    return {token for token in re.sub(r"[─│├└]", " ", steady).split() if not token.isdigit()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files that the examples read."""
    place, robot = tmp_path_factory.mktemp("widths"), appell.load("two-link")
    (place / "study.toml").write_text(STUDY.format(folder=place))
    (place / "study.py").write_text(
        "def energy(a_long_name_of_a_parameter, mass):\n"
        "    return {'energy': 0.5 * mass * a_long_name_of_a_parameter**2}\n"
    )
    t = np.arange(400) / 100.0
    waves = np.outer(t, [2.0, 5.0]) + np.array([0.0, 1.0])
    q, v, a = np.sin(waves), [2.0, 5.0] * np.cos(waves), -(np.array([2.0, 5.0]) ** 2) * np.sin(waves)
    np.savetxt(place / "log.csv", np.column_stack([t, q, v, robot.inverse_dynamics(q, v, a)]), delimiter=",")
    robot.with_gravity((0.0, 0.0, -9.81)).save(place / "arm.urdf")
    return place


@pytest.fixture
def quick(monkeypatch):
    """Make the work of a command the same in every run, and do it once."""
    monkeypatch.setattr(
        bench, "best", lambda calls, *_: {name: (call(), 1.23456e-5)[1] for name, call in calls.items()}
    )
    monkeypatch.setattr(bench, "_fresh", lambda *_: 0.123456)
    monkeypatch.setattr(reproduce, "run", lambda _: SimpleNamespace(drawn=paper))
    monkeypatch.setattr(reproduce, "NAMES", ("mata2002",))
    for module, name in ((simulate, "_simulated"), (identify, "identify"), (identify, "cross_validate")):
        monkeypatch.setattr(module, name, once(getattr(module, name)))


@functools.cache
def paper():
    return made("mata2002", tables=["4"]).drawn()


def once(function):
    """Return a function that gives its first result whatever its arguments."""
    results: list[Any] = []

    def call(*arguments, **options):
        if not results:
            results.append(function(*arguments, **options))
        return results[0]

    return call


def output(width, *arguments):
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(app, arguments, prog_name="appell")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_command_has_an_example_here():
    assert list(EXAMPLES) == list(commands())


@pytest.mark.parametrize(
    ("command", "line"), [(command, line) for command, lines in EXAMPLES.items() for line in lines], ids=str
)
@pytest.mark.usefixtures("quick")
def test_output_fits_every_width_and_is_whole(command, line, folder):
    if command in {"bench", "compare"}:
        pytest.importorskip("pinocchio")
    arguments = shlex.split(line.format(folder=folder))
    whole = output(WIDE, *arguments)
    for width in WIDTHS:
        text = output(width, *arguments)
        assert fits(text, width), text
        assert tokens(text) == tokens(whole), text


@pytest.mark.parametrize("command", ["", *EXAMPLES])
def test_help_fits_and_is_not_cut(command):
    pages = {width: output(width, *filter(None, [command]), "--help") for width in (60, 80, 200)}
    for width, page in pages.items():
        assert fits(page, width), page
        assert "..." not in page.replace("[ARGS]...", "").replace("}...", "").replace("]...", "").replace("LOG...", "")
        assert set(page.replace(" \\\n", " \n").split()) == set(pages[200].replace(" \\\n", " \n").split())
    assert max(map(len, pages[200].splitlines())) <= 80  # columns for reading


def test_without_a_terminal_and_columns_rows_stay_on_one_line():
    result = CliRunner(env={"COLUMNS": None}).invoke(app, ["info", "puma560"], prog_name="appell")
    assert re.search(r"0 +joint1 +revolute .* 25.98 +0.784", result.stdout)


def random_table(rng):
    def cell():
        return rng.choice(
            [None, rng.random(), rng.randint(-9, 9) * 10 ** rng.randint(0, 9), "x" * rng.randint(0, 30), phrase()]
        )

    def phrase():
        return " ".join("".join(rng.choices("abcαβ9.-/", k=rng.randint(1, 12))) for _ in range(rng.randint(1, 12)))

    width = rng.randint(1, 9)
    rows = tuple(tuple(cell() for _ in range(width)) for _ in range(rng.randint(1, 5)))
    return Table(phrase(), tuple(f"c{k} {phrase()[:20].strip()}" for k in range(width)), rows, (phrase(),))


def test_random_tables_and_trees_keep_their_tokens():
    rng = random.Random(19)
    for _ in range(200):
        table = random_table(rng)
        whole = tokens("\n".join(table.lines(WIDE)))
        labels = [str(row[0]) + " label" for row in table.rows]
        parents = [rng.randint(-1, k - 1) for k in range(len(labels))]
        for width in (1, 17, 40, 80):
            text = "\n".join(table.lines(width))
            assert tokens(text) == whole
            assert fits(text, width), text
            drawn = "\n".join(tree("root", labels, parents, width))
            assert tokens(drawn) == tokens("root " + " ".join(labels))
