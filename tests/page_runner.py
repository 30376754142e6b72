"""Do what pages say, one after the other: importing appell takes longer than most of them.

A line of JSON on stdin is a page: its name, the folder to work in, and the steps. A line of JSON on stdout is what went
wrong, empty if nothing did. Run by test_docs.py; not a test itself.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _run(words: list[str]) -> int:
    """Run a command of appell or a Python script as the shell would, and return its exit code."""
    sys.argv = words[1:] if words[0] == "python" else words
    try:
        if words[0] == "python":
            runpy.run_path(str(Path(words[1]).resolve()), run_name="__main__")  # absolute: processes import it too
        else:
            from appell.cli import main  # noqa: PLC0415  # not every page has commands

            main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def read(page: str, steps: list[dict[str, Any]]) -> str:
    """Do all steps of a page, and return how the first that does not do what the page says went wrong."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for step in steps:
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
            return f"{where}: {failed or 'a command'} {'failed' if failed else 'did not fail'}:\n{said}"
        if expected is not None and not doctest.OutputChecker().check_output(expected, said, FLAGS):
            return f"{where}: printed\n{said}\nwhere the page has\n{expected}"
    return ""


def main() -> None:
    """Read pages until there are no more."""
    sys.path.insert(0, "")  # scripts that a page saves can import each other
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # programs that a page starts print there too
    for line in sys.stdin:
        page, folder, steps = json.loads(line)
        os.chdir(folder)
        try:
            wrong = read(page, steps)
        except BaseException:  # whatever it is, it is the page's
            wrong = traceback.format_exc()
        print(json.dumps(wrong), file=answers, flush=True)


if __name__ == "__main__":
    main()
