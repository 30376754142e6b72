"""Reports: the tables and figures of one paper or study, saved as a self-contained page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from appell import display
from appell.errors import InputError
from appell.files import write
from appell.reports.index import Entry, tally
from appell.reports.page import Line, anchor, image, page, short
from appell.reports.table import Cell, Code, Link, Table
from appell.reports.verdict import Kind, Verdict
from appell.results.style import png
from appell.syntax import html_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


@dataclass(frozen=True)
class Figure:
    """A figure drawn on demand: its file name, its caption, and the drawing function."""

    name: str
    caption: str
    draw: Callable[[], Drawn]

    def png(self) -> bytes:
        """Return the figure as a PNG file."""
        return png(self.draw)


@dataclass(frozen=True)
class Film:
    """An animation made on demand: its file name, its caption, and the function that makes the GIF file."""

    name: str
    caption: str
    make: Callable[[], bytes]

    def gif(self) -> bytes:
        """Return the animation as a GIF file."""
        return self.make()


class Highlight(NamedTuple):
    """A main result: its name, the paper's value, ours, and the verdict."""

    what: str
    paper: Cell
    ours: Cell
    verdict: Cell


class Pick(NamedTuple):
    """The place of a highlight: the start of its table's title and of its row, and the columns of both values.

    `what` is the name of the highlight; `paper` is empty if the paper prints no value.
    """

    table: str
    row: tuple[Cell, ...]
    what: str
    paper: str
    ours: str


def wanted_tables(paper: str, tables: Iterable[object] | None, known: Iterable[str]) -> list[str]:
    """Return the names of the tables to compute. Default: all.

    Raises
    ------
    InputError
        When a name is unknown.

    >>> wanted_tables("mata2002", [4], ["3", "4"])
    ['4']
    """
    names = list(known)
    wanted = names if tables is None else [str(table) for table in tables]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise InputError(f"{paper}: unknown table {', '.join(unknown)}; known: {', '.join(names)}")
    return wanted


def picked(tables: Iterable[Table], picks: Iterable[Pick]) -> tuple[Highlight, ...]:
    """Return the highlights of the computed tables.

    >>> table = Table("Table 1. Counts", ("what", "paper", "ours", "verdict"), (("sums", 404, 318, "86 fewer"),))
    >>> picks = Pick("Table 1.", ("sums",), "sums", "paper", "ours"), Pick("Table 2.", ("x",), "x", "paper", "ours")
    >>> picked([table], picks)
    (Highlight(what='sums', paper=404, ours=318, verdict='86 fewer'),)
    """
    made = list(tables)
    found = []
    for pick in picks:
        for table in made:
            if table.title.startswith(pick.table):
                rows = (row for row in table.rows if row[: len(pick.row)] == pick.row)
                for row in (dict(zip(table.columns, row, strict=True)) for row in rows):
                    paper = row[pick.paper] if pick.paper else None
                    found.append(Highlight(pick.what, paper, row[pick.ours], row.get("verdict")))
    return tuple(found)


@dataclass(frozen=True)
class Report:
    """The reproduction of a paper.

    `name` is the paper's short name, `gives` a one-sentence summary of the paper, `highlights` its main results,
    `conclusions` a table of its conclusions and whether they hold in our results, `index` maps the paper's equations,
    tables and figures to calls and places, `corrections` are errors found in the paper, `seconds` is the computing time
    of the tables, `run` is the underlying simulation or fit, if any. Figures and animations are made on saving.

    >>> report = Report("demo", "A demonstration", (Table("One", ("n",), ((1,),)),))
    >>> report.json()["tables"][0]["rows"]
    [{'n': 1}]
    """

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure | Film, ...] = ()
    corrections: tuple[str, ...] = ()
    seconds: float = 0.0
    run: Any = field(default=None, repr=False)
    gives: str = ""
    highlights: tuple[Highlight, ...] = ()
    conclusions: Table | None = None
    index: tuple[Entry, ...] = ()

    def _repr_html_(self) -> str:
        shown = (*([self.conclusions] if self.conclusions else []), *self.tables)
        return display.card(self.title, self.gives, self.found, *(display.Html(x._repr_html_()) for x in shown))

    def json(self) -> dict[str, Any]:
        """Return the report without its figures as a dictionary of plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "gives": self.gives,
            "highlights": [highlight._asdict() for highlight in self.highlights],
            "conclusions": None if self.conclusions is None else self.conclusions.json(),
            "index": [entry._asdict() for entry in self.index],
            "tables": [table.json() for table in self.tables],
            "figures": [{"name": figure.name, "caption": figure.caption} for figure in self.figures],
            "corrections": list(self.corrections),
            "seconds": self.seconds,
        }

    def place(self, entry: Entry) -> str | None:
        """Return the anchor of the table or figure of an index entry; None if it is not in this report.

        >>> report = Report("demo", "A demonstration", (Table("Table 1. Counts", ("n",), ((1,),)),))
        >>> report.place(Entry("(1)", "a count", "robot.operations", "Table 1."))
        'demo-table-1-counts'
        """
        titles = [(table.title, table.title) for table in self.tables]
        titles += [(figure.caption, figure.name) for figure in self.figures]
        places = (anchor(self.name, name) for title, name in titles if title.startswith(entry.place))
        return next(places, None)

    @property
    def found(self) -> str:
        """Return a summary: the conclusions that do not hold, and the counts of verdicts."""
        counts = (
            f"Verdicts on rows of the tables: {tally(v for table in self.tables for v in table.verdicts) or 'none'}."
        )
        if self.conclusions is None:
            return counts
        verdicts = self.conclusions.verdicts
        held = sum(verdict.kind is Kind.HOLDS for verdict in verdicts)
        failed = [row[0] for row in self.conclusions.rows if _fails(row[-1])]
        listed = f" These do not: {'; '.join(map(str, failed))}." if failed else ""
        return f"{held} of {len(verdicts)} conclusions hold.{listed} {counts}"

    def shown(self, entry: Entry) -> str:
        """Return the number of the table or figure of an index entry."""
        titles = [*(table.title for table in self.tables), *(figure.caption for figure in self.figures)]
        return next((short(title) for title in titles if title.startswith(entry.place)), "")

    def drawn(self) -> Made:
        """Return the report with its figures and animations.

        >>> Report("demo", "A demonstration").drawn().images
        {}
        """
        start = time.perf_counter()
        images = {figure.name: _file(figure) for figure in self.figures}
        return Made(self, images, time.perf_counter() - start)

    def html(self) -> str:
        """Return the report as one self-contained page."""
        return self.drawn().html()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the page, one PNG per figure and one GIF per animation to a folder; return the path of the page.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Report("demo", "A demonstration").save(folder).name
        'demo.html'
        """
        return self.drawn().save(folder)


