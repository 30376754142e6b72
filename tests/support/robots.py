"""Random trees: links and joints of every kind, as a file would give them, and the models that they build.

A :class:`Drawing` is what was drawn, before fixed joints are merged and universal joints become two, so that a peer can
be built from it without appell's own merging. For ``st.from_type(Model)`` hypothesis draws the models of drawings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from appell.model import manifold
from appell.model.build import Connection, Link, build
from appell.model.mimic import coupled
from appell.model.model import Joint, Mimic, Model
from appell.read.values import rotation
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, cross, matvec, mscale

Array = NDArray[Any]
Shape = Sequence[tuple[str, int]]
"""Per body the kind of its joint and how many steps rootward from the body before its parent is: 0 goes on a chain."""

PLAIN = ("revolute", "continuous", "prismatic")
"""The kinds that most robots are made of, and that every file format has."""
KINDS = (*PLAIN, "helical", "cylindrical", "planar", "universal", "ball", "free")
ONE_VELOCITY = ("revolute", "continuous", "prismatic", "helical")
OBLIQUE = 0.3
"""Sine of the angle between two axes from which on one cannot stand in for the other."""


@dataclass(frozen=True)
class Drawing:
    """Links and joints as a file gives them, depth first, the base first of all."""

    links: tuple[Link, ...]
    connections: tuple[Connection, ...]
    gravity: Vector
    is_floating: bool = False

    @cached_property
    def model(self) -> Model:
        """Return the model that is built from them."""
        model = build("tree", list(self.links), list(self.connections), gravity=self.gravity)
        return model.floating() if self.is_floating else model

    @property
    def coupled(self) -> Model:
        """Return the model with its followers bound."""
        return coupled(self.model)


def random_drawing(
    rng: np.random.Generator, shape: Shape, *, has_friction: bool = False, is_special: bool = False
) -> Drawing:
    """Return random links and joints, general or, in places, as special as machines are.

    Axes and placements are often along coordinates, parallel or meeting in a point, since that is where special cases
    live. A link "tip" is fixed to the last. If the drawing `is_special`, the base has mass, some links have none though
    their joints carry mass, and others have a second link fixed to them, on which their children may stand.
    """
    joints = [_random_joint(rng, i, kind, has_friction=has_friction) for i, (kind, _) in enumerate(shape)]
    inertias = [random_inertia(rng) for _ in shape]
    massless = _massless(rng, shape, joints) if is_special else set()
    links = [Link("base", random_inertia(rng) if is_special else Inertia())]
    connections: list[Connection] = []
    carriers: list[str] = []
    parents = _parents(shape)
    for i, joint in enumerate(joints):
        axis2 = _oblique_axis(rng, joint.axis) if joint.kind == "universal" else None
        links.append(Link(f"body{i}", Inertia() if i in massless else inertias[i]))
        connections.append(
            Connection(joint, carriers[parents[i]] if parents[i] >= 0 else "base", f"body{i}", axis2=axis2)
        )
        carriers.append(f"body{i}")
        if is_special and i not in massless and rng.random() < 0.3:
            links.append(Link(f"pad{i}", random_inertia(rng)))
            connections.append(_fixed(rng, f"body{i}", f"pad{i}"))
            # all children of a body stand on one link, or they would not be in depth-first order
            carriers[i] = str(rng.choice([f"body{i}", f"pad{i}"]))
    links.append(Link("tip"))
    connections.append(_fixed(rng, f"body{len(joints) - 1}", "tip"))
    gravity = vector(rng.normal(size=3)) if rng.random() < 0.5 else (0.0, 0.0, -9.81)
    return Drawing(tuple(links), tuple(connections), gravity)


def random_tree(rng: np.random.Generator, shape: int | Shape, *, has_friction: bool = False) -> Model:
    """Return a random tree of bodies, of plain joints where only their number is given."""
    if isinstance(shape, int):
        shape = [(PLAIN[k], int(back)) for k, back in rng.integers(0, (3, 3), (shape, 2))]
    return random_drawing(rng, shape, has_friction=has_friction).model


def _parents(shape: Shape) -> list[int]:
    """Return the index of every body's parent, −1 for the base."""
    parents: list[int] = []
    for i, (_, back) in enumerate(shape):
        parent = i - 1
        for _ in range(back):
            parent = parents[parent] if parent >= 0 else -1
        parents.append(parent)
    return parents


