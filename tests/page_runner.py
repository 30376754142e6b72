"""Do what a page says, in this process and this folder: the steps come as JSON on stdin, the page's name as argument.

Run by test_docs.py, once a page; not a test itself.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import runpy
import sys
from pathlib import Path
from typing import Any

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _run(words: list[str]) -> int:
    """Run a command of appell or a Python script as the shell would, and return its exit code."""
    sys.argv = words[1:] if words[0] == "python" else words
    try:
        if words[0] == "python":
            runpy.run_path(words[1], run_name="__main__")
        else:
            from appell.cli import main  # noqa: PLC0415  # not every page has commands

            main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def main(page: str) -> None:
    """Do all steps; stop at the first that does not do what the page says."""
    sys.path.insert(0, "")  # scripts that the page saves can import each other
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for step in json.load(sys.stdin):
        expected, printed, failed = step.get("expected"), io.StringIO(), ""
        if "file" in step:
            Path(step["file"]).write_text(step["text"], encoding="utf-8")
            continue
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            if "python" in step:
                exec(compile(step["python"], page, "exec"), namespace)
            for words in step.get("commands", []):
                failed = failed or (" ".join(words) if _run(words) else "")
        said, where = printed.getvalue(), f"{page}, line {step['line']}"
        if bool(failed) != (expected is not None and expected.startswith("appell:")):
            sys.exit(f"{where}: {failed or 'a command'} {'failed' if failed else 'did not fail'}:\n{said}")
        if expected is not None and not doctest.OutputChecker().check_output(expected, said, FLAGS):
            sys.exit(f"{where}: printed\n{said}\nwhere the page has\n{expected}")


if __name__ == "__main__":
    main(sys.argv[1])
