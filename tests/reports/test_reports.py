"""Tables and reports: numbers stay numbers, text is escaped, files are whole or not there."""

from __future__ import annotations

import json
import sys

import pytest
from rich.console import Console

from appell.errors import AppellError, InputError
from appell.files import write
from appell.reports.report import Figure, Report
from appell.reports.table import Table
from appell.results.style import figure

TABLE = Table("A <title>", ("what", "n"), (("a & b", 1.23456789), ("nothing", None)), ("[bold] stays",))


def test_json_keeps_every_digit_and_is_json():
    assert json.loads(json.dumps(TABLE.json()))["rows"][0] == {"what": "a & b", "n": 1.23456789}


def test_html_escapes_text_and_rounds_numbers():
    page = TABLE.html()
    assert "A &lt;title&gt;" in page
    assert "a &amp; b" in page
    assert '<td class="number">1.235</td>' in page


def test_a_terminal_shows_titles_notes_and_brackets_as_they_are():
    console = Console(width=100)
    with console.capture() as shown:
        console.print(TABLE)
    for text in ("A <title>", "a & b", "1.235", "–", "[bold] stays"):
        assert text in shown.get()


@pytest.mark.parametrize(("columns", "rows"), [(("a", "b"), ((1,),)), (("a", "a"), ((1, 2),))])
def test_a_table_that_cannot_be_is_refused(columns, rows):
    with pytest.raises(ValueError, match="table"):
        Table("t", columns, rows)


def test_a_file_that_cannot_be_replaced_leaves_no_draft(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "taken", "text")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


def test_a_report_without_matplotlib_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report = Report("r", "title", figures=(Figure("f", "caption", figure),))
    with pytest.raises(AppellError, match=r"appell\[plot\]"):
        report.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_figures_are_drawn_only_when_saved(tmp_path):
    drawn = []

    def draw():
        drawn.append(1)
        return figure(1.0, 1.0)

    report = Report("r", "title", figures=(Figure("f", "caption", draw),), corrections=("a < b",))
    assert drawn == []
    page = report.save(tmp_path).read_text()
    assert drawn == [1]
    assert "a &lt; b" in page
