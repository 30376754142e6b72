"""The word check finds its examples, leaves correct wording alone, and looks at prose only."""

from __future__ import annotations

import pytest

from tests.words import files, find, habits, main, names, prose

TABLE = habits()


@pytest.mark.parametrize("habit", TABLE, ids=lambda habit: habit.pattern.pattern[:20])
def test_a_pattern_finds_its_examples_and_not_what_is_allowed(habit):
    assert [text for text in habit.example if not habit.pattern.search(text)] == []
    assert [text for text in habit.allowed if habit.pattern.search(text)] == []
    assert habit.example
    assert habit.allowed


def test_code_is_no_prose(tmp_path):
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    page.write_text("A row per sample.\n```python\n# one row a sample\n```\n")
    module.write_text('told = {"per": 1}\nprint(told["per"])\n')
    assert [*find(page, TABLE), *find(module, TABLE)] == []
    assert prose(page).count("\n") == page.read_text().count("\n")


def test_names_are_checked_by_their_words(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("heir_of = HungBody = 1\nknots = asking = Pasta(heirloom=2)\nx.is_knot\n")
    assert [(finding.line, finding.text) for finding in names(module)] == [
        (1, "HungBody"),
        (1, "heir_of"),
        (3, "is_knot"),
    ]


def test_a_sentence_is_found_over_line_breaks_and_adjacent_strings(tmp_path):
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    page.write_text("Arrays have one\nrow a sample.\n")
    module.write_text('raise ValueError(\n    "expected one row "\n    f"a sample"\n)  # what is\n# left of it\n')
    assert [(finding.line, finding.text) for finding in find(page, TABLE)] == [(1, "one row a sample")]
    assert sorted((finding.line, finding.text) for finding in find(module, TABLE)) == [
        (2, "one row a sample"),
        (4, "what is left"),
    ]


def test_the_check_fails_where_there_is_a_finding(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("One row per sample.\n")
    assert list(files([str(tmp_path)])) == [page]
    assert main([str(tmp_path)]) == 0
    page.write_text("One row a sample.\n")
    assert main([str(tmp_path)]) == 1
    assert "per" in capsys.readouterr().out
