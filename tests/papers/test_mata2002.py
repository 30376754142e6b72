"""mata2002: operation counts and single precision; paper against ours. Section 5.2 is in test_mata2002_line.py."""

from __future__ import annotations

import json

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.papers import mata2002, mata2002_counts, reproduce, valera2003
from appell.papers.formula import Formula, fit

JOINTS = range(3, 11)
# mata2002's own counts less what a plain trace of its corrected equations saves
BARS = {
    "inverse_dynamics": (Formula.of("-108", "96"), Formula.of("-102", "84")),
    "bias": (Formula.of("-120", "96"), Formula.of("-113", "83")),
    "mass_matrix": (Formula.of("-40", "9.5", "11.5"), Formula.of("-64", "24.5", "8.5")),
}


@pytest.mark.parametrize("vertical", [False, True])
@pytest.mark.parametrize("verb", BARS)
@pytest.mark.parametrize("n", JOINTS)
def test_a_general_arm_takes_no_more_operations_than_the_traced_paper(verb, n, vertical):
    count = appell.random_chain(n, np.random.default_rng(n), vertical=vertical).operations(verb, "gibbs")
    products, sums = BARS[verb]
    assert count.multiplications <= products(n)
    assert count.additions <= sums(n)


@pytest.mark.parametrize("verb", BARS)
def test_what_is_compiled_takes_fewer_operations_than_what_the_paper_counts(verb):
    for n in (3, 6, 10):
        arm = appell.random_chain(n, np.random.default_rng(n))
        compiled, plain = arm.operations(verb), arm.operations(verb, "gibbs")
        assert compiled.multiplications < plain.multiplications
        assert compiled.additions < plain.additions


@pytest.mark.parametrize("verb", BARS)
def test_counts_are_polynomials_of_the_papers_degree_for_3_to_10_joints(verb):
    counts = mata2002_counts.counted(verb, "gibbs")
    assert list(counts) == list(JOINTS)
    for side, bar in enumerate(BARS[verb]):
        formula = mata2002_counts.formula(counts, side)
        assert formula is not None
        assert len(formula.coefficients) == len(bar.coefficients)
        assert formula.coefficients[-1] == bar.coefficients[-1]
        assert all(formula(n) == counts[n][side] for n in JOINTS)


def test_forward_dynamics_by_gibbs_takes_fewer_operations_than_the_paper():
    count = mata2002_counts.general_arm(6).operations("forward_dynamics", "gibbs")
    assert count.multiplications < 1042
    assert count.additions < 905


def test_decomposition_and_solution_count_as_linear_algebra_says():
    rows = {row["operations"]: row for row in mata2002_counts.table3()[0].json()["rows"]}
    assert rows["Cholesky decomposition: products"]["verdict"] == "equal"
    assert rows["Cholesky decomposition: sums"]["ours, as the paper counts"] == "n³/6 − n/6"
    for side in ("products", "sums"):
        assert rows[f"linear system solving: {side}"]["verdict"] == "equal"


def test_section_4_1_as_written_counts_as_an_independent_tracer_counted_it():
    counts = mata2002_counts.counted("inverse_dynamics", "mata2002")
    assert [str(mata2002_counts.formula(counts, side)) for side in (0, 1)] == ["96n − 112", "84n − 103"]


def test_section_4_2_as_written_takes_the_products_of_the_variant_and_more_sums():
    counts = mata2002_counts.counted("mass_matrix", "mata2002")
    assert [str(mata2002_counts.formula(counts, side)) for side in (0, 1)] == [
        "11.5n² + 5.5n − 36",
        "8.5n² + 23.5n − 63",
    ]


def test_conclusions_that_hold_and_that_do_not_under_one_rule():
    found = [(row[1], row[-1]) for row in (*mata2002_counts.statements(), *valera2003.conclude().rows[:2])]
    comparable = found.pop(1)
    assert comparable[1] == "holds"
    assert "fewer products from n = 11 on, fewer sums from n = 12" in str(comparable[0])
    ours, composite = "Gibbs–Appell: 955, 840", "composite bodies"
    assert found == [
        ("Gibbs–Appell, tensors: 464, 401; Newton–Euler: 563, 425", "holds"),
        (f"Gibbs–Appell: 411, 384; {composite}: 368, 327", "does not hold"),
        (f"{ours}; {composite}: 911, 781", "does not hold"),
        (f"{ours}; articulated bodies: 1264, 1141", "holds"),
        ("Gibbs–Appell, vectors: 599, 446; Newton–Euler: 563, 425", "does not hold"),
        ("Gibbs–Appell, tensors: 464, 401; Gibbs–Appell, vectors: 599, 446", "holds"),
    ]
    measured = [row[-1] for row in mata2002.conclude().rows[5:]]
    assert measured[:3] == ["holds", "holds", "holds"]
    assert len(measured) == 5  # times last, which depend on the machine


