"""The five reports as a whole: verdicts by rules only, and indexes whose calls and places exist."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

import appell
import appell.papers
from appell.papers import NAMES, reproduce
from appell.reports.index import Absent, Entry
from appell.reports.report import Report

SOURCES = sorted(Path(appell.papers.__path__[0]).glob("*.py"))


@cache
def report(name: str) -> Report:
    return reproduce(name)


def entries(name: str) -> tuple[Entry | Absent, ...]:
    index: tuple[Entry | Absent, ...] = importlib.import_module(f"appell.papers.{name}").INDEX
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
        if isinstance(entry, Entry):
            dotted = entry.call.partition("(")[0]
            target = f"appell.Robot.{dotted.removeprefix('robot.')}" if dotted.startswith("robot.") else dotted
            assert pkgutil.resolve_name(target) is not None, entry


@pytest.mark.parametrize("name", NAMES)
def test_each_place_of_the_index_is_in_the_report(name):
    for entry in entries(name):
        if isinstance(entry, Entry):
            assert report(name).place(entry), entry
            assert entry.verdict(report(name).tables), entry
