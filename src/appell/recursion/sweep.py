"""Loops over the tree: outward from the base, inward from the tips, or around it limb by limb, with walks to the root.

A recursion is a few step functions given to an :class:`Executor`. A step sees one :class:`Body` and the state of its
parent (outward), or the sum of what its children contribute (inward), and returns what others need of it. The executor
writes the steps out, one body after the other (:class:`Unrolled`), or records one step per class of bodies
(:mod:`appell.robot.long`).
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from appell.model.joints import Column
from appell.model.model import WORLD, Frame, Joint, JointParameters, Model
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector

if TYPE_CHECKING:
    from appell.recursion.kinematics import Link

State = TypeVar("State")
Result = TypeVar("Result")
Scalars = tuple[Scalar, ...]
Rows = tuple[tuple[Scalar, ...], ...]
Step = Callable[..., Any]
PerBody = Any
"""What a step returned for every body; a body is the index. Of written out steps it is a list."""


def outward(
    model: Model, base: State, step: Callable[[int, State], State], chosen: Iterable[int] | None = None
) -> list[State]:
    """Return step(i, state of the parent) for every body, parents first; bodies on the world see `base`.

    If only some bodies are chosen, their ancestors among them, others keep `base`.
    """
    states = [base] * len(model.bodies)
    for i in range(len(model.bodies)) if chosen is None else chosen:
        parent = model.bodies[i].parent
        states[i] = step(i, base if parent == WORLD else states[parent])
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


def plus(a: Any, b: Any) -> Any:
    """Return the sum of two equal structures of scalars, number by number.

    >>> plus((1.0, (2.0, 3.0)), (10.0, (20.0, 30.0)))
    (11.0, (22.0, 33.0))
    """
    if not isinstance(a, tuple):
        return a + b
    parts = [plus(x, y) for x, y in zip(a, b, strict=True)]
    return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)


class Body(ABC):
    """A body as a step sees it: its joint, its inertia, and its share of vectors of the tree."""

    joint: Joint
    inertia: Inertia
    """In the working frame of its :attr:`link`."""
    parameters: Sequence[JointParameters]
    """Per velocity of the joint."""
    is_root: bool
    """Whether its parent is known to be the world."""
    from_file: Any
    """The rotation from the body's frame to the one that its parameters are given in."""

    @property
    @abstractmethod
    def link(self) -> Link:
        """Return the body as its parent sees it."""

    @property
    @abstractmethod
    def pose(self) -> Pose:
        """Return the pose of its frame in the joint frame."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the motion subspace of its joint."""
        return self.joint.columns

    @abstractmethod
    def of(self, x: Scalars) -> Scalars:
        """Return its joint's share of a vector of velocities, accelerations or forces of the tree."""

    @abstractmethod
    def at(self, q: Scalars) -> Scalars:
        """Return its joint's share of the coordinates of the tree."""


class Around(NamedTuple):
    """The results of :meth:`Executor.around`."""

    states: PerBody
    """What `out` returned first."""
    totals: PerBody
    """A body's own share with the contributions of its children."""
    kept: PerBody
    """What `back` returned last."""
    world: Any
    """The sum of what the bodies on the world contribute."""
    matrices: Sequence[Any]
    """The entries of walks."""


Entries = Sequence[tuple[Sequence[Scalar], Sequence[Scalar]]]
"""Per matrix, the entries of the walk's column j in a body's rows, and those of its row j in the body's columns."""


