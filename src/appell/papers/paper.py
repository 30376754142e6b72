"""What all papers share: their data files, and how their tables and reports are built.

A data file has what a paper prints: its title, an index of its equations, tables and figures, the errors in print, the
data of its examples and the numbers of its tables. No number of a data file enters a computation: it stands beside
ours.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import AppellError
from appell.papers.differences import off
from appell.reports.index import Entry
from appell.reports.report import Figure, Film, Pick, Report, picked, wanted_tables
from appell.reports.rules import Checked, Datum, Failed, Less, Reference
from appell.reports.table import Cell, Table
from appell.results.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

Numbers = tuple[str, Sequence[float]]
"""An algorithm and its numbers."""
Maker = Callable[[], Table | tuple[Table, ...]]
Check = tuple[str, str, ArrayLike, ArrayLike, str]
"""Equations, their quantity, ours, the same by an independent computation, and its name."""


@dataclass(frozen=True, eq=False)
class Paper:
    """What a paper prints: `data` are the inputs of its examples, `results` the numbers of its tables.

    `references` are numbers of an independent program for the same examples, `texts` the words around our tables.
    """

    name: str
    title: str
    gives: str
    corrections: tuple[str, ...]
    index: tuple[Entry, ...]
    picks: tuple[Pick, ...]
    data: Mapping[str, Any]
    references: Mapping[str, Any]
    results: Mapping[str, Any]
    texts: Mapping[str, Any]

    def table(self, name: str, rows: Iterable[tuple[Cell, ...]], columns: Sequence[str] = (), **values: Any) -> Table:
        """Return a table with the title, the columns and the notes of the data file, filled with values."""
        text = self.texts[name]
        notes = tuple(note.format(**values) for note in text.get("notes", ()))
        heads = columns or [head.format(**values) for head in text["columns"]]
        return Table(text["title"].format(**values), tuple(heads), tuple(rows), notes, text.get("unjudged", ""))

    def figures(self, draw: Mapping[str, Callable[[], Drawn]]) -> tuple[Figure, ...]:
        """Return figures with the captions of the data file."""
        captions = self.texts["figures"]
        return tuple(Figure(name, captions[name], drawn) for name, drawn in draw.items())

    def data_table(self, used: Mapping[str, ArrayLike]) -> Table:
        """Return the data as printed beside the data that our runs used, judged number by number.

        An entry of the data file is one row, or several rows of a list of lists; ``read`` has the reading of data that
        are illegible, contradictory or printed as formulas.
        """
        columns = ("what", "printed", "read as", "ours", "verdict")
        return Table("Data as printed, and as our runs used them", columns, tuple(_listed(self.data, used, Datum())))

    def references_table(self, computed: Mapping[str, ArrayLike]) -> Table:
        """Return numbers of independent programs, stored with the papers, beside ours."""
        rows = tuple((*row[:2], *row[3:]) for row in _listed(self.references, computed, Reference()))
        columns = ("what", "reference", "ours", "verdict")
        return Table("References. Numbers of an independent program", columns, rows)

    def report(
        self,
        makers: Mapping[str, Sequence[Maker]],
        tables: Sequence[str] | None,
        conclude: Callable[[], Table],
        used: Callable[[], Mapping[str, ArrayLike]],
        computed: Callable[[], Mapping[str, ArrayLike]],
        figures: Mapping[str, Sequence[Figure | Film]] = MappingProxyType({}),
        run: Run | None = None,
    ) -> Report:
        """Return the report with all tables and the conclusions, or with the requested tables, and their figures.

        `used` returns the data of our runs for the table "data", `computed` our numbers for the table "references".
        """
        data, references = (lambda: self.data_table(used())), (lambda: self.references_table(computed()))
        every: dict[str, Sequence[Maker]] = {**makers, "data": (data,), "references": (references,)}
        wanted = wanted_tables(self.name, tables, every)
        made = tuple(table for name in wanted for maker in every[name] for table in guarded(f"Table {name}", maker))
        ends = guarded("Conclusions of the paper", conclude) if tables is None else (None,)
        return Report(
            self.name,
            self.title,
            made,
            tuple(sorted((figure for name in wanted for figure in figures.get(name, ())), key=_number)),
            self.corrections,
            run=run,
            gives=self.gives,
            highlights=picked(made, self.picks),
            conclusions=ends[0],
            index=self.index,
        )


def _number(figure: Figure | Film) -> float:
    """Return the number of a figure of the paper; others follow."""
    number = figure.name.removeprefix("figure")
    return float(number) if number.isdecimal() else np.inf


def _listed(
    entries: Mapping[str, Any], ours: Mapping[str, ArrayLike], rule: Datum | Reference
) -> Iterator[tuple[Cell, ...]]:
    """Return the rows of data: name, as printed, the reading, ours, and the verdict."""
    for what, entry in entries.items():
        whole = entry if isinstance(entry, dict) else {"printed": entry}
        printed, readings, numbers = whole["printed"], whole.get("read"), np.asarray(ours[what], dtype=float)
        several = numbers.ndim > 1
        for k, row in enumerate(numbers if several else [numbers]):
            cells, read = (_row(x, k, several) for x in (printed, readings or printed))
            shown = ", ".join(cells), ", ".join(read) if readings else None
            used = np.atleast_1d(row).tolist()
            yield (
                f"{what}, {k + 1}" if several else what,
                *shown,
                ", ".join(f"{x + 0.0:.10g}" for x in used),
                rule(read, used),
            )


def _row(cells: Any, k: int, several: bool) -> list[str]:
    row = cells[k] if several and not isinstance(cells, str) else cells
    return [row] if isinstance(row, str) else row


@cache
def read(name: str) -> Paper:
    """Return the data file of a paper.

    >>> read("mata2002").title
    'serial-robot dynamics algorithms for moderately large numbers of joints'
    """
    top = tomllib.loads((files("appell.papers") / f"{name}.toml").read_text(encoding="utf-8"))
    index = tuple(Entry(*_frozen(row)) for row in top["index"])
    picks = tuple(Pick(*_frozen(row)) for row in top["picks"])
    texts = top["title"], top["gives"].strip(), tuple(line.strip() for line in top["corrections"])
    return Paper(
        name, *texts, index, picks, *(top.get(part, {}) for part in ("data", "references", "results", "texts"))
    )


def _frozen(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row)


def guarded(title: str, maker: Maker) -> tuple[Table, ...]:
    """Return tables, or one that reports the failure of their computation: a verdict and no crash.

    >>> def singular():
    ...     raise np.linalg.LinAlgError("Singular matrix")
    >>> guarded("Table 1", singular)[0].rows
    (('Singular matrix', 'differs'),)
    """
    try:
        made = maker()
    except (AppellError, ArithmeticError, LookupError, ValueError) as error:
        made = Table(title, ("failure", "verdict"), ((str(error), Failed("ours could not be computed")()),))
    return (made,) if isinstance(made, Table) else made


def checks(title: str, rows: Iterable[Check], notes: Sequence[str] = (), below: float = 1e-9) -> Table:
    """Return groups of equations, each beside an independent computation of the same, and the relative difference."""
    rule = Checked(below, "an independent computation, relative")
    judged = tuple((*row[:2], row[4], rule(off(np.asarray(row[2]), np.asarray(row[3])))) for row in rows)
    return Table(title, ("equations", "what", "checked against", "verdict"), judged, tuple(notes))


def facts(title: str, rows: Iterable[tuple[Cell, ...]], notes: Sequence[str] = (), unjudged: str = "") -> Table:
    """Return what the paper states beside ours."""
    return Table(title, ("what", "paper", "ours", "verdict"), tuple(rows), tuple(notes), unjudged)


COUNTED = (
    "Operations are traced and counted by one rule: 0, ±1, signs, sines, cosines and constants are free, common "
    "subexpressions count once, divisions and roots count as products."
)
LESS = Less("A statement holds when each of the first numbers is less than the second's; else it differs.")


def less(statement: str, first: Numbers, other: Numbers) -> tuple[Cell, ...]:
    """Return a statement that the numbers of one algorithm are less than those of another, and whether it holds.

    >>> less("fewer operations", ("this", (3, 2)), ("that", (4, 2)))
    ('fewer operations', 'this: 3, 2; that: 4, 2', 'does not hold')
    """
    worst = max(zip(first[1], other[1], strict=True), key=lambda pair: pair[0] - pair[1])
    shown = [f"{name}: {', '.join(f'{x:.4g}' for x in numbers)}" for name, numbers in (first, other)]
    return statement, "; ".join(shown), LESS(*worst)


def conclusions(rows: Iterable[tuple[Cell, ...]], notes: Iterable[str] = (COUNTED,)) -> Table:
    """Return the conclusions of a paper, ours, and whether each holds."""
    return Table("Conclusions of the paper", ("conclusion", "ours", "verdict"), tuple(rows), tuple(notes))
