"""XML with line numbers and restrictions: no document type, no entity, no unexpanded macro, no network.

Harmless irregularities are accepted as by other readers, with a warning that names the line: a declaration after blank
lines or with an invalid version, duplicate elements, a double hyphen in a comment, a comma between two numbers, and
definitions of xacro that nothing uses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree

from appell.errors import ReadError, warn
from appell.files import file_bytes
from appell.messages import shown
from appell.model.model import Limits
from appell.read.place import Contents, Place
from appell.read.values import bound

Element = Any
"""An element of lxml, whose type stubs are incomplete."""

XACRO = "use the extension .xacro to have it expanded, or run xacro first: xacro robot.xacro > robot.urdf"
DECLARATION = re.compile(rb"\A(\xef\xbb\xbf)?(\s*)(<\?xml\b[^>]*\?>)")
DECLARED = re.compile(rb"encoding\s*=\s*[\"']([^\"']*)")
ENCODINGS = re.compile(
    rb"utf-?8|utf-?(16|32)(-?[bl]e)?|iso-10646-ucs-[24]|(us-)?ascii|iso-8859-\d\d?|latin-?1|(windows-|cp)125\d|koi8-[ru]"
    rb"|shift_jis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)
"""Encodings of XML: of the standard, and those of its parsers."""
COMMENT = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<!--(?P<text>.*?)-->|<!--.*\Z", re.DOTALL)
"""A comment, or what may contain the beginning of one as text."""
DEFINITIONS = ("arg", "property", "macro")
"""Elements of xacro that are nothing by themselves."""


def document(given: Contents) -> Element:
    """Return the root element of a document.

    >>> document(Contents(b"<robot><link/></robot>", "arm.urdf", False)).tag
    'robot'
    """
    data, source, _ = given
    if not data.strip():
        raise ReadError("the file is empty", source, 1)
    root = _parse(_declared(given))
    if root.getroottree().docinfo.doctype:
        line = data[: max(data.find(b"<!DOCTYPE"), 0)].count(b"\n") + 1
        raise ReadError("document types and entities are not supported; remove <!DOCTYPE>", source, line)
    _remove_definitions(root, source)
    return root


def outermost(path: Path | bytes) -> str:
    """Return the name of a file's root element, "" if there is none; its reader reports faults."""
    data = path if isinstance(path, bytes) else file_bytes(path)
    starts: Any = etree.iterparse(
        BytesIO(data.lstrip()), events=("start",), resolve_entities=False, no_network=True, recover=True
    )
    try:
        return next((tag(element) for _, element in starts), "")
    except (ValueError, etree.XMLSyntaxError):
        return ""


