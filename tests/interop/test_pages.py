"""The code of the pages on other libraries runs, in order, as a reader would run it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "packages"), [("migration", ["pinocchio", "mujoco"]), ("optimisation", ["casadi", "jax"])]
)
def test_the_code_of_a_page_runs(page, packages, tmp_path):
    for package in packages:
        pytest.importorskip(package)
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    program = "import warnings\nwarnings.simplefilter('error')\n" + "\n".join(blocks)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
