"""``appell reproduce``: the papers' tables and figures, paper against ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import AsJson, show, show_json
from appell.errors import InputError
from appell.papers import NAMES
from appell.papers import reproduce as run

Paper = Annotated[str, typer.Argument(metavar="[PAPER]", help=f"One of {', '.join(NAMES)}, or all.")]
Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the report and its figures go.")]


def command(paper: Paper = "all", out: Out = Path("out"), as_json: AsJson = False) -> None:
    """Reproduce a paper: print its tables with ours beside them, write a report with figures.

    Example: appell reproduce mata2002 --out out
    """
    if paper != "all" and paper not in NAMES:
        raise InputError(f"reproduce: no paper '{paper}'; known: {', '.join(NAMES)}, all")
    names = NAMES if paper == "all" else (paper,)
    reports = []
    for k, name in enumerate(names, 1):
        typer.echo(f"[{k}/{len(names)}] {name} …", err=True)
        report = run(name)
        place = report.save(out)
        typer.echo(f"[{k}/{len(names)}] {name}: {report.seconds:.1f} s, {place}", err=True)
        reports.append(report)
        if not as_json:
            show(f"{report.name}: {report.title}", "", *report.tables)
            show(f"Corrected on the way: {len(report.corrections)} places in the paper, listed in {place}", "")
    if as_json:
        show_json([report.json() for report in reports])
