"""Rollouts as exported code: many steps of one robot, from state to state.

Arguments and results of the exported function:

    q, v         the state; what it is after all steps
    dt           the step size
    parameters   π, if the export is parametric
    goal         goal of a control law without a trajectory
    tau          torques, one row per step; those of the control law are added
    goal_q, …    reference of tracking, q*, v* and a*, one row per step
    memory       integral action: z, the last errors, the time since then; zeros at first
    friction, restitution, offset    with walls: one number per contact
    impulse, box, measure            with walls or limits: what is carried from step to step; zeros at first

Gains and limits of the control law are constants.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from appell.kernels.text.c99 import ErrorCode
from appell.program.nodes import Program, verify
from appell.program.stepping import Keep
from appell.robot.export.text import Source
from appell.robot.export.text import source as source_of_verbs
from appell.robot.kind import Key
from appell.robot.robot import Robot
from appell.simulation.laws.export import SYMBOLS, Terms
from appell.simulation.rollout.rollout import SWEEPS, checked_law, grounded
from appell.simulation.rollout.scheme import Driver, rollout_program
from appell.simulation.rollout.time_stepping import Ground

_SYMBOLS = {name: letters for name, letters in SYMBOLS.items() if name != "memory"} | {"parameters": ("p",)}


def source(
    robot: Robot,
    *,
    method: Any = None,
    control: Any = None,
    parametric: bool = False,
    walls: Any = None,
    points: Any = None,
    limits: Any = False,
) -> Source:
    """Return the exporter's source of a rollout."""
    method = "rk4" if method is None else method
    found = grounded(robot, method, walls, points, 0.0, 0.0, 0.0, limits, SWEEPS)
    own, driver, remarks = source_of_verbs(robot.kind), None, list[str]()
    if control is not None:
        law = checked_law(robot, control)
        terms = Terms(law.kp, law.kd, law.ki, law.limit)
        driver = Driver.of(law)._replace(terms=terms, has_trajectory=law.verb == "tracking")
        remarks = terms.remarks()
    make = partial(_made, robot, method, driver, found and found.ground, is_parametric=parametric)
    return replace(own, order=(*own.order, *remarks), symbols=lambda _: _SYMBOLS, make=make)


def _made(
    robot: Robot, method: str, law: Driver | None, ground: Ground | None, _key: Key, _to: str, *, is_parametric: bool
) -> tuple[Program, tuple[ErrorCode, ...]]:
    return verify(rollout_program(robot, method, law, ground, is_parametric=is_parametric, keep=Keep.LAST)), ()