@dataclass(frozen=True)
class Made:
    """A report with its pictures, by name of the figure, and their drawing time [s]."""

    report: Report
    images: dict[str, bytes] = field(repr=False)
    seconds: float

    def html(self) -> str:
        """Return one self-contained page."""
        report = self.report
        took = f"{report.seconds + self.seconds:.1f} s"
        heading = f'<p class="name">{html_text(report.name)}</p>\n<h1>{html_text(self.heading)}</h1>'
        body = f"{heading}\n{self.body(2)}"
        return page(f"{report.name}: {report.title}", self.entry.below, body, f"Made by appell in {took}.")

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the page, one PNG per figure and one GIF per animation to a folder; return the path of the page."""
        name = self.report.name
        for figure in self.report.figures:
            write(Path(folder, f"{name}-{figure.name}.{_kind(figure)}"), self.images[figure.name])
        return write(Path(folder, f"{name}.html"), self.html())

    @property
    def heading(self) -> str:
        """Return the title with a capital letter, by which contents list the paper."""
        return self.report.title[:1].upper() + self.report.title[1:]

    @property
    def entry(self) -> Line:
        """Return the report's entries of a table of contents."""
        report = self.report
        shown = [*([report.conclusions] if report.conclusions else []), *([self.index] if report.index else [])]
        tables = [Line(short(table.title), self._place(table.title)) for table in (*shown, *report.tables)]
        figures = [Line(short(figure.caption), self._place(figure.name)) for figure in report.figures]
        corrections = [Line(_CORRECTIONS, self._place(_CORRECTIONS))] if report.corrections else []
        return Line(self.heading, anchor(report.name), (*tables, *figures, *corrections))

    @property
    def index(self) -> Table:
        """Return the index of the paper: its equations, tables and figures, calls, places and verdicts."""
        report = self.report
        rows: list[tuple[Cell, ...]] = []
        for entry in report.index:
            if not entry.call:
                rows.append((entry.where, entry.what, None, None, "absent: a photograph or a drawing of hardware"))
                continue
            place = report.place(entry)
            link = None if place is None else Link(report.shown(entry), place)
            verdict = entry.verdict(report.tables) if link else None
            rows.append((entry.where, entry.what, Code(entry.call), link, verdict))
        columns = ("in the paper", "what", "call", "in this report", "verdict")
        return Table(INDEX, columns, tuple(rows), is_summary=True)

    def body(self, level: int) -> str:
        """Return the contents of the report under headings of a level."""
        report = self.report
        opening = {"The paper": report.gives, "Found": report.found if report.conclusions else ""}
        lines = (f"<dt>{what}</dt><dd>{html_text(text)}</dd>" for what, text in opening.items() if text)
        gives = [f'<dl class="opening">{"".join(lines)}</dl>'] if report.gives else []
        shown = [*([report.conclusions] if report.conclusions else []), *([self.index] if report.index else [])]
        tables = [table.html(level, self._place(table.title)) for table in (*shown, *report.tables)]
        figures = [
            image(self.images[figure.name], _kind(figure), figure.caption, self._place(figure.name))
            for figure in report.figures
        ]
        found = "".join(f"<li>{html_text(line)}</li>\n" for line in report.corrections)
        heading = f"<h{level}>{_CORRECTIONS}</h{level}>"
        place = self._place(_CORRECTIONS)
        corrections = [f'<section id="{place}">{heading}\n<ul>\n{found}</ul></section>'] if found else []
        return "\n".join((*gives, *tables, *figures, *corrections))

    def _place(self, title: str) -> str:
        return anchor(self.report.name, title)


_CORRECTIONS = "Corrections"
INDEX = "Index. From the paper to calls and places"


def _fails(cell: Cell) -> bool:
    return isinstance(cell, Verdict) and cell.kind is Kind.DIFFERS


def _kind(figure: Figure | Film) -> str:
    return "png" if isinstance(figure, Figure) else "gif"


def _file(figure: Figure | Film) -> bytes:
    return figure.png() if isinstance(figure, Figure) else figure.gif()