def _random_joint(rng: np.random.Generator, i: int, kind: str, *, has_friction: bool) -> Joint:
    friction, damping, armature = rng.uniform(0.1, 1.0, 3) if has_friction else (0.0, 0.0, 0.0)
    offset = float(rng.choice([0.0, rng.normal()]))
    return Joint(
        name=f"joint{i}",
        kind=kind,
        axis=random_axis(rng),
        placement=random_pose(rng),
        offset=offset if kind in ONE_VELOCITY else 0.0,
        damping=float(damping),
        friction=float(friction),
        armature=float(armature),
        stiffness=20.0 * float(armature) if kind in ONE_VELOCITY else 0.0,  # of the same draw, as many as before
        spring_reference=float(damping) - 0.5 if has_friction and kind in ONE_VELOCITY else 0.0,
        pitch=float(rng.choice([-1.0, 1.0]) * rng.uniform(0.05, 0.5)) if kind == "helical" else 0.0,
    )


def _massless(rng: np.random.Generator, shape: Shape, joints: Sequence[Joint]) -> set[int]:
    """Return links that may go without mass: the next joint moves a link with mass in another way than their own."""
    found: set[int] = set()
    for i in reversed(range(len(shape) - 1)):
        mine, other = joints[i], joints[i + 1]
        if shape[i + 1][1] or {mine.kind, other.kind} - {*ONE_VELOCITY} or i + 1 in found:
            continue
        sine = math.hypot(*cross(mine.axis, matvec(other.placement.rotation, other.axis)))
        if sine > OBLIQUE and rng.random() < 0.8:
            found.add(i)
    return found


def _fixed(rng: np.random.Generator, parent: str, child: str) -> Connection:
    return Connection(Joint(f"{child}_mount", "fixed", placement=random_pose(rng)), parent, child)


def vector(x: Array) -> Vector:
    """Return three numbers as a vector of floats."""
    return (float(x[0]), float(x[1]), float(x[2]))


def random_axis(rng: np.random.Generator) -> Vector:
    """Return a unit vector, along a coordinate every other time."""
    if rng.random() < 0.5:
        return vector(np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]))
    x = rng.normal(size=3)
    return vector(x / np.linalg.norm(x))


def _oblique_axis(rng: np.random.Generator, axis: Vector) -> Vector:
    """Return a unit vector that is not nearly parallel to another."""
    while True:
        other = random_axis(rng)
        if math.hypot(*cross(axis, other)) > OBLIQUE:
            return other


def random_rotation(rng: np.random.Generator) -> Matrix:
    """Return a rotation: none, by right angles, or general."""
    choice = rng.integers(4)
    if choice == 0:
        return IDENTITY
    if choice == 1:
        angle = float(rng.choice([0.5, 1.0, 1.5])) * math.pi
        return about(vector(np.eye(3)[rng.integers(3)]), math.cos(angle), math.sin(angle))
    return rotation(vector(rng.uniform(-3.0, 3.0, 3)))


def random_pose(rng: np.random.Generator) -> Pose:
    """Return a pose whose position is zero, along a coordinate, or general."""
    rotation, choice = random_rotation(rng), rng.integers(4)
    if choice == 0:
        return Pose(rotation, ZERO)
    return Pose(rotation, vector(rng.normal(size=3) * (np.eye(3)[rng.integers(3)] if choice == 1 else 1.0)))


def random_inertia(rng: np.random.Generator, size: float = 1.0) -> Inertia:
    """Return the inertia of a body of some kilograms and of a size [m] in all directions."""
    mass, spread = rng.uniform(0.5, 5.0), size * rng.normal(size=(3, 3))
    second = 0.05 * mass * (spread @ spread.T + 0.1 * size**2 * np.eye(3))  # ∫ x xᵀ dm about the centre
    tensor = np.trace(second) * np.eye(3) - second
    rows = (vector(tensor[0]), vector(tensor[1]), vector(tensor[2]))
    return Inertia.from_centre(float(mass), vector(0.3 * size * rng.normal(size=3)), rows)


# Followers


