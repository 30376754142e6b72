"""``appell sweep``: a parameter study as a file, run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from appell.cli.common import AsJson, argument, check_endings, option, show, show_json
from appell.reports.table import Table
from appell.studies.engines import ENGINES
from appell.studies.study_file import read_study
from appell.studies.sweep import Study

File = Annotated[Path, argument("STUDY", "A .toml file: function, space, engine, checkpoint.")]
Engine = Annotated[
    str | None, option("--engine", "NAME", "threads, processes, dask, or a scheduler's address.", ENGINES)
]
Workers = Annotated[int | None, typer.Option("--workers", help="Threads or processes; every core unless given.")]
Checkpoint = Annotated[Path | None, option("--checkpoint", "FOLDER", "Where results are kept; a killed study goes on.")]
Out = Annotated[Path | None, option("--out -o", "FILE", "Cases, values and errors as one table, .parquet or .csv.")]

SHOWN = 5
"""Failed cases that are printed; all are in the table that --out writes."""


def command(
    study: File,
    engine: Engine = None,
    workers: Workers = None,
    checkpoint: Checkpoint = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run a parameter study: one function for every case of a space, in parallel.

    Options given here replace those of the file. A case that fails is recorded and does not stop the others. The exit
    code is 1 where cases failed, and 130 after Ctrl-C; a study with a checkpoint then goes on when it is run again.

    Example: appell sweep examples/studies/payload.toml --out study.csv
    """
    check_endings({"--out": (out, (".parquet", ".csv"))})
    given = {"engine": engine, "workers": workers, "checkpoint": checkpoint}
    chosen = {name: value for name, value in given.items() if value is not None}
    found = read_study(study).run(progress=sys.stderr.isatty(), **chosen)
    if out is not None:
        found.save(out)
        typer.echo(f"written: {out}", err=True)
    if as_json:
        show_json(summary(found))
    else:
        show(ranges(found))
    for case, error in found.failed[:SHOWN]:
        typer.echo(f"appell: case {case} failed: {error}", err=True)
    if found.ended_early:
        typer.echo(f"appell: the study ended early: {found.ended_early}", err=True)
        raise typer.Exit(130)
    if found.failed:
        raise typer.Exit(1)


def summary(study: Study) -> dict[str, Any]:
    """Return a study in a few numbers: how many cases, and the range of each value."""
    values = {
        name: {
            "shape": list(x.shape[1:]),
            "min": _least(np.min, x),
            "mean": _least(np.mean, x),
            "max": _least(np.max, x),
        }
        for name, x in study.values.items()
    }
    return {
        "cases": len(study.cases),
        "done": int(study.done.sum()),
        "failed": len(study.failed),
        "wall time [s]": study.seconds,
        "values": values,
    }


def ranges(study: Study) -> Table:
    """Return the range of each value as a table."""
    rows = [
        (name, "×".join(map(str, x["shape"])) or "1", *(f"{x[key]:.6g}" for key in ("min", "mean", "max")))
        for name, x in summary(study)["values"].items()
    ]
    return Table(
        f"{len(study.cases)} cases, {len(study.failed)} failed, {study.seconds:.1f} s",
        ("value", "shape", "min", "mean", "max"),
        tuple(rows),
    )


def _least(function: Any, x: Any) -> float:
    finite = x[np.isfinite(x)]
    return float(function(finite)) if finite.size else float("nan")
