"""enferadi2010: the star-triangle along the paper's two motions; paper against ours."""

from __future__ import annotations

import numpy as np
import pytest

from appell.errors import InputError
from appell.papers import enferadi2010, reproduce
from appell.reports.verdict import Kind


@pytest.fixture(scope="module")
def report():
    return reproduce("enferadi2010")


@pytest.mark.parametrize("motion", enferadi2010.MOTIONS)
def test_the_motions_are_the_references(motion, references, agree):
    rows = references("enferadi_sst")[f"traj{motion}"]
    ours = enferadi2010.trajectory(motion, [row["t"] for row in rows])
    for mine, key in zip(ours, ("ang", "angd", "angdd"), strict=True):
        agree(mine, np.array([row[key] for row in rows]), 1e-13)


@pytest.mark.parametrize("motion", enferadi2010.MOTIONS)
def test_torques_by_multipliers_are_the_references_too(motion, references, agree):
    # neither the closed form nor the reference's program is behind them
    rows = references("enferadi_sst")[f"traj{motion}"]
    made = enferadi2010.study(motion, len(rows))
    agree(made.t, np.array([row["t"] for row in rows]), 1e-14)
    agree(made.simulator.torques, np.array([row["tau"] for row in rows]), 1e-11)


def test_everything_the_paper_says_of_its_results_holds(report):
    rows = report.tables[1].json()["rows"]
    assert [row["what"] for row in rows if row["verdict"].kind not in (Kind.HOLDS, Kind.CHECKED)] == []


def test_each_group_of_equations_is_that_of_the_chains(report):
    assert [verdict.kind for verdict in report.tables[0].verdicts] == 8 * [Kind.CHECKED]


def test_virtual_work_is_right_and_cheaper_than_lagrange_alone(report):
    assert [verdict.kind for verdict in report.conclusions.verdicts] == [*4 * [Kind.HOLDS], Kind.DIFFERS]


def test_the_figures_are_drawn(report):
    assert [figure.name for figure in report.figures] == [f"figure{k}" for k in (1, 7, 8, 9, 10, 11)]
    for figure in report.figures:
        assert figure.png().startswith(b"\x89PNG")


def test_a_third_motion_is_refused():
    with pytest.raises(InputError, match="unknown motion 3; known: 1 and 2"):
        enferadi2010.trajectory(3, 0.0)