class Executor(ABC):
    """What runs the steps of a recursion for all bodies."""

    nv: int
    gravity: Vector
    frame_index: Mapping[str, Frame]

    @abstractmethod
    def leading_to(self, frames: Sequence[Frame]) -> Executor:
        """Return the executor for the paths to some frames only."""

    @abstractmethod
    def outward(self, base: Any, step: Step) -> PerBody:
        """Return step(body, state of its parent) for every body; bodies on the world see `base`."""

    @abstractmethod
    def around(
        self, base: Any, nothing: Any, out: Step, back: Step, first: Step | None = None, climb: Step | None = None
    ) -> Around:
        """Return the results of an outward and an inward sweep, and of walks to the root after it.

        `out(body, state of the parent)` returns the body's state and its own share of a sum, `back(body, state, share
        with the contributions of the children)` what it contributes to its parent, and a result. `nothing` is the
        contribution of no body. A walk begins with `first(body, state, total, k)` for column k of the joint, then
        `climb(body, state, load)` for each ancestor; both return a load in the parent's frame, and entries.
        """

    def inward(self, nothing: Any, own: Step, back: Step) -> Around:
        """Return the results of an inward sweep of what every body has and what it then contributes."""
        return self.around(None, nothing, lambda body, _: (None, own(body)), lambda body, _, x: (back(body, x), ()))

    @abstractmethod
    def each(self, step: Step) -> PerBody:
        """Return step(body) for every body."""

    @abstractmethod
    def vector(self, shares: PerBody) -> Scalars:
        """Return the vector of which every body has a share; zero of bodies that are left out."""

    @abstractmethod
    def columns(self, n: int, shares: PerBody) -> Any:
        """Return the matrix of n rows of which every body has a column per velocity."""

    @abstractmethod
    def total(self, start: Any, shares: PerBody) -> Any:
        """Return the sum of a structure of scalars over all bodies."""

    def parametric(self, first: Step, climb: Step, own: Step, named: Step, q: Scalars, v: Scalars) -> Any:
        """Return the matrix with a column per parameter of the model, of executors that record steps.

        `first(body)` and `climb(body, load)` return a load and entries of the columns of the body that a walk begins
        at, `own(body)` those of its joint's parameters, `named(model, q, v)` row, column and entries of springs.
        """
        raise NotImplementedError

    @abstractmethod
    def ends(self, like: Any, step: Step) -> tuple[Any, ...]:
        """Return step(body, placement) of every frame that the tree leads to, of the structure of `like`.

        The body, an index of what an outward sweep has returned, is the world's where the frame is fixed to that.
        """

    @abstractmethod
    def named(self, function: Callable[..., Scalars], *vectors: Scalars, like: Scalars | None = None) -> Scalars:
        """Return a function of the model and of whole vectors, for terms that only a few joints have.

        Its result has the structure of `like`, or is a vector of velocities.
        """

    @abstractmethod
    def known(self, numbers: Scalars) -> Scalars:
        """Return a vector of velocities of given numbers."""


Tree = Model | Executor
"""A tree whose steps are written out, or what runs them."""


class _Body(Body):
    """A body of a written out tree; it is an index of lists too."""

    from_file = None

    def __init__(self, tree: Unrolled, index: int) -> None:
        body, self.tree, self.index = tree.model.bodies[index], tree, index
        self.joint, self.is_root = body.joint, body.parent == WORLD
        self.along, self.place = tree.model.v_slices[index], tree.model.q_slices[index]
        self.parameters = tree.model.joint_parameters[self.along]

    def __index__(self) -> int:
        return self.index

    @property
    def link(self) -> Link:
        """Return the body as its parent sees it."""
        return self.tree.chain[self.index]

    @property
    def inertia(self) -> Inertia:  # type: ignore[override]
        """Return its inertia."""
        return self.tree.chain[self.index].inertia

    @cached_property
    def pose(self) -> Pose:
        """Return the pose of its frame in the joint frame."""
        return self.joint.pose(self.at(self.tree.q))

    def of(self, x: Scalars) -> Scalars:
        """Return its joint's share of a vector of the tree."""
        return x[self.along]

    def at(self, q: Scalars) -> Scalars:
        """Return its joint's share of coordinates of the tree."""
        return q[self.place]


