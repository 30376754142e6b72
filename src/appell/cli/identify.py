"""``appell identify``: dynamic parameters from logs, with a report."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from appell.cli.common import (
    AsJson,
    Gravity,
    Loops,
    RobotName,
    RobotOptions,
    argument,
    check_endings,
    collected,
    numbers,
    option,
    show,
    show_json,
    warn,
)
from appell.errors import InputError
from appell.files import write
from appell.identification import prediction as plots
from appell.identification.fit import Fit
from appell.identification.identify import identify
from appell.identification.payload import Payload
from appell.identification.prediction import Prediction
from appell.identification.problem import LogRecord
from appell.identification.solve import METHODS
from appell.identification.validation import CrossValidation, Residuals, cross_validate, residuals
from appell.read.save import WRITERS
from appell.reports.report import Figure, Report
from appell.reports.table import Table, text
from appell.results.style import styled

WORSE = 2.0
"""Ratio of validation to training error that causes a warning."""
EXCITED = 0.25
"""Share of identifiable base parameters below which there is a warning."""


class IdentifyResult(NamedTuple):
    """The results of the command."""

    fit: Fit
    predictions: list[Prediction]
    records: list[LogRecord]
    residuals: list[Residuals]
    folds: CrossValidation | None
    payload: Payload | None
    warnings: list[str]
    seconds: float


def command(  # noqa: PLR0913, PLR0917  # one argument per option
    robot: RobotName,
    logs: list[Path] = argument("LOG...", "Recorded logs: .csv, .npz, .parquet or .mcap.", default=...),
    columns: str | None = option("--map COLUMNS", "Columns of the quantities, e.g. t=0,q=1:7,v=7:13,current=13:19."),
    gains: str | None = option("--gains K1,K2,…", "Torque constant of each motor [N·m/A]."),
    validate: list[Path] | None = option("--validate LOG", "Validation log, predicted and not fitted; repeatable."),
    payload: Path | None = option("--payload LOG", "Log with a payload, whose mass and centre of mass are estimated."),
    link: str | None = option("--link NAME", "Link that carries the payload; default the last."),
    method: str = option(
        "--method NAME",
        f"physical (physically consistent parameters), or unconstrained: {', '.join(METHODS)}.",
        default="physical",
    ),
    friction: str = option(
        "--friction MODEL", "full, coulomb, smooth, stribeck, load, none, or terms separated by commas.", default="full"
    ),
    folds: int = option("--folds N", "Number of cross-validation folds in time; 0 for none.", default=0),
    cutoff: float = option(
        "--cutoff HZ", "Cutoff frequency of the filter [Hz], above the bandwidth of the motion.", default=10.0
    ),
    no_rotors: bool = option("--no-rotors", "Do not estimate rotor inertias.", default=False),
    out: Path | None = option("-o --out FILE", "Save the identified robot as .urdf, .toml, .xml (MJCF) or .sdf."),
    template: Path | None = option(
        "--template FILE", "URDF file of the robot; --out is a copy with the identified values."
    ),
    report: Path | None = option("--report FILE", "Save a report with all tables and figures as .html."),
    as_json: AsJson = False,
    gravity: Gravity = None,
    loops: Loops = None,
) -> None:
    """Identify inertias, rotor inertias and friction of a robot from logs.

    Print the parameters with their standard errors, the prediction errors and warnings; write the identified model.

    Example: appell identify ur10e.urdf log.csv --map t=0,q=1:7,v=7:13,current=13:19 --gains 12,12,10,11,11,11
    --validate other.csv --folds 5 -o fitted.urdf --report out/identify.html
    """
    endings = tuple(WRITERS) if template is None else (".urdf",)
    check_endings({"--out": (out, endings), "--report": (report, (".html",))})
    if template is not None and out is None:
        raise InputError("--template: --out is required, such as --out fitted.urdf")
    if folds < 0 or folds == 1:
        raise InputError(f"--folds: expected 2 or more, or 0 for none, got {folds}")
    if report is not None:
        styled()  # a missing extra for figures is an error now, not after the fit
    opened, remarks = RobotOptions(robot, gravity=gravity, loops=loops).load()
    torque = None if gains is None else numbers("--gains", gains, opened.nu)
    start = time.perf_counter()
    steps = _Steps(2 + len(validate or ()) + (payload is not None) + (folds > 0))
    steps.next(f"fitting {opened.name} to {', '.join(file.name for file in logs)}")
    with collected() as more:
        terms, rotors = _friction(friction), not no_rotors
        fit = identify(opened, logs, method, terms, columns=columns, gains=torque, cutoff=cutoff, rotors=rotors)
    others = []
    for file in validate or ():
        steps.next(f"predicting {file.name}")
        others.append(fit.record(file))
    predictions = [fit.predicted(record) for record in others]
    found, loaded = None, []
    if payload is not None:
        steps.next(f"finding the load of {payload.name}")
        loaded = [fit.record(payload)]
        found = fit.payload(loaded[0].log, link)
    crossed = None
    if folds:
        steps.next(f"cross-validating in {folds} folds")
        crossed = cross_validate(fit, folds)
    steps.next("analysing residuals")
    left = [residuals(fit), *(residuals(fit, record.log) for record in others)]
    records = [*fit.records, *others, *loaded]
    doubts = _doubts(fit, predictions)
    outcome = IdentifyResult(fit, predictions, records, left, crossed, found, doubts, time.perf_counter() - start)
    warn([*remarks, *more, *outcome.warnings])
    _write(outcome, out, template, report)
    if as_json:
        show_json(_json(outcome))
    else:
        _show(outcome)


def _write(outcome: IdentifyResult, out: Path | None, template: Path | None, report: Path | None) -> None:
    """Write the identified robot and the report."""
    if out is not None:
        with collected() as remarks:
            outcome.fit.save(out, template)
        warn(remarks)
    if report is not None:
        write(report, _report(outcome).html())
    for place in (out, report):
        if place is not None:
            typer.echo(f"written: {place}", err=True)


class _Steps:
    """Progress lines on stderr."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0

    def next(self, what: str) -> None:
        self.done += 1
        typer.echo(f"[{self.done}/{self.total}] {what} …", err=True)


