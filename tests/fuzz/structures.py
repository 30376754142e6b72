"""Mutators that know a format: trees of values (TOML, YAML, JSON), elements of XML, members of .npz files."""

from __future__ import annotations

import ast
import datetime
import io
import json
import math
import tomllib
import warnings
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import yaml
from lxml import etree

from tests.fuzz.mutators import NUMBERS, WORDS, flipped, inserted, mutated, renumbered, swapped, truncated

VALUES: tuple[Any, ...] = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, -0.0, 0, 0.0, -1, 1, 2, 1e9, 2**63, 2**64, 10**400, True,
    False, "", "nan",
    "é", "\x00", "a\nb", "\x1b[31m", "a" * 5000, "90 deg", "nan deg", [], {}, [[]], [0.0, 0.0, 0.0], [math.nan] * 3,
    [1e308] * 3, [1, 2],
    [0.0] * 9, [""],
)  # fmt: skip
"""What replaces a value in a tree of values."""

# Trees of values


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return every container of a tree with each of its keys."""
    entries = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [(value, key) for key, _ in entries] + [node for _, inner in entries for node in _nodes(inner)]


def changed(rng: Random, value: Any) -> Any:
    """Return a tree of values with one node dropped, doubled, exchanged, renamed, nested or replaced."""
    tree = json_copy(value)
    nodes = _nodes(tree)
    if not nodes:
        return rng.choice(VALUES)
    holder, key = rng.choice(nodes)
    other, other_key = rng.choice(nodes)
    change = rng.choice(("drop", "double", "exchange", "rename", "nest", "value", "value", "value", "deep", "own"))
    if change == "drop":
        del holder[key]
    elif change == "double" and isinstance(holder, list):
        holder[key:key] = [json_copy(holder[key])] * rng.choice((1, 1, 30))
    elif change == "exchange":
        holder[key], other[other_key] = json_copy(other[other_key]), json_copy(holder[key])
    elif change == "rename" and isinstance(holder, dict):
        holder[rng.choice([*WORDS, *(str(k) for _, k in nodes)])] = holder.pop(key)
    elif change == "nest":
        holder[key] = [holder[key]] if rng.random() < 0.5 else {"x": holder[key]}
    elif change == "deep":
        for _ in range(rng.choice((3, 40, 150))):
            holder[key] = [holder[key]]
    elif change == "own":
        holder[key] = json_copy(other[other_key])
    else:
        holder[key] = rng.choice(VALUES)
    return tree


def json_copy(value: Any) -> Any:
    """Return a copy of a tree of values."""
    if isinstance(value, dict):
        return {key: json_copy(item) for key, item in value.items()}
    return [json_copy(item) for item in value] if isinstance(value, list) else value


def _tree(parse: Callable[[str], Any], write: Callable[[Any], str]) -> Callable[[Random, bytes], bytes]:
    """Return the mutator of a format of trees; a text that is damaged already is damaged further."""

    def mutate(rng: Random, data: bytes) -> bytes:
        try:
            if b"*a" in data:
                raise ValueError("aliases, which would be written out")
            return write(changed(rng, parse(data.decode()))).encode("utf-8", "replace")
        except (ValueError, yaml.YAMLError, RecursionError, AttributeError, TypeError):
            return swapped(rng, data)

    return mutate


def toml_text(top: Any) -> str:
    """Return a tree of values as TOML, a line per key."""
    entries = top.items() if isinstance(top, dict) else [("x", top)]
    return "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in entries)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return repr(value) if isinstance(value, int | float) else json.dumps(str(value))


toml_tree = _tree(tomllib.loads, toml_text)
yaml_tree = _tree(yaml.safe_load, lambda tree: str(yaml.safe_dump(tree)))
json_tree = _tree(json.loads, json.dumps)


def yaml_alias(rng: Random, data: bytes) -> bytes:
    """Return a YAML file with aliases: a bomb, a loop, or one of its values used twice."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, rng.choice((2, 9)))]
    key = rng.choice(("closed_loop", "type", "name_mot"))
    loop = f"{key}: &own [*own]"
    return data + b"\n" + "\n".join([*lines, rng.choice((f"{key}: *a1", f"{key}: *a{len(lines) - 1}", loop))]).encode()


