"""valera2003: the straight line, the controllers, the counts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import appell
from appell.papers import valera2003_control, valera2003_counts
from appell.papers.mata2002_counts import general_arm
from appell.papers.valera2003 import INDEX, report
from appell.papers.valera2003_line import line, printed_off, puma
from appell.reports.report import Figure
from appell.reports.verdict import Kind
from appell.trace.tape import Port, count, trace


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


def table(name, start):
    return next(table for table in report(tables=[name]).tables if table.title.startswith(start))


def test_printed_equations_err_on_the_line_by_what_the_errata_say():
    start, most = printed_off("(25)", 40)
    assert (round(start, 1), round(most, 1)) == (21.0, 37.3)
    assert round(printed_off("(24)", 40)[1], 1) == 45.1


def test_equations_are_checked_but_for_those_as_printed():
    found = table("equations", "Equations")
    kinds = {row[0]: row[-1].kind for row in found.rows}
    wrong = {"(22), (24) as printed", "(25) as printed"}
    assert kinds == {where: Kind.DIFFERS if where in wrong else Kind.CHECKED for where in kinds}
    assert wrong < set(kinds)


# Counts


def test_the_steps_of_table_2_take_the_papers_products_and_sums_per_joint():
    for step, (_, slopes, _) in valera2003_counts.STEPS.items():
        counts = {n: rows[int(step) - 1] for n, rows in valera2003_counts.as_printed().items()}
        growth = [
            {later - earlier for earlier, later in pairwise(c[:2][side] for c in counts.values())} for side in (0, 1)
        ]
        expected = [{int(slopes[0])}, {0} if step == "6" else {int(slopes[1])}]  # merged, nothing is left to add
        assert growth == expected, step


@pytest.mark.parametrize("turned", [valera2003_counts.formed, valera2003_counts.in_turn])
def test_the_steps_add_up_to_the_whole_program(turned):
    for n in (3, 6):
        model = general_arm(n).model
        program = valera2003_counts.program(model, turned)
        inputs = [Port(name, (n,)) for name in ("q", "v", "a")]
        whole = count(trace("whole", lambda q, v, a: program(q, v, a)[4], inputs, [Port("tau", (n,))]))  # noqa: B023
        assert valera2003_counts.total(valera2003_counts.counts(model, turned))[:2] == whole[:2]


def test_merged_the_vector_form_takes_the_operations_of_newton_and_euler():
    arm = general_arm(6)
    merged, classic = (arm.operations("inverse_dynamics", name) for name in ("vector-merged", "newton-euler"))
    assert merged[:3] == classic[:3]


# Control


def test_integral_action_alone_brings_a_wrong_model_with_friction_to_its_goal():
    off = {
        (law, arm): np.abs(valera2003_control.moved(law, arm).end - valera2003_control.GOAL)
        for law in valera2003_control.LAWS
        for arm in valera2003_control.ARMS
    }
    integral = "tracking with integral action"
    for (law, arm), error in off.items():
        arrives = arm == "as modelled" or law == integral
        assert (error < valera2003_control.resolution()).all() == arrives, (law, arm)


def test_a_law_without_integral_action_rests_where_friction_holds_it():
    # statics: what the law asks at rest and the true weight differ by no more than friction and half a converter's step
    arm, goal = valera2003_control.arm(valera2003_control.ARMS[1]), valera2003_control.GOAL
    run, end = valera2003_control.moved("tracking", valera2003_control.ARMS[1])
    law = valera2003_control.law_of("tracking", lambda t: (goal, np.zeros(6), np.zeros(6)))
    asked = law(0.0, run.q[-1], np.zeros(6))
    held = appell.control.PUMA600.limit / 2**12 + [body.joint.friction for body in arm.model.bodies]
    assert (np.abs(asked - arm.gravity(end)) < 1.02 * held).all()


def test_the_unit_runs_the_line_and_stops_on_a_hot_motor():
    run, _ = valera2003_control.unit_run()
    assert run.stopped is None
    assert run.t[-1] == pytest.approx(line().duration, abs=0.01)
    hot, plant = valera2003_control.unit_run(is_hot=True)
    assert hot.stopped is not None
    assert hot.stopped.kind == "thermal switch"
    assert plant.is_braked
    verdicts = table("unit", "Section 3. The control unit").verdicts
    assert [verdict.kind for verdict in verdicts] == [Kind.HOLDS, Kind.CHECKED, Kind.CHECKED]


def test_signals_are_the_papers():
    assert {verdict.kind for verdict in table("unit", "Section 3. Signals").verdicts} == {Kind.AGREES}


# Identification


def test_four_techniques_find_the_parameters_that_made_a_noisy_log():
    found = table("identification", "Identification. Four")
    assert len(found.rows) == 4
    for row in found.rows:
        named: dict[str, Any] = dict(zip(found.columns, row, strict=True))
        assert named["error: rms [σ]"] < 1.3
        assert named["other motion [%]"] < 1.0


def test_ill_conditioned_logs_separate_the_techniques():
    noisy, clean = (
        dict(zip(found.columns, row, strict=True))
        for found in [table("identification", "Identification on")]
        for row in found.rows
    )
    assert noisy["QR decomposition"] > 10.0 * noisy["singular values"]
    assert noisy["QR decomposition"] > 10.0 * noisy["ridge regression"]
    assert clean["pseudo-inverse"] > 10.0 * clean["QR decomposition"]
    assert clean["singular values"] > 100.0 * clean["pseudo-inverse"]  # cut, though there is no noise


# The report


def test_report_asks_for_tables_that_exist():
    with pytest.raises(appell.InputError, match="unknown table 9"):
        report(tables=["9"])


def test_the_index_has_every_equation_table_and_figure():
    where = " ".join(entry.where for entry in INDEX)
    numbers = {int(x) for x in re.findall(r"\((\d+)\)", where)}
    for first, last in re.findall(r"\((\d+)\)–\((\d+)\)", where):
        numbers |= set(range(int(first), int(last) + 1))
    assert numbers == set(range(1, 30))
    assert all(f"Figure {k}" in where for k in range(1, 6))
    assert all(f"Table {k}" in where for k in (1, 2, 3, 4))
    assert "Tables 5 to 7" in where
    assert sum(bool(entry.call) for entry in INDEX) > 15


def test_figures_are_drawn():
    figures = report(tables=["line", "4", "5", "unit"]).figures
    assert [figure.name for figure in figures] == ["figure1", "figure3", "figure4", "figure5", "table4", "unit"]
    for figure in figures:
        assert isinstance(figure, Figure)
        assert figure.png().startswith(b"\x89PNG")
