"""``appell simulate``: tables for people, JSON for programs, whole files, and exit codes that say how it went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.simulation.engine import Engine

PENDULUM = """
robot = "two-link"
duration = 0.3
restitution = 0.5
points = [{ frame = "link2", position = [2.0, 0.0, 0.0], name = "tip" }]
[[walls]]
kind = "line"
name = "floor"
start = [-3, -0.1]
end = [3, -0.1]
"""
# Newton's law with friction: the tip, stopped by it, would leave with more energy than it came with.
KANE = """
robot = "two-link"
duration = 0.4
friction = 1.0
points = [{ frame = "link2", position = [2.0, 0.0, 0.0], name = "tip" }]
[start]
q = [-0.41, 0.37]
v = [-1.87, 0.12]
[[walls]]
kind = "line"
start = [-3, -0.6]
end = [3, -0.6]
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="appell")


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "pendulum.toml"
    file.write_text(PENDULUM)
    return file


def test_help_has_an_example():
    assert "Example: appell simulate" in run("simulate", "--help").stdout


def test_impacts_and_a_summary_are_printed(scenario):
    result = run("simulate", scenario)
    assert result.exit_code == 0, result.output
    for text in ("Impacts of two-link", "tip", "floor", "Summary", "energy at the end [J]", "wall time [s]"):
        assert text in result.stdout


def test_json_holds_every_impact(scenario):
    told = json.loads(run("simulate", scenario, "--json").stdout)
    assert told["robot"] == "two-link"
    assert told["duration [s]"] == 0.3
    assert told["number of impacts"] == len(told["impacts"]) > 0
    assert told["impacts"][0]["points"] == ["tip"]
    assert told["impacts"][0]["departure"][0] == pytest.approx(0.5 * told["impacts"][0]["approach"][0])


def test_the_files_are_written(scenario, tmp_path):
    files = [tmp_path / "new" / name for name in ("run.npz", "run.png", "run.gif")]
    result = run("simulate", scenario, "--out", files[0], "--plot", files[1], "--animate", files[2], "--speed", 0.5)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in files[0].parent.iterdir()) == ["run.gif", "run.npz", "run.png"]
    assert appell.Run.load(files[0]).t[-1] == 0.3
    with Image.open(files[2]) as film:
        assert getattr(film, "n_frames", 0) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such.toml"], "no-such.toml: file not found"),
        (["pendulum.toml", "--out", "run.txt"], "--out: unknown extension of 'run.txt'; known: '.npz', '.csv'"),
        (["pendulum.toml", "--plot", "run"], "--plot: unknown extension of 'run'; known: '.png', '.pdf', '.svg'"),
        (["pendulum.toml", "--animate", "run.avi"], "--animate: unknown extension of 'run.avi'; known: '.gif', '.mp4'"),
        (["bad.toml"], "bad.toml: unknown key 'wall'; did you mean 'walls'?"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(scenario, monkeypatch, arguments, message):
    monkeypatch.chdir(scenario.parent)
    Path("bad.toml").write_text(PENDULUM.replace("[[walls]]", "[[wall]]"))
    result = run("simulate", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith(f"appell: {message}")


def test_a_run_that_ends_early_keeps_its_files_and_says_why(tmp_path):
    file = tmp_path / "early.toml"
    file.write_text(KANE)
    result = run("simulate", file, "--out", tmp_path / "run.npz")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("appell: the run ended early: the impact of tip at t = 0.11")
    again = appell.Run.load(tmp_path / "run.npz")
    assert again.ended_early
    assert 0.11 < again.t[-1] < 0.12


def test_limits_of_a_scenario_end_its_run(scenario, tmp_path):
    file = tmp_path / "limited.toml"
    file.write_text("max_steps = 3\n" + PENDULUM)
    result = run("simulate", file, "--out", tmp_path / "run.npz")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("appell: the run ended early: max_steps: 3 steps taken at t = ")
    assert len(appell.Run.load(tmp_path / "run.npz").t) == 4
    for line, message in (
        ("max_steps = 0.5", "expected an integer"),
        ("timeout = 0", "expected a number above zero"),
    ):
        file.write_text(f"{line}\n{PENDULUM}")
        result = run("simulate", file)
        assert result.exit_code == 2
        assert message in result.stderr


def test_ctrl_c_writes_the_files_and_exits_with_130(scenario, tmp_path, monkeypatch):
    advance = Engine._advance

    def interrupted(engine, t, *others):
        if t > 0.05:
            raise KeyboardInterrupt
        return advance(engine, t, *others)

    monkeypatch.setattr(Engine, "_advance", interrupted)
    result = run("simulate", scenario, "--out", tmp_path / "run.csv", "--plot", tmp_path / "run.png")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("appell: the run ended early: interrupted by Ctrl-C at t = 0.")
    assert (tmp_path / "run.csv").stat().st_size > 0
    assert (tmp_path / "run.png").stat().st_size > 0