# XML


def xml_element(rng: Random, data: bytes) -> bytes:
    """Return an XML file with an element dropped, doubled, moved, renamed or nested in itself."""
    root = _parsed(data)
    inner = [] if root is None else [x for x in root.iter() if x is not root and isinstance(x.tag, str)]
    if root is None or not inner:
        return swapped(rng, data)
    element, other = rng.choice(inner), rng.choice([*inner, root])
    parent = element.getparent()
    change = rng.randrange(7)
    if change == 0:
        parent.remove(element)
    elif change == 1:
        parent.insert(rng.randrange(len(parent) + 1), _copy(element))
    elif change == 2 and other not in element.iter():
        other.insert(rng.randrange(len(other) + 1), element)
    elif change == 3:
        element.tag = rng.choice([x.tag for x in inner] + ["x", "é"])
    elif change == 4:
        for _ in range(rng.choice((1, 5, 300))):
            deeper = _copy(element)
            for child in list(deeper):
                deeper.remove(child)
            element.append(deeper)
            element = deeper
    elif change == 5:
        element.text = rng.choice(["text", "<![CDATA[", "é" * 100, "1 2 3"])
    else:
        parent[:] = rng.sample(list(parent), len(parent))
    return bytes(etree.tostring(root))


def xml_attribute(rng: Random, data: bytes) -> bytes:
    """Return an XML file with an attribute dropped, renamed, added, exchanged or replaced."""
    root = _parsed(data)
    holders = [] if root is None else [x for x in root.iter() if x.attrib]
    if root is None or not holders:
        return renumbered(rng, data)
    element, other = rng.choice(holders), rng.choice(holders)
    key, other_key = rng.choice(list(element.attrib)), rng.choice(list(other.attrib))
    change = rng.randrange(6)
    value = element.attrib[key]
    if change == 0:
        del element.attrib[key]
    elif change == 1:
        element.attrib[other_key] = value
    elif change == 2:
        element.attrib[key] = other.attrib[other_key]
    elif change == 3:
        numbers = value.split()
        place = rng.randrange(len(numbers) + 1)
        element.attrib[key] = " ".join([*numbers[:place], rng.choice(NUMBERS), *numbers[place + rng.randrange(2) :]])
    else:
        word = rng.choice(WORDS if change == 4 else NUMBERS)
        element.attrib[key] = "".join(x for x in word if x.isprintable())
    return bytes(etree.tostring(root))


def xml_document(rng: Random, data: bytes) -> bytes:
    """Return an XML file with entities, a declared encoding, an include, or another document around it."""
    heads = (
        b'<?xml version="1.0" encoding="utf-16"?>',
        b'<?xml version="1.0" encoding="nonsense"?>',
        b'<?xml version="1.1"?>',
        b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>',
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        b"<a>" * rng.choice((1, 300, 5000)),
        b"<!-- ",
        b"<![CDATA[",
    )
    body = data.partition(b"?>")[2] if data.startswith(b"<?xml") else data
    include = rng.choice(
        (b'<include file="missing.xml"/>', b'<include file="input.xml"/>', b"&c;", b"&a;", b"<xacro:if/>", b"")
    )
    place = body.find(b">") + 1
    return rng.choice(heads) + body[:place] + include + body[place:]


def _parsed(data: bytes) -> Any:
    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, remove_comments=True))
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def _copy(element: Any) -> Any:
    return etree.fromstring(etree.tostring(element))