def elements(data: bytes) -> Iterator[Element]:
    """Yield the elements of a document as far as it can be parsed; its reader reports faults."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (ValueError, etree.XMLSyntaxError):
        return
    if root is not None:
        yield from root.iter(etree.Element)


def _is_xacro(element: Element) -> bool:
    return element.prefix == "xacro" or str(element.tag).startswith("xacro:")


def _remove_definitions(root: Element, source: str) -> None:
    """Remove definitions of xacro, with a warning; an element that has to be expanded is an error."""
    found = [element for element in root.iter(etree.Element) if _is_xacro(element) and tag(element) in DEFINITIONS]
    macros = {name for element in found if tag(element) == "macro" for name in element.get("name", "").split()[:1]}
    for element in found:
        if element is not root:
            element.getparent().remove(element)
    for element in root.iter(etree.Element):
        if _is_xacro(element) or tag(element) in macros:
            prefix = "xacro:" if _is_xacro(element) else ""
            raise ReadError(f"<{prefix}{tag(element)}> is a xacro macro; {XACRO}", source, line_of(element))
    if found:
        names = ", ".join(dict.fromkeys(f"<xacro:{tag(element)}>" for element in found))
        warn(f"{names}: ignored, nothing in the file uses it; otherwise {XACRO}", source, line_of(found[0]))


def _declared(given: Contents) -> Contents:
    """Return a document without its declaration if that is misplaced or has an invalid version; lines are kept."""
    data, source, is_text = given
    found = DECLARATION.match(data)
    if found is None:
        return given
    line = found[2].count(b"\n") + 1
    encoding = DECLARED.search(found[3])
    if encoding and not is_text and not ENCODINGS.fullmatch(encoding[1]):
        name = shown(encoding[1].decode("ascii", "backslashreplace"))
        raise ReadError(f"the encoding {name} is not one of XML; save the file in UTF-8", source, line)
    if not found[2] and re.search(rb"version\s*=\s*[\"']1\.\d", found[3]):
        return given
    fault = "follows white space; remove the text before it" if found[2] else "has an invalid version"
    warn(f"the XML declaration {fault}; read as version 1.0", source, line)
    blank = re.sub(rb"[^\n]", b" ", found[3])
    # a document without a declaration is in UTF-8
    rest = data[found.end() :]
    if encoding and not is_text and encoding[1].lower() not in (b"utf-8", b"utf8"):
        try:
            rest = rest.decode(encoding[1].decode()).encode()
        except (LookupError, UnicodeError) as error:
            raise ReadError(f"not readable as XML: {error}", source, line) from None
    return Contents(found[2] + blank + rest, source, is_text)


def same(first: Element, second: Element) -> bool:
    """Return whether two elements are equal: tag, attributes, text and children, except comments."""
    parts = [
        (e.tag, sorted(e.attrib.items()), (e.text or "").split(), [c for c in e if isinstance(c.tag, str)])
        for e in (first, second)
    ]
    (*head, inside), (*other, others) = parts
    return head == other and len(inside) == len(others) and all(map(same, inside, others))


def without_repeats(found: list[Element], source: str) -> list[Element]:
    """Return elements without exact duplicates of earlier ones, and warn of these."""
    kept: list[Element] = []
    first: dict[str, Element] = {}
    for element in found:
        earlier = first.setdefault(element.get("name", ""), element)
        if earlier is element or not same(earlier, element):
            kept.append(element)
            continue
        name = f" '{element.get('name')}'" if element.get("name") else ""
        warn(f"<{tag(element)}>{name} duplicates that of line {line_of(earlier)}; ignored", source, line_of(element))
    return kept


def _parse(given: Contents) -> Element:
    parser: Any = _parser(given)
    try:
        return etree.fromstring(given.data, parser)
    except etree.XMLSyntaxError as error:
        # Undeclared prefixes are common in files for old simulators, and are irrelevant for dynamics.
        log = parser.error_log
        fault = next((fault for fault in log if fault.domain_name != "NAMESPACE"), None)
        if len(log) and fault is None:
            return etree.fromstring(given.data, _parser(given, recover=True))
        if fault is not None and fault.type_name == "ERR_HYPHEN_IN_COMMENT":
            blank = COMMENT.sub(_without_hyphens, given.data)
            if blank != given.data:
                root = _parse(given._replace(data=blank))
                warn("a comment contains '--', which XML does not allow; ignored", given.source, fault.line)
                return root
        problem, line = (error.msg, error.lineno) if fault is None else (fault.message, fault.line)
        raise ReadError(f"not readable as XML: {problem.strip()}", given.source, line or 1) from None


def _without_hyphens(found: re.Match[bytes]) -> bytes:
    """Return a comment without its text if XML does not allow that; lines are kept."""
    text = found["text"]
    if text is None or not (b"--" in text or text.endswith(b"-")):
        return found[0]
    return b"<!--" + re.sub(rb"[^\n]", b" ", text) + b"-->"


def _parser(given: Contents, recover: bool = False) -> etree.XMLParser:
    # Text is decoded already, whatever encoding its XML declaration names.
    encoding = "utf-8" if given.is_text else None
    return etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, recover=recover, encoding=encoding
    )


def line_of(element: Element) -> int:
    """Return the line at which an element begins."""
    return int(element.sourceline)


def tag(element: Element) -> str:
    """Return an element's name without its namespace or prefix."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def children(parent: Element, name: str) -> list[Element]:
    """Return the children of a name in their parent's namespace."""
    namespace, brace, _ = str(parent.tag).rpartition("}")
    return [element for element in parent if element.tag == f"{namespace}{brace}{name}"]


