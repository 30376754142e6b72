"""Rules of verdicts: each gives its verdict, fails where it must, and says in words what it does."""

from __future__ import annotations

import pytest

from appell.reports import rules
from appell.reports.rules import (
    Checked,
    Counts,
    Datum,
    DifferentRules,
    Digits,
    Failed,
    Falls,
    Holds,
    Less,
    Misprint,
    NotComparable,
    Reference,
    Same,
    Within,
)
from appell.reports.table import Table
from appell.reports.verdict import MEANING, Kind

CASES = [
    (Digits(), ("8.62", 8.6194), Kind.AGREES),
    (Digits(), ("8.62", 8.6251), Kind.DIFFERS),
    (Digits(), ("6.32", 6.3295), Kind.DIFFERS),  # truncated, and alone
    (Digits(), ("8.60", 8.604), Kind.AGREES),
    (Digits(), ("8.60", 8.606), Kind.DIFFERS),  # a printed zero counts
    (Digits(), ("0", 0.6), Kind.DIFFERS),
    (Digits(), ("1.0", None), Kind.DIFFERS),
    (Digits(True), ("6.32", 6.3295), Kind.AGREES),
    (Digits(True), ("6.33", 6.3295), Kind.DIFFERS),
    (Same(), ("O1 and O5", "O1 and O5"), Kind.AGREES),
    (Same(), ("O1 and O5", "O5 and O1"), Kind.DIFFERS),
    (Within(0.1, "noise"), ((1.0, 1.09),), Kind.AGREES),
    (Within(0.1, "noise"), ((1.0, 1.09), (1.0, 0.88)), Kind.DIFFERS),  # the worst decides
    (Within(0.1, "noise"), ((1.0, 1e-8),), Kind.DIFFERS),
    (Holds(1e-12), (9e-13,), Kind.HOLDS),
    (Holds(1e-12), (1.1e-12,), Kind.DIFFERS),
    (Holds(1e-12), (float("nan"),), Kind.DIFFERS),
    (Less(), (1, 2, 3), Kind.HOLDS),
    (Less(), (1, 2, 1), Kind.DIFFERS),
    (Counts(), (((96, 84), (187, 475)), ((96, 84), (173, 461))), Kind.FEWER),
    (Counts(), (((96, 84), (187, 475)), ((96, 84), (187, 475))), Kind.AGREES),
    (Counts(), (((96, 84), (475,)), ((96, 84), (480,))), Kind.DIFFERS),
    (Counts(), (((11.5, 8.5), (113, 482)), ((11.5, 8.5), (120, 400))), Kind.DIFFERS),  # more for a small n
    (Counts(), (((96, 84), (475,)), ((97, 84), (400,))), Kind.DIFFERS),  # more for a large n
    (Counts(), (((150, 84), (852,)), ((117, 84), (563,))), Kind.DIFFERENT_RULES),  # fewer, yet not by the same rule
    (Counts(), (((121, 90), (458,)), ((117, 90), (425,))), Kind.DIFFERENT_RULES),  # its products differ
    (Checked(1e-10, "a peer"), (1e-11,), Kind.CHECKED),
    (Checked(1e-10, "a peer"), (1e-9,), Kind.DIFFERS),
    (Checked(1e-10, "a peer"), (float("nan"),), Kind.DIFFERS),
    (Falls("the tolerance"), (3e-8, 2e-10, 1e-12), Kind.CHECKED),
    (Falls("the tolerance"), (3e-8, 2e-10, 4e-10), Kind.DIFFERS),
    (Datum(), (["0.1", "-2"], [0.1, -2.0]), Kind.AS_PRINTED),
    (Datum(), (["0.1", "-2"], [0.1, -2.001]), Kind.DIFFERS),
    (Datum(), (["0"], [1e-6]), Kind.DIFFERS),
    (Datum(), (["0.1"], [0.1, 0.2]), Kind.DIFFERS),
    (Reference(), (["7.77"], [7.7749]), Kind.CHECKED),
    (Reference(), (["7.77"], [7.7751]), Kind.DIFFERS),
    (Reference(), (["7.77"], [float("nan")]), Kind.DIFFERS),
    (Failed("a reason"), (), Kind.DIFFERS),
    (NotComparable("a reason"), (), Kind.NOT_COMPARABLE),
    (DifferentRules("a reason"), (), Kind.DIFFERENT_RULES),
    (Misprint("a reason"), (), Kind.MISPRINT),
]


@pytest.mark.parametrize(("rule", "numbers", "kind"), CASES)
def test_a_rule_gives_its_verdict(rule, numbers, kind):
    verdict = rule(*numbers)
    assert verdict.kind is kind
    assert verdict.rule == rule.text
    assert rule.text.endswith(".")


def test_each_rule_has_a_case():
    known = {each for each in vars(rules).values() if isinstance(each, type) and hasattr(each, "text")}
    assert {type(rule) for rule, _, _ in CASES} == known


def test_each_rule_that_credits_has_a_case_that_fails():
    credit = {Kind.AGREES, Kind.HOLDS, Kind.FEWER, Kind.CHECKED, Kind.AS_PRINTED}
    for rule in {type(rule) for rule, _, kind in CASES if kind in credit}:
        assert any(type(r) is rule and kind is Kind.DIFFERS for r, _, kind in CASES), rule


def test_truncation_is_of_a_whole_table_or_of_none():
    truncated = [("6.32", 6.3295), ("0.3851", 0.38519), ("5.26", 5.264)]
    assert Digits.of(truncated).is_truncated
    assert not Digits.of([*truncated, ("0.5698", 0.56973)]).is_truncated
    assert not Digits.of([("5.26", 5.264)]).is_truncated  # rounded and truncated alike: rounded


def test_a_table_prints_each_rule_of_its_verdicts_once():
    table = Table("t", ("what", "verdict"), (("a", Same()(1, 1)), ("b", Same()(1, 2)), ("c", Holds(1e-3)(0.0))))
    assert table.remarks == (f"Rule: {Same().text}", f"Rule: {Holds(1e-3).text}")
    for text in (table.markdown(), table.html()):
        assert text.count("Agrees when ours is the same") == 1


def test_a_table_without_verdicts_says_why():
    table = Table("t", ("a",), ((1,),), unjudged="the paper has curves alone.")
    assert "No verdict: the paper has curves alone." in table.html()


def test_each_kind_has_its_meaning():
    assert set(MEANING) == set(Kind)