def with_followers(drawing: Drawing, followers: Sequence[tuple[int, int, float, float]]) -> Drawing:
    """Return a drawing some of whose joints follow others: (follower, source, multiplier, offset), by number."""
    mimics = {f"joint{i}": Mimic(f"joint{j}", multiplier, offset) for i, j, multiplier, offset in followers}
    bound = (replace(c, joint=replace(c.joint, mimic=mimics.get(c.joint.name))) for c in drawing.connections)
    return replace(drawing, connections=tuple(bound))


def random_followers(rng: np.random.Generator, drawing: Drawing) -> Drawing:
    """Return a drawing in which some joints of one velocity follow another, directly or through a third."""
    able = [int(c.joint.name[5:]) for c in drawing.connections if c.joint.kind in ONE_VELOCITY]
    order = [int(i) for i in rng.permutation(able)]
    followers = []
    for place in range(1, len(order)):
        if place == 1 or rng.random() < 0.5:
            source = int(rng.choice(order[:place]))
            multiplier = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.5))
            followers.append((order[place], source, multiplier, float(rng.choice([0.0, rng.normal()]))))
    return with_followers(drawing, followers)


# What hypothesis draws

SEEDS = st.integers(0, 2**32 - 1)
"""All else follows from a seed: lists that hypothesis draws itself are short and favour the first kinds."""
BACK = (0, 0, 0, 1, 2, 3)


def _random_shape(rng: np.random.Generator, kinds: Sequence[str], size: int) -> Shape:
    return [(str(rng.choice(kinds)), int(rng.choice(BACK))) for _ in range(size)]


def _special(rng: np.random.Generator, shape: Shape) -> Drawing:
    has_friction, is_floating = rng.random() < 0.5, rng.random() < 0.3
    return replace(random_drawing(rng, shape, has_friction=has_friction, is_special=True), is_floating=is_floating)


def drawings(kinds: Sequence[str] = KINDS, most: int = 6) -> st.SearchStrategy[Drawing]:
    """Return random drawings of joints of some kinds, of up to so many bodies, some of them on a free base."""

    def drawn(seed: int) -> Drawing:
        rng = np.random.default_rng(seed)
        return _special(rng, _random_shape(rng, kinds, int(rng.integers(1, most + 1))))

    return st.builds(drawn, SEEDS)


def coupled_drawings(most: int = 5) -> st.SearchStrategy[Drawing]:
    """Return random drawings with followers; at least two joints of one velocity are in each."""

    def drawn(seed: int) -> Drawing:
        rng = np.random.default_rng(seed)
        pair = _random_shape(rng, ONE_VELOCITY, 2)
        shape = [*pair, *_random_shape(rng, KINDS, int(rng.integers(most - 1)))]
        return random_followers(rng, _special(rng, [shape[int(k)] for k in rng.permutation(len(shape))]))

    return st.builds(drawn, SEEDS)


def models(kinds: Sequence[str] = KINDS, most: int = 6) -> st.SearchStrategy[Model]:
    """Return the models of random drawings."""
    return drawings(kinds, most).map(lambda drawing: drawing.model)


st.register_type_strategy(Model, models())


# States


def random_state(model: Any, size: int | None = None) -> tuple[Array, Array, Array]:
    """Return q, v, a of a model or robot, so many samples of each if a number is given; the same at each call."""
    rng = np.random.default_rng(model.nv)
    leading = () if size is None else (size,)
    q = manifold.random(model, rng, leading) if isinstance(model, Model) else model.random(rng, leading)
    return q, 2.0 * rng.normal(size=(*leading, model.nv)), 3.0 * rng.normal(size=(*leading, model.nv))


def light_arm(mass: float, *, is_floating: bool = False) -> Model:
    """Return an arm of three parallel axes, the last two in one line, whose middle link has some mass.

    Without it the last two joints can turn against each other and move nothing. The frames are turned about their
    axes, so that rounding does not cancel.
    """
    links, connections = [Link("base", Inertia())], []
    for k, (m, x, at) in enumerate([(1.0, 0.4, 0.0), (mass, 0.0, 0.5), (1.0, 0.4, 0.0)], start=1):
        links.append(Link(f"link{k}", Inertia.from_centre(m, (x, 0.0, 0.0), mscale(0.01 * m, IDENTITY))))
        joint = Joint(f"joint{k}", "revolute", placement=Pose(rotation((0.0, 0.0, 0.3)), (at, 0.0, 0.0)))
        connections.append(Connection(joint, links[-2].name, links[-1].name))
    model = build("light", links, connections)
    return model.floating() if is_floating else model