def child(parent: Element, name: str, owner: Place) -> Element | None:
    """Return the one child of a name, or None."""
    found = children(parent, name)
    if len(found) > 1:
        found = without_repeats(found, owner.source)
    if len(found) > 1:
        raise replace(owner, line=line_of(found[1])).error(f"{len(found)} elements <{name}>; keep one")
    return found[0] if found else None


def first(parent: Element, name: str, owner: Place) -> Element | None:
    """Return the first child of a name, or None; others are ignored with a warning, as by other readers."""
    found = children(parent, name)
    kept = without_repeats(found, owner.source) if len(found) > 1 else found
    if len(kept) > 1:
        lines = ", ".join(str(line_of(x)) for x in kept[1:])
        warn(
            f"{owner.path}: {len(kept)} elements <{name}>, the others in line {lines}; the first counts, as in other "
            "readers",
            owner.source,
            line_of(kept[0]),
        )
    return kept[0] if kept else None


def required(parent: Element, name: str, owner: Place) -> Element:
    """Return the one child of a name."""
    found = child(parent, name, owner)
    if found is None:
        raise owner.error(f"no <{name}>; add one")
    return found


def attribute(element: Element, name: str, owner: Place) -> str:
    """Return a required attribute, without surrounding spaces."""
    value = (element.get(name) or "").strip()
    if not value:
        raise replace(owner, line=line_of(element)).error(f"<{tag(element)}> has no attribute '{name}'; add it")
    if "${" in value or "$(" in value:
        raise replace(owner, line=line_of(element)).error(f"'{value}' is a xacro expression; {XACRO}")
    return value


def place_of(element: Element, name: str, owner: Place) -> Place:
    """Return the place of an attribute."""
    return replace(owner, line=line_of(element), path=f"{owner.path}, <{tag(element)} {name}>")


def floats(element: Element, name: str, count: int, owner: Place) -> list[float]:
    """Return the numbers of an attribute, which may be infinite."""
    place, given = place_of(element, name, owner), attribute(element, name, owner)
    tokens = given.split()
    if any(token.endswith(",") for token in tokens[:-1]):
        warn(f"{place.path}: commas in {shown(given)} are ignored", place.source, line_of(element))
        tokens = [token.removesuffix(",") for token in tokens]
    if len(tokens) != count:
        noun = "number" if count == 1 else "numbers"
        raise place.error(f"expected {count} {noun}, got {len(tokens)} in {shown(given)}")
    return [bound(_float(token, place), place) for token in tokens]


def _float(token: str, place: Place) -> float:
    try:
        return float(token.replace("_", "?"))  # only Python reads 1_000 as a number
    except ValueError:
        raise place.error(f"expected a number, got {shown(token)}") from None


def ranged(limits: Limits, place: Place) -> Limits:
    """Return limits; where the lower position limit is above the upper one there is none, with a warning."""
    if limits.lower <= limits.upper:
        return limits
    bounds = f"the lower limit {limits.lower:g} is above the upper limit {limits.upper:g}"
    warn(f"{place.path}: {bounds}; read as no limit, as by simulators", place.source, place.line or 1)
    return replace(limits, lower=-math.inf, upper=math.inf)


def added(parent: Element, name: str, entries: Mapping[str, str] | None = None, /, **more: str) -> Element:
    """Return a new element at the end of another."""
    element: Element = etree.SubElement(parent, name)
    for key, value in {**(entries or {}), **more}.items():
        element.set(key, value)
    return element
