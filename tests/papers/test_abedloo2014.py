"""abedloo2014: the Agile Wrist along the paper's trajectory; paper against ours."""

from __future__ import annotations

import numpy as np
import pytest

from appell.papers import abedloo2014, reproduce
from appell.reports.verdict import Kind


@pytest.fixture(scope="module")
def report():
    return reproduce("abedloo2014")


def test_the_trajectory_is_the_references(references, agree):
    rows = references("abedloo_agile_wrist")["branch_plus"]
    ours = abedloo2014.trajectory([row["t"] for row in rows])
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


def test_the_closed_form_is_nearer_to_the_simulator_than_the_papers(report):
    for row in report.tables[0].json()["rows"]:
        assert row["ours"] < 1e-6 * row["paper, order"], row["quantity"]


def test_only_our_coriolis_matrix_makes_the_difference_skew(report):
    assert [verdict.kind for verdict in report.tables[2].verdicts] == [Kind.DIFFERS, Kind.CHECKED]


def test_figures_5_to_7_are_drawn(report):
    assert [figure.name for figure in report.figures] == ["figure5", "figure6", "figure7"]
    for figure in report.figures:
        assert figure.png().startswith(b"\x89PNG")
