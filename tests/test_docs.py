"""The pages of the manual: their Python runs, block after block, as a reader would type it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ["control.md", "export.md"]
"""The pages that are run."""
BLOCK = re.compile(r"^(?P<before>[^\n]*)\n+```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: \S.*-->")


def blocks(text: str) -> list[str]:
    """Return the Python blocks of a page, at their own lines, but those marked ``<!-- not run: reason -->`` above."""
    found = []
    for match in BLOCK.finditer("\n" + text):
        if not NOT_RUN.fullmatch(match["before"].strip()):
            line = text[: match.start("code") - 1].count("\n")
            found.append("\n" * line + match["code"])
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """In order, in one namespace, in an empty folder; errors tell the line of the page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert blocks(text)
    runner = "\n".join(f"exec(compile({code!r}, {page!r}, 'exec'), globals())" for code in blocks(text))
    (tmp_path / "run.py").write_text(runner, encoding="utf-8")
    command = [sys.executable, "-W", "error", "run.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_block_that_is_marked_is_left_out() -> None:
    """The mark gives a reason and stands on the line above; without a reason it is none."""
    block = "```python\nx = {}\n```\n"
    page = "a\n" + block.format(1) + "<!-- not run: an arm -->\n" + block.format(2)
    page += "<!-- not run: -->\n\n" + block.format(3)
    assert [code.strip() for code in blocks(page)] == ["x = 1", "x = 3"]


def test_a_block_keeps_the_lines_of_its_page() -> None:
    """So that an error names the line to look at."""
    text = "one\n\n```python\nx = 1\n```\n"
    assert blocks(text)[0].split("\n").index("x = 1") == text.split("\n").index("x = 1")
