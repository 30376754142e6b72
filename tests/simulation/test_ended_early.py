"""Runs that end early return their states and the reason: failing laws, Ctrl-C, limits of steps and of time."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

import appell
from appell.simulation.engine import Engine
from appell.simulation.record import INTERRUPTED


@pytest.fixture(scope="module")
def kinds(brick):
    """Return a small robot of each kind."""
    long = appell.random_chain(90, np.random.default_rng(3))
    names = {"tree": "two-link", "closed": "five-bar", "spherical": "agile-wrist"}
    return {kind: appell.load(name) for kind, name in names.items()} | {"floating": brick, "long": long}


@pytest.fixture(scope="module")
def arm(kinds):
    """Return the robot of tests that need but one."""
    return kinds["tree"]


def ended(robot, **options):
    """Return a run that ends early, with a warning."""
    still = np.zeros(robot.nv)
    with pytest.warns(appell.AppellWarning, match="ended early"):
        return appell.simulate(robot, robot.neutral(), still, **{"duration": 0.2, **options})


def check_whole(run, tmp_path=None):
    """Assert that all parts of a run end at the same time, and that it can be read at any time."""
    assert len(run.t) == len(run.q) == len(run.v) == len(run.a) == len(run.tau) == len(run.energy)
    assert (np.diff(run.t) >= 0.0).all()
    for x in (run.t, run.q, run.v, run.a, run.tau):
        assert np.isfinite(x).all()
    assert len(run.path.ends) == 0 or run.path.ends[-1] == run.t[-1]
    assert all(impact.time <= run.t[-1] for impact in run.impacts)
    assert all(rest.end <= run.t[-1] for rest in run.rests)
    if tmp_path is not None:
        run.save(tmp_path / "run.npz")
        assert appell.Run.load(tmp_path / "run.npz").ended_early == run.ended_early


METHODS: dict[str, dict[str, Any]] = {
    "dop853": {},
    "rk4": {"method": "rk4", "step": 0.005},
    "symplectic": {"method": "symplectic", "step": 0.005},
    "sampled": {"rate": 200.0},
}


def good_until(moment, robot, answer):
    """Return a law that gives zeros up to a moment, and then what `answer()` does."""

    def law(t, q, v):
        return np.zeros(robot.nu) if t <= moment else answer()

    return law


def lost():
    raise RuntimeError("sensor lost")


def interrupt():
    raise KeyboardInterrupt


ANSWERS = {
    "an exception": (lost, r"control at t = 0\.1\d* s raised RuntimeError: sensor lost \(.*test_ended_early.py:\d+\)"),
    "not a number": (lambda: [np.nan, 0.0], r"control at t = 0\.1\d* s: expected 2 finite torques .*nan"),
    "too many": (lambda: np.zeros(3), r"control at t = 0\.1\d* s: expected 2 finite torques .*shape \(3,\)"),
    "text": (lambda: "x", r"control at t = 0\.1\d* s: expected real numbers"),
    "a generator": (lambda: (x for x in (0.0, 0.0)), r"control at t = 0\.1\d* s: expected real numbers"),
    "nothing": (lambda: None, r"control at t = 0\.1\d* s: expected real numbers, got object"),
    "complex numbers": (lambda: [1j, 0.0], r"control at t = 0\.1\d* s: expected real numbers, got complex"),
    "a ragged list": (lambda: [[0.0], 0.0], r"control at t = 0\.1\d* s: .* ragged list"),
    "a masked array": (lambda: np.ma.zeros(2), r"control at t = 0\.1\d* s: .* masked array"),
    "Ctrl-C": (interrupt, INTERRUPTED + r" at t = 0\.\d* s"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_failing_law_ends_the_run(arm, method, answer, tmp_path):
    robot = arm
    function, reason = ANSWERS[answer]
    run = ended(robot, control=good_until(0.1, robot, function), **METHODS[method])
    assert pytest.approx(0.1, abs=0.02) == run.t[-1]
    check_whole(run, tmp_path)
    with pytest.raises(AssertionError, match=reason):  # the reason in full where it does not match
        raise AssertionError(run.ended_early)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["floating", "closed", "spherical", pytest.param("long", marks=pytest.mark.slow)])
def test_every_kind_of_robot_keeps_its_states(kinds, kind, method):
    robot = kinds[kind]
    for answer in (lost, interrupt):
        run = ended(robot, control=good_until(0.02, robot, answer), duration=0.05, **METHODS[method])
        assert 0.0 < run.t[-1] <= 0.025
        check_whole(run)
        assert "sensor lost" in run.ended_early or run.ended_early.startswith(INTERRUPTED)


@pytest.mark.parametrize("answer", [name for name in ANSWERS if name != "Ctrl-C"])
@pytest.mark.parametrize("method", ["dop853", "sampled"])
def test_a_law_that_fails_at_once_is_an_error(arm, method, answer):
    with pytest.raises(appell.InputError, match="control at t = 0 s") as caught:
        appell.simulate(arm, [0, 0], [0, 0], 0.1, control=lambda t, q, v: ANSWERS[answer][0](), **METHODS[method])
    if answer == "an exception":
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_events_and_walls_that_fail_keep_the_run(arm):
    robot = arm

    def event(t, q, v):
        return 1.0 if t < 0.1 else q[9]

    run = ended(robot, events=[event])
    assert "event 'event 0' at t = 0.1" in run.ended_early
    assert "raised IndexError: " in run.ended_early
    check_whole(run)
    with pytest.raises(appell.InputError, match="event 'event 0' at t = 0 s raised ZeroDivisionError"):
        appell.simulate(robot, [0, 0], [0, 0], 0.1, events=[lambda t, q, v: 1 / 0])

    first = np.array([0.0, 0.0])
    far = robot.pose(first, robot.link_names[-1])[:3, 3]

    def gap(p):
        return np.full(p.shape[:-1], 1.0 if np.abs(p[-1] - far).max() < 0.005 else np.nan)

    run = ended(
        robot, walls=[appell.walls.SignedDistance(gap, name="fog")], points=[robot.link_names[-1]], duration=5.0
    )
    assert "fog: function returned invalid values" in run.ended_early
    check_whole(run)


def test_steps_are_limited(arm):
    robot = arm
    run = ended(robot, max_steps=7)
    assert len(run.t) == 8
    assert run.ended_early.startswith("max_steps: 7 steps taken at t = ")
    for stiff in ([1e8, 1e8], lambda t, q, v: -1e8 * q - 1e6 * v):
        run = ended(robot, control=stiff, max_steps=300)
        assert 0.0 < run.t[-1] < 0.2
        check_whole(run)


def test_wall_time_is_limited(arm):
    robot = arm
    run = ended(robot, control=lambda t, q, v: -1e8 * q, timeout=0.2)
    assert run.ended_early.startswith("timeout: 0.2 s of wall time elapsed at t = ")
    assert 0.0 < run.t[-1] < 0.2
    check_whole(run)


def test_a_run_without_limits_given_has_one(arm, monkeypatch):
    seen = []

    def advance(engine, *_):
        seen.append(engine._limits)
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "_advance", advance)
    for options in ({}, {"rate": 500.0}, {"method": "rk4", "step": 1e-3}):
        ended(arm, duration=2.0, **options)
    assert [limits.steps for limits in seen] == [40_000, 41_000, 42_000]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_steps", 0),
        ("max_steps", 1.5),
        ("max_steps", True),
        ("timeout", 0.0),
        ("timeout", np.nan),
        ("timeout", "1"),
    ],
)
def test_limits_are_checked(arm, option, value):
    with pytest.raises(appell.InputError, match=f"simulate: {option}"):
        appell.simulate(arm, [0, 0], [0, 0], 0.1, **{option: value})


class Interrupt:
    """Raises KeyboardInterrupt at the n-th line of appell's simulation that runs within a step."""

    def __init__(self, at):
        self.at, self.count, self.depth = at, 0, 0

    def __call__(self, frame, event, argument):
        file = frame.f_code.co_filename
        if "appell/simulation" not in file and "appell\\simulation" not in file:
            return None
        within = frame.f_code.co_name == "_advance"
        self.depth += within
        return self.line

    def line(self, frame, event, argument):
        if event == "return" and frame.f_code.co_name == "_advance":
            self.depth -= 1
        elif event == "line" and self.depth:
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.line


def test_ctrl_c_between_any_two_lines_keeps_a_whole_run(arm):
    walls = [appell.walls.Plane((0.0, -0.005, 0.0), (0.0, 1.0, 0.0))]
    before = sys.gettrace()

    def run(at):
        trace = Interrupt(at)
        sys.settrace(trace)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", appell.AppellWarning)
                return appell.simulate(
                    arm, [0.5, 0.0], [0.0, 0.0], 0.3, walls=walls, restitution=0.5, method="rk4", step=0.02
                ), trace.count
        finally:
            sys.settrace(before)

    whole, lines = run(0)
    assert whole.impacts
    for at in np.random.default_rng(0).integers(1, lines, 8).tolist():
        part, _ = run(at)
        assert part.ended_early.startswith(INTERRUPTED)
        check_whole(part)
        n = len(part.t)
        np.testing.assert_array_equal(part.q, whole.q[:n])
