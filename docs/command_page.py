"""Generate docs/commands.md from the help texts of the commands.

``python docs/command_page.py > docs/commands.md`` updates the page; a test compares both.
"""

from __future__ import annotations

import sys
from typing import Any

from typer.main import get_command

from appell.cli import app

HEAD = """# Commands

Written by `python docs/command_page.py > docs/commands.md` from the output of `appell COMMAND --help`.

Tables are printed to standard output, everything else (progress, warnings, paths of written files) to standard error;
`--json` prints one JSON value for programs instead. Exit codes: 0 no error; 1 a failed check, or a run that ended
early; 2 invalid input, reported in one line; 130 stopped by Ctrl-C.

`appell --install-completion` installs shell completion of commands, options, and names of robots, verbs and papers.
"""


def text() -> str:
    """Return the page.

    >>> text().splitlines()[0]
    '# Commands'
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
    return f"## {name}\n\n```\n{usage}\n```\n\n{_help(command.help)}\n\n| | |\n|---|---|\n{table}\n"


def _placed(argument: Any) -> str:
    """Return an argument in the notation of the usage line."""
    name = argument.metavar.removesuffix("...") + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _written(option: Any) -> str:
    """Return an option with its metavariable and its default, unless the default is empty."""
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    value = "" if option.is_flag else f" {option.metavar or 'NUMBER'}"
    default = "" if option.is_flag or option.default in (None, (), "") else f" (`{option.default}`)"
    return f"{names}{value}{default}"


def _help(help_text: str) -> str:
    """Return the help text of a command, with examples as code blocks."""
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
