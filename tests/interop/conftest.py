from __future__ import annotations

import math

import numpy as np
import pytest

NATIVE = 2
"""Velocities up to which a robot's verbs are compiled."""


@pytest.fixture(scope="session")
def ask():
    """Return a function that gives a verb of a robot: natively, or on arrays where compiling would be dear."""

    def answer(robot, verb, *arguments):
        if robot.nv <= NATIVE:
            return getattr(robot, verb)(*arguments)
        formulation = "composite" if "composite" in robot.formulations(verb) else "gibbs"
        tape = robot.tape(verb, formulation=formulation)
        shape = robot.verbs[verb].ports(robot.facts.sizes)[1][0].shape
        results = tape.run(*(np.moveaxis(x, -1, 0) for x in arguments))[: math.prod(shape)]
        leading = np.broadcast_shapes(*(x.shape[:-1] for x in arguments))
        return np.stack([np.broadcast_to(x, leading) for x in results], axis=-1).reshape(*leading, *shape)

    return answer