def xml_encoding(rng: Random, data: bytes) -> bytes:
    """Return an XML file that declares an encoding, its own or another one, at its beginning or behind white space."""
    name, own = rng.choice(ENCODINGS), rng.choice(ENCODINGS)
    body = data.partition(b"?>")[2] if data.startswith(b"<?xml") else data
    if rng.random() < 0.5:
        try:
            body = body.decode().encode(own, "xmlcharrefreplace")
        except (LookupError, ValueError, AttributeError, TypeError):
            body += b"<!-- \xe9 -->"
    start = rng.choice((b"", b"", b"\n", b" \n ", b"\xef\xbb\xbf", b"\xff\xfe"))
    version = rng.choice((b"1.0", b"1.0", b"1.1", b"0.0", b""))
    return start + b'<?xml version="' + version + b'" encoding="' + name.encode() + b'"?>' + body


ENCODINGS = (
    *("utf-8", "UTF8", "utf-16", "utf-16-le", "utf-32", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252"),
    *("cp1250", "gb18030", "shift_jis", "euc-jp", "koi8-r", "utf-7", "punycode", "idna", "undefined", "unicode_escape"),
    *("rot13", "hex", "zlib", "cp037", "iso-8859-99", "nonsense", "", "a\0b", "\n", "é", "a" * 5000),
)
"""Encodings that a file may declare: of XML, of Python, of nobody."""


COMMENTS = (b"<!-- a -- b -->", b"<!-- ---->", b"<!-- <!-- -->", b"<!-- a --->", b"<!-->", b"<!--a--", b"<!----" * 999)
"""Comments with hyphens that XML does not allow."""


def xml_control(rng: Random, data: bytes) -> bytes:
    """Return an XML file with control characters in a name, a number or text, or with hyphens in a comment."""
    root = _parsed(data)
    holders = [] if root is None else [x for x in root.iter() if x.attrib]
    if not holders or rng.random() < 0.2:
        place = data.find(b">", rng.randrange(len(data) + 1)) + 1
        return data[:place] + rng.choice(COMMENTS) + data[place:]
    element = rng.choice(holders)
    key = rng.choice(list(element.attrib))
    element.attrib[key] = controlled(rng, element.attrib[key], XML_CONTROLS)
    return bytes(etree.tostring(root))


CONTROLS = (*"\n\r\t\x0b\x0c\x00\x7f\x85\u2028\u2029\u202e\ufeff", "\x1b[31m")
"""Characters that a message must not show as they are."""
XML_CONTROLS = tuple(x for x in CONTROLS if x >= "\x7f" or x in "\n\r\t")


def controlled(rng: Random, text: str, controls: tuple[str, ...] = CONTROLS) -> str:
    """Return a text with a control character in it."""
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(controls) + text[place:]


# Archives of files


def archive_member(rng: Random, data: bytes) -> bytes:
    """Return a zip archive with a member dropped, exchanged or damaged, by what it is: JSON, Parquet, bytes."""
    members = _members(data)
    if not members:
        return flipped(rng, data)
    place = rng.randrange(len(members))
    name, content = members[place]
    change = rng.randrange(8)
    if change == 0:
        del members[place]
    elif change == 1:
        members[place] = (name, rng.choice(members)[1])
    elif change == 2:
        members[place] = (name, mutated(rng, content, (flipped, truncated, inserted))[0])
    elif name.endswith(".json"):
        members[place] = (name, rng.choice((json_tree, json_tree, renumbered, swapped))(rng, content))
    else:
        members[place] = (name, parquet_table(rng, content))
    return zipped(members)


def parquet_table(rng: Random, data: bytes) -> bytes:
    """Return a .parquet file with a column dropped, doubled, renamed, of another type, with gaps or other metadata."""
    import pyarrow as pa  # an extra of appell's  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError):  # a file that was damaged before
        return flipped(rng, data)
    fields, columns = list(table.schema), [column.to_pylist() for column in table.columns]
    if not fields:
        return flipped(rng, data)
    k, other = rng.randrange(len(fields)), rng.randrange(len(fields))
    name, about = fields[k].name, fields[k].metadata
    arrays = [pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)]
    change = rng.randrange(7)
    if change == 0:
        del fields[k], arrays[k]
    elif change == 1:
        fields.append(fields[k])
        arrays.append(arrays[other] if arrays[other].type == fields[k].type else arrays[k])
    elif change == 2:
        fields[k] = fields[k].with_name(rng.choice([fields[other].name, "value.", "value.x", "", "\x00", "é", "case"]))
    elif change == 3:
        count = len(columns[k])
        arrays[k] = pa.array(rng.choice(_COLUMNS)(count))
        fields[k] = pa.field(name, arrays[k].type, metadata=about)
    elif change == 4:
        values = [None if rng.random() < 0.3 else x for x in columns[k]]
        arrays[k] = pa.array(values, fields[k].type)
    elif change == 5:
        fields[k] = fields[k].with_metadata({b"shape": rng.choice(_SHAPES)})
    else:
        rows = rng.randrange(len(columns[k]) + 1)
        arrays = [array.slice(rows) for array in arrays]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), stream)
    return stream.getvalue()


