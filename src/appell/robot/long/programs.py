"""Programs of long robots: those of the verbs, with the recursions' steps recorded once per class of body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from appell.model.lean import lean
from appell.model.model import Model
from appell.program.nodes import Fields, Item, Items, Program, Share, Stage, Sweep
from appell.recursion.coupling import reduce, sources
from appell.recursion.kinematics import Scalars
from appell.recursion.points import Place
from appell.robot.long import layout
from appell.robot.long.recorder import Recorder
from appell.robot.verbs.coordinates import quaternion_errors
from appell.robot.verbs.embedding import Tree
from appell.robot.verbs.guards import GUARDS
from appell.robot.verbs.programs import Actuated, Formulation, Solved
from appell.robot.verbs.table import MASS, VERBS
from appell.trace.tape import Port, trace

MASSLESS = ("regressor", "coordinate_rates")
"""Verbs of which no inertia matters, beside those of frames and points."""
MOTIONS = ("forward_dynamics", "forward_dynamics_loaded", "motion", "step", "coordinate_rates")
"""Verbs whose results are motions, not forces."""


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
        model = replace(lean(model.tree), deferred=frozenset(), is_coupled=model.is_coupled)
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
    values = [*([found] if len(results) == 1 else found), *norm]
    if verb in MOTIONS or not model.is_coupled:
        made = layout.program(tree, verb, list(zip(own, values, strict=True)), own, [port.name for port in results])
    else:
        sizes = [size for _, size in VERBS[verb].outputs]
        wide = [_of_tree(model, port, size) for port, size in zip(results, sizes, strict=True)]
        made = layout.program(tree, verb, list(zip((*wide, *guards), values, strict=True)), own)
        nodes, slots = list(made.nodes), list(made.slots)
        for port, of_tree in zip(results, wide, strict=True):
            if of_tree != port:
                more, memories = gathered(model, of_tree, port)
                nodes, slots = nodes + more, [*slots, of_tree, *memories]
        made = replace(made, nodes=tuple(nodes), slots=tuple(slots))
    return checked(made, quaternions, outputs[-1]) if quaternions else made


# Joints that follow others: forces and columns of the tree are gathered, Γᵀ·X·Γ


def _of_tree(model: Model, port: Port, sizes: tuple[Any, ...]) -> Port:
    """Return the slot of a result of the tree that is gathered; the port itself if it is not."""
    shape = tuple(model.nv if x in ("v", "u", "d") else n for x, n in zip(sizes, port.shape, strict=True))
    return port if shape == port.shape else Port(f"tree_{port.name}", shape)


def gathered(model: Model, source: Port, target: Port) -> tuple[list[Sweep], list[Port]]:
    """Return the passes that gather the axes of a result in which two ports differ, and the slots between them."""
    nodes, slots = [], []
    if source.shape[-1] != target.shape[-1]:
        n, m = source.shape[-1], target.shape[-1]
        last = len(source.shape) == 1 or source.shape[0] == target.shape[0]
        to = target if last else Port(f"{source.name}_by_column", (*source.shape[:-1], m))
        tape = trace("columns", lambda x: reduce(model, x), [Port("x", (n,))], [Port("y", (m,))])
        rows = [Item(1, 0, (k * n, k * m), ()) for k in range(source.size // n)]
        stage = Stage(tape, (Share(source.name, n, 0),), (Share(to.name, m, 1),))
        nodes.append(Sweep(Items((Item(0, 0, (0, 0), ()), *rows), {}), False, Fields(), (None, stage)))
        slots, source = ([] if last else [to]), to
    if source.shape != target.shape:
        nodes.append(_gathered_rows(model, source, target))
    return nodes, slots


def _gathered_rows(model: Model, source: Port, target: Port) -> Sweep:
    """Return the pass that adds up the rows of joints which move together."""
    width, followed = target.shape[1], sources(model, of_q=False)
    terms = [[(k, x.multiplier) for k, x in enumerate(followed) if x.place == row] for row in range(target.shape[0])]
    most = max(map(len, terms))
    stages: list[Stage | None] = [None]
    for count in range(1, most + 1):

        def added(factors: Scalars, *rows: Scalars) -> Any:
            return [
                sum((c * x for c, x in zip(factors, column, strict=True)), 0.0) for column in zip(*rows, strict=True)
            ]

        ports = [Port("factors", (count,)), *(Port(f"x{k}", (width,)) for k in range(count))]
        tape = trace("rows", added, ports, [Port("y", (width,))])
        read = tuple(Share(source.name, width, k + 1) for k in range(count))
        stages.append(Stage(tape, read, (Share(target.name, width, 0),)))
    items = [Item(0, 0, (0,) * (most + 1), ())]
    for row, own in enumerate(terms):
        numbers = [row * width, *(k * width for k, _ in own), *([0] * (most - len(own)))]
        items.append(Item(len(own), 0, tuple(numbers), tuple(c for _, c in own)))
    return Sweep(Items(tuple(items), {}), False, Fields(), tuple(stages))


def checked(made: Program, places: Sequence[int], output: Port) -> Program:
    """Return a program with a pass over the quaternions, each an item, for ‖quaternion‖² − 1."""
    tape = trace("lengths", lambda x: quaternion_errors([0], x), [Port("quaternion", (4,))], [Port("error", (1,))])
    stage = Stage(tape, (Share(made.inputs[0].name, 4, 0),), (Share(output.name, 1, 1),))
    items = Items((Item(0, 0, (0, 0), ()), *(Item(1, 0, (place, k), ()) for k, place in enumerate(places))), {})
    check = Sweep(items, inward=False, fields=Fields(), stages=(None, stage))
    return replace(made, outputs=(*made.outputs, output), nodes=(*made.nodes, check))
