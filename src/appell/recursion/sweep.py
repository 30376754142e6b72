"""The only loops over the tree: outward from the base, inward from the tips, or around it limb by limb.

A recursion is a step function given to one of these. The step sees one body and what the sweep already knows about
its parent (outward) or its children (inward), and returns what the others will need of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from appell.model.model import WORLD, Model

State = TypeVar("State")
Result = TypeVar("Result")


def outward(model: Model, base: State, step: Callable[[int, State], State]) -> list[State]:
    """Return step(i, state of the parent) for every body, parents first; bodies on the world see `base`."""
    states: list[State] = []
    for i, body in enumerate(model.bodies):
        states.append(step(i, base if body.parent == WORLD else states[body.parent]))
    return states


def inward(model: Model, step: Callable[[int, list[tuple[int, State]]], State]) -> list[State]:
    """Return step(i, [(child, its state), …]) for every body, children first."""
    below: list[list[tuple[int, State]]] = [[] for _ in model.bodies]
    states: list[State | None] = [None] * len(model.bodies)
    for i in reversed(range(len(model.bodies))):
        state = step(i, below[i][::-1])
        states[i] = state
        if model.bodies[i].parent != WORLD:
            below[model.bodies[i].parent].append((i, state))
    return states  # type: ignore[return-value]  # every entry is set above


def around(
    model: Model,
    base: State,
    out: Callable[[int, State], State],
    back: Callable[[int, State, list[tuple[int, Result]]], Result],
) -> list[State]:
    """Return the outward states, as :func:`outward` does, after an inward sweep that follows each limb at once.

    A body's `out(i, state of the parent)` comes before those of its children, and its `back(i, state, [(child, its
    result), …])` as soon as all of them have theirs. The steps are those of an outward and an inward sweep; in this
    order, a limb is over before the next begins, and little need be remembered of it.
    """
    children: list[list[int]] = [[] for _ in model.bodies]
    for i, body in enumerate(model.bodies):
        if body.parent != WORLD:
            children[body.parent].append(i)
    states: list[State | None] = [None] * len(model.bodies)
    below: list[list[tuple[int, Result]]] = [[] for _ in model.bodies]
    pending = [i for i in reversed(range(len(model.bodies))) if model.bodies[i].parent == WORLD]
    while pending:
        i = pending.pop()
        if i >= 0:
            parent = model.bodies[i].parent
            states[i] = out(i, base if parent == WORLD else states[parent])  # type: ignore[arg-type]  # set before
            pending += [~i, *reversed(children[i])]
        else:
            result = back(~i, states[~i], below[~i])  # type: ignore[arg-type]  # set on the way out
            if model.bodies[~i].parent != WORLD:
                below[model.bodies[~i].parent].append((~i, result))
    return states  # type: ignore[return-value]  # every entry is set above


def rootward(model: Model, start: int, state: State, step: Callable[[int, State], State]) -> None:
    """Call step(i, state) on a body and then on each ancestor, with what the step before returned."""
    for i in model.ancestors(start):
        state = step(i, state)
