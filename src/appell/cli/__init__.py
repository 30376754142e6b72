"""The command ``appell``: one file per command.

>>> from typer.testing import CliRunner
>>> print(CliRunner().invoke(app, ["--version"]).output.split()[0])
appell
"""

from __future__ import annotations

from typing import Annotated

import typer

from appell import __version__
from appell.cli import (
    bench,
    cache,
    compare,
    convert,
    export,
    fd,
    id,
    identify,
    info,
    ops,
    reproduce,
    simulate,
    sweep,
    view,
)
from appell.cli.group import Command, Group

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Robot dynamics from the Gibbs–Appell equations, compiled per robot.\n\nExample: appell info puma560",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"appell {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Accept the options before a command."""


for _module in (info, id, fd, simulate, sweep, view, identify, ops, export, convert, bench, compare, reproduce, cache):
    app.command(_module.__name__.rpartition(".")[2], cls=Command)(_module.command)


def main() -> None:
    """Run the command given by the arguments of the process; the console entry point."""
    app(prog_name="appell")
