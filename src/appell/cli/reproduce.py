"""``appell reproduce``: tables and figures of the papers, published and reproduced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from appell.cli.common import AsJson, argument, option, show, show_json
from appell.errors import InputError
from appell.messages import alternatives
from appell.papers import NAMES
from appell.papers import reproduce as run
from appell.reports.collection import Collection
from appell.reports.report import Made

TITLE = "Five papers on the Gibbs–Appell equations, reproduced by appell"


def command(
    paper: str = argument("PAPER", f"One of {', '.join(NAMES)}, or all.", (*NAMES, "all"), default="all"),
    out: Path = option("--out -o FOLDER", "Folder of the reports and figures.", default=Path("out")),
    as_json: AsJson = False,
) -> None:
    """Reproduce the tables and figures of the papers.

    For one paper: print the conclusions, the index and all tables with the rules of their verdicts. For all papers:
    print the conclusions and a summary of the verdicts, and write report.html beside the reports of the papers.

    Example: appell reproduce all

    Example: appell reproduce mata2002 --out out
    """
    if paper != "all" and paper not in NAMES:
        raise InputError(f"reproduce: no paper '{paper}'; {alternatives(paper, (*NAMES, 'all'))}")
    names = NAMES if paper == "all" else (paper,)
    _prepare(out)
    reports: list[Made] = []
    with steps(names) as begin:
        for name in names:
            end = begin(name)
            made = run(name).drawn()
            place = made.save(out)
            end(f"{made.report.seconds + made.seconds:.1f} s, {place}")
            reports.append(made)
    whole = Collection(TITLE, tuple(reports)) if paper == "all" else None
    if whole is not None:
        place = whole.save(out / "report.html")
    if as_json:
        show_json([made.report.json() for made in reports])
    elif whole is not None:
        show(whole.conclusions(), whole.summary(), whole.effort())
    else:
        made, report = reports[0], reports[0].report
        first = [report.conclusions] if report.conclusions else []
        show(f"{report.name}: {report.title}", "", report.gives, report.found, "", *first, made.index, *report.tables)
        show(f"Corrections to the paper: {len(report.corrections)}, listed in {place}")
    typer.echo(f"report: {place}", err=True)


def _prepare(folder: Path) -> None:
    """Make the folder before the work, so that an error comes at once."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out: {folder}: cannot be created: {error.strerror or error}") from None


# Progress: one live line per step on a terminal, plain lines elsewhere; always on stderr

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
