"""Several reports as one page: counts of verdicts, conclusions of the papers, and all tables and figures."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from appell.files import write
from appell.reports.machine import described, machine
from appell.reports.page import Line, anchor, image, page
from appell.reports.report import Film, Made
from appell.reports.table import Cell, Link, Table
from appell.reports.verdict import MEANING, Kind
from appell.syntax import html_text


def counted(tables: Iterable[Table]) -> dict[Kind, int]:
    """Return the number of verdicts of each kind in the tables.

    >>> from appell.reports.rules import Same
    >>> row = ("a", Same()(1, 1))
    >>> counted([Table("t", ("what", "verdict"), (row, row))])[Kind.AGREES]
    2
    """
    kinds = [verdict.kind for table in tables for verdict in table.verdicts]
    return {kind: kinds.count(kind) for kind in Kind}


@dataclass(frozen=True)
class Collection:
    """A collection of reports.

    >>> from appell.reports.report import Report
    >>> collection = Collection("Two studies", (Report("one", "first").drawn(), Report("two", "second").drawn()))
    >>> [row[0] for row in collection.effort().rows]
    ['one', 'two', 'all']
    """

    title: str
    reports: tuple[Made, ...]

    def conclusions(self) -> Table:
        """Return the conclusions of the papers, and whether each holds in our results."""
        rows: list[tuple[Cell, ...]] = []
        for made in self.reports:
            table = made.report.conclusions
            if table is not None:
                name = Link(made.report.name, anchor(made.report.name))
                rows += [(name, *row) for row in table.rows]
        return Table(_CONCLUSIONS, ("paper", "conclusion", "ours", "verdict"), tuple(rows), is_summary=True)

    def summary(self) -> Table:
        """Return the most important rows of every report, paper against ours."""
        rows = tuple((made.report.name, *highlight) for made in self.reports for highlight in made.report.highlights)
        return Table(_SUMMARY, ("paper", "what", "paper's value", "ours", "verdict"), rows, is_summary=True)

    def effort(self) -> Table:
        """Return the number of verdicts of each kind, tables and figures, and the computing time of each report."""
        rows: dict[str, list[float]] = {}
        for made in self.reports:
            report = made.report
            things = (len(report.tables), len(report.figures), len(report.corrections))
            seconds = round(report.seconds + made.seconds, 1)
            rows[report.name] = [*counted(report.tables).values(), *things, seconds]
        rows["all"] = [round(sum(column), 1) for column in zip(*rows.values(), strict=True)]
        columns = ("paper", *(kind.value for kind in Kind), "tables", "figures", "errata", "seconds")
        notes = (
            "Verdicts of all rows of all tables, without conclusions; errata are errors found in the paper.",
            *(f"{kind.value}: {MEANING[kind]}." for kind in Kind),
        )
        return Table(_EFFORT, columns, tuple((name, *row) for name, row in rows.items()), notes)

    def html(self) -> str:
        """Return one self-contained page."""
        tables = [self.effort(), self.summary()]
        if any(made.report.conclusions for made in self.reports):
            tables.insert(0, self.conclusions())
        first = [Line(table.title, anchor(table.title)) for table in tables]
        above = (table.html(2, anchor(table.title)) for table in tables)
        articles = (
            f'<article id="{made.entry.anchor}">\n<p class="name">{html_text(made.report.name)}</p>\n'
            f"<h2>{html_text(made.heading)}</h2>\n{made.body(3)}\n</article>"
            for made in self.reports
        )
        on = f'<p class="note">Machine: {html_text(described(machine()))}.</p>'
        seconds = sum(made.report.seconds + made.seconds for made in self.reports)
        body = "\n".join((self._first(), *above, on, *articles))
        lines = [*first, *(made.entry for made in self.reports)]
        return page(self.title, lines, body, f"Made by appell in {seconds:.0f} s.")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; return its path."""
        return write(path, self.html())

    def _first(self) -> str:
        """Return the first screen: title, counts of verdicts and an animation, if any."""
        counts = counted(table for made in self.reports for table in made.report.tables)
        tiles = "".join(
            f'<li><b class="{kind.css}">{n}</b><span><strong class="{kind.css}">{kind.value}</strong>'
            f"{html_text(MEANING[kind])}</span></li>\n"
            for kind, n in counts.items()
        )
        held = [v.kind for made in self.reports if made.report.conclusions for v in made.report.conclusions.verdicts]
        holds = f" Of {len(held)} conclusions of the papers {held.count(Kind.HOLDS)} hold." if held else ""
        lead = (
            f"{counts[Kind.AGREES]} printed numbers are equal and {counts[Kind.HOLDS]} statements hold, among "
            f"{sum(counts.values())} verdicts on {len(self.reports)} papers, each by a rule printed below its "
            f"table.{holds}"
        )
        films = (
            image(made.images[figure.name], "gif", f"{made.report.name}: {figure.caption}")
            for made in self.reports
            for figure in made.report.figures
            if isinstance(figure, Film)
        )
        words = f'<h1>{html_text(self.title)}</h1>\n<p class="lead">{html_text(lead)}</p>'
        return (
            f'<header class="first">\n<div>{words}\n<ul class="tiles">\n{tiles}</ul></div>\n'
            f"{next(films, '')}\n</header>"
        )


_CONCLUSIONS, _SUMMARY, _EFFORT = "Conclusions of the papers", "Main results", "Verdicts and time"
