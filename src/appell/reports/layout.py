"""Tables, trees and paragraphs as lines of text that fit a width: tokens are never split.

A token is what stands between spaces: a number, a name, a path. A line is longer than the width only where one token
alone is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

GAP = "  "
"""The space between columns."""
SHORT = 24
"""Characters up to which a cell stays on one line, if the width allows it at all."""
KEYS = 0.6
"""The largest share of the width for the columns that name the rows, which are repeated where a table is folded."""


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return text as lines of at most `width` characters, broken at spaces only.

    Parameters
    ----------
    text
        The text. Its spaces at the beginning are kept for every line.
    width
        The width of a line [characters].
    indent
        Added to every line but the first.

    Returns
    -------
    list of str
        The lines; one line is longer than the width if it is a single token.

    Examples
    --------
    >>> wrapped("joint shoulder_pan_joint is a continuous joint", 24)
    ['joint shoulder_pan_joint', 'is a continuous joint']
    """
    words = text.split()
    if not words:
        return [""]
    start = text[: len(text) - len(text.lstrip())]
    lines, line = [], start + words[0]
    for word in words[1:]:
        if cell_len(line) + 1 + cell_len(word) <= width:
            line += f" {word}"
        else:
            lines.append(line)
            line = f"{start}{indent}{word}"
    return [*lines, line]


@dataclass(frozen=True)
class Column:
    """A column of a table: its head and its cells as text."""

    head: str
    cells: tuple[str, ...]
    is_right: bool = False

    @property
    def natural(self) -> int:
        """Return the width at which nothing is wrapped."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def least(self) -> int:
        """Return the width down to which only long text and the head are wrapped: vectors and ranges stay whole."""
        short = (cell_len(cell) for cell in self.cells if cell_len(cell) <= SHORT)
        return max(self.tokens, *short, 0)

    @property
    def tokens(self) -> int:
        """Return the width of the longest token."""
        return max((cell_len(word) for text in (self.head, *self.cells) for word in text.split()), default=0)


def laid_out(columns: Sequence[Column], width: int) -> list[str]:
    r"""Return the lines of a table that fit a width: head, rule and rows.

    Cells are wrapped at spaces, or the columns are folded: those that do not fit follow below, after the first columns
    (the names of the rows) once more. Of the two, the one with fewer lines is returned.

    Examples
    --------
    >>> columns = [Column("joint", ("shoulder", "elbow")), Column("limit", ("-6.2832", "3.1416"), is_right=True)]
    >>> print(*laid_out(columns, 40), sep="\n")
    joint       limit
    ─────────────────
    shoulder  -6.2832
    elbow      3.1416
    >>> print(*laid_out(columns, 12), sep="\n")
    joint
    ────────
    shoulder
    elbow
    <BLANKLINE>
      limit
    ───────
    -6.2832
     3.1416
    """
    shown = [column for column in columns if column.head or any(column.cells)]
    if not shown:
        return []
    natural = [column.natural for column in shown]
    if _total(natural) <= width:
        return _block(shown, natural)
    folded = _folded(shown, width)
    widths = _shrunk(shown, width, is_last=False)
    if widths is None:
        return folded
    whole = _block(shown, widths)
    return whole if len(whole) <= len(folded) else folded


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _shrunk(columns: Sequence[Column], width: int, *, is_last: bool) -> list[int] | None:
    """Return widths that fit, taken from the widest columns first; None where the cells are too long for that.

    Short cells are wrapped only in the last resort.
    """
    widths, least = [column.natural for column in columns], [column.least for column in columns]
    if _total(least) > width:
        least = [column.tokens for column in columns]
        if not is_last or _total(least) > width:
            return None
    while _total(widths) > width:
        widest = max((k for k in range(len(widths)) if widths[k] > least[k]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _folded(columns: Sequence[Column], width: int) -> list[str]:
    """Return the blocks of a folded table, each with the first columns that identify the rows, if there is room."""
    count = len(columns[0].cells)
    keys: list[Column] = []
    for column in columns:
        if _total([key.natural for key in [*keys, column]]) > KEYS * width:
            break
        keys.append(column)
        if not column.is_right and column.head and len(set(zip(*(key.cells for key in keys), strict=True))) == count:
            break  # the name of the row
    blocks = _blocks(keys, columns[len(keys) :], width)
    if not any(_shrunk([*keys, *block], width, is_last=len(block) == 1) for block in blocks):
        keys, blocks = [], _blocks([], columns, width)
    lines: list[str] = []
    for block in blocks:
        lines += [""] * bool(lines) + _fitted(keys, block, width)
    return lines


def _blocks(keys: list[Column], columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Return the columns in groups that fit beside the names of the rows; a column that does not is a group."""
    blocks: list[list[Column]] = []
    for column in columns:
        if blocks and _total([x.natural for x in [*keys, *blocks[-1], column]]) <= width:
            blocks[-1].append(column)
        else:
            blocks.append([column])
    return blocks


