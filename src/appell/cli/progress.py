"""Progress of long work: one live line per step on a terminal, plain lines elsewhere; always on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Say = Callable[[str], None]


@contextmanager
def steps(names: Sequence[str]) -> Iterator[Callable[[str], Say]]:
    """Give a function that begins a step by name and returns a function that ends it with a remark.

    >>> with steps(["one"]) as begin:
    ...     begin("one")("done")
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name: _plain(names, name)
        return
    columns = SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        tasks = {name: progress.add_task(name, start=False, total=1) for name in names}

        def begin(name: str) -> Say:
            progress.start_task(tasks[name])
            return lambda words: progress.update(tasks[name], description=f"{name}: {words}", completed=1)

        yield begin


def _plain(names: Sequence[str], name: str) -> Say:
    where = f"[{list(names).index(name) + 1}/{len(names)}] {name}"
    typer.echo(f"{where} …", err=True)
    return lambda words: typer.echo(f"{where}: {words}", err=True)
