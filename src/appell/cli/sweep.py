"""``appell sweep``: run a parameter study file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import typer

from appell.cli.common import AsJson, argument, check_endings, option, show, show_json
from appell.reports.table import Table
from appell.studies.engines import ENGINES
from appell.studies.study_file import read_study
from appell.studies.sweep import Study

SHOWN = 5
"""Failed cases that are printed; the file of --out has all of them."""


def command(
    study: Path = argument("STUDY", "A .toml file with function, space, engine and checkpoint.", default=...),
    engine: str | None = option(
        "--engine NAME", "threads, processes, dask, or the address of a Dask scheduler.", ENGINES
    ),
    workers: int | None = option("--workers", "Number of threads or processes; default all cores."),
    checkpoint: Path | None = option(
        "--checkpoint FOLDER", "Folder of intermediate results, to resume an interrupted study."
    ),
    out: Path | None = option("--out -o FILE", "Save cases, values and errors as .parquet or .csv."),
    as_json: AsJson = False,
) -> None:
    """Run a parameter study in parallel.

    One function is evaluated for every case of a parameter space. Options override those of the file. A failed case is
    recorded and does not stop the others. The exit code is 1 if cases failed, and 130 after Ctrl-C; a study with a
    checkpoint resumes when it is run again.

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
    """Return the summary of a study: the number of cases and the range of each value."""
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
