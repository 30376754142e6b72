"""``appell ops``: how many operations the verbs take."""

from __future__ import annotations

from typing import Annotated

import typer

from appell.cli.common import AsJson, NoFriction, RobotName, open_robot, show, show_json, warn
from appell.loops.closed_robot import ClosedRobot
from appell.loops.verbs import VERBS as CLOSED
from appell.results.table import Cell, Table
from appell.robot.verbs import COUNTED, VERBS

VerbName = Annotated[str | None, typer.Argument(metavar="[VERB]", help="Such as inverse_dynamics; all if left out.")]
FormulationName = Annotated[
    str | None, typer.Option("--formulation", help="Such as gibbs or newton-euler; all if left out.")
]


def command(
    robot: RobotName,
    verb: VerbName = None,
    formulation: FormulationName = None,
    no_friction: NoFriction = False,
    as_json: AsJson = False,
) -> None:
    """Count multiplications, additions, and sines and cosines of a robot's verbs.

    Without a formulation: the compiled program, and each algorithm on the frames of the file as papers count it.

    Example: appell ops puma560 inverse_dynamics --formulation gibbs
    """
    loaded, remarks = open_robot(robot, no_friction)
    is_closed = isinstance(loaded, ClosedRobot)
    verbs = [verb] if verb else [name for name in COUNTED if not is_closed or name in CLOSED]
    rows: list[tuple[Cell, ...]] = []
    for name in verbs:
        known = list(VERBS[name].formulations) if name in VERBS and not is_closed else []
        if formulation is not None and not verb:
            chosen: list[str | None] = [f for f in known if f == formulation]
        else:
            chosen = [None, *known] if formulation is None else [formulation]
        for one in chosen:
            count = loaded.operations(name, one)
            rows.append((name, one or "compiled", count.multiplications, count.additions, count.trigonometric))
    if not rows:
        loaded.operations("forward_dynamics", formulation)  # says which formulations there are
    table = Table(
        f"Operations per sample, {loaded.name}",
        ("verb", "formulation", "multiplications", "additions", "sines and cosines"),
        tuple(rows),
        ("Constants and signs are free, divisions and roots count as multiplications.",),
    )
    warn(remarks)
    if as_json:
        show_json({"robot": loaded.name, **table.json()})
    else:
        show(table)
