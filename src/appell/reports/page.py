"""A page that stands alone: its style, its images and its contents in one file, and nothing fetched from elsewhere."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable
from typing import NamedTuple


class Line(NamedTuple):
    """A line of a table of contents: its title, the anchor that it leads to, and the lines below it."""

    title: str
    anchor: str
    below: tuple[Line, ...] = ()


def anchor(*words: str) -> str:
    """Return the words as the name of a place on a page.

    >>> anchor("mata2002", "Table 1. Inverse dynamics, n joints")
    'mata2002-table-1-inverse-dynamics-n-joints'
    """
    return "-".join(re.sub(r"\W+", "-", word.lower()).strip("-") for word in words)


def contents(entries: Iterable[Line]) -> str:
    r"""Return a table of contents as an HTML list.

    >>> contents([Line("a < b", "first")])
    '<ul>\n<li><a href="#first">a &lt; b</a></li>\n</ul>'
    """
    lines = (
        f'<li><a href="#{entry.anchor}">{html.escape(entry.title)}</a>'
        f"{contents(entry.below) if entry.below else ''}</li>\n"
        for entry in entries
    )
    return f"<ul>\n{''.join(lines)}</ul>"


def image(data: bytes, kind: str, caption: str, place: str) -> str:
    """Return a picture, kept in the page itself, with its caption."""
    text, coded = html.escape(caption), base64.b64encode(data).decode()
    return (
        f'<figure id="{place}"><img alt="{text}" src="data:image/{kind};base64,{coded}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def page(title: str, body: str, footer: str) -> str:
    """Return a whole page; the policy in its head keeps it from asking anyone for anything.

    >>> "default-src 'none'" in page("A page", "<p>text</p>", "made by hand")
    True
    """
    return _PAGE.format(title=html.escape(title), body=body, footer=html.escape(footer), style=_STYLE)


_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #555; --rule: #ddd; --strong: #888; --paper: #fff;
  --link: #0060a0; --agrees: #00694b; --better: #0060a0; --corrected: #8a4b00; --differs: #a63200; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #a8a8a8; --rule: #3a3a3a; --strong: #777;
  --paper: #161616; --link: #6db8ee; --agrees: #4fc79d; --better: #6db8ee; --corrected: #e8ab4a; --differs: #ff8a5c; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1.05rem; margin-top: 2rem; }
article { border-top: 2px solid var(--strong); margin-top: 3rem; }
a { color: var(--link); }
nav ul { padding-left: 1.2rem; } nav ul ul { font-size: 0.9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25rem 1.1rem 0.25rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { border-bottom: 2px solid var(--strong); }
td.short { white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
.agrees { color: var(--agrees); } .better { color: var(--better); } .corrected { color: var(--corrected); }
.differs { color: var(--differs); }
.note, figcaption, footer { color: var(--soft); font-size: 0.9rem; margin: 0.4rem 0; max-width: 48rem; }
figure { margin: 2rem 0; } img { max-width: 100%; height: auto; background: #fff; }
@media print {
  body { font-size: 10px; max-width: none; margin: 0; color: #000; background: #fff; }
  .wide { overflow: visible; } th, td { padding-right: 0.5rem; font-size: 8px; } td.short { white-space: normal; }
  figure, tr, h1, h2, h3 { break-inside: avoid; } h2, h3 { break-after: avoid; } article { break-before: page; }
  a { color: inherit; text-decoration: none; } img { max-height: 22cm; }
}
"""

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
<h1>{title}</h1>
{body}
<footer>{footer}</footer>
</body>
</html>
"""
