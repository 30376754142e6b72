"""Every printed input and each of sixteen formulas, changed in a copy, turns a verdict to "differs"."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from appell.papers import reproduce
from appell.read import catalogue
from appell.reports.verdict import Kind
from tests.papers.changes import ROBOTS, SOURCE, Change, Copy, constants, formulas, of_robot

SHORT = ("counts 200", "1 moment r × f", "11 (41)")
"""Changes that the normal tests try: starts of their names."""


def parameters(changes: list[Change]) -> list[object]:
    return [pytest.param(x, id=x.name, marks=[] if x.name.startswith(SHORT) else [pytest.mark.slow]) for x in changes]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("package"))


@pytest.mark.parametrize("change", parameters(formulas()))
def test_a_changed_formula_turns_a_verdict_and_no_figure_fails(package, change):
    assert package.turned(change, figures=True)


@pytest.mark.parametrize("change", parameters(constants()))
def test_a_changed_constant_turns_a_verdict(package, change):
    assert package.turned(change)


def forget() -> None:
    """Clear what the papers keep of the robots."""
    for name, module in list(sys.modules.items()):
        if name.startswith("appell.papers"):
            for made in vars(module).values():
                clear: Callable[[], None] | None = getattr(made, "cache_clear", None)
                if clear is not None:
                    clear()


@pytest.mark.parametrize("robot", [pytest.param(x, marks=[pytest.mark.slow] * (x == "puma600")) for x in ROBOTS])
def test_each_changed_number_of_a_robots_file_turns_a_verdict(robot, monkeypatch, request):
    request.addfinalizer(forget)
    right, silent = (SOURCE / f"data/{robot}.toml").read_text(encoding="utf-8"), []
    kept = catalogue.file_text
    for change in of_robot(robot):
        wrong = right[: change.start] + change.text + right[change.end :]
        monkeypatch.setattr(catalogue, "file_text", lambda name, wrong=wrong: wrong if name == robot else kept(name))
        forget()
        (table,) = reproduce(change.paper, tables=["data"]).tables
        if Kind.DIFFERS not in {verdict.kind for verdict in table.verdicts}:
            silent.append(change.name)
    assert silent == []
