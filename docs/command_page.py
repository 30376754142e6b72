"""The page of the commands, docs/commands.md, from what the commands say of themselves.

``python docs/command_page.py > docs/commands.md`` writes it anew; a test compares.
"""

from __future__ import annotations

import sys
from typing import Any

from typer.main import get_command

from appell.cli import app

HEAD = """# The commands

Written by `python docs/command_page.py > docs/commands.md` from what `appell COMMAND --help` says.

Tables go to standard output and everything else (progress, warnings, where files went) to standard error; `--json`
prints one JSON value for programs instead. Exit codes: 0 fine; 1 a check that failed, or a run that ended early; 2 a
mistake in what was asked, told in one line; 130 stopped by Ctrl-C.

`appell --install-completion` teaches the shell the commands, their options, and the names of robots, verbs and papers.
"""


def text() -> str:
    """Return the page.

    >>> text().splitlines()[0]
    '# The commands'
    """
    return "\n".join([HEAD, *(_section(name, command) for name, command in commands().items())])


def commands() -> dict[str, Any]:
    """Return all commands by name.

    >>> "info" in commands()
    True
    """
    group: Any = get_command(app)
    return dict(group.commands)


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join(["appell", name, *map(_placed, arguments), "[OPTIONS]"])
    rows = [(f"`{p.metavar}`", p.help) for p in arguments]
    rows += [(_written(p), p.help) for p in options if p.name != "help"]
    table = "\n".join(f"| {left} | {_escaped(right)} |" for left, right in rows)
    return f"## {name}\n\n```\n{usage}\n```\n\n{_told(command.help)}\n\n| | |\n|---|---|\n{table}\n"


def _placed(argument: Any) -> str:
    """Return an argument as the line of usage has it."""
    name = argument.metavar.removesuffix("...") + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _written(option: Any) -> str:
    """Return an option as it is typed, with its default where it has one that says something."""
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    value = "" if option.is_flag else f" {option.metavar or 'NUMBER'}"
    default = "" if option.is_flag or option.default in (None, (), "") else f" (`{option.default}`)"
    return f"{names}{value}{default}"


def _told(help_text: str) -> str:
    """Return a command's help, its examples as blocks of code."""
    parts = []
    for part in help_text.strip().split("\n\n"):
        line = " ".join(part.split())
        is_example = line.startswith("Example: ")
        parts.append(f"```\n{line.removeprefix('Example: ')}\n```" if is_example else _escaped(line))
    return "\n\n".join(parts)


def _escaped(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    sys.stdout.write(text())
