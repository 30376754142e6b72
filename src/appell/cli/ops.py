"""``appell ops``: operation counts of the verbs."""

from __future__ import annotations

import typer

from appell.cli.common import (
    AsJson,
    Plot,
    RobotOptions,
    argument,
    check_endings,
    option,
    show,
    show_json,
    warn,
    with_robot_options,
)
from appell.errors import InputError
from appell.messages import alternatives
from appell.reports.bars import Counted, operations
from appell.reports.table import Table
from appell.results.style import PICTURES, written
from appell.robot.robot import Robot
from appell.robot.verbs.programs import PROGRAMS
from appell.robot.verbs.table import VERBS

COMPILED = "compiled"


@with_robot_options
def command(
    options: RobotOptions,
    verb: str | None = argument(
        "VERB", "Verb such as inverse_dynamics; default all.", [name for name, verb in VERBS.items() if not verb.about]
    ),
    formulation: str | None = option(
        "--formulation NAME",
        "Formulation such as gibbs or newton-euler; default all.",
        dict.fromkeys(name for known in PROGRAMS.values() for name in known),
    ),
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Count the multiplications, additions, sines and cosines of the verbs.

    Without --formulation: the compiled program, which uses the cheapest algorithm and link frames, and every algorithm
    with the link frames of the file, as papers count it.

    Example: appell ops puma560 inverse_dynamics --formulation gibbs

    Example: appell ops puma560 --plot ops.png
    """
    check_endings({"--plot": (plot, PICTURES)})
    robot, remarks = options.load()
    rows = counted(robot, verb, formulation)
    table = Table(
        f"Operations per sample, {robot.name}",
        ("verb", "formulation", "multiplications", "additions", "sines and cosines", "program"),
        tuple(rows),
        ("Constants and signs are not counted; divisions and roots count as multiplications.",),
    )
    warn(remarks)
    if plot is not None:
        written("ops", plot, lambda: operations(table.title, rows))
        typer.echo(f"written: {plot}", err=True)
    if as_json:
        show_json({"robot": robot.name, **table.json()})
    else:
        show(table)


def counted(robot: Robot, verb: str | None, formulation: str | None) -> list[Counted]:
    """Return the counts of the verbs: of the compiled program and of every formulation."""
    # a verb that takes its formulation from another is a variant of that one
    verbs = [verb] if verb else [name for name, row in robot.verbs.items() if not row.about and not row.chosen_as]
    known = {name: robot.formulations(name) for name in verbs}
    if formulation is not None and not verb:
        known = {name: found for name, found in known.items() if formulation in found}
        if not known:
            every = dict.fromkeys(one for name in verbs for one in robot.formulations(name))
            hint = alternatives(formulation, every)
            raise InputError(f"ops: no formulation '{formulation}' for robot '{robot.name}'; {hint}")
    return [
        _count(robot, name, one)
        for name, found in known.items()
        for one in ([None, *found] if formulation is None else [formulation])
    ]


def _count(robot: Robot, verb: str, formulation: str | None) -> Counted:
    count = robot.operations(verb, formulation)
    program = f"{count.formulation}, {count.variant}"
    return Counted(verb, formulation or COMPILED, count.multiplications, count.additions, count.trigonometric, program)
