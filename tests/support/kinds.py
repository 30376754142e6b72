"""What a law needs of a robot besides its verbs: states, arguments, its tree, and the same numbers on another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import appell
from appell.loops.reduction import Loops
from appell.loops.spherical.kind import Spherical
from appell.model.model import Joint, Model
from appell.recursion.points import Place
from appell.robot.kind import FILE
from appell.robot.robot import Robot
from appell.robot.verbs import embedding
from appell.robot.verbs.formulations import FORMULATIONS
from appell.robot.verbs.programs import Actuated, Solved
from tests.support.evaluation import evaluate

Array = NDArray[Any]
REGULAR = 20.0
"""Condition number up to which a closed robot's configurations are drawn."""


class States(NamedTuple):
    """Samples of a robot: configurations, velocities, accelerations, and a force per actuator."""

    q: Array
    v: Array
    a: Array
    tau: Array


def random_states(robot: Robot, size: int, seed: int = 2002) -> States:
    """Return random states of a robot, none near a singularity."""
    rng = np.random.default_rng(seed)
    q = robot.random(rng, 8 * size)
    if robot.closure_names:
        q = q[robot.condition(q) < REGULAR]
    assert len(q) >= size
    v, a = rng.normal(size=(2, size, robot.nv))
    return States(q[:size], 1.5 * v, 3.0 * a, 5.0 * rng.normal(size=(size, robot.nu)))


def driven(robot: Robot, a: Array) -> Array:
    """Return the accelerations that inverse dynamics takes: the first of the independent ones."""
    return a[..., : len(robot.driven)]


def arguments(robot: Robot, verb: str, states: States) -> list[Array]:
    """Return what a verb is called with in some states; inputs besides q, v, a, τ and a goal are random."""
    rng, short = np.random.default_rng(7), np.full((len(states.q), 1), 1e-3)
    values = {**states._asdict(), "goal": states.q[::-1], "dt": short}
    found = []
    for port in robot.verbs[verb].ports({**robot.facts.sizes, "n": 0})[0]:
        given = values[port.name] if port.name in values else rng.normal(size=(len(states.q), *port.shape))
        found.append(given[..., : port.shape[0]])
    return found


def about(robot: Robot, verb: str) -> Any:
    """Return what a verb is about, of what it could be: a frame, points, or nothing."""
    places = (Place(0, (0.1, -0.2, 0.3)), Place(len(robot.model.bodies) - 1, (0.0, 0.1, 0.2)))
    return {"frame": robot.link_names[-1], "points": places, "columns": None, "": None}[robot.verbs[verb].about]


# Forces


def motor_speeds(robot: Robot, q: Any, v: Any) -> Array:
    """Return the velocities of the joints that have motors, of those of the tree."""
    return robot.tree_velocity(q, v)[..., list(robot.facts.actuated)]


def actuation(robot: Robot, q: Any, tau: Any) -> Array:
    """Return the forces on all independent velocities that actuator forces amount to, by the power of each motor."""
    return apply(motor_speeds(robot, np.asarray(q)[..., None, :], np.eye(robot.nv)), tau)


def regressor_forces(robot: Robot, q: Any, v: Any, a: Any) -> Array:
    """Return the forces that the regressor is of: those on all velocities, or a spherical robot's motor torques."""
    is_spherical = isinstance(robot.kind, Spherical)
    return robot.inverse_dynamics(q, v, a) if is_spherical else robot.generalised_forces(q, v, a)


def dissipation(robot: Robot, q: Any, v: Any) -> Array:
    """Return the power that damping and friction take out of a motion."""
    joints = [body.joint for body in robot.model.bodies for _ in range(body.joint.type.nv)]
    speeds = robot.tree_velocity(q, v)
    damping, friction = (np.array([getattr(joint, key) for joint in joints]) for key in ("damping", "friction"))
    return np.asarray((damping * speeds**2 + friction * np.abs(speeds)).sum(axis=-1))


# Trees


def tree_of(robot: Robot) -> Robot:
    """Return the tree behind a robot, loops open and followers free."""
    return appell.load(replace(robot.model.tree, closures=(), actuators=(), home=()))


