"""valera2003: the straight line, the controllers, the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.papers.valera2003 import line, puma, report


def test_torques_at_the_start_of_the_line_are_those_of_the_corrected_equations():
    tau = puma().inverse_dynamics(*line()(0.0))
    np.testing.assert_allclose(tau, [0.0371, -56.3153, -25.3889, 0.1091, 0.1245, 0.0], atol=5e-5)


def test_torques_along_the_line_equal_the_reference(references):
    for key, samples in references("valera_puma_line_torques")["branches"].items():
        shoulder, elbow, wrist = map(int, key.strip("()").split(","))
        motion = line((shoulder, elbow, wrist))
        for sample in samples:
            np.testing.assert_allclose(puma().inverse_dynamics(*motion(sample["t"])), sample["tau"], atol=1e-9)


def test_tracking_law_follows_the_line_exactly():
    motion = line()
    law = appell.control.Tracking(puma(), motion, 100.0, 20.0)
    start = motion(0.0)
    run = appell.simulate(puma(), start.q, start.v, 2.0, control=law)
    assert np.abs(run.q - motion(run.t).q).max() < 1e-8


def test_report_has_counts_controllers_and_eight_branches():
    tables = report().tables
    assert [table.title[:9] for table in tables] == ["Tables 2 ", "Table 4. ", "Section 4", "Identific"]
    assert len(tables[2].rows) == 8
    with pytest.raises(appell.InputError, match="no table 9"):
        report(tables=["9"])


def test_four_techniques_find_the_parameters_that_made_a_noisy_log():
    table = report(tables=["identification"]).tables[0]
    assert len(table.rows) == 4
    for row in table.rows:
        named: dict[str, Any] = dict(zip(table.columns, row, strict=True))
        assert named["error: rms [σ]"] < 1.3
        assert named["other motion [%]"] < 1.0
