"""shafei2018: operation counts in links and branches, and the tree's flight to the first impact."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.papers import reproduce, shafei2018
from appell.papers import shafei2018_counts as counts
from appell.papers.formula import Formula
from appell.papers.shafei2018 import RADIUS, START
from appell.recursion.mixed import branches

IMPACTS = (0.385191984462, 0.569731449)
"""Moments of the first two impacts."""


@pytest.fixture(scope="module")
def robot():
    return appell.load("shafei-tree")


@pytest.fixture(scope="module")
def reference(shared):
    return json.loads((shared / "papers" / "reference" / "shafei_tree_impacts.json").read_text())


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
            if printed.method:
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


# The flight


@pytest.fixture(scope="module")
def falling(robot):
    return shafei2018.flight(robot, START, np.zeros(12), np.linspace(0.0, 1.0, 101))


def test_the_tree_touches_the_wall_when_a_stone_would(robot, falling):
    # At rest and without torques all rods fall alike: O1 from its start straight down to the circle.
    x, y = START[:2]
    moment = math.sqrt(2.0 * (y + math.sqrt(RADIUS**2 - x**2)) / 9.81)
    assert falling.has_touched
    assert falling.t[-1] == pytest.approx(moment, abs=1e-12)
    assert falling.t[-1] == pytest.approx(IMPACTS[0], abs=1e-12)
    radii = np.hypot(*shafei2018.positions(robot, falling.q[-1]).T)
    assert np.flatnonzero(radii > RADIUS - 1e-9).tolist() == [0, 4]


def test_a_tumbling_tree_keeps_its_energy_and_its_mass_centre_falls_freely(robot):
    v = np.random.default_rng(3).normal(size=12) * 0.5
    times = np.linspace(0.0, 0.2, 21)
    run = shafei2018.flight(robot, START, v, times)
    assert not run.has_touched
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-11)
    height = robot.potential_energy(run.q) / (10.0 * 9.81)
    climb = robot.gravity(START) @ v / (10.0 * 9.81)
    np.testing.assert_allclose(height, np.polyval([-0.5 * 9.81, climb, height[0]], times), atol=1e-11)


def test_the_points_fly_as_the_reference_says_before_the_first_impact(robot, falling, reference):
    assert falling.t[-1] == pytest.approx(reference["exact_sym"]["events"][0]["t"], abs=1e-12)
    samples = [s for s in reference["trajectory_exact_sym"] if s["t"] < IMPACTS[0]]
    assert len(samples) == 8
    for sample in samples:
        k = int(np.argmin(np.abs(falling.t - sample["t"])))
        q, v = falling.q[k], falling.v[k]
        np.testing.assert_allclose(shafei2018.positions(robot, q), sample["points"], atol=1e-9)
        np.testing.assert_allclose(shafei2018.speeds(robot, q, v), sample["vel"], atol=1e-9)


def _state(robot, sample):
    """Return q and v of eleven points and their velocities: the angles of the rods and their rates."""
    points, rates = np.array(sample["points"]), np.array(sample["vel"])
    start, end = np.array([1, 2, 3, 4, 3, 6, 7, 6, 6, 10]) - 1, np.arange(1, 11)
    before = np.array([-1, 0, 1, 2, 1, 4, 5, 4, 4, 8])  # the rod that each is hinged to
    rod, turn = points[end] - points[start], rates[end] - rates[start]
    angle = np.append(np.arctan2(rod[:, 1], rod[:, 0]), 0.0)
    rate = np.append(rod[:, 0] * turn[:, 1] - rod[:, 1] * turn[:, 0], 0.0)
    q = np.concatenate([points[0], angle[:-1] - angle[before]])
    v = np.concatenate([rates[0], rate[:-1] - rate[before]])
    np.testing.assert_allclose(shafei2018.speeds(robot, q, v), rates, atol=1e-12)
    return q, v


def test_the_points_fly_as_the_reference_says_between_the_first_two_impacts(robot, reference):
    samples = [s for s in reference["trajectory_exact_sym"] if IMPACTS[0] < s["t"] < IMPACTS[1]]
    assert len(samples) == 4
    q0, v0 = _state(robot, samples[0])
    run = shafei2018.flight(robot, q0, v0, [*(s["t"] for s in samples), 1.0])
    for q, v, sample in zip(run.q[1:-1], run.v[1:-1], samples[1:], strict=True):
        np.testing.assert_allclose(shafei2018.positions(robot, q), sample["points"], atol=1e-9)
        np.testing.assert_allclose(shafei2018.speeds(robot, q, v), sample["vel"], atol=1e-8)
    second = reference["exact_sym"]["events"][1]
    assert run.t[-1] == pytest.approx(second["t"], abs=1e-10)
    radii = np.hypot(*shafei2018.positions(robot, run.q[-1]).T)
    assert [k + 1 for k in np.flatnonzero(radii > RADIUS - 1e-8)] == second["pts"]


# The report


def test_the_first_impact_is_the_papers():
    rows = {row["quantity"]: row for row in shafei2018.table3().json()["rows"]}
    assert rows["moment of the first impact [s]"]["ours"] == "0.385191984"
    assert rows["angle of attack [°]"]["ours"].startswith("33.12108")
    assert rows["twice the normal speed [m/s]"]["ours"].startswith("6.329512")
    assert all(row["verdict"].startswith("equal") for row in rows.values())


def test_the_report_is_one_page(tmp_path):
    report = reproduce("shafei2018", tables=["3"])
    assert "http" not in report.save(tmp_path).read_text()
    with pytest.raises(InputError, match="no table 2; there are 1, 3"):
        reproduce("shafei2018", tables=["2"])
