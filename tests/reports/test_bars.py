"""Bars and curves: what is drawn is what was counted and measured, with units and a legend."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.errors import InputError
from appell.reports.bars import Counted, Measured, operations, times
from appell.results.style import styled

ROWS = [Counted("inverse_dynamics", "gibbs", 21, 14, 2), Counted("mass_matrix", "gibbs", 5, 4, 1)]


def legend(drawn):
    return [text.get_text() for text in drawn.legends[0].get_texts()]


def test_a_bar_is_as_long_as_its_operations():
    with styled():
        axes = operations("two-link", ROWS).axes[0]
    ends: dict[float, float] = {}
    for bar in axes.patches:
        box = bar.get_path().get_extents(bar.get_patch_transform())
        middle = round(0.5 * (box.y0 + box.y1), 6)
        ends[middle] = max(ends.get(middle, 0.0), box.x1)
    assert list(ends.values()) == [37.0, 10.0]


def test_operations_have_a_unit_and_a_legend():
    with styled():
        drawn = operations("two-link", ROWS)
    assert drawn.axes[0].get_xlabel() == "operations per sample"
    assert legend(drawn) == ["multiplications", "additions", "sines and cosines"]


def test_times_have_a_panel_a_unit_and_the_ratio():
    rows = [Measured("a", "ns", 10.0, 600.0), Measured("b", "ms", 80.0, None)]
    with styled():
        drawn = times("UR5", rows, "Pinocchio")
    first, second = drawn.axes
    assert [axes.get_xscale() for axes in (first, second)] == ["log", "log"]
    assert "[ns]" in first.get_xlabel()
    assert "[ms]" in second.get_xlabel()
    assert [text.get_text() for text in first.texts] == ["10 ns", "600 ns, 60 ×"]
    assert legend(drawn) == ["appell", "Pinocchio"]
    bars = [bar.get_facecolor() for bar in first.patches]
    assert [handle.get_facecolor() for handle in drawn.legends[0].get_patches()] == bars


@pytest.mark.parametrize("draw", [lambda: operations("x", []), lambda: times("x", [], "y")])
def test_nothing_cannot_be_drawn(draw):
    with pytest.raises(InputError, match="no "):
        draw()


def test_ops_draws_what_it_tells(tmp_path):
    file = tmp_path / "a.svg"
    result = CliRunner().invoke(app, ["ops", "two-link", "--plot", str(file), "--json"], prog_name="appell")
    assert result.exit_code == 0, result.output
    json.loads(result.stdout)
    assert file.read_text().startswith("<?xml")


@pytest.mark.parametrize("command", ["ops", "bench"])
def test_a_picture_of_unknown_kind_is_refused_before_any_work(command, tmp_path):
    result = CliRunner().invoke(app, [command, "two-link", "--plot", "a.bmp"], prog_name="appell")
    assert result.exit_code == 2
    assert "unknown extension of 'a.bmp'; known: '.png', '.pdf', '.svg'" in result.stderr


# rollouts and runs


@pytest.mark.parametrize("count", [1, 40])
def test_a_rollout_is_drawn_with_units_and_joints(count, rng, tmp_path):
    robot = appell.load("two-link")
    run = appell.rollout(robot, np.zeros(2), 0.1 * rng.normal(size=(count, 2)), None, 1e-3, steps=20)
    drawn = run.plot(robot, tmp_path / "a.png")
    assert [axes.get_ylabel() for axes in drawn.axes] == ["q [rad]", "v [rad/s]"]
    assert legend(drawn) == robot.joint_names
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert len(drawn.axes[0].lines) == 2  # a line a joint, of one robot or of the median


def test_the_median_of_a_rollout_is_drawn(rng):
    robot = appell.load("two-link")
    run = appell.rollout(robot, np.zeros(2), 0.1 * rng.normal(size=(41, 2)), None, 1e-3, steps=20)
    line = run.plot(robot).axes[0].lines[0]
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), np.median(run.q[..., 0], axis=0))


def test_a_closed_robots_motion_is_drawn_by_its_independent_velocities():
    robot = appell.load("four-bar")
    still = np.zeros(robot.nv)
    run = appell.simulate(robot, robot.neutral(), still, 0.02)
    q, v, tau, _ = run.plot().axes
    assert [len([x for x in axes.lines if np.size(x.get_xdata()) > 2]) for axes in (q, v, tau)] == [3, 1, 1]
    rolled = appell.rollout(robot, robot.neutral(), still, None, 1e-3, steps=5).plot(robot)
    assert [len(axes.lines) for axes in rolled.axes] == [3, 1]
