"""The panel's HTML; names from files are escaped."""

from __future__ import annotations

from collections.abc import Sequence

from appell.syntax import html_text

GREY = "#868e96"
RED = "#c92a2a"
AMBER = "#e67700"
BLUE = "#0072B2"
FRAME = "padding:0 0.9em 0.35em 0.9em;font-size:0.8em;line-height:1.45"


def notice(text: str, colour: str) -> str:
    """Return a line in a colour.

    >>> "<b>" in notice("<b>", RED)
    False
    """
    return f'<div style="{FRAME};color:{colour}">{html_text(text)}</div>'


def line(text: str) -> str:
    """Return an error or a warning, in red."""
    return notice(text, RED)


def small(text: str) -> str:
    """Return a remark, in grey."""
    return notice(text, GREY)


def heading(title: str, under: str) -> str:
    """Return the heading of the panel: a name, and a line below it."""
    return (
        f'<div style="padding:0.5em 0.9em 0.4em 0.9em"><div style="font-weight:600">{html_text(title)}</div>'
        f'<div style="font-size:0.8em;color:{GREY}">{html_text(under)}</div></div>'
    )


def bars(rows: Sequence[tuple[str, float, str, float]]) -> str:
    """Return a table of names, values, units and bars; the fourth number is the value of a full bar."""
    cell = "padding:0.05em 0.35em 0.05em 0;white-space:nowrap"
    body = "".join(
        f'<tr><td style="{cell};overflow:hidden;text-overflow:ellipsis;max-width:10em">{html_text(name)}</td>'
        f'<td style="{cell};text-align:right;font-variant-numeric:tabular-nums">{_number(value)}</td>'
        f'<td style="{cell};color:{GREY}">{html_text(unit)}</td>'
        f'<td style="width:45%">{_bar(value, whole)}</td></tr>'
        for name, value, unit, whole in rows
    )
    return f'<div style="{FRAME}"><table style="width:100%;border-collapse:collapse">{body}</table></div>'


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    body = "".join(
        f'<tr><td style="padding-right:0.8em;color:{GREY};white-space:nowrap">{html_text(name)}</td>'
        f'<td style="font-variant-numeric:tabular-nums">{html_text(value)}</td></tr>'
        for name, value in rows
    )
    return f'<div style="{FRAME}"><table style="border-collapse:collapse">{body}</table></div>'


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "0.00"


def _bar(value: float, whole: float) -> str:
    share = 50.0 * min(abs(value) / whole, 1.0) if whole > 0.0 else 0.0
    left = 50.0 if value >= 0.0 else 50.0 - share
    colour = RED if abs(value) > whole * (1.0 + 1e-9) else BLUE
    return (
        '<div style="position:relative;height:0.55em;background:rgba(134,142,150,0.18);border-radius:2px">'
        f'<div style="position:absolute;left:{left:.1f}%;width:{share:.1f}%;height:100%;background:{colour};'
        'border-radius:2px"></div></div>'
    )
