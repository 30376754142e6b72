"""The index of a paper: the call that computes each equation, table or figure, and its place in the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from appell.reports.table import Cell, Table
from appell.reports.verdict import Kind, Verdict


class Entry(NamedTuple):
    """One line of a paper's index; without a call, a photograph or a drawing of hardware that is not reproduced.

    Parameters
    ----------
    where
        Equations, table or figure of the paper: "(25)–(60)", "Table 3", "Figure 14".
    what
        A short description.
    call
        The call of appell that computes it: ``robot.`` and a verb, or an importable dotted name, with arguments.
    place
        Start of the title of a table or of the caption of a figure in the report.
    row
        Start of the row with the verdict; empty for all rows of the table.
    judged
        Start of the title of the table with the verdict, if the place is a figure.
    """

    where: str
    what: str
    call: str = ""
    place: str = ""
    row: tuple[Cell, ...] = ()
    judged: str = ""

    def verdict(self, tables: Iterable[Table]) -> Cell:
        """Return the verdict: of the row, of all rows of the table, or that a figure is drawn.

        >>> table = Table("Table 1. Counts", ("what", "verdict"), (("sums", Verdict("equal", Kind.AGREES, "")),))
        >>> Entry("(1)", "sums", "robot.operations", "Table 1.").verdict([table])
        '1 agree'
        """
        for table in tables:
            if table.title.startswith(self.judged or self.place):
                if not self.row:
                    return tally(table.verdicts) or f"none: {table.unjudged}"
                rows = [row for row in table.rows if row[: len(self.row)] == self.row]
                return rows[0][-1] if rows else None
        return None if self.judged else "drawn, no verdict"


def tally(verdicts: Iterable[Verdict]) -> str:
    """Return the number of verdicts of each kind as text.

    >>> equal, fewer = Verdict("equal", Kind.AGREES, ""), Verdict("14 fewer", Kind.FEWER, "")
    >>> tally([equal, fewer, equal])
    '2 agree, 1 fewer'
    """
    kinds = [verdict.kind for verdict in verdicts]
    return ", ".join(f"{kinds.count(kind)} {_PLURAL.get(kind, kind.value)}" for kind in Kind if kind in kinds)


_PLURAL = {Kind.AGREES: "agree", Kind.HOLDS: "hold", Kind.DIFFERS: "differ"}
