"""The commands as a group: help that fits the terminal, and errors as one line with exit code 2."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import typer
from rich.cells import cell_len
from typer.core import TyperCommand, TyperGroup

from appell.cli import terminal
from appell.errors import AppellError, InputError
from appell.messages import alternatives
from appell.reports.layout import wrapped

# Typer carries its own copy of click or uses the installed one, by version; its errors have one parent in both.
_USAGE: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
_CONTEXT: Any = TyperGroup.context_class
EXAMPLE = "Example: "
READABLE = 80
"""The widest lines of help."""
LEFT = 24
"""The widest left column of a list of options; a wider name has its description on the next line."""


class _Formatter(_CONTEXT.formatter_class):  # type: ignore[misc]  # click's, by version
    """Help whose lines are broken at spaces only; a long example goes on after a backslash, as a shell takes it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.width = min(terminal.width(), READABLE)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        start = f"{'Usage: ' if prefix is None else prefix}{prog}"
        self.write("\n".join(wrapped(f"{start} {args}", self.width, indent=" " * (len(start) + 1))) + "\n")

    def write_text(self, text: str) -> None:
        start = " " * self.current_indent
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
        self.write("\n\n".join("\n".join(self._lines(start + part)) for part in paragraphs) + "\n")

    def _lines(self, text: str) -> list[str]:
        if not text.lstrip().startswith(EXAMPLE):
            return wrapped(text, self.width)
        *lines, last = wrapped(text, self.width - 2, indent="  ")
        return [*(f"{line} \\" for line in lines), last]

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = LEFT, col_spacing: int = 2) -> None:
        start = " " * self.current_indent
        left = min(max(cell_len(name) for name, _ in rows), col_max) + col_spacing
        for name, text in rows:
            lines = wrapped(text, self.width - self.current_indent - left)
            if cell_len(name) > left - col_spacing:
                self.write(f"{start}{name}\n")
            else:
                lines[0] = f"{name}{' ' * (left - cell_len(name))}{lines[0]}"
                self.write(f"{start}{lines.pop(0)}\n")
            for line in lines:
                self.write(f"{start}{' ' * left}{line}\n")


class _Context(_CONTEXT):  # type: ignore[misc]  # click's, by version
    formatter_class = _Formatter


class Command(TyperCommand):
    """A command with help that fits the terminal."""

    context_class = _Context


class Group(TyperGroup):
    """The commands. Every user error is one line on stderr, with exit code 2."""

    context_class = _Context

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command.

        Exit codes: 0 success, 1 a failed check, 2 invalid input or an output that cannot be written, 130 Ctrl-C, 141 a
        closed pipe.
        """
        kwargs["standalone_mode"] = False
        terminal.prepare()
        try:
            code = super().main(*args, **kwargs)
        except AppellError as error:
            _fail(str(error))
        except _USAGE as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                _end(str(error))
            _fail(_mistake(error))
        except (typer.Abort, KeyboardInterrupt):
            sys.exit(130)
        except _ClosedPipeError:
            terminal.discard()
            sys.exit(141)  # as a shell has it of a program that the signal of a broken pipe ends
        except OSError as error:
            _fail(f"{error.filename or 'standard output'}: cannot be written: {error.strerror or error}")
        sys.exit(code if isinstance(code, int) else 0)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments; help is printed here."""
        with _closed_pipes():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run a command and flush its output."""
        with _closed_pipes():
            result = super().invoke(ctx)
            sys.stdout.flush()
        return result

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first argument; a misspelt one is an error that suggests others."""
        known = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise InputError(f"no command '{args[0]}'; {alternatives(args[0], known, 40)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with the whole first sentence of its help."""
        rows = [
            (name, " ".join((command.help or "").split("\n\n")[0].split()))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class _ClosedPipeError(Exception):
    """The reader of the output has closed it."""


@contextlib.contextmanager
def _closed_pipes() -> Iterator[None]:
    """Turn the error of a closed pipe into one that Typer does not catch."""
    try:
        yield
    except BrokenPipeError:
        raise _ClosedPipeError from None


def _mistake(error: Any) -> str:
    """Return the message of an error in the use of a command; a misspelt option is followed by similar ones."""
    name = getattr(error, "option_name", None)
    if name is None or error.ctx is None:
        return str(error.format_message())
    known = [each for parameter in error.ctx.command.params for each in parameter.opts if each.startswith("-")]
    return f"no option '{name}'; {alternatives(name, known, 40)}"


def _fail(message: str) -> NoReturn:
    _end("appell: " + " ".join(message.split()))


def _end(text: str) -> NoReturn:
    with contextlib.suppress(OSError):  # of an error stream that is full
        terminal.say(text)
    terminal.discard()
    sys.exit(2)
