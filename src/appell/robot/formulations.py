"""The formulations of every verb that all kinds of robots have."""

from __future__ import annotations

from collections.abc import Mapping

from appell.robot import derivatives
from appell.robot.gradients import GRADIENTS
from appell.robot.programs import Formulation
from appell.robot.steps import STEPS


def known(verb: str) -> Mapping[str, Formulation]:
    """Return the formulations of a verb that every kind of robot has."""
    return GRADIENTS.get(verb) or STEPS.get(verb) or derivatives.known(verb)
