"""Docstrings for the site: a griffe extension that turns their two reStructuredText habits into Markdown.

Roles, :func:`appell.load`, become code that links to the reference where the name is in it; examples that stand without
a heading become code blocks, which Markdown would take for quotations.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([^`]+)`")
EXAMPLE = re.compile(r"(?:^>>> .*\n(?:.+\n)*)+", re.MULTILINE)
SECTION = re.compile(r"^-{3,}$", re.MULTILINE)
HEADING = re.compile(r"^Examples\n-{3,}$", re.MULTILINE)


def _linked(match: re.Match[str]) -> str:
    name = match[1]
    if not name.startswith("appell."):
        return f"`{name}`"
    return f'<autoref identifier="{name}" optional><code>{name}</code></autoref>'


def _fenced(match: re.Match[str]) -> str:
    before = match.string[: match.start()]
    if HEADING.search(before):
        return match[0]
    if SECTION.search(before):  # an example at the end of a section is one of its own
        return f"Examples\n--------\n{match[0]}"
    return f"```pycon\n{match[0]}```\n"


def markdown(text: str) -> str:
    """Return a docstring with its roles as links and its examples in fences."""
    text = EXAMPLE.sub(_fenced, text + "\n")
    return ROLE.sub(_linked, text).rstrip("\n")


class Docstrings(griffe.Extension):
    """Rewrites every docstring as it is read."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **kwargs: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