class Following(NamedTuple):
    """How every joint of a tree moves by the independent ones: q_tree = D·q + d, v_tree = G·v."""

    D: Array
    d: Array
    G: Array


def following(model: Model) -> Following:
    """Return how the joints of a model with followers move, bound or not: a follower may follow another."""
    joints = {body.joint.name: body.joint for body in model.bodies}
    own = [joint for joint in joints.values() if joint.mimic is None]
    q_starts, v_starts = (dict(zip((j.name for j in own), _starts(sizes), strict=True)) for sizes in _sizes(own))
    D, d, G = [], [], []
    for joint in joints.values():
        factor, offset, source = 1.0, 0.0, joint
        while source.mimic is not None:
            offset += factor * source.mimic.offset
            factor *= source.mimic.multiplier
            source = joints[source.mimic.joint]
        for k in range(joint.type.nq):
            D.append((q_starts[source.name] + k, factor))
            d.append(offset)
        G += [(v_starts[source.name] + k, factor) for k in range(joint.type.nv)]
    widths = [sum(sizes) for sizes in _sizes(own)]
    return Following(_matrix(D, widths[0]), np.array(d), _matrix(G, widths[1]))


def _sizes(joints: Sequence[Joint]) -> tuple[list[int], list[int]]:
    return [joint.type.nq for joint in joints], [joint.type.nv for joint in joints]


def _starts(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _matrix(entries: Sequence[tuple[int, float]], width: int) -> Array:
    """Return the matrix with one entry a row: its column and value."""
    matrix = np.zeros((len(entries), width))
    for row, (column, value) in enumerate(entries):
        matrix[row, column] = value
    return matrix


def _own_following(robot: Any) -> Following:
    if robot.model.is_coupled:
        return following(robot.model)
    return Following(np.eye(robot.model.nq), np.zeros(robot.model.nq), np.eye(robot.model.nv))


# What is behind the verbs


def program(verb: str, formulation: str | None = None) -> Callable[..., Any]:
    """Return a formulation of a verb, the first if none is named, as a function of a tree's model and scalars."""
    found = FORMULATIONS[verb]
    chosen = found[formulation] if formulation else next(iter(found.values()))
    return lambda model, *scalars: results(chosen.program(embedding.Tree(model.tree, model, model.tree), *scalars))


def results(found: Any) -> Any:
    """Return what a program gives, without the values of its guards."""
    return found.results if isinstance(found, Solved | Actuated) else found


def reference(robot: Robot, verb: str, *arguments: Array) -> Array:
    """Return a verb's results by the recursion in Python, on the frames of the robot's file.

    The programs of some Coriolis matrices differentiate what they trace; they are traced first, then run on numbers.
    """
    is_spherical = isinstance(robot.kind, Spherical)
    if is_spherical or robot.closure_names:
        name, formulation = next(iter(robot.kind.formulations(verb).items()))
        if verb == "coriolis_matrix":
            tape, n = robot.tape(verb, formulation=name), robot.nv
            return _sample_by_sample(lambda *x: np.reshape(tape.run(*x)[: n * n], (n, n)), *arguments)
        own: Any = robot.kind  # of either kind
        embedding = own.embedding(FILE) if is_spherical else Loops(robot.model, robot.model, own.structure)
        return _sample_by_sample(lambda *x: results(formulation.program(embedding, *x)), *arguments)
    if not robot.model.is_coupled or verb == "forward_dynamics":
        return evaluate(program(verb), robot.model, *arguments)
    q, *others = arguments
    D, d, G = _own_following(robot)
    whole = evaluate(program(verb), robot.model.tree, q @ D.T + d, *(x @ G.T for x in others))
    shape = robot.verbs[verb].ports(robot.facts.sizes)[1][0].shape
    if len(shape) == 2 and shape[1] == robot.nv:
        whole = whole @ G
    return whole if not shape else np.moveaxis(np.tensordot(whole, G, axes=([1], [0])), -1, 1)


def _sample_by_sample(program: Callable[..., Any], *arguments: Array) -> Array:
    samples = zip(*arguments, strict=True)
    return np.array([program(*(tuple(map(float, x)) for x in sample)) for sample in samples], dtype=float)


def apply(matrix: Any, x: Any) -> Array:
    """Return the product of a matrix and a vector, sample by sample."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, x))
