"""``appell simulate``: run a scenario file."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

from appell.cli.common import AsJson, Plot, argument, check_endings, collected, option, show, show_json, warn
from appell.reports.table import Cell, Table
from appell.results.run import Run
from appell.results.style import PICTURES
from appell.simulation.record import INTERRUPTED
from appell.simulation.scenario import read_scenario

SHOWN = 40
"""Impacts that are printed; the run has all of them."""


def command(
    scenario: Path = argument("SCENARIO", "A .toml file with robot, start, walls, control and duration.", default=...),
    out: Path | None = option("--out -o FILE", "Save the run as .npz or .csv."),
    plot: Plot = None,
    animate: Path | None = option("--animate FILE", "Save an animation as .gif, or as .mp4 with ffmpeg."),
    speed: float = option("--speed", "Playback speed of the animation; 1 is real time.", default=1.0),
    as_json: AsJson = False,
) -> None:
    """Simulate a scenario file: impacts, plots, an animation.

    A run that ends early (Ctrl-C, a limit, a diverging motion) prints the reason on stderr and still writes its files.
    The exit code is then 1, or 130 after Ctrl-C.

    Example: appell simulate examples/scenarios/tree.toml --out run.npz --plot run.png --animate run.gif --speed 0.25
    """
    check_endings(
        {"--out": (out, (".npz", ".csv")), "--plot": (plot, PICTURES), "--animate": (animate, (".gif", ".mp4"))}
    )
    run, seconds, remarks = _simulated(scenario, progress=sys.stdout.isatty() and not as_json)
    warn(remarks)
    for place, write in ((out, run.save), (plot, run.plot), (animate, partial(run.animate, speed=speed))):
        if place is not None:
            write(place)
            typer.echo(f"written: {place}", err=True)
    if as_json:
        show_json({**summary(run, seconds), "impacts": [_json(impact) for impact in run.impacts]})
    else:
        show(impacts(run), summary_table(run, seconds))
    if run.ended_early:
        typer.echo(f"appell: the run ended early: {run.ended_early}", err=True)
        raise typer.Exit(130 if run.ended_early.startswith(INTERRUPTED) else 1)


def _simulated(scenario: Path, *, progress: bool) -> tuple[Run, float, list[str]]:
    """Return the run of a scenario, the wall time [s], and the warnings about the robot file."""
    with collected() as remarks:
        whole = read_scenario(scenario)
    with collected():  # the command itself reports an early end
        start = time.perf_counter()
        run = whole.run(progress=progress)
    return run, time.perf_counter() - start, [*remarks, *run.notes]


def impacts(run: Run) -> Table:
    """Return the impacts as a table."""
    rows: list[tuple[Cell, ...]] = []
    for k, x in enumerate(run.impacts[:SHOWN], 1):
        names = ", ".join(x.points), ", ".join(dict.fromkeys(x.walls))
        rows.append((k, f"{x.time:.9f}", *names, _listed(x.approach), _listed(x.impulse), float(x.loss)))
    hidden = len(run.impacts) - len(rows)
    notes = (f"{hidden} more impacts; --out and --json have all of them",) if hidden else ()
    columns = ("impact", "t [s]", "points", "wall", "approach [m/s]", "impulse [N·s]", "energy lost [J]")
    return Table(
        f"Impacts of {run.robot_name}" if rows else f"No impacts of {run.robot_name}", columns, tuple(rows), notes
    )


def _listed(values: Any) -> str:
    return ", ".join(f"{x:.5g}" for x in values)


def summary(run: Run, seconds: float) -> dict[str, Any]:
    """Return the summary of a run."""
    return {
        "robot": run.robot_name,
        "duration [s]": float(run.t[-1] - run.t[0]) if len(run.t) else 0.0,
        "steps": len(run.path.starts),
        "number of impacts": len(run.impacts),
        "resting contacts": len(run.rests),
        "energy at the start [J]": float(run.energy[0]) if len(run.t) else None,
        "energy at the end [J]": float(run.energy[-1]) if len(run.t) else None,
        "wall time [s]": seconds,
        "ended early": run.ended_early or None,
    }


def summary_table(run: Run, seconds: float) -> Table:
    """Return the summary as a table."""
    rows = [
        (what, f"{value:.9g}" if isinstance(value, float) else str(value))
        for what, value in summary(run, seconds).items()
        if value is not None
    ]
    return Table("Summary", ("quantity", "value"), tuple(rows))


def _json(impact: Any) -> dict[str, Any]:
    values = {name: getattr(impact, name) for name in impact.__dataclass_fields__}
    return {**values, "angles": np.asarray(impact.angles), "loss": impact.loss}
