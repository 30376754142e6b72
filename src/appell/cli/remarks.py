"""Warnings about a robot, each with its remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from appell.messages import listed
from appell.model.mimic import mistake
from appell.model.model import Body, Joint, Model
from appell.robot.robot import Robot
from appell.robot.singular.massless import massless
from appell.spatial.vector import sub

EARTH = (9.76, 9.84)
"""The range of gravity on Earth [m/s²], with a margin for rounding."""
WIDE = 10.0
"""The ratio of radius of gyration to the size of the largest link beyond which the units are suspect."""


def remarks(robot: Robot) -> list[str]:
    """Return warnings about the data of a robot.

    >>> import appell
    >>> remarks(appell.load("puma560", gravity=(0, 0, 0)))[-1]
    'gravity is zero; give gravity=(0, 0, -9.81) if the robot stands on the ground'
    """
    model = robot.model
    return [*_inertias(robot), *_followers(model), *_limits(robot), *_gravity(model)]


def _inertias(robot: Robot) -> Iterator[str]:
    model = robot.model
    idle, knot = massless(robot.independent, robot.mass_matrix(robot.random(np.random.default_rng(0))))
    if knot:
        yield (
            f"joints {listed(knot)} can move together without moving an inertia: the mass matrix is singular "
            "and forward dynamics is undefined; give the bodies between them mass, or the joints rotor inertia"
        )
    if idle:
        yield (
            f"joints {listed(idle)} move no inertia: the mass matrix is singular and forward dynamics fails; give "
            "their links mass, the joints rotor inertia, or make them fixed"
        )
    moving = [body for body in model.bodies if body.joint.name not in idle and not body.name.endswith("/cross")]
    empty = [b.name for b in moving if not b.inertia.mass and not any(b.inertia.parameters)]
    if empty:
        yield f"bodies {listed(empty)} have no mass and no inertia; add <inertial> if they have any"
    points = [b.name for b in moving if b.inertia.mass and max(_principal(b)) <= 1e-12 * b.inertia.mass]
    if points:
        yield f"bodies {listed(points)} are point masses, with zero inertia about the centre of mass; add the inertia"
    size = max([_reach(body) for body in model.bodies], default=0.0)
    wide = [b.name for b in moving if b.inertia.mass and size and _gyration(b) > WIDE * size]
    if wide:
        yield (
            f"bodies {listed(wide)} have an inertia too large for their mass (radius of gyration over {WIDE:g} "
            "times the size of the largest link); check its units"
        )


def _reach(body: Body) -> float:
    """Return the distance of a body's joint from its parent's, or of its centre of mass from its joint."""
    return max(math.hypot(*body.joint.placement.position), math.hypot(*body.inertia.centre))


def _principal(body: Body) -> tuple[float, float, float]:
    """Return the diagonal of the inertia tensor about the centre of mass."""
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
        yield f"mimic joints ({listed(good)}) are not coupled; mimic=True (--mimic) couples them"
    if bad:
        yield (
            f"mimic joints ({listed(bad)}) name no moving joint with one coordinate and are not coupled; correct the "
            "names to use mimic=True"
        )


def _limits(robot: Robot) -> Iterator[str]:
    joints = [body.joint for body in robot.model.bodies if body.joint.name in robot.joint_names]

    def those(is_so: Callable[[Joint], bool]) -> list[str]:
        return [joint.name for joint in joints if is_so(joint)]

    checks: Iterable[tuple[Callable[[Joint], bool], str]] = (
        (
            lambda j: j.kind in ("revolute", "prismatic") and math.isinf(j.limits.lower) and math.isinf(j.limits.upper),
            "have no position limits; random configurations use ±π or ±1 m; add limits, or make them continuous",
        ),
        (
            lambda j: j.limits.lower == j.limits.upper,
            "have equal lower and upper limits; widen them, or make the joints fixed",
        ),
        (lambda j: j.limits.velocity <= 0.0, "have a velocity limit of zero or less; remove or correct it"),
        (lambda j: j.limits.effort <= 0.0, "have an effort limit of zero or less; remove or correct it"),
    )
    for is_so, problem in checks:
        names = those(is_so)
        if names:
            yield f"joints {listed(names)} {problem}"


def _gravity(model: Model) -> Iterator[str]:
    size = math.hypot(*model.gravity)
    usual = "give gravity=(0, 0, -9.81) if the robot stands on the ground"
    if size == 0.0:
        yield f"gravity is zero; {usual}"
    elif not EARTH[0] <= size <= EARTH[1]:
        yield f"gravity is {size:g} m/s², not that of Earth; {usual}"
    elif math.hypot(*sub(model.gravity, (0.0, 0.0, -size))) > 1e-3 * size:
        yield f"gravity does not point along −z but along {_shown(model)}; {usual} with z up"


def _shown(model: Model) -> str:
    return "(" + ", ".join(f"{x:g}" for x in model.gravity) + ")"
