"""The pages of the manual: what they say to type runs, what they say is printed is, what they point at is there.

A page is read from top to bottom, in a folder of its own, as a reader would: a block with a title is saved under that
name, Python runs in one namespace, and of `sh` the commands of appell and Python run. An `output` block is what the
block before it prints, with `...` for anything; if it begins with `appell:`, the command is to fail with it. A block
that cannot run has `<!-- not run: reason -->` above.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import appell
from appell.papers import shafei2018_equations

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
"""What is run."""
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]
"""Where links and names of files are followed."""
RUNNER = ROOT / "tests" / "page_runner.py"
FENCE = re.compile(r'^(?P<indent> *)```(?P<language>[\w+]*|{eval-rst})(?: title="(?P<title>[^"]+)")?$')
NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
PROGRAMS = ("appell", "python")
WRITTEN = "Written by `"
"""How a page begins that nobody wrote by hand."""
OPTIONAL = ("casadi", "jax", "matplotlib", "mujoco", "pinocchio", "torch", "viser")
"""Packages that a page may need and a machine may lack."""


class Block(NamedTuple):
    """A fenced block: its language, the file it is, its text, its first line in the page, whether it is to run."""

    language: str
    title: str | None
    text: str
    line: int
    is_run: bool


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found: list[Block] = []
    before, start, opened = "", 0, None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if opened is None:
            opened, start, lines = FENCE.match(line), number + 1, []
            if opened is None and line.strip():
                before = line.strip()
        elif line.strip() == "```":
            body = textwrap.dedent("\n".join(lines) + "\n")
            found.append(Block(opened["language"], opened["title"], body, start, not NOT_RUN.fullmatch(before)))
            before, opened = "", None
        else:
            lines.append(line)
    return found


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of every command of a block of `sh`."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def steps(page: list[Block]) -> list[dict[str, Any]]:
    """Return what a reader of the page would do, in order."""
    done: list[dict[str, Any]] = []
    for block in page:
        if block.language == "output" and block.is_run:
            done[-1]["expected"] = block.text
        elif block.is_run and block.title is not None:
            done.append({"file": block.title, "text": block.text})
        elif block.is_run and block.language == "python":
            done.append({"python": "\n" * (block.line - 1) + block.text, "line": block.line})
        elif block.is_run and block.language == "sh":
            done.append({"commands": list(commands(block)), "line": block.line})
    return done


def name(path: Path) -> str:
    """Return a page's path in the repository."""
    return path.relative_to(ROOT).as_posix()


def needed(page: list[Block]) -> list[str]:
    """Return the optional packages that a page imports and that are not installed."""
    text = "\n".join(block.text for block in page if block.language == "python" and block.is_run)
    return [x for x in OPTIONAL if re.search(rf"^import {x}\b", text, re.MULTILINE) and not importlib.util.find_spec(x)]


def to_run() -> list[Path]:
    """Return the pages with something to run."""
    return [page for page in PAGES if steps(blocks(page.read_text(encoding="utf-8")))]


@pytest.fixture(scope="module")
def reader() -> Iterator[subprocess.Popen[str]]:
    """Return a process that reads pages, with warnings as errors."""
    command = [sys.executable, "-W", "error", str(RUNNER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.communicate()


@pytest.mark.parametrize("page", to_run(), ids=name)
def test_what_a_page_says_to_type_runs(page: Path, tmp_path: Path, reader: subprocess.Popen[str]) -> None:
    """In order, in a folder with the repository's examples alone; errors tell the line of the page."""
    found = blocks(page.read_text(encoding="utf-8"))
    if missing := needed(found):
        pytest.skip(f"{', '.join(missing)} not installed; run make install")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert reader.stdin is not None
    assert reader.stdout is not None
    print(json.dumps([name(page), str(tmp_path), steps(found)]), file=reader.stdin, flush=True)
    wrong = json.loads(reader.stdout.readline() or f'"the page ended the process with {reader.wait()}"')
    assert not wrong, wrong


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_block_says_what_it_is(page: Path) -> None:
    """So that it is coloured and, if it can be, run; other commands than ours are marked as not run."""
    text = page.read_text(encoding="utf-8")
    if WRITTEN in text[:400]:
        pytest.skip("written by a program, which has tests of its own")
    for block in blocks(text):
        assert block.language, f"line {block.line}: a fence without a language; `text` will do"
        if block.language == "sh" and block.is_run:
            for words in commands(block):
                assert words[0] in PROGRAMS, f"line {block.line}: '{words[0]}' is not run; say why above the block"


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"\s", "-", heading) for heading in plain}


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """To a file that is there, and a heading that it has."""
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


