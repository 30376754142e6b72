"""``appell ops``: how many operations the verbs take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from appell.cli.common import (
    PICTURES,
    AsJson,
    Floating,
    Gravity,
    Loops,
    Mimic,
    NoFriction,
    Plot,
    RobotName,
    check_endings,
    completed,
    open_any,
    show,
    show_json,
    warn,
)
from appell.errors import InputError
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.loops.spherical.verbs import FRAMED
from appell.loops.spherical.verbs import VERBS as SPHERICAL
from appell.loops.verbs import VERBS as CLOSED
from appell.results.bars import Counted, operations
from appell.results.style import written
from appell.results.table import Table
from appell.robot.verbs import COUNTED, VERBS

VerbName = Annotated[
    str | None,
    typer.Argument(
        metavar="VERB", help="Such as inverse_dynamics; all if left out.", autocompletion=completed(COUNTED)
    ),
]
FORMULATIONS = tuple(dict.fromkeys(name for verb in VERBS.values() for name in verb.formulations))
FormulationName = Annotated[
    str | None,
    typer.Option(
        "--formulation",
        metavar="NAME",
        help="Such as gibbs or newton-euler; all if left out.",
        autocompletion=completed(FORMULATIONS),
    ),
]


def command(  # noqa: PLR0913, PLR0917  # a command has as many arguments as options
    robot: RobotName,
    verb: VerbName = None,
    formulation: FormulationName = None,
    plot: Plot = None,
    floating: Floating = False,
    mimic: Mimic = False,
    no_friction: NoFriction = False,
    gravity: Gravity = None,
    as_json: AsJson = False,
    loops: Loops = None,
) -> None:
    """Count the operations of a robot's verbs.

    Multiplications, additions, and sines and cosines.

    Without a formulation: the compiled program, and each algorithm on the frames of the file as papers count it.

    Example: appell ops puma560 inverse_dynamics --formulation gibbs

    Example: appell ops puma560 --plot ops.png
    """
    check_endings({"--plot": (plot, PICTURES)})
    loaded, remarks = open_any(robot, no_friction, gravity, floating=floating, mimic=mimic, loops=loops)
    count = _spherical if isinstance(loaded, SphericalRobot) else _counted
    rows = count(loaded, verb, formulation)
    table = Table(
        f"Operations per sample, {loaded.name}",
        ("verb", "formulation", "multiplications", "additions", "sines and cosines"),
        tuple(rows),
        ("Constants and signs are free, divisions and roots count as multiplications.",),
    )
    warn(remarks)
    if plot is not None:
        written("ops", plot, lambda: operations(table.title, rows))
        typer.echo(f"written: {plot}", err=True)
    if as_json:
        show_json({"robot": loaded.name, **table.json()})
    else:
        show(table)


def _counted(robot: Any, verb: str | None, formulation: str | None) -> list[Counted]:
    """Return the counts of an open or closed robot's verbs, each by the program that runs and by every formulation."""
    is_closed = isinstance(robot, ClosedRobot)
    verbs = [verb] if verb else [name for name in COUNTED if not is_closed or name in CLOSED]
    rows: list[Counted] = []
    for name in verbs:
        known = list(VERBS[name].formulations) if name in VERBS and not is_closed else []
        if formulation is not None and not verb:
            chosen: list[str | None] = [f for f in known if f == formulation]
        else:
            chosen = [None, *known] if formulation is None else [formulation]
        rows += [Counted(name, one or "compiled", *robot.operations(name, one)) for one in chosen]
    if not rows:
        robot.operations("forward_dynamics", formulation)  # says which formulations there are
    return rows


def _spherical(robot: Any, verb: str | None, formulation: str | None) -> list[Counted]:
    """Return the counts of a robot in closed form, which has one program a verb."""
    if formulation is not None:
        raise InputError(
            f"ops: '{robot.name}' is a robot in closed form, without formulations; leave --formulation out"
        )
    verbs = [verb] if verb else [name for name in SPHERICAL if name not in FRAMED]
    return [Counted(name, "compiled", *robot.operations(name)) for name in verbs]
