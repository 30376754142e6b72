"""abedloo2014: the Agile Wrist along the paper's trajectory; paper against ours."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.papers import abedloo2014, abedloo2014_loop, reproduce
from appell.reports.verdict import Kind
from tests.support.pinocchio_chains import accelerations


@pytest.fixture(scope="module")
def report():
    return reproduce("abedloo2014")


def test_the_trajectory_is_the_references(references, agree):
    rows = references("abedloo_agile_wrist")["branch_plus"]
    ours = abedloo2014_loop.trajectory([row["t"] for row in rows])
    for mine, key in zip(ours, ("q", "qd", "qdd"), strict=True):
        agree(mine, np.array([row[key] for row in rows]), 1e-14)


def test_the_simulators_torques_are_the_references_too(references, agree):
    # neither the closed form nor the reference's program is behind the simulator
    rows = references("abedloo_agile_wrist")["branch_plus"]
    made = abedloo2014.study()
    for row in rows:
        k = int(np.argmin(np.abs(made.t - row["t"])))
        assert made.t[k] == pytest.approx(row["t"], abs=1e-12)
        agree(made.simulator.torques[k], np.array(row["tau"]), 1e-11)


def table(report, start):
    return next(table for table in report.tables if table.title.startswith(start))


def test_on_closed_loops_the_closed_form_differs_from_the_chains_by_rounding(report):
    for row in table(report, "Verification").json()["rows"]:
        assert row["difference"] < 1e-13 * max(1.0, row["greatest value"]), row["quantity"]


def test_in_the_loop_the_differences_are_the_integrators(report):
    for rtol in abedloo2014_loop.TOLERANCES:
        run = abedloo2014_loop.loop(rtol)
        assert np.abs(run.q - abedloo2014_loop.trajectory(run.t)[0]).max() < 0.005  # the controller follows
        assert abedloo2014_loop.differences(rtol)["angles"] < 3.0 * run.opening.max()
    assert [verdict.kind for verdict in table(report, "Origin").verdicts] == [Kind.CHECKED] * 4
    assert [verdict.kind for verdict in table(report, "Figures 5 to 7").verdicts] == [Kind.NOT_COMPARABLE] * 4


def test_a_wrong_torque_is_seen_in_the_loop(monkeypatch):
    right = abedloo2014_loop.loop(1e-3)
    heavy = appell.load("agile-wrist", gravity=(0.0, 0.0, -9.91))
    monkeypatch.setattr(abedloo2014_loop, "load", lambda name: heavy)
    wrong = abedloo2014_loop._compared(right.t, right.joints, right.speeds, right.simulator.torques)
    assert np.abs(wrong.closed_form.torques - wrong.simulator.torques).max() > 1e-4


@pytest.mark.parametrize("is_driven", [True, False])
def test_pinocchio_moves_the_chains_as_the_closed_form_does(is_driven):
    pytest.importorskip("pinocchio")
    robot, made, chains = appell.load("agile-wrist"), abedloo2014.study(), abedloo2014_loop.chains()
    tau = made.ours.torques * is_driven
    moved = robot.tree_acceleration(made.q, made.v, robot.forward_dynamics(made.q, made.v, tau))
    forces = np.zeros_like(moved)
    forces[:, list(chains.facts.actuated)] = tau
    state = robot.tree_configuration(made.q), robot.tree_velocity(made.q, made.v)
    np.testing.assert_allclose(moved, accelerations(chains.model, *state, forces), rtol=0, atol=1e-9)


def test_the_sign_of_psi_is_the_only_error_of_the_equations_as_printed(report):
    kinds = {row[0]: row[-1].kind for row in table(report, "As printed").rows}
    assert {where for where, kind in kinds.items() if kind is Kind.DIFFERS} == {"(36)"}


def test_a_mass_centre_5_cm_away_adds_up_to_seven_tenths_of_a_newton_metre(report):
    changes = [row[2] for row in table(report, "Mass centre").rows]
    assert 0.6 < max(changes) < 0.7


def test_every_equation_is_checked(report):
    assert {verdict.kind for verdict in table(report, "Equations").verdicts} == {Kind.CHECKED}


def test_only_our_coriolis_matrix_makes_the_difference_skew(report):
    assert [verdict.kind for verdict in table(report, "The matrix C").verdicts] == [Kind.DIFFERS, Kind.CHECKED]


def test_figures_2_to_7_are_drawn(report):
    assert [figure.name for figure in report.figures] == [f"figure{k}" for k in range(3, 8)]
    for figure in report.figures:
        assert figure.png().startswith(b"\x89PNG")