def _friction(name: str) -> bool | str | list[str]:
    """Return the friction model of a text.

    >>> _friction("none"), _friction("full"), _friction("coulomb, viscous")
    (False, 'full', ['coulomb', 'viscous'])
    """
    if name == "none":
        return False
    return [part.strip() for part in name.split(",")] if "," in name else name


def _doubts(fit: Fit, predictions: list[Prediction]) -> list[str]:
    """Return warnings about the fit."""
    doubts = []
    ratings = [row[3] for row in fit.table().rows[: fit.base.n]]
    n = sum(word != "not identified" for word in ratings)
    if n < EXCITED * fit.base.n:
        doubts.append(
            f"the logs identify {n} of {fit.base.n} base parameters; use a faster and longer motion (appell.excite)"
        )
    if not fit.is_physical:
        doubts.append("the parameters are not physically consistent; use --method physical")
    for motor, error in zip(fit.training.motors, fit.training.relative, strict=True):
        if not error < 0.5:
            doubts.append(f"motor '{motor}': prediction error {error:.0%}; check its sign, gain and order")
    doubts += [
        f"{p.source}: prediction error {p.score:.1%}, against {fit.training.score:.1%} on the training logs"
        for p in predictions
        if p.score > WORSE * fit.training.score
    ]
    return doubts


# Tables


def _show(outcome: IdentifyResult) -> None:
    show(str(outcome.fit), "")
    if repairs := _repairs(outcome):
        show("Repairs of the logs:", *(f"  {line}" for line in repairs), "")
    show(*_tables(outcome))


def _repairs(outcome: IdentifyResult) -> list[str]:
    return [f"{record.log.source or 'log'}: {repair}" for record in outcome.records for repair in record.log.repairs]


def _tables(outcome: IdentifyResult) -> list[Table]:
    fit, whole = outcome.fit, outcome.fit.table()
    tables = [replace(whole, rows=whole.rows[: fit.base.n])]
    if fit.problem.terms:
        tables.append(_rubbing(fit))
    tables.append(fit.training.table())
    tables += [prediction.table() for prediction in outcome.predictions]
    if outcome.payload is not None:
        tables.append(outcome.payload.table())
    tables += [left.table() for left in outcome.residuals]
    if outcome.folds is not None:
        tables.append(outcome.folds.table())
    return tables