class Unrolled(Executor):
    """Steps written out, body by body: on numbers, or traced into a straight-line program."""

    def __init__(
        self, model: Model, q: Scalars, chain: Callable[[], list[Link]], frames: Sequence[Frame] | None = None
    ) -> None:
        self.model, self.q, self._chain, self.frames = model, q, chain, frames or ()
        self.nv, self.gravity, self.frame_index = model.nv, model.gravity, model.frame_index
        self.bodies = [_Body(self, i) for i in range(len(model.bodies))]
        path = {i for frame in self.frames for i in model.ancestors(frame.body)}
        self.chosen = range(len(self.bodies)) if frames is None else sorted(path)

    def leading_to(self, frames: Sequence[Frame]) -> Executor:
        """Return the executor for the paths to some frames."""
        return Unrolled(self.model, self.q, self._chain, frames)

    @cached_property
    def chain(self) -> list[Link]:
        """Return the links of all bodies."""
        return self._chain()

    def outward(self, base: Any, step: Step) -> PerBody:
        """Return the states of all bodies, parents first."""
        # the world comes last, where its index of −1 finds it
        return [*outward(self.model, base, lambda i, parent: step(self.bodies[i], parent), self.chosen), base]

    def around(
        self, base: Any, nothing: Any, out: Step, back: Step, first: Step | None = None, climb: Step | None = None
    ) -> Around:
        """Return the results of both sweeps and of walks."""
        n, matrices = len(self.bodies), _Matrices(self.model)
        states, totals, kept = [base] * n, [nothing] * n, [()] * n
        world = nothing

        def outer(i: int, parent: Any) -> Any:
            states[i], totals[i] = out(self.bodies[i], parent)
            return states[i]

        def inner(i: int, state: Any, below: list[tuple[int, Any]]) -> Any:
            nonlocal world
            for _, other in below:
                totals[i] = plus(totals[i], other)
            given, kept[i] = back(self.bodies[i], state, totals[i])
            if self.bodies[i].is_root:
                world = plus(world, given)
            if first is not None and climb is not None:
                self._walks(matrices, i, partial(first, self.bodies[i], state, totals[i]), states, climb)
            return given

        around(self.model, base, outer, inner)
        return Around(states, totals, kept, world, matrices.rows())

    def _walks(self, matrices: _Matrices, start: int, first: Step, states: list[Any], climb: Step) -> None:
        for k, j in enumerate(self.model.velocities(start)):
            load, entries = first(k)
            matrices.enter(start, j, entries)
            for i in itertools.islice(self.model.ancestors(start), 1, None):
                load, entries = climb(self.bodies[i], states[i], load)
                matrices.enter(i, j, entries)

    def each(self, step: Step) -> PerBody:
        """Return step(body) for every body."""
        return [step(body) if i in self.chosen else () for i, body in enumerate(self.bodies)]

    def vector(self, shares: PerBody) -> Scalars:
        """Return the vector of which every body has a share."""
        parts = (own or (0.0,) * body.joint.type.nv for own, body in zip(shares, self.bodies, strict=True))
        return tuple(x for part in parts for x in part)

    def columns(self, n: int, shares: PerBody) -> Any:
        """Return the matrix of which every body has columns."""
        columns: list[Scalars] = []
        for own, body in zip(shares, self.bodies, strict=True):
            columns += own or [(0.0,) * n] * body.joint.type.nv
        return tuple(zip(*columns, strict=True)) if columns else ((),) * n

    def total(self, start: Any, shares: PerBody) -> Any:
        """Return the sum over all bodies."""
        return functools.reduce(plus, shares, start)

    def ends(self, like: Any, step: Step) -> tuple[Any, ...]:
        """Return what a step gives for every frame."""
        return tuple(step(frame.body, frame.placement) for frame in self.frames)

    def named(self, function: Callable[..., Scalars], *vectors: Scalars, like: Scalars | None = None) -> Scalars:
        """Return a function of whole vectors."""
        return function(self.model, *vectors)

    def known(self, numbers: Scalars) -> Scalars:
        """Return a vector of given numbers."""
        return numbers


class _Matrices:
    """The matrices whose entries walks have found, zero elsewhere."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.found: list[dict[tuple[int, int], Scalar]] = []

    def enter(self, i: int, j: int, entries: Entries) -> None:
        """Enter what body i has of row and column j."""
        self.found += ({} for _ in entries[len(self.found) :])
        for matrix, (in_column, in_row) in zip(self.found, entries, strict=True):
            matrix.update(((k, j), x) for k, x in zip(self.model.velocities(i), in_column, strict=False))
            matrix.update(((j, k), x) for k, x in zip(self.model.velocities(i), in_row, strict=False))

    def rows(self) -> list[Rows]:
        """Return the matrices; those of a tree without velocities are empty, however many."""
        n = range(self.model.nv)
        if not n:
            return [()] * 3
        return [tuple(tuple(found.get((i, j), 0.0) for j in n) for i in n) for found in self.found]