@pytest.mark.parametrize("coefficients", [("-101", "96"), ("-49", "19.5", "11.5"), ("-157", "695/6", "13", "1/6")])
def test_a_fitted_formula_is_the_one_behind_the_counts(coefficients):
    formula = Formula.of(*coefficients)
    assert fit({n: int(formula(n)) for n in JOINTS}) == formula


def test_a_count_that_is_no_polynomial_has_no_formula():
    counts = {n: 96 * n for n in JOINTS}
    counts[10] += 1
    assert fit(counts) is None


@pytest.mark.parametrize("method", ["ABA", "CRBA", "GA", "CRBA about joints"])
def test_the_methods_agree_in_double_precision(method):
    robot = appell.load("two-link")
    q = np.stack([np.zeros_like(mata2002.DEGREES), np.deg2rad(mata2002.DEGREES)], axis=-1)
    exact = robot.forward_dynamics(q, np.zeros_like(q), np.zeros_like(q))
    np.testing.assert_allclose(mata2002.accelerations(method, np.float64), exact, rtol=1e-10)


@pytest.mark.parametrize("method", ["ABA", "CRBA", "GA"])
def test_single_precision_stays_single_throughout(method):
    assert mata2002.accelerations(method, np.float32).dtype == np.float32


def _single_precision_errors(method):
    error = mata2002.accelerations(method, np.float32)[:, 0] - mata2002.accelerations(method, np.float64)[:, 0]
    return np.abs(error).max(), np.abs(error).mean()


@pytest.mark.parametrize(
    ("method", "most", "mean"), [("ABA", 1.6e-4, 3.5e-5), ("CRBA", 1.53, 0.275), ("GA", 0.78, 0.17)]
)
def test_single_precision_errs_by_the_order_of_the_reference(method, most, mean):
    ours = _single_precision_errors(method)
    np.testing.assert_array_less(np.array([most, mean]) / 4.0, ours)
    np.testing.assert_array_less(ours, 4.0 * np.array([most, mean]))


def test_the_reference_of_table_5(references):
    reference = references("mata_ascher_two_link")
    np.testing.assert_allclose(mata2002.accelerations("ABA", np.float64), reference["qdd_double"], rtol=1e-9)
    for method, errors in reference["float32"].items():
        ours, theirs = _single_precision_errors(method), (errors["max"][0], errors["avg"][0])
        assert max(ours[0] / theirs[0], theirs[0] / ours[0]) < 4.0
        assert max(ours[1] / theirs[1], theirs[1] / ours[1]) < 4.0


def test_the_reference_of_tables_1_to_3(references):
    reference = references("mata_operation_counts")
    for verb, key in (("inverse_dynamics", "id_general"), ("bias", "bias_general"), ("mass_matrix", "D")):
        for n, count in mata2002_counts.counted(verb, "gibbs").items():
            assert count.multiplications <= reference[str(n)][key][0]
            assert count.additions <= reference[str(n)][key][1]


def test_the_report_holds_every_table_and_saves_as_one_page(tmp_path):
    report = reproduce("mata2002")
    titles = [table.title for table in report.tables]
    numbered = [title.partition(".")[0] for title in titles if title.startswith("Table") and "," not in title[:8]]
    assert numbered == [f"Table {k}" for k in range(1, 8)]
    assert "no polynomial" not in json.dumps([t.json() for t in report.tables if "general arm" in t.title][:2])
    page = report.save(tmp_path).read_text()
    assert "http://" not in page
    assert "https://" not in page
    drawn = [f"mata2002-{name}.png" for name in ("figure1", "figure2", "figure3", "figure4", "table6")]
    assert page.count("data:image/png;base64,") == len(report.figures) == len(drawn)
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in drawn)
    assert sorted(file.name for file in tmp_path.iterdir()) == [*drawn, "mata2002.html"]


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("mata1902", {}, "mata2002"),
        ("mata2002", {"tables": ["8"]}, "unknown table 8"),
        ("mata2002", {"speed": 1}, "speed"),
    ],
)
def test_an_unknown_paper_or_option_is_told_with_the_known_ones(name, options, told):
    with pytest.raises(InputError, match=told):
        reproduce(name, **options)