FILE = re.compile(r"`(?P<file>(?:[\w-]+/)+[\w-]+\.(?:py|c|md|toml))(?:: (?P<what>\w+))?`")


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    """In the repository or, of the rooms, under src/appell; `file.py: NAME` has that name in it."""
    for match in FILE.finditer(prose(page.read_text(encoding="utf-8"))):
        places = [ROOT / match["file"], ROOT / "src" / "appell" / match["file"]]
        there = [place for place in places if place.is_file()]
        assert there or match["file"].startswith("out/"), match[0]
        assert not match["what"] or match["what"] in there[0].read_text(encoding="utf-8"), match[0]


def test_the_site_lists_every_page() -> None:
    """Every page but the first is in the sidebar once."""
    contents = tomllib.loads((ROOT / "docs" / "pages.toml").read_text(encoding="utf-8"))
    listed = ["index", *(page for part in contents["part"] for page in part["pages"])]
    listed += [f"api/{page}" for page in contents["api"]["pages"]]
    listed = [re.sub(r".*<(.+)>", r"\1", page) for page in listed]
    assert sorted(listed) == sorted(page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in PAGES[1:])


def test_the_reference_has_every_public_name_once() -> None:
    """Of appell, its namespaces and a paper's equations; a name that is a module's too is given in full."""

    def place(prefix: str, room: Any, x: str) -> str:
        beside = Path(room.__file__).parent / x
        is_taken = beside.is_dir() or beside.with_suffix(".py").is_file()
        return f"{getattr(room, x).__module__ if is_taken else prefix}.{x}"

    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md")))
    rooms = {f"appell.{x}": getattr(appell, x) for x in appell.__all__ if isinstance(getattr(appell, x), ModuleType)}
    rooms |= {f"{a}.{x}": y for a, b in rooms.items() for x in b.__all__ if isinstance(y := getattr(b, x), ModuleType)}
    public = [place("appell", appell, x) for x in appell.__all__ if f"appell.{x}" not in rooms]
    names = [(prefix, room, x) for prefix, room in rooms.items() for x in room.__all__ if f"{prefix}.{x}" not in rooms]
    public += [place(*name) for name in names]
    public += [f"appell.papers.shafei2018.{x}" for x in shafei2018_equations.__all__]
    assert sorted(re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.MULTILINE)) == sorted(public)


# The reading of pages


def test_a_block_that_is_marked_is_left_out() -> None:
    """The mark gives a reason and stands above; without a reason it is none, and it holds for one block."""
    block = "```python\nx = {}\n```\n"
    page = "a\n" + block.format(1) + "<!-- not run: an arm -->\n" + block.format(2) + "\n" + block.format(3)
    page += "<!-- not run: -->\n\n" + block.format(4)
    assert [step["python"].strip() for step in steps(blocks(page))] == ["x = 1", "x = 3", "x = 4"]


def test_a_block_keeps_the_lines_of_its_page() -> None:
    """So that an error names the line to look at."""
    text = "one\n\n```python\nx = 1\n```\n"
    assert steps(blocks(text))[0]["python"].split("\n").index("x = 1") == text.split("\n").index("x = 1")


def test_commands_of_a_block_are_one_each() -> None:
    """Comments are none, and a line that ends in a backslash goes on."""
    text = "```sh\nappell info a.urdf  # look\n\nappell id a.urdf \\\n  -q 1,2\n```\n"
    found = [["appell", "info", "a.urdf"], ["appell", "id", "a.urdf", "-q", "1,2"]]
    assert steps(blocks(text)) == [{"commands": found, "line": 2}]
