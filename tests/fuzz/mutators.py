"""Mutators of bytes and of text: a function of random numbers and an input that returns a damaged input."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

Mutator = Callable[[Random, bytes], bytes]

NUMBERS = (
    "nan", "NaN", "inf", "-inf", "1e308", "-1e308", "1e309", "-0", "0", "1e-320", "-1", "1e9", "1e-9", "1e20", "0x10",
    "1_000",
    "9223372036854775808", "1" + 400 * "0", "--1", "1.2.3", "1,5", "", " ", "٣", "1e", "true", "deg",
)  # fmt: skip
"""What replaces a number in a text."""
WORDS = (
    "", " ", "é", "日本", "\u202e", "\x00", "\x1b[2J", "%s%n", "{0}", "../../etc/passwd", "a" * 5000, "'", '"', "<",
    "]]>", "\\", "\n",
    "world", "root", "nan", "None", "__class__", "*/", '"""', "${x}", "-", "--", "/dev/zero", "//", "C:\\con",
    "\ufeff", "🤖", "\x85", "\u2028", "a\rb", "&#10;", "&#x85;", "&#x2028;", "\\n", "\\u001b[2J", "\\u2029", "\\u0000",
)  # fmt: skip
"""What replaces a name in a text."""
ENCODINGS = (
    "utf-8", "UTF-16", "utf-16le", "utf-32", "ISO-8859-1", "windows-1252", "EBCDIC-CP-US", "Shift_JIS", "GB18030",
    "undefined", "punycode", "idna", "utf-7", "rot13", "hex", "zlib", "unicode_escape", "raw_unicode_escape", "mbcs",
    "string-escape", "UCS-4", "", " ", "é", "a" * 5000, "utf-8\x00", "utf-8&#10;",
)  # fmt: skip
"""What XML declares as its encoding."""
BYTES = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x80",
    b"\r\n",
    b"\x1a",
    b"\xed\xa0\x80",
    b"\n" * 99,
    b" " * 9999,
)
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rb"[A-Za-z_][\w.-]*|[-+]?\d[\d.eE+-]*|[^\sA-Za-z0-9_]")
WORD = re.compile(rb"[A-Za-z_][\w-]*")


def flipped(rng: Random, data: bytes) -> bytes:
    """Return the input with some of its bits flipped."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated(rng: Random, data: bytes) -> bytes:
    """Return the input without its end, or without its beginning."""
    place = rng.randrange(len(data) + 1)
    return data[:place] if rng.random() < 0.8 else data[place:]


def _chunk(rng: Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 4, 16, 64, 1000)))


def duplicated(rng: Random, data: bytes) -> bytes:
    """Return the input with a chunk in it twice, or many times."""
    start, end = _chunk(rng, data)
    return data[:start] + data[start:end] * rng.choice((2, 2, 3, 100)) + data[end:]


def cut(rng: Random, data: bytes) -> bytes:
    """Return the input without a chunk."""
    start, end = _chunk(rng, data)
    return data[:start] + data[end:]


def inserted(rng: Random, data: bytes) -> bytes:
    """Return the input with bytes in it that do not belong there."""
    place = rng.randrange(len(data) + 1)
    return data[:place] + (rng.choice(BYTES) if rng.random() < 0.7 else rng.randbytes(8)) + data[place:]


def _replaced(rng: Random, data: bytes, pattern: re.Pattern[bytes], text: Callable[[], bytes]) -> bytes:
    """Return the input with something in place of one or two matches of a pattern."""
    for _ in range(rng.choice((1, 1, 2))):
        found = list(pattern.finditer(data))
        if not found:
            return inserted(rng, data)
        match = rng.choice(found)
        data = data[: match.start()] + text() + data[match.end() :]
    return data


def renumbered(rng: Random, data: bytes) -> bytes:
    """Return the input with another number in place of one of its numbers."""
    return _replaced(rng, data, NUMBER, lambda: rng.choice(NUMBERS).encode())


def reworded(rng: Random, data: bytes) -> bytes:
    """Return the input with another word in place of one of its words: one of its own, or a hostile one."""
    own = [match.group() for match in WORD.finditer(data)] or [b"x"]
    return _replaced(
        rng, data, WORD, lambda: rng.choice(own) if rng.random() < 0.6 else rng.choice(WORDS).encode("utf-8", "replace")
    )


def swapped(rng: Random, data: bytes) -> bytes:
    """Return the input with two of its tokens exchanged."""
    found = list(TOKEN.finditer(data))
    if len(found) < 2:
        return flipped(rng, data)
    first, second = sorted(rng.sample(found, 2), key=lambda match: match.start())
    between = data[first.end() : second.start()]
    return data[: first.start()] + second.group() + between + first.group() + data[second.end() :]


def relined(rng: Random, data: bytes) -> bytes:
    """Return the input with a line dropped, doubled, moved or emptied."""
    lines = data.splitlines(keepends=True) or [b""]
    line, place = rng.choice(lines), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        del lines[place]
    elif change == 1:
        lines.insert(place, line)
    elif change == 2:
        lines[place] = line
    else:
        lines[place] = b"\n"
    return b"".join(lines)


def encoded(rng: Random, data: bytes) -> bytes:
    """Return the text in another encoding, or with other line ends."""
    text = data.decode("utf-8", "replace")
    form = rng.choice(("utf-16", "utf-32", "utf-8-sig", "latin-1", "utf-7", "cr", "crlf", "upper", "declared"))
    if form == "declared":
        quote, name = rng.choice("'\""), rng.choice(ENCODINGS)
        declaration = f"<?xml version={quote}1.0{quote} encoding={quote}{name}{quote}?>".encode()
        return re.sub(rb"^\s*<\?xml[^>]*\?>", b"", data) if rng.random() < 0.2 else declaration + data
    if form in ("cr", "crlf"):
        return data.replace(b"\n", b"\r" if form == "cr" else b"\r\n")
    return text.upper().encode() if form == "upper" else text.encode(form, "replace")


OF_BYTES: Sequence[Mutator] = (flipped, truncated, duplicated, cut, inserted)
OF_TEXT: Sequence[Mutator] = (renumbered, renumbered, reworded, reworded, swapped, relined, encoded)


def mutated(rng: Random, data: bytes, mutators: Sequence[Mutator]) -> tuple[bytes, int]:
    """Return the input after one or more mutators, and how many."""
    count = rng.choice((1, 1, 1, 2, 2, 3, 6))
    for _ in range(count):
        data = rng.choice(mutators)(rng, data)
    return data, count
