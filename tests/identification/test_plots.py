"""Figures of fits: every motor has its panels, with units, percentages and all curves; endings decide the file."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.identification.identify import identify
from appell.identification.prediction import Prediction, overlay, residual
from appell.results.style import styled


@pytest.fixture(scope="module")
def torques(rubbing_fit):
    return rubbing_fit.training


def test_every_motor_has_torques_and_residual(torques):
    axes = torques.plot().axes
    assert len(axes) == 2 * len(torques.motors)
    assert [len(x.lines) for x in axes[:2]] == [2, 3]


def test_titles_have_the_motor_and_its_error(torques):
    for title, motor, error in zip(
        [x.get_title(loc="left") for x in torques.plot().axes[::2]], torques.motors, torques.relative, strict=True
    ):
        assert title.startswith(f"{motor}: error {error:.1%}")


def test_axes_have_units(torques):
    axes = torques.plot().axes
    assert axes[0].get_ylabel() == "τ [N·m]"
    assert axes[1].get_xlabel() == "t [s]"


def test_a_slide_has_newtons():
    one = np.ones((50, 1))
    drawn = Prediction(np.arange(50.0), one, one, one, ("slide",), np.full(1, 0.02), units=("N",)).plot()
    assert drawn.axes[0].get_ylabel() == "τ [N]"


def test_no_line_leads_across_a_gap():
    one = np.ones((40, 1))
    t = np.concatenate([np.arange(20) * 0.1, np.arange(20) * 0.1])
    with styled():
        drawn = overlay(Prediction(t, one, one, one, ("joint",), np.full(1, 0.02)))
    line = drawn.axes[0].lines[0]
    assert np.isnan(np.asarray(line.get_ydata())[20])
    assert np.all(np.diff(line.get_xdata()) > 0.0)


def test_a_motor_that_never_moves_is_drawn():
    one = np.ones((40, 2))
    drawn = Prediction(np.arange(40.0), one, one, one * [0.0, 1.0], ("still", "moving"), np.full(2, 0.02)).plot()
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert ["does not move" in title for title in titles if "still" in title or "moving" in title] == [True, False]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_a_figure_is_written(torques, tmp_path, ending):
    torques.plot(tmp_path / f"torques.{ending}")
    assert (tmp_path / f"torques.{ending}").stat().st_size > 5000


def test_an_unknown_ending_is_refused(torques, tmp_path):
    with pytest.raises(InputError, match=r"prediction.plot: unknown extension of 'torques.gif'"):
        torques.plot(tmp_path / "torques.gif")


def test_friction_is_drawn_over_the_speeds_of_the_log(rubbing_fit, tmp_path):
    drawn = rubbing_fit.plot(tmp_path / "friction.png")
    assert len(drawn.axes) == 2
    speeds = rubbing_fit.records[0].moved.speed[:, 0]
    drawn_speeds = np.concatenate([line.get_xdata() for line in drawn.axes[0].lines[1:]])
    assert drawn_speeds.min() == pytest.approx(speeds.min())
    assert drawn_speeds.max() == pytest.approx(speeds.max())


def test_the_curve_of_friction_is_the_friction_of_the_log(rubbing_fit):
    """8 N·m and 6 N·m·s at the first motor."""
    lines = rubbing_fit.plot().axes[0].lines
    forward = max((line for line in lines[1:] if line.get_linestyle() == "-"), key=lambda x: x.get_xdata().max())
    v = forward.get_xdata()
    assert forward.get_ydata() == pytest.approx(8.0 + 6.0 * v, abs=0.5)


def test_a_fit_without_friction_says_so(rubbing_log):
    fit = identify(appell.load("two-link"), rubbing_log, "qr", False, rotors=False)
    with pytest.raises(InputError, match="the fit has no friction"):
        fit.plot()


def test_residuals_have_a_histogram_and_an_autocorrelation(torques):
    with styled():
        drawn = residual(torques)
    assert len(drawn.axes) == 2 * len(torques.motors)
    assert np.asarray(drawn.axes[1].lines[0].get_ydata())[0] == pytest.approx(1.0)
