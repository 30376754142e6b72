"""Find habits of wording: ``python -m tests.words [PATH ...]`` lists them with advice, from tests/words.toml.

Prose is a page outside its code blocks, and the comments and strings of Python source, docstrings included. Code is
blanked: a sentence stays contiguous over line breaks and adjacent strings, and line numbers stay correct. Names in the
code have a table of their own: words that no identifier contains.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "words.toml"
CHECKED = ("src", "docs", "examples", "benchmarks", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
CODE = "\0"
"""Stands for a character of code; no pattern matches it."""
_FENCED = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_QUOTES = re.compile(r"""^[A-Za-z]*(?:\"{3}|'{3}|["'])|(?:\"{3}|'{3}|["'])$""")


class Habit(NamedTuple):
    """A habit of wording: its name, the pattern that finds it, what to write instead; texts with and without it."""

    name: str
    pattern: re.Pattern[str]
    instead: str
    example: list[str]
    allowed: list[str]


class Finding(NamedTuple):
    """A habit in a file."""

    path: Path
    line: int
    text: str
    habit: Habit

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.habit.name}: '{self.text}'; write: {self.habit.instead}"


def habits() -> list[Habit]:
    """Return the table of habits."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = []
    for row in table["habits"]:
        pattern = row.pop("pattern")
        for name, words in table["sets"].items():
            pattern = pattern.replace(f"{{{name}}}", words)
        found.append(Habit(pattern=re.compile(_spaced(pattern), re.IGNORECASE), **row))
    return found


def _spaced(pattern: str) -> str:
    """Return a pattern in which a space matches any white space, in a look-behind one character of it.

    >>> _spaced("(?<!a )b c")
    '(?<!a\\\\s)b\\\\s+c'
    """
    parts = re.split(r"(\(\?<[!=][^)]*\))", pattern)
    return "".join(part.replace(" ", r"\s" if part.startswith("(?<") else r"\s+") for part in parts)


def prose(path: Path) -> str:
    """Return the text of a file with everything but prose blanked, line by line as it was."""
    text = path.read_text(encoding="utf-8")
    return _prose_of_python(text) if path.suffix == ".py" else _FENCED.sub(lambda block: _blank(block[0]), text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", CODE, text)


def _prose_of_python(text: str) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    kept = list(re.sub(r"\S", CODE, text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.COMMENT:
            kept[begin:end] = re.sub(r"^#:?", lambda mark: " " * len(mark[0]), token.string)
        elif token.type == tokenize.STRING:
            kept[begin:end] = _QUOTES.sub(lambda mark: " " * len(mark[0]), token.string)
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE":  # from Python 3.12 on f-strings are tokens of their own
            kept[begin:end] = text[begin:end]
        elif tokenize.tok_name[token.type] in ("FSTRING_START", "FSTRING_END"):
            kept[begin:end] = " " * (end - begin)
    return "".join(kept)


def find(path: Path, table: list[Habit]) -> Iterator[Finding]:
    """Yield what a file's prose has of the table."""
    text = prose(path)
    for habit in table:
        for match in habit.pattern.finditer(text):
            yield Finding(path, text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), habit)


def names(path: Path) -> Iterator[Finding]:
    """Yield the identifiers of Python source that contain an avoided word, each once per line."""
    if path.suffix != ".py":
        return
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))["names"]
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    used = {(token.start[0], token.string) for token in tokens if token.type == tokenize.NAME}
    for line, name in sorted(used):
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name):
            if word.lower() in table:
                yield Finding(
                    path, line, name, Habit("avoided word in a name", re.compile(word), table[word.lower()], [], [])
                )


def files(places: list[str]) -> Iterator[Path]:
    """Yield the files of prose at places, folders searched through."""
    for place in map(Path, places):
        inside = [place] if place.is_file() else sorted(place.rglob("*"))
        yield from (path for path in inside if path.suffix in (".py", ".md"))


def main(places: list[str]) -> int:
    """Print the findings at places, by default all that is checked, and how many there are in each folder."""
    table = habits()
    paths = list(files(places or [str(ROOT / name) for name in CHECKED]))
    found = [finding for path in paths for finding in (*find(path, table), *names(path))]
    for finding in sorted(found, key=lambda finding: (finding.path, finding.line)):
        print(finding)
    for folder, number in Counter(_room(finding.path) for finding in found).most_common():
        print(f"{number:5d} {folder}")
    print(f"{len(found)} findings")
    return 1 if found else 0


def _room(path: Path) -> str:
    parts = (path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path).parts
    return "/".join(parts[:3] if parts[0] == "src" else parts[:1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
