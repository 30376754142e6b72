"""YAML with line numbers and restrictions: no alias, no tag, no duplicate key, limited depth, one document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from appell.errors import ReadError
from appell.extras import extra
from appell.files import MEGABYTE
from appell.messages import shown
from appell.read.place import Contents

DEEPEST = 16
"""The largest nesting depth of lists and mappings."""
LARGEST_FILE = MEGABYTE // 4
"""The largest accepted file [bytes], read in about a second; the loops of a robot take a few thousand."""


@dataclass
class YamlNode:
    """A value of a YAML file and its line: a text, a list of values, or values by key."""

    line: int
    text: str | None = None
    items: list[YamlNode] = field(default_factory=list)
    entries: dict[str, YamlNode] = field(default_factory=dict)
    is_list: bool = False


def document(given: Contents) -> YamlNode:
    """Return the document of a YAML file, whose root is a mapping.

    Values are built from the parser's events, so that the cost is proportional to the length of the file.

    >>> document(Contents(b"type: [6d, 3d]", "robot.yaml", False)).entries["type"].items[1].text
    '3d'
    """
    yaml = _yaml()
    try:
        events = yaml.parse(given.data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
        next(events), next(events)  # of the stream and of its first document
        top = _node(events, next(events), given, 0)
        next(events)  # of the document's end
        more = next(events)
    except (yaml.YAMLError, UnicodeDecodeError, StopIteration) as error:
        mark = getattr(error, "problem_mark", None)
        reason = " ".join(str(getattr(error, "problem", None) or error).split()) or "the file has no document"
        raise ReadError(f"not readable as YAML: {reason}", given.source, mark.line + 1 if mark else None) from None
    if not isinstance(more, yaml.StreamEndEvent):
        raise ReadError("the file has a second document; keep one", given.source, _line(more))
    return top


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _node(events: Iterator[Any], event: Any, given: Contents, depth: int) -> YamlNode:
    """Return the value that begins with an event, and consume its other events."""
    yaml = _yaml()
    node = YamlNode(_line(event))
    if isinstance(event, yaml.AliasEvent):
        raise ReadError(
            f"alias '*{event.anchor}': aliases are not supported; repeat the value", given.source, node.line
        )
    if event.tag is not None:
        raise ReadError(f"tag {shown(event.tag)}: tags are not supported; remove it", given.source, node.line)
    if depth > DEEPEST:
        raise ReadError(f"lists are nested more than {DEEPEST} deep", given.source, node.line)
    if isinstance(event, yaml.ScalarEvent):
        node.text = str(event.value)
    elif isinstance(event, yaml.SequenceStartEvent):
        node.is_list = True
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            node.items.append(_node(events, item, given, depth + 1))
    else:
        while not isinstance(item := next(events), yaml.MappingEndEvent):
            key = _node(events, item, given, depth + 1)
            if key.text is None or key.text in node.entries:
                problem = "expected a name as key" if key.text is None else f"key {shown(key.text)} is defined twice"
                raise ReadError(problem, given.source, key.line)
            node.entries[key.text] = _node(events, next(events), given, depth + 1)
    return node


def _yaml() -> Any:
    return extra("yaml", ".yaml files need")