_SHAPES = (b"[]", b"[2]", b"[1, 2]", b"[-1]", b"[0]", b"[1.5]", b"3", b"null", b"[", b"\xff", b"[" * 5000)
_COLUMNS: tuple[Callable[[int], list[Any]], ...] = (
    lambda n: ["text"] * n, lambda n: [[1.0, 2.0]] * n, lambda n: [[1.0] * (k % 3) for k in range(n)],
    lambda n: [None] * n, lambda n: [{"a": 1}] * n, lambda n: [b"\xff"] * n, lambda n: [-1] * n,
    lambda n: [2**62] * n, lambda n: [math.nan] * n, lambda n: [True] * n, lambda n: [10**6] * n,
    lambda n: [datetime.date(2020, 1, 1)] * n, lambda n: [0.5] * n,
)  # fmt: skip
"""What replaces a column."""


# .npz


def npz_member(rng: Random, data: bytes) -> bytes:
    """Return an .npz file with a member dropped, doubled, renamed, cut off or replaced."""
    members = _members(data)
    if not members:
        return flipped(rng, data)
    place = rng.randrange(len(members))
    name, content = members[place]
    change = rng.randrange(9)
    if change == 0:
        del members[place]
    elif change == 1:
        members.append((name, rng.choice(members)[1]))
    elif change == 2:
        members[place] = (rng.choice([*(n for n, _ in members), "x.npy", "../x.npy", "é.npy", "q", ""]), content)
    elif change == 3:
        members[place] = (name, rng.choice((flipped, truncated, inserted))(rng, content))
    elif change == 4:
        members[place] = (name, rng.choice(members)[1])
    elif change == 5:
        members[place] = (name, _npy(rng.choice(_ARRAYS)))
    elif change == 6:
        members[place] = (name, _header(rng, content))
    elif change == 7:
        members[place] = (name, _spoiled(rng, content))
    else:
        members[place] = (name, _about(rng, content))
    return zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def npz_bomb(rng: Random, data: bytes) -> bytes:
    """Return an .npz file with a member that expands to more than a gigabyte of zeros; seldom, since it is slow."""
    members = _members(data)
    if not members or rng.random() < 0.995:
        return npz_member(rng, data)
    big, _ = members.pop(rng.randrange(len(members)))
    head = _npy(np.zeros(3)).replace(b"(3,), }        ", b"(201326592,), }")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in members:
            file.writestr(name, content)
        with file.open(big, "w", force_zip64=True) as member:
            for part in (head[:128], *[bytes(1 << 24)] * 96):
                member.write(part)
    return stream.getvalue()


def _members(data: bytes) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if sum(info.file_size for info in file.infolist()) > 1 << 24:
                return []
            return [(info.filename, file.read(info)) for info in file.infolist()]
    except Exception:  # a file that was damaged before
        return []


