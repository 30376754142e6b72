"""HTML for notebooks: every piece of text is escaped unless it is HTML made here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from appell.syntax import html_text

MOST_ROWS = 200
"""Rows of a table that a notebook shows; the last line gives the number of the others."""
LONG = 60
"""Letters of a cell from which on it may be broken into lines."""


class Html(str):
    """Text that is HTML already; :func:`element` does not escape it.

    >>> element("b", "<script>"), element("p", Html("<br>"))
    ('<b>&lt;script&gt;</b>', '<p><br></p>')
    """

    __slots__ = ()


def element(name: str, *children: object, **attributes: object) -> Html:
    """Return an HTML element; children and attributes are escaped, except children that are :class:`Html`.

    A trailing underscore of an attribute's name is dropped, others become hyphens; True gives the name alone.

    >>> element("a", "x < y", href='"quoted"')
    '<a href="&quot;quoted&quot;">x &lt; y</a>'
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html_text(str(value))}"')
        for key, value in attributes.items()
        if value is not False and value is not None
    )
    inside = "".join(child if isinstance(child, Html) else html_text(str(child)) for child in children)
    return Html(f"<{name}{given}>{inside}</{name}>")


def number(value: object) -> str:
    """Return a cell as text: four digits of a float, a dash for None.

    >>> number(0.12345678), number(-1.5), number(None), number("a")
    ('0.1235', '−1.5', '–', 'a')
    """
    if value is None:
        return "–"
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], count: int | None = None) -> Html:
    """Return a table, columns of numbers aligned to the right; rows after the first 200 are counted.

    `count` is the number of rows, where they are computed as they are read.

    >>> "&lt;i&gt;" in table(("name", "n"), [("<i>", 1.0)])
    True
    """
    lines = rows if count is not None else list(rows)
    shown = list(islice(lines, MOST_ROWS))
    more = (count if count is not None else len(list(lines))) - len(shown)
    is_number = [
        any(isinstance(row[k], int | float) for row in shown)
        and all(row[k] is None or isinstance(row[k], int | float) for row in shown)
        for k in range(len(columns))
    ]
    sides = [f"text-align:{'right' if right else 'left'}" for right in is_number]
    head = element("tr", *(element("th", name, style=side) for name, side in zip(columns, sides, strict=True)))
    body = [element("tr", *map(_cell, row, sides)) for row in shown]
    if more > 0:
        body.append(element("tr", element("td", f"… {more} more", colspan=len(columns), style="text-align:left")))
    look = "border-collapse:collapse;margin:0.3em 0;white-space:nowrap"
    return element("table", element("thead", head), element("tbody", *body), cellpadding=4, style=look)


def _cell(cell: object, side: str) -> Html:
    text = cell if isinstance(cell, Html) else number(cell)
    return element("td", text, style=side if len(text) <= LONG else f"{side};white-space:normal;min-width:24em")


def card(title: str, *parts: str) -> Html:
    """Return what a notebook shows of an object: a title and, below it, HTML or lines of text.

    >>> card("two-link", "2 bodies").count("<div")
    3
    """
    below = (part if isinstance(part, Html) else element("div", part) for part in parts if part)
    head = element("div", title, style="font-weight:600;margin-bottom:0.2em")
    return element("div", head, *below, style="overflow-x:auto;max-width:100%")


def folded(title: str, body: Html, is_open: bool = True) -> Html:
    """Return HTML under a line that folds it away.

    >>> folded("joints", Html("<hr>"))
    '<details open><summary>joints</summary><hr></details>'
    """
    return element("details", element("summary", title), body, open=is_open)


def frame(height: int, **source: str) -> Html:
    """Return an inline frame of a page, by its address (``src``) or its text (``srcdoc``).

    >>> frame(400, srcdoc="<p>")[:31]
    '<iframe srcdoc="&lt;p&gt;" styl'
    """
    style = f"width:100%;height:{height}px;border:1px solid rgba(128,128,128,0.35);border-radius:4px"
    return element("iframe", **source, style=style, loading="lazy")


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook.

    >>> is_notebook()
    False
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
