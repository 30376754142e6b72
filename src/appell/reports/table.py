"""Tables for terminals, programs (JSON) and reports (HTML, Markdown)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from appell import display
from appell.errors import visible
from appell.reports.verdict import Verdict
from appell.syntax import html_text, markdown_cell

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

Cell = str | int | float | None
SHORT = 28
"""Maximum number of characters of a cell that is not wrapped on a page."""


@dataclass(frozen=True)
class Table:
    """Titled columns and rows, with notes below.

    Numbers are rounded for display only; a cell that does not apply is None. The rules of the verdicts are printed
    below the rows; a paper's table without verdicts has the reason in `unjudged`. A summary repeats verdicts of other
    tables and prints no rules.

    >>> table = Table("Counts", ("what", "n"), (("additions", 402), ("ratio", 0.123456)), ("signs are free",))
    >>> table.json()["rows"][1]
    {'what': 'ratio', 'n': 0.123456}
    >>> '<td class="number">0.1235</td>' in table.html()
    True
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    unjudged: str = ""
    is_summary: bool = False

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(f"table '{self.title}': duplicate column names")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table '{self.title}': a row has {len(row)} cells for {len(self.columns)} columns")

    def __str__(self) -> str:
        return printed(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.card(self.title, display.table(self.columns, self.rows), *self.remarks)

    def lines(self, width: int) -> list[str]:
        r"""Return the table as lines of text that fit a width, without a split token.

        Parameters
        ----------
        width
            The width of a line [characters].

        Returns
        -------
        list of str
            The title, the rows and the notes. Rows are wrapped at spaces, or columns are folded.

        Examples
        --------
        >>> print(*Table("Counts", ("what", "n"), (("additions", 402),), ("signs are free",)).lines(40), sep="\n")
        Counts
        <BLANKLINE>
        what         n
        ──────────────
        additions  402
        <BLANKLINE>
          signs are free
        """
        return [line for line, _ in self._styled(width)]

    def _styled(self, width: int) -> list[tuple[str, str]]:
        """Return the lines, each with its style."""
        # loaded when printing, so that `import appell` stays light
        from appell.reports.layout import Column, laid_out, wrapped  # noqa: PLC0415

        columns = [
            Column(head, tuple(text(row[k]) for row in self.rows), self._is_numeric(k))
            for k, head in enumerate(self.columns)
        ]
        notes = [line for note in self.remarks for line in wrapped(f"  {note}", width)]
        body = laid_out(columns, width) if self.rows else []
        parts = ((wrapped(self.title, width), "bold"), (body, ""), (notes, "dim"))
        lines: list[tuple[str, str]] = []
        for part, style in parts:
            lines += [("", "")] * bool(part and lines) + [(visible(line), style) for line in part]
        return lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Give a rich console the lines of its width."""
        from rich.text import Text  # noqa: PLC0415

        for line, style in (*self._styled(options.max_width), ("", "")):
            yield Text(line, style=style, no_wrap=True, overflow="ignore")

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of all rows."""
        return tuple(cell for row in self.rows for cell in row if isinstance(cell, Verdict))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the text below the rows: the rules of the verdicts, or the reason for their absence, and the notes."""
        rules = dict.fromkeys(f"Rule: {verdict.rule}" for verdict in self.verdicts if not self.is_summary)
        return (*rules, *([f"No verdict: {self.unjudged}"] if self.unjudged else []), *self.notes)

    def row(self, *first: Cell) -> dict[str, Cell]:
        """Return the row that starts with the given cells, as a dictionary by column.

        Raises
        ------
        KeyError
            When there is no such row.

        >>> Table("Counts", ("what", "n"), (("additions", 402),)).row("additions")["n"]
        402
        """
        for row in self.rows:
            if row[: len(first)] == first:
                return dict(zip(self.columns, row, strict=True))
        raise KeyError(f"table '{self.title}': no row starts with {first}")

    def json(self) -> dict[str, Any]:
        """Return the table as a dictionary of plain values, one dictionary per row."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "notes": list(self.remarks)}

    def markdown(self) -> str:
        """Return the table as Markdown, with right-aligned numbers.

        >>> print(Table("Counts", ("what", "n"), (("additions", 402),)).markdown())
        ## Counts
        <BLANKLINE>
        | what | n |
        |---|--:|
        | additions | 402 |
        <BLANKLINE>
        """
        rules = ("--:" if self._is_numeric(k) else "---" for k in range(len(self.columns)))
        lines = [_line(self.columns), f"|{'|'.join(rules)}|", *(_line(map(text, row)) for row in self.rows)]
        notes = [f"\n{note}" for note in self.remarks]
        return "\n".join([f"## {self.title}\n", *lines, *notes, ""])

    def html(self, level: int = 2, anchor: str = "") -> str:
        """Return the table as an HTML section with its title as a heading, and an anchor if given."""
        styles = [
            "verdict" if column == "verdict" else "number" if self._is_numeric(k) else ""
            for k, column in enumerate(self.columns)
        ]
        cells = zip(self.columns, styles, strict=True)
        head = "".join(f"<th{_class(style)}>{html_text(column)}</th>" for column, style in cells)
        body = "\n".join(f"<tr>{''.join(map(_td, row, styles))}</tr>" for row in self.rows)
        notes = "".join(map(_remark, self.remarks))
        place = f' id="{anchor}"' if anchor else ""
        rows = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
        return (
            f"<section{place}>\n<h{level}>{html_text(self.title)}</h{level}>\n"
            f'<div class="wide"><table{_class("summary" * self.is_summary)}>\n{rows}\n</table></div>\n'
            f"{notes}</section>\n"
        )

    def _is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def text(cell: Cell) -> str:
    """Return a cell as text: four digits of a float, a dash for None.

    >>> text(0.000123456), text(1042), text(None), text("96n − 101")
    ('0.0001235', '1042', '–', '96n − 101')
    """
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def printed(table: Table) -> str:
    """Return what a console prints of a table, without colours.

    >>> printed(Table("Counts", ("what", "n"), (("additions", 402),))).splitlines()[-1].split()
    ['additions', '402']
    """
    from rich.console import Console  # noqa: PLC0415

    stream = io.StringIO()
    Console(file=stream, color_system=None, highlight=False, force_jupyter=False).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


class Link(str):
    """A cell that links to a place on a page.

    >>> Link("Table 1", "mata2002-table-1").anchor
    'mata2002-table-1'
    """

    __slots__ = ("anchor",)
    anchor: str

    def __new__(cls, words: str, anchor: str) -> Link:
        """Return the words with their place."""
        made = super().__new__(cls, words)
        made.anchor = anchor
        return made


class Code(str):
    """A cell that is a call, set as code on a page."""

    __slots__ = ()


def _remark(text: str) -> str:
    is_rule = text.startswith(("Rule: ", "No verdict: "))
    return f'<p class="note{" rule" if is_rule else ""}">{html_text(text)}</p>\n'


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(markdown_cell, cells)) + " |"


def _td(cell: Cell, style: str) -> str:
    """Return a cell in the style of its column; calls, links and verdicts have their own style."""
    shown = html_text(text(cell))
    if isinstance(cell, Link):
        return f'<td{_class("link")}><a href="#{cell.anchor}">{shown}</a></td>'
    if isinstance(cell, Code):
        return f"<td{_class('code')}><code>{shown}</code></td>"
    if isinstance(cell, Verdict):
        style = f"verdict {cell.kind.css}"
    elif not style and isinstance(cell, str) and len(cell) <= SHORT:
        style = "short"
    return f"<td{_class(style)}>{shown}</td>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
