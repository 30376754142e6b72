"""Functions of users cannot change what they are given: neither the state of a simulation nor its record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.control import SimulatedPlant, run_loop
from appell.errors import InputError

REMEDY = r"raised ValueError: .*read-only \(.*test_user_functions\.py:\d+\); .* not be changed in place: change a copy"
METHODS: dict[str, dict[str, Any]] = {
    "dop853": {},
    "rk4": {"method": "rk4", "step": 0.005},
    "symplectic": {"method": "symplectic", "step": 0.005},
    "sampled": {"rate": 200.0},
}
START, FAST = [0.3, -0.4], [1.0, -2.0]


@pytest.fixture(scope="module")
def arm():
    return appell.load("two-link")


def clipping(after=-1.0):
    """Return a law that clips velocities in place after a time."""

    def law(t, q, v):
        if t > after:
            np.clip(v, -0.5, 0.5, out=v)
        return -1e-3 * v

    return law


def states(run):
    return np.hstack([run.t[:, None], run.q, run.v, run.tau])


@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_changes_its_arguments_is_told_by_name_and_remedy(arm, method):
    with pytest.raises(InputError, match=rf"^control at t = 0 s {REMEDY}"):
        appell.simulate(arm, START, FAST, 0.1, clipping(), **METHODS[method])


@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_changes_its_arguments_later_leaves_the_record_as_it_was(arm, method):
    honest = appell.simulate(arm, START, FAST, 0.2, lambda t, q, v: -1e-3 * v, **METHODS[method])
    with pytest.warns(appell.AppellWarning, match=REMEDY):
        run = appell.simulate(arm, START, FAST, 0.2, clipping(0.1), **METHODS[method])
    assert 0.0 < run.t[-1] <= 0.11
    np.testing.assert_array_equal(states(run)[:-1], states(honest)[: len(run.t) - 1])


@pytest.mark.parametrize("method", METHODS)
def test_what_a_law_keeps_is_its_own(arm, method):
    """A law that unlocks and overwrites all that it was ever given, and returns one and the same array."""
    kept, answer = [], np.zeros(2)

    def law(t, q, v):
        answer[:] = -1e-3 * v
        for x in (q, v):
            x.flags.writeable = True
            kept.append(x)
        for x in kept:
            x[:] = 1e3
        return answer

    honest = appell.simulate(arm, START, FAST, 0.1, lambda t, q, v: -1e-3 * v, **METHODS[method])
    run = appell.simulate(arm, START, FAST, 0.1, law, **METHODS[method])
    answer[:] = 1e3
    np.testing.assert_array_equal(states(run), states(honest))


def test_a_law_may_return_what_it_is_given(arm):
    run = appell.simulate(arm, START, FAST, 1e-3, lambda t, q, v: v, rate=1000.0)
    np.testing.assert_array_equal(run.tau[0], FAST)


def test_an_event_that_changes_its_arguments_is_told(arm):
    def event(t, q, v):
        q += 1.0
        return q[0]

    with pytest.raises(InputError, match=rf"^event 'event 0' at t = 0 s {REMEDY}"):
        appell.simulate(arm, START, FAST, 0.1, events=[event])


def falling(p):
    p[..., 2] += 10.0
    return p[..., 2]


class Floor(appell.walls.Wall):
    """A user's class of walls."""

    def gap(self, p):
        return falling(p)


@pytest.mark.parametrize("wall", [appell.walls.SignedDistance(falling, name="hill"), Floor(name="hill")])
def test_a_wall_that_changes_its_points_is_told(arm, wall):
    with pytest.raises(InputError, match=rf"^hill: (function|gap) {REMEDY}"):
        appell.simulate(arm, START, FAST, 0.1, walls=[wall])


def test_a_law_of_a_control_loop_that_changes_its_arguments_is_told_with_the_arm_braked():
    plant = SimulatedPlant(q=[0.1, -0.8, 2.6, 0.3, 0.9, 0.2])

    def law(t, q, v):
        q -= 1.0
        return 0.0 * q

    with pytest.raises(InputError, match=rf"^run_loop: the control law at t = 0 s {REMEDY}"):
        run_loop(plant, law, 0.1, 200.0)
    assert plant.is_braked


class Reusing:
    """An arm whose driver hands out the same array of counts in every reading."""

    def __init__(self, plant):
        self._plant, self._counts = plant, np.zeros(6, dtype=int)

    def __getattr__(self, name):
        return getattr(self._plant, name)

    def read(self):
        reading = self._plant.read()
        self._counts[:] = reading.counts
        return reading._replace(counts=self._counts)


def test_a_jump_of_an_encoder_is_found_where_the_driver_reuses_its_array():
    plant = Reusing(SimulatedPlant(q=[0.1, -0.8, 2.6, 0.3, 0.9, 0.2], jumps={1: 0.15}))
    law = appell.control.PointToPoint(plant.robot, [0.1, -0.8, 2.6, 0.3, 0.9, 0.2], *appell.control.gains(6.0))
    run = run_loop(plant, law, 0.5, 200.0)
    assert run.stopped is not None
    assert run.stopped.kind == "encoder fault"


def test_cases_of_a_study_are_those_of_the_space_whatever_the_function_does():
    answer = np.zeros(2)

    def function(start):
        start += 1.0
        answer[:] = start
        return {"sum": answer}

    given = [{"start": np.full(2, float(k))} for k in range(3)]
    study = appell.sweep(function, given, workers=1, progress=False)
    np.testing.assert_array_equal(study.values["sum"], [[k + 1.0] * 2 for k in range(3)])
    np.testing.assert_array_equal([case["start"] for case in given], [[k] * 2 for k in range(3)])