def zipped(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip file of members, names repeated where they are."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression) as file:
        warnings.simplefilter("ignore")
        for name, content in members:
            file.writestr(name or "x", content)
    return stream.getvalue()


def _loaded(content: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.load(io.BytesIO(content), allow_pickle=False)


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


_ARRAYS: tuple[Any, ...] = (
    np.zeros(()), np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.full(3, np.nan), np.array("text"),
    np.array(["a", "b"]),
    np.array([1 + 2j]), np.array([1], dtype=">i8"), np.array([True]), np.array([{"a": 1}], dtype=object),
    np.zeros((2, 2, 2)),
    np.array(["2020-01-01"], dtype="datetime64[s]"), np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    np.arange(5),
    np.array(b"\xff\xfe"), np.full((4, 2), 1e308), np.array([-1, 2**62]), np.zeros(1000), np.array([1.0, np.inf]),
    np.array("{}"), np.array("[]"), np.array("null"), np.array("[" * 5000), np.array("NaN"), np.array('"x"'),
)  # fmt: skip


def _header(rng: Random, content: bytes) -> bytes:
    """Return a .npy member whose header has another shape, type or order."""
    if len(content) < 12 or content[:6] != b"\x93NUMPY":
        return flipped(rng, content)
    size = int.from_bytes(content[8:10], "little")
    try:
        header = ast.literal_eval(content[10 : 10 + size].decode("latin-1"))
    except (ValueError, SyntaxError):
        return flipped(rng, content)
    options: dict[str, tuple[Any, ...]] = {
        "shape": ((), (0,), (-1,), (10**12,), (2**40, 2**40), (3,), (1, 1, 1), "x", None, (1.5,), (10**9,)),
        "descr": (
            "<f4",
            ">f8",
            "|O",
            "<U3",
            "<U999999999",
            "<c16",
            "<i8",
            "|b1",
            "<f16",
            "nonsense",
            [("a", "<f8")],
            "<M8[s]",
            "",
        ),
        "fortran_order": (True, False, 1, None),
    }
    key = rng.choice(list(options))
    if rng.random() < 0.1:
        header.pop(key, None)
    else:
        header[key] = rng.choice(options[key])
    text = (repr(header) + "\n").encode("latin-1")
    return content[:8] + len(text).to_bytes(2, "little") + text + content[10 + size :]


def _spoiled(rng: Random, content: bytes) -> bytes:
    """Return a .npy member of numbers with hostile numbers, in another order, type or shape."""
    try:
        array = _loaded(content)
        changed = array.astype(float)
    except Exception:  # a member that was damaged before
        return flipped(rng, content)
    change = rng.randrange(6)
    if change == 0 and changed.size:
        changed.flat[rng.randrange(changed.size)] = rng.choice((np.nan, np.inf, 1e308, -1e308, 1e-320, -1.0, 0.0, 1e9))
    elif change == 1:
        changed = changed[: rng.randrange(len(changed) + 1)] if changed.ndim else changed
    elif change == 2:
        return _npy(array.astype(rng.choice(("f4", ">f8", "i8", "c16", "U8", "b1", "f2"))))
    elif change == 3:
        changed = changed[::-1] if changed.ndim else changed[None]
    elif change == 4:
        changed = changed.T
    else:
        changed = changed[..., None]
    return _npy(changed)


def _about(rng: Random, content: bytes) -> bytes:
    """Return a .npy member of JSON text with its tree damaged; of TOML text in it too, at times."""
    try:
        array = _loaded(content)
        tree = json.loads(str(array))
    except Exception:  # a member that was damaged before
        return _spoiled(rng, content)
    if isinstance(tree, dict) and isinstance(tree.get("text"), str) and rng.random() < 0.3:
        tree["text"] = mutated(rng, tree["text"].encode(), (toml_tree,))[0].decode("utf-8", "replace")
        return _npy(np.array(json.dumps(tree)))
    return _npy(np.array(json.dumps(changed(rng, tree))))
