"""mata2002, section 5.2: the simulated PUMA of tables 6 and 7, against the reference, Pinocchio and itself."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from appell.papers import mata2002_line
from appell.papers.valera2003_line import puma
from appell.planning.analytic_ik import LABELS

FEEDS = {"cont": "continuous", "foh": "linear", "mid": "middle", "zoh": "held"}
SPEEDS = {"0.06573": "both points, 5 s", "0.10000": "0.1 m/s, 5 s"}
PUMA = puma()


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("reading", mata2002_line.READINGS)
def test_torques_along_the_line_are_pinocchios(reading, label, peer):
    plan = mata2002_line.line(reading, label)
    motion = plan(np.linspace(0.0, plan.duration, 11))
    theirs = [peer(PUMA.model).torque(*state) for state in zip(*motion, strict=True)]
    np.testing.assert_allclose(PUMA.inverse_dynamics(*motion), theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("reading", mata2002_line.READINGS)
def test_continuous_torques_are_those_of_inverse_dynamics_at_every_instant(reading, rng):
    plan = mata2002_line.line(reading)
    feed = mata2002_line.torques(plan, "continuous")
    t = rng.uniform(0.0, plan.duration, 50)
    np.testing.assert_allclose([feed(0, x) for x in t], PUMA.inverse_dynamics(*plan(t)), rtol=0, atol=1e-10)


def test_sampled_torques_are_the_plans_where_they_are_sampled():
    plan = mata2002_line.line()
    t = mata2002_line.edges(plan)
    begin, middle, end = t[7], 0.5 * (t[7] + t[8]), t[8]
    exact = PUMA.inverse_dynamics(*plan([begin, middle, end]))
    linear, held, mean = (mata2002_line.torques(plan, feed) for feed in ("linear", "held", "middle"))
    ours = [linear(7, begin), held(7, end), mean(7, begin), linear(7, middle), linear(7, end)]
    theirs = [exact[0], exact[0], exact[1], 0.5 * (exact[0] + exact[2]), exact[2]]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)


def test_every_simulation_of_the_reference_is_ours(references):
    file = references("mata_puma_line_simulation")
    for name, theirs in file.items():
        speed, rest = name.split(" ", 1)
        label, feed = rest.rsplit(" ", 1)
        ours = mata2002_line.simulated(SPEEDS[speed], ast.literal_eval(label), FEEDS[feed])
        np.testing.assert_allclose(ours.average, theirs["avg"], rtol=0, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(ours.errors[:, -1], theirs["final"], rtol=0, atol=1e-9, err_msg=name)
        assert ours.evaluations == theirs["nfev"], name


@pytest.mark.parametrize("formulation", ["composite", "articulated"])
def test_every_formulation_simulates_the_same_motion(formulation):
    plan = mata2002_line.line()
    feed = mata2002_line.torques(plan, "linear")
    run = mata2002_line.simulate(plan, feed, PUMA.kernel("forward_dynamics", formulation=formulation))
    np.testing.assert_allclose(run.q, mata2002_line.simulated(feed="linear").q, rtol=0, atol=1e-9)


def test_the_arm_fed_at_every_instant_arrives_where_it_was_planned_to():
    run = mata2002_line.simulated(feed="continuous")
    position = PUMA.pose(run.q[-1], "dh6")[:3, 3]
    np.testing.assert_allclose(position, mata2002_line.END, rtol=0, atol=1e-6)
    assert run.errors[:, 0].max() < 1e-11  # planned accelerations come back from the planned torques


def test_the_sign_of_the_wrist_changes_no_error():
    one, other = (mata2002_line.simulated(label=(1, 1, sign), feed="linear").average for sign in (1, -1))
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_the_order_of_the_feeds_is_that_of_their_accuracy():
    table = mata2002_line.readings_table()
    errors = np.array([row[2:6] for row in table.rows], dtype=float)
    assert errors.shape == (12, 4)
    assert (np.diff(errors, axis=1) > 0.0).all()


def test_table_6_says_which_numbers_are_printed_twice():
    rows = [(str(row[0])[:3], row[1], str(row[-1])) for row in mata2002_line.table6().rows]
    assert [(quantity, joint, verdict[-1]) for quantity, joint, verdict in rows if "again" in verdict] == [
        ("|Δq", 1, "6"),
        ("|Δq", 2, "4"),
        ("|Δq", 4, "2"),
        ("|Δq", 6, "1"),
        ("|Δv", 2, "3"),
        ("|Δv", 3, "2"),
        ("|Δa", 2, "4"),
        ("|Δa", 4, "2"),
    ]