def _rubbing(fit: Fit) -> Table:
    """Return friction, one row per motor and one column per term, and the coefficients of the identified file."""
    found = dict(zip(fit.names, zip(fit.values.tolist(), fit.standard_errors.tolist(), strict=True), strict=True))
    coulomb, viscous = fit.simple_friction
    rows = []
    for j, motor in enumerate(fit.problem.robot.actuators):
        cells = []
        for term in fit.problem.terms:
            pair = found.get(f"{term.name} {j + 1}")
            cells.append(None if pair is None else f"{text(pair[0])} ± {pair[1]:.2g}")
        rows.append((motor, *cells, float(coulomb[j]), float(viscous[j])))
    terms = (f"{term.name} [{term.unit}]" for term in fit.problem.terms)
    note = "Robot files have Coulomb and viscous friction only; the last two columns are the best fit over the logs."
    columns = ("motor", *terms, "Coulomb in the file", "viscous in the file")
    return Table(f"{fit.problem.robot.name}: friction", columns, tuple(rows), (note,))


def _report(outcome: IdentifyResult) -> Report:
    fit = outcome.fit
    torques = [("training", fit.training), *((f"validation-{k}", p) for k, p in enumerate(outcome.predictions, 1))]
    figures = [
        Figure(
            f"torques-{name}", f"Torques of {p.source or 'the log'}, measured and predicted", partial(plots.overlay, p)
        )
        for name, p in torques
    ]
    if fit.problem.terms:
        figures.append(Figure("friction", "Friction against speed", partial(plots.friction, fit)))
    last = torques[-1][1]
    figures.append(Figure("residuals", f"Residuals of {last.source or 'the log'}", partial(plots.residual, last)))
    score = ", ".join(f"{p.source or name} {p.score:.2%}" for name, p in torques)
    summary = Table(
        "Summary",
        ("quantity", "value"),
        (
            ("fit", str(fit)),
            ("mean errors", score),
            *((("payload", str(outcome.payload)),) if outcome.payload else ()),
            *((("cross-validation", str(outcome.folds)),) if outcome.folds else ()),
            ("physical consistency", "consistent" if fit.is_physical else "not consistent"),
            *(("warning", line) for line in outcome.warnings),
        ),
    )
    return Report(
        name="identify",
        title=fit.problem.robot.name,
        tables=(summary, *_tables(outcome)),
        figures=tuple(figures),
        corrections=tuple(_repairs(outcome)),
        seconds=outcome.seconds,
        run=fit,
    )


# JSON


def _json(outcome: IdentifyResult) -> dict[str, Any]:
    fit = outcome.fit
    rows = fit.table().json()["rows"]
    return {
        "robot": fit.problem.robot.name,
        "method": fit.method,
        "friction": [term.name for term in fit.problem.terms],
        "physical": fit.is_physical,
        "parameters": rows[: fit.base.n],
        "friction parameters": rows[fit.base.n :],
        "bodies": _bodies(fit),
        "training": _scores(fit.training),
        "validation": [_scores(prediction) for prediction in outcome.predictions],
        "payload": _payload(outcome.payload),
        "residuals": [{"log": left.source, "motors": left.table().json()["rows"]} for left in outcome.residuals],
        "cross-validation": None if outcome.folds is None else outcome.folds.table().json()["rows"],
        "repairs": _repairs(outcome),
        "warnings": outcome.warnings,
        "seconds": outcome.seconds,
    }


def _bodies(fit: Fit) -> dict[str, list[float]]:
    """Return the ten inertial parameters of every link."""
    each = np.reshape(fit.parameters, (len(fit.problem.robot.link_names), -1)).tolist()
    return dict(zip(fit.problem.robot.link_names, each, strict=True))


def _scores(prediction: Prediction) -> dict[str, Any]:
    return {
        "log": prediction.source,
        "mean error": prediction.score,
        "error": dict(zip(prediction.motors, prediction.relative.tolist(), strict=True)),
        "rms": dict(zip(prediction.motors, prediction.rms.tolist(), strict=True)),
    }


def _payload(payload: Payload | None) -> dict[str, Any] | None:
    if payload is None:
        return None
    return {
        "link": payload.link,
        "mass [kg]": payload.mass,
        "standard error of mass [kg]": float(payload.standard_errors[0]),
        "centre [m]": payload.centre,
        "parameters": payload.parameters,
        "standard_errors": payload.standard_errors,
    }
