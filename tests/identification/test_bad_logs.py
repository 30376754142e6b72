"""Logs that tell little or nothing: every method ends in a fit with finite numbers or in an error of appell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellError, AppellWarning, InputError
from appell.excitation.excite import excite
from appell.identification.base_parameters import essential
from appell.identification.fit import Fit
from appell.identification.gains import drive_gains
from appell.identification.identify import identify
from appell.identification.prediction import Prediction
from appell.identification.solve import METHODS
from appell.identification.validation import cross_validate, residuals
from appell.logs.log import Log
from appell.logs.prepare import prepare

ROBOT = appell.load("two-link")
N = 400


def recorded(n: int = N, **changed: Any) -> dict[str, Any]:
    """Return a log without noise of n samples at 100 Hz, with arrays changed."""
    t = np.arange(n) / 100.0
    w = np.array([2.0, 5.0, 3.0, 7.0])
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    mix = np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, -0.5]]).T
    q, v, a = s @ mix, (c * w) @ mix, (-s * w**2) @ mix
    return {"t": t, "q": q, "v": v, "tau": ROBOT.inverse_dynamics(q, v, a), **changed}


def scaled(name: str, factor: float) -> dict[str, Any]:
    return recorded(**{name: factor * recorded()[name]})


def put(name: str, row: int, value: float) -> dict[str, Any]:
    log = recorded()
    log[name][row] = value
    return log


T, ONES = recorded()["t"], np.ones((N, 2))
HELD = recorded()["q"] * [1.0, 0.0] + [0.0, 0.5]
LOGS: dict[str, Any] = {
    "without noise": recorded(200),
    "short": recorded(120),
    "too short": recorded(20),
    "one sample": recorded(1),
    "no sample": recorded(0),
    "static": recorded(q=0.3 * ONES, v=0.0 * ONES, tau=ONES * ROBOT.gravity([0.3, 0.3])),
    "static without torque": recorded(q=0.3 * ONES, v=0.0 * ONES, tau=0.0 * ONES),
    "no torque": recorded(tau=0.0 * ONES),
    "no torque of one motor": recorded(tau=recorded()["tau"] * [1.0, 0.0]),
    "constant torque": recorded(tau=ONES),
    "one motor held": {"t": T, "q": HELD, "tau": ROBOT.gravity(HELD)},
    "constant speed": {"t": T, "q": np.outer(T, [1.0, 2.0]), "tau": ONES},
    "NaN": put("tau", 3, np.nan),
    "infinite": put("q", 3, np.inf),
    "a time twice": put("t", 5, 0.04),
    "milliseconds": scaled("t", 1e3),
    "nanoseconds": scaled("t", 1e9),
    "huge torque": scaled("tau", 1e200),
    "large torque": scaled("tau", 1e6),
    "small torque": scaled("tau", 1e-12),
    "tiny torque": scaled("tau", 1e-200),
    "huge position": scaled("q", 1e300),
    "three motors": {"t": T, "q": np.ones((N, 3)), "tau": np.ones((N, 3))},
    "one motor": {"t": T, "q": np.ones((N, 1)), "tau": np.ones((N, 1))},
    "flat": {"t": T, "q": T, "tau": T},
    "no columns": {"t": T, "q": np.ones((N, 0)), "tau": np.ones((N, 0))},
    "not a number": {"t": ["a", "b"], "q": [["x"], ["y"]]},
    "empty": {},
    "unknown quantity": {"t": T, "q": ONES, "torque": ONES},
    "no torques": {"t": T, "q": ONES},
    "currents without gains": {"t": T, "q": ONES, "current": ONES},
    "Log with NaN": Log(T, ONES, tau=np.nan * ONES),
    "Log without samples": Log(np.zeros(0), np.zeros((0, 2)), tau=np.zeros((0, 2))),
    "Log with equal times": Log(0.0 * T, ONES, tau=ONES),
    "Log with other lengths": Log(T, ONES[:50], tau=ONES[:50]),
    "None": None,
    "a number": 5,
    "no log": [],
    "a list of None": [None],
    "no file": "gone.csv",
}


@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize("method", [*METHODS, "physical"])
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS.keys())
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_every_method_ends_in_finite_numbers_or_an_error(log: Any, method: str, friction: bool) -> None:
    if method == "physical":
        pytest.importorskip("clarabel")
    try:
        fit = identify(ROBOT, log, method, friction)
    except AppellError:
        return
    for numbers in (fit.theta, fit.values, fit.covariance, fit.sigma, fit.standard_errors, fit.training.score):
        assert np.isfinite(numbers).all()
    assert all(np.isfinite(np.concatenate(fit.simple_friction)))
    assert all(np.isfinite(motor.rms) for motor in residuals(fit).motors)


@pytest.mark.parametrize(
    ("name", "friction"), [("stanford", False), pytest.param("puma560", "coulomb", marks=pytest.mark.slow)]
)
def test_a_physical_fit_of_200_samples_without_noise_succeeds(name: str, friction: bool | str, fourier: Any) -> None:
    """The solver called these infeasible: rows of the log were 1e9 times as large as those of the prior."""
    pytest.importorskip("clarabel")
    robot = appell.load(name)
    t, q, v, a = (x[:200] for x in fourier(robot.nv, 0, seconds=5.0))
    fit = identify(robot, {"t": t, "q": q, "v": v, "tau": robot.inverse_dynamics(q, v, a)}, friction=friction)
    assert fit.is_physical
    assert fit.training.score < 0.02


def test_a_static_log_has_a_score() -> None:
    fit = identify(ROBOT, LOGS["static"], "svd", friction=False)
    assert fit.training.score < 1e-6
    one = np.ones((5, 1))
    assert Prediction(np.arange(5.0), 0.9 * one, one, 0.0 * one, ("joint",), np.array([0.02])).score == pytest.approx(
        0.1
    )


def test_unknowns_that_a_log_does_not_determine_are_counted_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r"does not determine the \d+ unknowns of method 'qr'.*method='physical'"):
        identify(ROBOT, LOGS["one motor held"], "qr", friction=False)


def test_a_log_in_degrees_is_warned_of() -> None:
    log = recorded()
    log["q"], log["v"] = np.degrees(log["q"]), np.degrees(log["v"])
    with pytest.warns(AppellWarning, match=r"speeds \[rad/s, m/s\] in the log far above the robot's limits: 'joint1' "):
        identify(ROBOT, log, "svd")


def test_a_missing_package_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(InputError, match=r"clarabel, which is not installed; pip install 'appell\[fit\]'"):
        identify(ROBOT, recorded())


@pytest.fixture(scope="module")
def fit() -> Fit:
    return identify(ROBOT, recorded(), "svd", friction=False)


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS.keys())
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_fit_meets_such_logs_with_finite_numbers_or_an_error(log: Any, fit: Fit) -> None:
    for use in (
        lambda: [min(fit.predict(log).score, 1e9)],  # infinite where no motor has a torque
        lambda: [x.rms for x in residuals(fit, log).motors],
        lambda: fit.payload(log).parameters,
        lambda: prepare(log).v,
        lambda: drive_gains(ROBOT, log, log, 1.0, friction=False, gains=[1.0, 1.0]).gains,
    ):
        try:
            numbers = use()
        except AppellError:
            continue
        assert np.isfinite(numbers).all()


@pytest.mark.parametrize("folds", [0, 1, 2.0, "3", None, 10**6])
def test_folds_that_cannot_be_are_refused(folds: Any, fit: Fit) -> None:
    with pytest.raises(InputError, match="folds"):
        cross_validate(fit, folds)


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
@pytest.mark.parametrize("name", ["", "robot", "robot.step", "file.urdf/robot.urdf", "."])
def test_a_fit_is_not_saved_to_a_place_that_is_none(name: str, fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "file.urdf").write_text("")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AppellError):
        fit.save(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limits": {"velocity": 1e-300}}, "velocity: expected positive limits"),
        ({"limits": {"lower": 1.0, "upper": 1.0 + 1e-15}}, "has no room"),
        ({"limits": {"lower": -1e300, "upper": 1e300}}, "has too much room"),
        ({"limits": [1.0]}, "limits: expected a mapping"),
        ({"limits": "velocity"}, "limits: expected a mapping"),
        ({"duration": 1e-300}, "duration: expected"),
        ({"duration": 1e300}, "duration: expected"),
        ({"starts": 1.5}, "starts: expected an integer"),
        ({"starts": None}, "starts: expected an integer"),
        ({"seed": "x"}, "seed: expected an integer"),
        ({"seed": -1}, "seed: expected an integer"),
        ({"workspace": 5}, "workspace: expected a list"),
        ({"workspace": [("link2",)]}, "workspace: expected a list"),
        ({"workspace": [("link2", "a", "b")]}, "workspace: lower: expected three numbers"),
        ({"base": 5}, "base: expected the result of base_parameters"),
        ({"objective": []}, "objective: expected"),
    ],
)
def test_an_excitation_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        excite(ROBOT, **arguments)


def test_limits_within_which_no_motion_shows_all_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appell.excitation.excite.FULL", 1e6)
    with pytest.raises(
        InputError, match=r"no motion of robot 'two-link' within the limits excites all 11 columns \(condition number"
    ):
        excite(ROBOT, {"velocity": 1e-9}, harmonics=2, starts=1)


def test_essential_parameters_of_no_rows_are_refused() -> None:
    with pytest.raises(InputError, match="full rank"):
        essential(np.zeros((0, 3)), np.zeros(0))