def _fitted(keys: list[Column], block: list[Column], width: int) -> list[str]:
    """Return a block; a column too wide for the names beside it is wrapped, and stands alone where that is not enough.

    Alone, a column whose tokens are longer than the width is the only one to exceed it.
    """
    both = [*keys, *block]
    widths = _shrunk(both, width, is_last=len(block) == 1)
    if widths is None and not keys:
        widths = [column.tokens for column in block]
    return _fitted([], block, width) if widths is None else _block(both, widths)


def _block(columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    count = len(columns[0].cells)
    head = _row([column.head for column in columns], columns, widths)
    rows = [_row([column.cells[k] for column in columns], columns, widths) for k in range(count)]
    return [*head, "─" * _total(widths), *(line for row in rows for line in row)]


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    """Return the lines of a row; every cell begins on the first."""
    parts = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [
        GAP.join(
            _padded(part[k] if k < len(part) else "", width, is_right=column.is_right)
            for part, column, width in zip(parts, columns, widths, strict=True)
        ).rstrip()
        for k in range(max(map(len, parts)))
    ]


def _padded(text: str, width: int, *, is_right: bool) -> str:
    space = " " * max(width - cell_len(text), 0)
    return space + text if is_right else text + space


def tree(root: str, labels: Sequence[str], parents: Sequence[int], width: int) -> list[str]:
    r"""Return the lines of a tree that fits a width.

    Every level is indented. Where that is too wide, only branches are: an only child stands below its parent, after a
    bar.

    Parameters
    ----------
    root
        The label of the root.
    labels
        The labels of the other nodes, parents before children.
    parents
        The index of each node's parent; negative for the root.
    width
        The width of a line [characters].

    Examples
    --------
    >>> print(*tree("base", ["upper arm", "forearm", "hand"], [-1, 0, 0], 40), sep="\n")
    base
    └── upper arm
        ├── forearm
        └── hand
    >>> print(*tree("base", ["upper arm", "forearm", "hand"], [-1, 0, 0], 14), sep="\n")
    base
    │ upper arm
    ├── forearm
    └── hand
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(max(parent, -1), []).append(node)
    full = _tree_lines(labels, children, is_flat=False)
    if any(cell_len(first + label) > width for first, _, label in full):
        full = _tree_lines(labels, children, is_flat=True)
    lines = wrapped(root, width)
    for first, rest, label in full:
        start, *more = wrapped(label, width - cell_len(first), indent="  ")
        lines += [first + start, *(rest + line for line in more)]
    return lines


def _tree_lines(labels: Sequence[str], children: dict[int, list[int]], *, is_flat: bool) -> list[tuple[str, str, str]]:
    """Return the lines below the root: what stands before the label, before its further lines, and the label."""
    lines: list[tuple[str, str, str]] = []
    waiting = [(node, "", children.get(-1, [])) for node in reversed(children.get(-1, []))]
    while waiting:
        node, lead, siblings = waiting.pop()
        if is_flat and len(siblings) == 1:
            first, rest, below = f"{lead}│ ", f"{lead}│ ", lead
        else:
            is_last = node == siblings[-1]
            first, rest = f"{lead}{'└' if is_last else '├'}── ", f"{lead}{' ' if is_last else '│'}   "
            below = rest
        lines.append((first, rest, labels[node]))
        own = children.get(node, [])
        waiting += [(child, below, own) for child in reversed(own)]
    return lines
