"""Programs of long robots: those of the verbs, with the recursions' steps recorded once per class of body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from appell.model.lean import lean
from appell.model.model import Frame, Model
from appell.program.nodes import Fields, Item, Items, Program, Share, Stage, Sweep
from appell.recursion.points import Place
from appell.robot.long.recorder import Recorder
from appell.robot.verbs.coordinates import quaternion_errors
from appell.robot.verbs.embedding import Tree
from appell.robot.verbs.guards import GUARDS
from appell.robot.verbs.programs import Actuated, Formulation, Solved
from appell.robot.verbs.table import MASS, VERBS
from appell.trace.tape import Port, trace

MASSLESS = ("regressor", "coordinate_rates")
"""Verbs of which no inertia matters, beside those of frames and points."""


def program(
    model: Model,
    verb: str,
    formulation: Formulation,
    about: str | Sequence[Place] | None,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    quaternions: Sequence[int] = (),
    *,
    is_parametric: bool = False,
) -> Program:
    """Return the program of a verb, about a frame or points where the verb is about such.

    The last input of a parametric program takes the place of the model's parameters. `quaternions` are the places in q
    of those whose lengths are checked, the last output.
    """
    filed, own = model, outputs[:-1] if quaternions else outputs
    if VERBS[verb].is_lean and not is_parametric:
        model = replace(lean(model), deferred=frozenset())
    is_massless = about is not None or verb in MASSLESS
    tree: Any = Recorder(model, inputs, is_massless=is_massless, is_parametric=is_parametric)
    given = [tree.argument(x, is_vector=x.name not in ("wrench", "dt")) for x in inputs if x.name != "parameters"]
    found = formulation.program(Tree(tree, tree, filed), *given, *(() if about is None else (about,)))
    guards = [port for port in own if port.name == GUARDS[MASS].code.port]
    norm: list[Any] = []
    if isinstance(found, Solved):
        found, norm = found.results, [found.inverse_norm() for _ in guards]
    elif isinstance(found, Actuated):
        found = found.results
    results = own[: len(own) - len(guards)]
    values = [found] if len(results) == 1 else [*found]
    made = tree.program(verb, list(zip((*results, *guards), (*values, *norm), strict=True)), own)
    return checked(made, quaternions, outputs[-1]) if quaternions else made


def checked(made: Program, places: Sequence[int], output: Port) -> Program:
    """Return a program with a pass over the quaternions, each an item, for ‖quaternion‖² − 1."""
    tape = trace("lengths", lambda x: quaternion_errors([0], x), [Port("quaternion", (4,))], [Port("error", (1,))])
    stage = Stage(tape, (Share(made.inputs[0].name, 4, 0),), (Share(output.name, 1, 1),))
    items = Items((Item(0, 0, (0, 0), ()), *(Item(1, 0, (place, k), ()) for k, place in enumerate(places))), {})
    check = Sweep(items, inward=False, fields=Fields(), stages=(None, stage))
    return replace(made, outputs=(*made.outputs, output), nodes=(*made.nodes, check))
