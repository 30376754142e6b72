"""A self-contained page: style, images and contents in one file, without external resources."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from appell.syntax import html_text


class Line(NamedTuple):
    """An entry of a table of contents: its title, its anchor, and the entries below it."""

    title: str
    anchor: str
    below: tuple[Line, ...] = ()


def anchor(*words: str) -> str:
    """Return words as an anchor name.

    >>> anchor("mata2002", "Table 1. Inverse dynamics, n joints")
    'mata2002-table-1-inverse-dynamics-n-joints'
    """
    return "-".join(re.sub(r"\W+", "-", word.lower()).strip("-") for word in words)


def contents(lines: Iterable[Line]) -> str:
    r"""Return a table of contents as an HTML list; sublists are folded.

    >>> contents([Line("a < b", "first")])
    '<ul>\n<li><a href="#first">a &lt; b</a></li>\n</ul>'
    """
    return f"<ul>\n{''.join(map(_line, lines))}</ul>"


def _line(line: Line) -> str:
    link = f'<a href="#{line.anchor}">{html_text(line.title)}</a>'
    below = f"<details><summary>{link}</summary>{contents(line.below)}</details>" if line.below else link
    return f"<li>{below}</li>\n"


def short(title: str) -> str:
    """Return the number of a table or figure, or its title without units if it has no number.

    >>> short("Table 6, by reading. The joint that strays most"), short("Motor torques of motion 1 [s, rad, N·m]")
    ('Table 6, by reading', 'Motor torques of motion 1')
    """
    return re.split(r"\. | \[", title)[0]


def image(data: bytes, kind: str, caption: str, place: str = "") -> str:
    """Return an embedded picture with its caption."""
    text, coded = html_text(caption), base64.b64encode(data).decode()
    name = f' id="{place}"' if place else ""
    return (
        f'<figure{name}><img alt="{text}" src="data:image/{kind};base64,{coded}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def page(title: str, navigation: Iterable[Line], body: str, footer: str) -> str:
    """Return a complete page; its content security policy blocks all external requests.

    >>> "default-src 'none'" in page("A page", [], "<p>text</p>", "made by hand")
    True
    """
    lines = tuple(navigation)
    nav = f"<nav>\n{contents(lines)}\n</nav>\n" if lines else ""
    style = (files("appell.reports") / "page.css").read_text(encoding="utf-8")
    return _PAGE.format(title=html_text(title), nav=nav, body=body, footer=html_text(footer), style=style)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{nav}<main>
{body}
<footer>{footer}</footer>
</main>
</body>
</html>
"""
