"""Residuals of forward after inverse dynamics on third-party robots: the table of docs/robustness.md.

The packages that are installed, or folders of URDF and MJCF files:

    PYTHONPATH=. .venv/bin/python benchmarks/residuals.py [FOLDER ...]

Every file is loaded on a fixed and on a floating base. The exit code is 1 if a residual is large without a warning.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from tests.support.residuals import OUTCOMES, PACKAGES, files, outcomes


def main(folders: dict[str, Path]) -> int:
    """Print a table of folders, then the errors; return how many are wrong."""
    rows: list[list[object]] = []
    refused, wrong = Counter[str](), 0
    for name, folder in folders.items():
        paths, counts, worst = files(folder), Counter[str](), 0.0
        for path, floating, (what, residual, reason) in outcomes(paths):
            counts[what] += 1
            worst = max(worst, residual if what == "right" else 0.0)
            line = f"{path.relative_to(folder)}{' floating' if floating else ''}: {what} {residual:.1e} {reason}"
            print(line, file=sys.stderr, flush=True)
            if what in {"not loaded", "error"}:
                refused[re.sub(r"'[^']*'|[-+\w./]*/[-+\w./]*|\d+", "…", reason)[:110]] += 1
        wrong += counts["silent"]
        rows.append([name, len(paths), *(counts[what] for what in OUTCOMES), f"{worst:.0e}"])
    for row in (["package", "files", *OUTCOMES, "worst"], ["---"] * 9, *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    for reason, count in refused.most_common():
        print(f"{count:4d} × {reason}")
    return wrong


if __name__ == "__main__":
    given = {Path(folder).name: Path(folder) for folder in sys.argv[1:]}
    sys.exit(main(given or {name: folder for name, folder in PACKAGES.items() if folder.is_dir()}) > 0)
