"""Several reports as one: a summary, the counts of verdicts, and one page with every table and figure."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from appell.read.files import write
from appell.reports.machine import machine, told
from appell.reports.page import Line, anchor, contents, page
from appell.reports.report import Made
from appell.reports.table import Table
from appell.reports.verdict import MEANING, Kind


def counted(tables: Iterable[Table]) -> dict[Kind, int]:
    """Return how many verdicts of each kind the tables hold.

    >>> from appell.reports.rules import Same
    >>> row = ("a", Same()(1, 1))
    >>> counted([Table("t", ("what", "verdict"), (row, row))])[Kind.AGREES]
    2
    """
    kinds = [verdict.kind for table in tables for verdict in table.verdicts]
    return {kind: kinds.count(kind) for kind in Kind}


@dataclass(frozen=True)
class Collection:
    """Reports that were made together.

    >>> from appell.reports.report import Report
    >>> collection = Collection("Two studies", (Report("one", "first").drawn(), Report("two", "second").drawn()))
    >>> [row[0] for row in collection.effort().rows]
    ['one', 'two', 'all']
    """

    title: str
    reports: tuple[Made, ...]

    def summary(self) -> Table:
        """Return the rows that matter most of every report, paper against ours."""
        rows = tuple((made.report.name, *highlight) for made in self.reports for highlight in made.report.highlights)
        return Table(_SUMMARY, ("paper", "what", "paper's value", "ours", "verdict"), rows)

    def effort(self) -> Table:
        """Return, report by report, how many verdicts of each kind there are, what there is to see, and the time."""
        rows: dict[str, list[float]] = {}
        for made in self.reports:
            report = made.report
            things = (len(report.tables), len(report.figures), len(report.corrections))
            seconds = round(report.seconds + made.seconds, 1)
            rows[report.name] = [*counted(report.tables).values(), *things, seconds]
        rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
        columns = ("paper", *(kind.value for kind in Kind), "tables", "figures", "errata", "seconds")
        notes = (
            "Verdicts of all rows of all tables; errata are errors found in the paper.",
            *(f"{kind.value}: {MEANING[kind]}" for kind in Kind),
        )
        return Table(_EFFORT, columns, tuple((name, *row) for name, row in rows.items()), notes)

    def html(self) -> str:
        """Return one page with everything, which needs no other file."""
        tables = (self.summary(), self.effort())
        first = [Line(table.title, anchor(table.title)) for table in tables]
        above = (table.html(2, anchor(table.title)) for table in tables)
        articles = (
            f'<article id="{made.entry.anchor}">\n<h2>{html.escape(made.entry.title)}</h2>\n{made.body(3)}\n</article>'
            for made in self.reports
        )
        toc = contents([*first, *(made.entry for made in self.reports)])
        on = f'<p class="note">Machine: {html.escape(told(machine()))}.</p>'
        seconds = sum(made.report.seconds + made.seconds for made in self.reports)
        body = "\n".join((f"<nav>\n{toc}\n</nav>", *above, on, *articles))
        return page(self.title, body, f"Made by appell in {seconds:.0f} s.")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; return its place."""
        return write(path, self.html())


_SUMMARY, _EFFORT = "The rows that matter", "Verdicts and time"
