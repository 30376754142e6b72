"""C compilers for exported code."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from typing import NamedTuple

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow", "-Wdouble-promotion")


class Compiler(NamedTuple):
    """A C compiler: how it is called, and what it can watch while a program runs."""

    name: str
    command: tuple[str, ...]
    sanitizers: str

    def build(self, *arguments: object) -> None:
        """Compile, every warning an error."""
        command = [*self.command, *WARNINGS, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def compilers() -> list[Compiler]:
    """Return gcc where it is, and clang: the machine's, or the one that the wheel of Zig brings."""
    both = "-fsanitize=address,undefined"
    found = [Compiler(name, (name,), both) for name in ("gcc", "clang") if shutil.which(name)]
    if all(one.name != "clang" for one in found) and importlib.util.find_spec("ziglang"):
        zig = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")  # which Zig adds unasked
        found.append(Compiler("clang", zig, "-fsanitize=undefined"))
    return found
