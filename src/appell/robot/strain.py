"""How far quaternions are from unit length, found by the same native code that uses them.

A kernel that has the quaternion in its registers anyway tells its length at next to no cost; looking at it beforehand,
from Python, costs more than the dynamics of one sample, and in a batch a pass over memory.
"""

from __future__ import annotations

from dataclasses import replace

from appell.kernels.kernel import Kernel
from appell.kernels.recipe import Recipe
from appell.model.joints import QUATERNION
from appell.model.model import Model
from appell.robot import rolled
from appell.robot.compile import recipe
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape


def strained_kernel(model: Model, verb: str, frame: str | None) -> Kernel | None:
    """Return the kernel of a verb with one more result, ‖quaternion‖² − 1 of each; None for robots too long for it."""
    if rolled.is_long(model):
        return None
    plain, places = recipe(model, verb, frame), quaternion_places(model.independent)
    outputs = (*plain.outputs, Port("strain", (len(places),)))

    def make() -> Tape:
        tape = plain.make()
        assert isinstance(tape, Tape)  # a program that is not long is written out
        return with_strain(tape, places)

    return Kernel(Recipe(plain.name, plain.inputs, outputs, plain.fingerprint + " and strain", make))


def with_strain(tape: Tape, places: list[int]) -> Tape:
    """Return a tape with Σx² − 1 of the four inputs from each place on as one more output.

    The new steps come first, while the inputs are at hand.

    >>> from appell.trace.tape import trace
    >>> double = trace("double", lambda q: (2.0 * q[0],), [Port("q", (4,))], [Port("r", (1,))])
    >>> with_strain(double, [0]).run([1.0, 0.0, 0.0, 0.5])
    [2.0, 0.25]
    """
    first, steps, strains = tape.n_inputs, [], []
    for place in places:
        total = -1
        for k in range(place, place + 4):
            steps.append(Step(Op.MUL, (k, k)))
            square = first + len(steps) - 1
            if total >= 0:
                steps.append(Step(Op.ADD, (total, square)))
            total = first + len(steps) - 1
        steps.append(Step(Op.CONST, (), 1.0))
        steps.append(Step(Op.SUB, (total, first + len(steps) - 1)))
        strains.append(first + len(steps) - 1)
    shift = len(steps)
    moved = [step._replace(args=tuple(i if i < first else i + shift for i in step.args)) for step in tape.steps]
    results = (*(i if i < first else i + shift for i in tape.results), *strains)
    outputs = (*tape.outputs, Port("strain", (len(places),)))
    return replace(tape, outputs=outputs, steps=(*steps, *moved), results=results)


def quaternion_places(model: Model) -> list[int]:
    """Return where in q each quaternion begins."""
    return [
        at.start + QUATERNION[body.joint.kind].start
        for body, at in zip(model.bodies, model.q_slices, strict=True)
        if body.joint.kind in QUATERNION
    ]
