"""shafei2018: operation counts in links and branches, and the tree that strikes the wall."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import appell
from appell.errors import InputError
from appell.papers import reproduce, shafei2018
from appell.papers import shafei2018_checks as checks
from appell.papers import shafei2018_counts as counts
from appell.papers import shafei2018_motion as section6
from appell.papers.formula import Formula
from appell.papers.shafei2018 import RADIUS, START
from appell.recursion.mixed import branches
from appell.reports.verdict import Kind
from appell.simulation.contact.points import Points, resolve


@pytest.fixture(scope="module")
def robot():
    return appell.load("shafei-tree")


@pytest.fixture(scope="module")
def reference(references):
    return references("shafei_tree_impacts")


# Table 1


@pytest.fixture(scope="module")
def table():
    return counts.table1()


def test_a_formula_holds_for_more_branches_than_it_was_fitted_to(table):
    rows = {row["operations"]: row for row in table[0].json()["rows"]}
    general, rods = (counts.star(4, 4, link) for link in (counts.general(), counts.rod()))
    for what, printed in counts.PAPER.items():
        for side, name in enumerate(("products", "sums")):
            row = rows[f"{what}: {name}"]
            assert row["compiled at 4, 4"] == counts.compiled(general)[side]
            assert row["general at 4, 4"] == counts.equations(general, printed.method)[side]
            assert row["rods at 4, 4"] == counts.equations(rods, printed.method)[side]


def test_the_mixed_form_takes_the_products_and_sums_of_its_formulas(table):
    rows = {row["operations"]: row for row in table[0].json()["rows"]}
    mixed = "this work, 3×3 with 4×4"
    assert rows[f"{mixed}: products"]["ours, general links"] == "(21n² + 321n − 435)n_b"
    assert rows[f"{mixed}: sums"]["ours, general links"] == "(16.5n² + 270.5n − 392)n_b − 2"
    assert rows[f"{mixed}: products"]["ours, the paper's rods"] == "(10n² + 43n − 50)n_b"
    assert rows[f"{mixed}: sums"]["ours, the paper's rods"] == "(7n² + 41n − 57)n_b − 2"


def test_the_forms_order_as_in_the_paper_and_each_takes_fewer_operations(table):
    rows = {row["operations"]: row for row in table[0].json()["rows"]}
    for side in ("products", "sums"):
        mixed, plain = rows[f"this work, 3×3 with 4×4: {side}"], rows[f"Gibbs–Appell, 3×3 (mata2002): {side}"]
        for column in ("paper at 4, 4", "general at 4, 4", "rods at 4, 4"):
            assert plain[column] < mixed[column]
        for row in (mixed, plain):
            assert row["compiled at 4, 4"] < row["general at 4, 4"] < row["paper at 4, 4"]


def test_the_papers_formulas_give_the_numbers_of_its_table():
    products, sums = counts.PAPER["this work, 3×3 with 4×4"].sides
    assert products(4, 4) == 507 / 2 * 64 + 1631 / 2 * 16 + 297 * 4
    assert sums(4, 4) == 146 * 64 + 643 * 16 + 165 * 4
    assert counts.PAPER["Lagrange, 4×4 (Hollerbach)"].sides[1](2, 3) == 463 / 2 * 12 + 2111 / 2 * 6 + 350 * 3


def test_lagranges_form_takes_the_products_and_sums_of_its_formulas(table):
    rows = {row["operations"]: row for row in table[0].json()["rows"]}
    lagrange = "Lagrange, 4×4 (Hollerbach)"
    assert rows[f"{lagrange}: products"]["ours, general links"] == "(17n² + 242n − 296)n_b"
    assert rows[f"{lagrange}: sums"]["ours, general links"] == "(13.5n² + 201.5n − 271)n_b − 2"
    arm = table[2].row("Lagrange, 4×4 (Hollerbach 1980): products")
    assert (arm["paper n=6"], arm["ours, as the paper counts"]) == (4388, "201n − 216")


def test_the_mixed_form_takes_fewer_operations_than_lagranges_in_the_plane_alone():
    rows = counts.conclusions_on_counts()
    assert [row[-1] for row in rows] == ["holds", "does not hold", "holds", "holds"]
    assert rows[1][1] == "3×3 with 4×4: 3555, 2860; Lagrange, 4×4: 2832, 2251"
    assert rows[3][1] == "3×3 with 4×4: 846, 655; Lagrange, 4×4: 996, 736"


def test_the_motion_bears_out_what_the_paper_says_of_it(run):
    assert [row[-1] for row in shafei2018.conclude(run).rows[4:]] == ["holds", "holds", "holds"]


@pytest.mark.parametrize(("name", "at"), [("12", (12, 4)), ("13", (4, 10))])
def test_figures_12_and_13_draw_the_formulas(name, at):
    drawn = counts.draw(name)
    panels = drawn.get_axes()
    assert len(panels) == 3
    assert all(len(panel.get_lines()) == 3 for panel in panels)
    for line, printed in zip(panels[0].get_lines(), counts.PAPER.values(), strict=True):
        assert np.asarray(line.get_ydata())[-1] == sum(side(*at) for side in printed.sides)


def test_a_star_has_its_branches():
    model = counts.star(3, 4, counts.rod())
    assert [len(branch.own) for branch in branches(model)] == [5, 3, 3, 3]
    assert model.nv == 14


def test_counts_off_any_surface_have_no_formula():
    bent = dict(counts.counted("gibbs", False))
    bent[6, 3] = bent[6, 3]._replace(additions=bent[6, 3].additions + 1)
    assert counts.surface(bent, 1) is None
    assert counts.surface(bent, 0) is not None


def test_a_formula_of_two_numbers_is_written_with_both():
    grid = counts.Grid(Formula.of("-1", "0", "2.5"), Formula.of("3"))
    assert str(grid) == "(2.5n² − 1)n_b + 3"
    assert grid(2, 10) == 93


# Section 6


@pytest.fixture(scope="module")
def report():
    return reproduce("shafei2018", tables=["3"], duration=2.0)


@pytest.fixture(scope="module")
def run(report):
    return report.run


def test_the_tree_touches_the_wall_when_a_stone_would(run):
    # At rest and without torques all rods fall alike: O1 from its start straight down to the circle.
    x, y = START[:2]
    moment = math.sqrt(2.0 * (y + math.sqrt(RADIUS**2 - x**2)) / 9.81)
    assert run.impacts[0].time == pytest.approx(moment, abs=1e-12)


def test_the_impacts_are_those_of_an_independent_program(run, reference):
    events = reference["exact_sym"]["events"]
    assert [[int(name[1:]) for name in impact.points] for impact in run.impacts] == [event["pts"] for event in events]
    for impact, event in zip(run.impacts, events, strict=True):
        assert impact.time == pytest.approx(event["t"], abs=1e-10)
        np.testing.assert_allclose(impact.impulse, event["f"], atol=1e-9)
        np.testing.assert_allclose(impact.approach + impact.departure, event["dvn"], atol=1e-9)
        np.testing.assert_allclose(np.degrees(impact.angles), event["alpha"], atol=1e-8)
        np.testing.assert_allclose(impact.positions[:, :2], event["pos"], atol=1e-9)


def test_the_points_move_as_an_independent_program_says_through_all_impacts(robot, run, reference):
    samples = reference["trajectory_exact_sym"]
    q, v = run.at([sample["t"] for sample in samples])
    points = Points(robot, resolve(robot, shafei2018.POINTS))
    np.testing.assert_allclose(points.positions(q)[..., :2], [sample["points"] for sample in samples], atol=1e-8)
    np.testing.assert_allclose(points.velocities(q, v)[..., :2], [sample["vel"] for sample in samples], atol=1e-7)


def test_energy_stays(run):
    assert np.ptp(run.energy) <= 1e-10 * run.energy[0]


def test_the_halves_of_the_tree_stay_mirror_images(robot, run):
    q, _ = run.at(np.linspace(0.0, 2.0, 101))
    p = Points(robot, resolve(robot, shafei2018.POINTS)).positions(q)
    for left, right in (("O1", "O5"), ("O2", "O4"), ("O7", "O10"), ("O8", "O11"), ("O3", "O3"), ("O9", "O9")):
        first, second = (p[:, shafei2018.POINTS.index(name), :2] for name in (left, right))
        np.testing.assert_allclose(first, second * [-1.0, 1.0], atol=1e-8)


@pytest.mark.parametrize(("tie", "key"), [(1e-4, "X1366_tie1e4"), (0.0, "X1366_sequential")])
def test_the_printed_start_goes_as_an_independent_program_goes_with_and_without_the_tie(reference, tie, key):
    events = reference[key]["events"]
    impacts = section6._printed(tie).impacts
    assert [[int(name[1:]) for name in impact.points] for impact in impacts] == [event["pts"] for event in events]
    # what is struck microseconds apart is told apart by the first seven impacts; later ones double every error
    for impact, event in zip(impacts[:7], events[:7], strict=False):
        assert impact.time == pytest.approx(event["t"], abs=1e-9)
        np.testing.assert_allclose(impact.impulse, event["f"], rtol=1e-8)


def test_the_flight_is_integrated_in_mixed_form(run):
    assert run.robot.operations("motion").formulation == "mixed"
    assert all(verdict.kind == "checked" for verdict in checks.flight(run).verdicts)


def test_equation_47_gives_the_impacts_of_the_simulation(run):
    table = checks.impacts(run)
    assert table.row(1)["size of I_i"] == 14
    assert table.row(4)["size of I_i"] == 13
    assert [verdict.kind for verdict in table.verdicts] == ["checked"] * 5


def test_branches_and_sums_are_the_papers():
    assert {verdict.kind for verdict in checks.structure().verdicts} == {"agrees"}
    assert {verdict.kind for verdict in checks.equations().verdicts} == {"checked"}


def test_motors_and_restitution_go_as_the_papers_equations_go():
    table = checks.motors_table()
    assert len(table.verdicts) == 14
    assert {verdict.kind for verdict in table.verdicts} == {"checked"}


def test_a_wrong_motion_is_no_agreement(monkeypatch):
    late = [checks.Struck(x.time + 1e-3, x.points, x.impulse) for x in checks.driven().impacts]
    monkeypatch.setattr(checks, "by_equations", lambda: late)
    kinds = [verdict.kind for verdict in checks.motors_table().verdicts]
    assert kinds == ["differs"] * 12 + ["checked"] * 2


def test_the_driven_flight_up_to_the_second_impact_is_pinocchios(peer):
    run = checks.driven()
    first, second = run.impacts[:2]
    other = peer(appell.load("shafei-tree").model)
    state = np.concatenate([run.at([first.time])[0][0], first.v_after])

    def field(t, y):
        return np.concatenate([y[12:], other.acceleration(y[:12], y[12:], checks.motors(t, y[:12], y[12:]))])

    solved = solve_ivp(field, (first.time, second.time), state, "DOP853", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(solved.y[12:, -1], second.v_before, atol=1e-7)


# The report


def test_every_row_of_table_3_is_the_converged_value(report):
    rows = report.tables[0].json()["rows"]
    assert len(rows) == 25
    assert [row for row in rows if row["ours"] != row["converged reference"]] == []


def test_table_3_is_neither_rounded_nor_truncated_throughout(report):
    # 0.3851 is truncated (0.38519), 5.26 rounded, 0.5698 neither (0.56973): rounding is what counts
    verdicts = {row[:2]: row[-1] for row in report.tables[0].rows}
    assert verdicts[1, "time [s]"].kind is Kind.DIFFERS
    assert verdicts[1, "impulse [N·s]"].kind is Kind.AGREES
    assert verdicts[2, "time [s]"].kind is Kind.DIFFERS


def test_table_3_says_what_a_short_run_has_not_reached():
    rows = reproduce("shafei2018", tables=["3"], duration=0.5).tables[0].json()["rows"]
    assert [row["ours"] is None for row in rows] == [False] * 5 + [True] * 20
    assert rows[-1]["verdict"] == "no number of ours"


def test_the_report_has_figures_14_to_19_and_a_film(report, tmp_path):
    short = reproduce("shafei2018", tables=["3"], duration=0.4)
    page = short.save(tmp_path)
    assert "://" not in page.read_text()
    names = sorted(path.name for path in tmp_path.iterdir())
    figures = [f"shafei2018-figure{k}.png" for k in (1, *range(14, 20))]
    assert names == [*figures, "shafei2018-motion.gif", "shafei2018.html"]
    assert [figure.name for figure in report.figures] == [figure.name for figure in short.figures]


def test_only_what_is_asked_for_is_computed():
    with pytest.raises(InputError, match="unknown table 2; known: equations, 1, 3, motors, data, references"):
        reproduce("shafei2018", tables=["2"])
