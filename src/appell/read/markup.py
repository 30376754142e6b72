"""XML as bytes: positions of elements and attributes, and edits that leave everything else unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from appell.errors import ReadError

SAME = 1e-14
"""Relative difference up to which a number of the file is left unchanged."""
DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml\b[^>]*\?>")
ENCODING = re.compile(rb"encoding\s*=\s*[\"']([^\"']+)")
START = re.compile(rb"<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*(/?)>")
ATTRIBUTE = re.compile(rb"([^\s=<]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1")
"""Encodings that contain ASCII, in which numbers can be replaced."""


class Span(NamedTuple):
    """A range of bytes."""

    start: int
    end: int


@dataclass
class XmlNode:
    """An element: its name without prefix, its attributes, the spans of their values and of its tags."""

    tag: str
    attributes: dict[str, str]
    start: int
    inside: int
    """The end of the start tag."""
    is_empty: bool
    """Whether the element is empty: ``<link/>``."""
    spans: dict[str, Span] = field(default_factory=dict)
    children: list[XmlNode] = field(default_factory=list)
    end: int = 0

    def named(self, tag: str) -> Iterator[XmlNode]:
        """Yield the children of a name."""
        return (child for child in self.children if child.tag == tag)

    def child(self, tag: str) -> XmlNode | None:
        """Return the first child of a name, or None."""
        return next(self.named(tag), None)

    def numbers(self, name: str, count: int) -> tuple[float, ...]:
        """Return the numbers of an attribute, zeros where it is absent."""
        given = self.attributes.get(name)
        return tuple(map(float, given.split())) if given is not None else (0.0,) * count


def parse(data: bytes, source: str) -> XmlNode:
    """Return the root element of a document that was read before.

    Raises
    ------
    ReadError
        When its encoding is not one of :data:`ENCODINGS`, or a strict parser rejects it.

    >>> robot = parse(b'<robot><link name="base"/></robot>', "arm.urdf")
    >>> robot.children[0].attributes["name"], robot.children[0].is_empty
    ('base', True)
    """
    declared = DECLARATION.match(data)
    found = ENCODING.search(declared[0]) if declared else None
    encoding = found[1].decode("ascii", "replace").lower() if found else "utf-8"
    encoding = {"utf8": "utf-8", "ascii": "us-ascii", "latin-1": "iso-8859-1"}.get(encoding, encoding)
    if encoding not in ENCODINGS or b"\0" in data:
        raise ReadError("a template must be in UTF-8; convert it", source, 1)
    # readers differ in how they check the declaration, which is not needed otherwise
    blank = b" " * len(declared[0]) + data[len(declared[0]) :] if declared else data
    top = XmlNode("", {}, 0, 0, False)
    stack = [top]
    parser = expat.ParserCreate(encoding)

    def opened(name: str, attributes: dict[str, str]) -> None:
        tag = START.match(blank, parser.CurrentByteIndex)
        assert tag is not None  # or expat would have rejected it
        node = XmlNode(name.rpartition(":")[2], attributes, tag.start(), tag.end(), bool(tag[1]))
        for found in ATTRIBUTE.finditer(blank, tag.start(), tag.end()):
            which = 2 if found[2] is not None else 3
            node.spans[found[1].decode(encoding, "replace")] = Span(found.start(which), found.end(which))
        stack[-1].children.append(node)
        stack.append(node)

    def closed(_: str) -> None:
        node = stack.pop()
        node.end = node.inside if node.is_empty else blank.index(b">", parser.CurrentByteIndex) + 1

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    try:
        parser.Parse(blank, True)
    except expat.ExpatError as error:
        raise ReadError(f"not readable as XML: {expat.ErrorString(error.code)}", source, error.lineno) from None
    return top.children[0]


class Edits:
    """Edits of a document, applied together."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._changes: list[tuple[Span, bytes]] = []
        self._newline = b"\r\n" if b"\r\n" in data else b"\n"

    def made(self) -> bytes:
        """Return the document with all edits."""
        pieces, at = [], 0
        for (start, end), text in sorted(self._changes, key=lambda change: change[0]):
            pieces += [self._data[at:start], text]
            at = end
        return b"".join((*pieces, self._data[at:]))

    def set(self, node: XmlNode, name: str, values: Sequence[float], size: float = 0.0) -> None:
        """Set the numbers of an attribute; those equal up to rounding, and the white space between, are kept.

        `size` is the scale of the comparison, if larger than these numbers.
        """
        span = node.spans.get(name)
        texts = [number(x) for x in values]
        if span is None:
            place = node.inside - 1 - node.is_empty
            while self._data[place - 1 : place].isspace():
                place -= 1
            self._changes.append((Span(place, place), f' {name}="{" ".join(texts)}"'.encode()))
            return
        tokens = list(re.finditer(rb"\S+", self._data[span.start : span.end]))
        if len(tokens) != len(values):
            self._changes.append((span, " ".join(texts).encode()))
            return
        within = SAME * max(size, *map(abs, values))
        for token, x, text in zip(tokens, values, texts, strict=True):
            if abs(float(token[0]) - x) > within:
                where = Span(span.start + token.start(), span.start + token.end())
                self._changes.append((where, text.encode()))

    def add(self, parent: XmlNode, lines: Sequence[tuple[int, str]]) -> None:
        """Add lines of text after the last child of an element, each with its depth below the element."""
        indent = self._indent(parent)
        unit = indent or b"  "
        text = b"".join(self._newline + indent + unit * depth + line.encode() for depth, line in lines)
        if parent.is_empty:
            name = re.match(rb"<[^\s/>]+", self._data[parent.start :])
            assert name is not None
            end = b">" + text + self._newline + indent + b"</" + name[0][1:] + b">"
            place = parent.inside - 2
            while self._data[place - 1 : place].isspace():
                place -= 1
            self._changes.append((Span(place, parent.inside), end))
            return
        place = parent.children[-1].end if parent.children else parent.inside
        self._changes.append((Span(place, place), text))

    def _indent(self, node: XmlNode) -> bytes:
        before = self._data[: node.start].rpartition(b"\n")[2]
        return before if not before.strip() else b""


def number(x: float) -> str:
    """Return the shortest text that reads as the same float.

    >>> number(0.1)
    '0.1'
    """
    return repr(float(x))
