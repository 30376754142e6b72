"""What is odd about a robot, in sentences that say what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from appell.model.build import listed
from appell.model.mimic import mistake
from appell.model.model import Body, Joint, Model
from appell.robot.massless import massless
from appell.robot.robot import Robot
from appell.spatial.vector import sub

EARTH = (9.76, 9.84)
"""The range of gravity on the ground [m/s²], with some room for rounding."""
WIDE = 10.0
"""A radius of gyration beyond so many sizes of the robot's largest link is a slip of units."""


def remarks(robot: Robot) -> list[str]:
    """Return what a person should look at before trusting the robot's numbers.

    >>> import appell
    >>> remarks(appell.load("puma560", gravity=(0, 0, 0)))[-1]
    'gravity is zero: nothing has weight; give gravity=(0, 0, -9.81) if the robot stands on the ground'
    """
    model = robot.model
    return [*_inertias(robot), *_followers(model), *_limits(robot), *_gravity(model)]


def _inertias(robot: Robot) -> Iterator[str]:
    model = robot.model
    idle, knot = massless(robot.independent, robot.mass_matrix(robot.random(np.random.default_rng(0))))
    if knot:
        yield (
            f"joints {listed(knot)} can move together without moving anything with an inertia: M is singular and "
            "forward dynamics means nothing; give the bodies between them mass, or the joints rotor inertia"
        )
    if idle:
        yield (
            f"joints {listed(idle)} move nothing with an inertia: M is singular and forward dynamics fails; give their "
            "links mass, the joints rotor inertia, or make them fixed"
        )
    moving = [body for body in model.bodies if body.joint.name not in idle and not body.name.endswith("/cross")]
    empty = [b.name for b in moving if not b.inertia.mass and not any(b.inertia.parameters)]
    if empty:
        yield f"bodies {listed(empty)} have neither mass nor inertia of their own; fill in <inertial> if they have any"
    points = [b.name for b in moving if b.inertia.mass and max(_principal(b)) <= 1e-12 * b.inertia.mass]
    if points:
        yield f"bodies {listed(points)} have mass but no inertia about their centre: points; fill in the inertia"
    size = max([_reach(body) for body in model.bodies], default=0.0)
    wide = [b.name for b in moving if b.inertia.mass and size and _gyration(b) > WIDE * size]
    if wide:
        yield (
            f"bodies {listed(wide)} have an inertia far too large for their mass (a radius of gyration over {WIDE:g} "
            "times the size of the robot's largest link); check its units"
        )


def _reach(body: Body) -> float:
    """Return how far a body's joint is from its parent's, or its mass centre from its joint."""
    return max(math.hypot(*body.joint.placement.position), math.hypot(*body.inertia.centre))


def _principal(body: Body) -> tuple[float, float, float]:
    """Return the diagonal of the inertia tensor about the mass centre."""
    mass, c, tensor = body.inertia.mass, body.inertia.centre, body.inertia.tensor
    square = sum(x * x for x in c)
    xx, yy, zz = (float(tensor[k][k] - mass * (square - c[k] * c[k])) for k in range(3))
    return (xx, yy, zz)


def _gyration(body: Body) -> float:
    return math.sqrt(max(0.0, *_principal(body)) / body.inertia.mass)


def _followers(model: Model) -> Iterator[str]:
    if model.is_coupled:
        return
    joints = {body.joint.name: body.joint for body in model.bodies}
    followers = [(joint, joint.mimic) for joint in joints.values() if joint.mimic is not None]
    bad = [f"{joint.name} → {mimic.joint}" for joint, mimic in followers if mistake(joint, mimic, joints)]
    good = [f"{joint.name} → {mimic.joint}" for joint, mimic in followers if not mistake(joint, mimic, joints)]
    if good:
        yield f"joints that follow others ({listed(good)}) move by themselves; mimic=True (--mimic) binds them"
    if bad:
        yield (
            f"joints that should follow others ({listed(bad)}) cannot: there is no such moving joint of one "
            "coordinate; they move by themselves; correct the names to use mimic=True"
        )


def _limits(robot: Robot) -> Iterator[str]:
    joints = [body.joint for body in robot.model.bodies if body.joint.name in robot.joint_names]

    def those(is_so: Callable[[Joint], bool]) -> list[str]:
        return [joint.name for joint in joints if is_so(joint)]

    checks: Iterable[tuple[Callable[[Joint], bool], str]] = (
        (
            lambda j: j.kind in ("revolute", "prismatic") and math.isinf(j.limits.lower) and math.isinf(j.limits.upper),
            "have no limits of position; random configurations take ±π or ±1 m; add limits, or make them continuous",
        ),
        (lambda j: j.limits.lower == j.limits.upper, "have a range of one point; widen it, or make them fixed"),
        (lambda j: j.limits.velocity <= 0.0, "have a velocity limit of zero or less; remove it or give the true one"),
        (lambda j: j.limits.effort <= 0.0, "have an effort limit of zero or less; remove it or give the true one"),
    )
    for is_so, problem in checks:
        names = those(is_so)
        if names:
            yield f"joints {listed(names)} {problem}"


def _gravity(model: Model) -> Iterator[str]:
    size = math.hypot(*model.gravity)
    usual = "give gravity=(0, 0, -9.81) if the robot stands on the ground"
    if size == 0.0:
        yield f"gravity is zero: nothing has weight; {usual}"
    elif not EARTH[0] <= size <= EARTH[1]:
        yield f"gravity is {size:g} m/s², not the Earth's; {usual}"
    elif math.hypot(*sub(model.gravity, (0.0, 0.0, -size))) > 1e-3 * size:
        yield f"gravity does not point along −z but along {_shown(model)}; {usual} with z up"


def _shown(model: Model) -> str:
    return "(" + ", ".join(f"{x:g}" for x in model.gravity) + ")"
