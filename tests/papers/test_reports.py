"""The five reports as a whole: verdicts by rules only, and indexes whose calls and places exist."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import appell
import appell.papers
from appell.errors import InputError
from appell.papers import NAMES, lagrangian, reproduce
from appell.papers.paper import guarded, read
from appell.reports.collection import Collection
from appell.reports.index import Entry
from appell.reports.report import Made, Report
from appell.reports.verdict import Kind

SOURCES = sorted(Path(appell.papers.__path__[0]).glob("*.py"))


@cache
def report(name: str) -> Report:
    return reproduce(name)


def entries(name: str) -> tuple[Entry, ...]:
    index: tuple[Entry, ...] = importlib.import_module(f"appell.papers.{name}").INDEX
    return index


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_paper_makes_verdicts_by_rules_only(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bKind\b|\bVerdict\(", text)


@pytest.mark.parametrize("name", NAMES)
def test_each_table_has_verdicts_or_says_why_it_has_none(name):
    for table in report(name).tables:
        assert bool(table.verdicts) != bool(table.unjudged), table.title


@pytest.mark.parametrize("name", NAMES)
def test_each_call_of_the_index_exists(name):
    for entry in entries(name):
        if entry.call:
            dotted = entry.call.partition("(")[0]
            target = f"appell.Robot.{dotted.removeprefix('robot.')}" if dotted.startswith("robot.") else dotted
            assert pkgutil.resolve_name(target) is not None, entry


@pytest.mark.parametrize("name", NAMES)
def test_formulations_and_verbs_in_the_calls_exist(name):
    robots = [appell.load(robot) for robot in ("puma600", "agile-wrist", "sst")]
    verbs = {verb for robot in robots for verb in robot.verbs}
    for entry in entries(name):
        if entry.call.startswith("robot."):
            verb = entry.call.removeprefix("robot.").partition("(")[0]
            named = re.findall(r"""formulation=["']([\w-]+)|operations\(["']\w+["'], ["']([\w-]+)""", entry.call)
            about = re.findall(r"""(?:operations|formulations|evaluate)\(["'](\w+)""", entry.call)
            assert set(about) <= verbs, entry
            known = {f for robot in robots for f in robot.formulations((about or [verb])[0])} if named else set()
            assert {first or second for first, second in named} <= known, entry


CONTENTS = {
    "abedloo2014": (52, 0, 7),
    "enferadi2010": (75, 0, 11),
    "mata2002": (22, 7, 4),
    "shafei2018": (47, 3, 19),
    "valera2003": (29, 7, 5),
}
"""How many numbered equations, tables and figures each paper has."""


@pytest.mark.parametrize("name", NAMES)
def test_the_index_holds_each_equation_table_and_figure(name):
    found: dict[str, set[int]] = {"equation": set(), "table": set(), "figure": set()}
    for entry in entries(name):
        where = entry.where.lower()
        for first, last in re.findall(r"\((\d+)\)(?:–\((\d+)\))?", where):
            found["equation"] |= set(range(int(first), int(last or first) + 1))
        for kind, numbers in re.findall(r"(table|figure)s? ((?:\d+(?: ?(?:–|to) ?\d+)?(?:, | and )?)+)", where):
            parts = re.findall(r"(\d+)(?: ?(?:–|to) ?(\d+))?", numbers)
            found[kind] |= {k for first, last in parts for k in range(int(first), int(last or first) + 1)}
    for (kind, have), count in zip(found.items(), CONTENTS[name], strict=True):
        assert set(range(1, count + 1)) - have == set(), kind


@pytest.mark.parametrize("name", NAMES)
def test_each_conclusion_has_a_verdict(name):
    table = report(name).conclusions
    assert table is not None
    assert table.columns == ("conclusion", "ours", "verdict")
    assert len(table.verdicts) == len(table.rows)


@pytest.mark.parametrize("name", NAMES)
def test_each_place_of_the_index_is_in_the_report(name):
    for entry in entries(name):
        if entry.call:
            assert report(name).place(entry), entry
            assert entry.verdict(report(name).tables), entry


@pytest.mark.parametrize("name", NAMES)
def test_each_printed_input_and_each_reference_is_that_of_our_runs(name):
    paper, tables = read(name), {table.title.partition(".")[0]: table for table in report(name).tables}
    data, references = tables["Data as printed, and as our runs used them"], tables["References"]
    assert {verdict.kind for verdict in data.verdicts} == {Kind.AS_PRINTED}
    assert {verdict.kind for verdict in references.verdicts} == {Kind.CHECKED}
    assert len({str(row[0]).rpartition(", ")[0] or row[0] for row in data.rows}) >= len(paper.data) / 2
    assert len(references.rows) == len(paper.references)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of all papers without its figures."""
    made = tuple(Made(replace(report(name), figures=()), {}, 0.0) for name in NAMES)
    return Collection("Five papers", made).save(tmp_path_factory.mktemp("page") / "report.html")


TOO_WIDE = (
    "[document.documentElement, ...document.querySelectorAll('.wide')]"
    ".filter(box => box.scrollWidth > box.clientWidth).map(box => box.parentElement.innerText.slice(0, 60))"
)


@pytest.mark.parametrize("width", [800, 1300])
def test_no_table_overflows(page, browser, width):
    view = browser.new_page(viewport={"width": width, "height": 1000})
    view.goto(page.as_uri())
    assert view.evaluate(TOO_WIDE) == []
    view.close()


def test_no_page_contains_a_brace_expression(page):
    text = re.sub(r"<style>.*?</style>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"\{[^}\n]*\}", text) == []


def test_a_table_that_cannot_be_computed_is_a_verdict():
    def fails():
        raise InputError("no such state")

    (table,) = guarded("Table 9", fails)
    assert table.rows[0][0] == "no such state"
    assert [verdict.kind for verdict in table.verdicts] == [Kind.DIFFERS]


@pytest.mark.parametrize("name", ["stanford", "shafei-tree", "puma560"])
def test_lagranges_equations_are_pinocchios(name, peer):
    model = appell.load(name, friction=False, armature=False).model
    q, v, a = np.random.default_rng(5).normal(size=(3, 4, model.nv))
    theirs = [peer(model).torque(*state) for state in zip(q, v, a, strict=True)]
    np.testing.assert_allclose(lagrangian.forces(model, q, v, a), theirs, rtol=0, atol=1e-11)
