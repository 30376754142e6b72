"""The protocol of a kind of robot, used by :class:`appell.Robot`.

A kind is an immutable record of a model and of choices made for it. It provides names and sizes, the parts of the
program of a verb, and operations on configurations. A new kind is one file with a class of this protocol, and a line in
the factory (:func:`appell.loops.closed.kind_of`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.messages import listed
from appell.model.lean import lean
from appell.model.model import Model
from appell.model.parameters import with_parameters, without_parameters
from appell.program.nodes import Program as Looped
from appell.read.write_toml import toml_text
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.coordinates import Limits, check_quaternions, quaternion_joints
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.guards import Guard
from appell.robot.verbs.programs import Formulation
from appell.robot.verbs.table import VERBS, Verb
from appell.spatial.scalar import Array, Vector

COMPETING = 20
"""Largest number of bodies for which all formulations and model variants are traced to find the cheapest."""
FILE = "file"
"""The model variant with the frames and inertias of the file."""


class Key(NamedTuple):
    """The key of a program: the verb, its frame or points, the formulation, and whether π is an input.

    `is_single`: it runs in single precision, for which more robots need the guard of M. `order` counts how often the
    program is differentiated in reverse mode (:func:`appell.trace.derive.adjoint`): its arguments and weights of its
    results in, gradients by its arguments, q as it is stored, out.
    """

    verb: str
    about: Any = None
    formulation: str | None = None
    is_parametric: bool = False
    is_single: bool = False
    order: int = 0


class Competitor(NamedTuple):
    """A formulation on one model variant: a candidate for compilation."""

    formulation: str
    variant: str


@dataclass(frozen=True)
class Program:
    """A program to be compiled: its specification, and its guards, whose values follow its results."""

    spec: ProgramSpec
    guards: tuple[Guard, ...] = ()


class Rank(NamedTuple):
    """The rank of the closures' Jacobian, and the singular values on both sides of the gap, relative to the largest.

    `dropped` is 0 where no row is redundant.
    """

    value: int = 0
    kept: float = 0.0
    dropped: float = 0.0


NO_LOOPS = Rank()


class Failure(NamedTuple):
    """A call whose guard failed: its arguments, its results, the guard's values, and the program that was called."""

    arguments: tuple[Any, ...]
    results: list[Array]
    values: Array
    program: Callable[..., Any]


class Curve(NamedTuple):
    """A line fixed to a body (or to the world), for drawings; `axis` is that of a joint at its first point, if any."""

    body: int
    points: tuple[Vector, ...]
    axis: Vector | None = None


@dataclass(frozen=True)
class Facts:
    """Names and sizes of a robot."""

    sizes: Mapping[str, int]
    """By the letters of the table of verbs."""
    joint_names: Sequence[str]
    """In the order of q."""
    joint_sizes: Sequence[int]
    """How many coordinates each of them has."""
    independent: Sequence[str]
    """The velocities v."""
    actuators: Sequence[str]
    forces: Sequence[str]
    """The names of the joint torques τ."""
    actuated: Sequence[int]
    """The indices of the actuators among the velocities of the tree."""
    parameters: Sequence[float]
    """π."""
    limits: Limits
    guards: Mapping[str, int]
    """The guards that this robot has, and how many values each has."""
    lines: Sequence[str]
    """The order of coordinates, velocities and actuators, for exported code."""
    quaternions: Sequence[int] = ()
    """The index in q at which each quaternion begins."""
    curved: Sequence[tuple[str, Sequence[int]]] | None = ()
    """The joints whose velocities are not coordinate rates: their types, and their indices in v.

    None where velocities have no coordinates at all, as those of a wheel, or some of a joint are dependent.
    """
    closure_names: Sequence[str] = ()
    rank: Rank = NO_LOOPS
    label: str = ""
    """A short description, for the robot's repr."""
    curves: Sequence[Curve] = ()
    """Lines for drawings of a robot whose joint axes all meet in one point."""


class Kind(ABC):
    """The base class of kinds, with defaults for robots without loops."""

    model: Model
    """The spanning tree, with its closures if it has any."""
    verbs: Mapping[str, Verb] = VERBS
    """The table of verbs, with rows of its own if it has any."""
    is_looped = False
    """Whether the programs are loops over the bodies, too long to be written out."""

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """Return names, sizes and the like."""

    # Common to trees with and without loops

    def nameless(self, *, is_parametric: bool) -> Any:
        """Return the model without names and frames, and without π where that is an input."""
        model = replace(self.model, name="", source="", frames=(), configurations=())
        return (without_parameters(model), self.facts.sizes["p"]) if is_parametric else model

    @cached_property
    def lean(self) -> Model:
        """Return the tree in lean frames, its parallel axes bundled."""
        return lean(self.model.tree)

    def tree_in(self, form: str, pi: Scalars | None = None) -> Model:
        """Return the tree as filed, "lean" or "bundled", with other parameters where given."""
        tree = self.model.tree if pi is None else with_parameters(without_parameters(self.model.tree), pi)
        if form == FILE:
            return tree
        bundled = self.lean if pi is None else lean(tree, is_numeric=False)
        return bundled if form == "bundled" else replace(bundled, deferred=frozenset())

    def refuse_quaternions(self, call: Failure) -> list[Array]:
        """Raise for quaternions that are not of unit length; return the results where none is a number."""
        own, q = self.model.independent, np.asarray(call.arguments[0], dtype=float)
        check_quaternions(own.name, self.facts.quaternions, quaternion_joints(own), q)
        return call.results

    # Programs

    def guards(self, key: Key) -> Mapping[str, int]:
        """Return the guards that a program may have, and how many values each has."""
        return self.facts.guards

    @abstractmethod
    def fingerprint(self, *, is_parametric: bool) -> Any:
        """Return the data that programs depend on besides their keys; parametric ones do not depend on π."""

    @abstractmethod
    def formulations(self, verb: str) -> Mapping[str, Formulation]:
        """Return the algorithms of a verb."""

    def competitors(self, verb: str) -> Sequence[Competitor]:
        """Return the candidates for compilation by default; a single one is used without comparison.

        Every formulation is compared on every model variant that it supports; those that need the file's frames, which
        are slow to trace, for robots of up to :data:`COMPETING` bodies.
        """
        is_small = len(self.model.bodies) <= COMPETING
        found = {n: f for n, f in self.formulations(verb).items() if f.competes and (is_small or not f.is_of_bodies)}
        if not self.verbs[verb].is_lean:
            return [Competitor(next(iter(found)), FILE)]
        variants = self.variants(verb)
        pairs = [Competitor(name, v) for name, f in found.items() for v in ((FILE,) if f.is_of_bodies else variants)]
        return list(dict.fromkeys(pairs))

    def variants(self, verb: str) -> Sequence[str]:
        """Return the model variants on which a verb's formulations are compared."""
        return (FILE,)

    def loops(self, key: Key) -> Callable[[], Looped] | None:
        """Return the maker of a verb's program as loops over the bodies, None for straight-line programs."""
        return None

    def is_composed(self, key: Key) -> bool:
        """Return whether a verb is composed of calls of others, because one program would be too long."""
        return False

    @abstractmethod
    def embedding(self, variant: str, pi: Scalars | None = None) -> Embedding:
        """Return the robot in the frames of a variant, with other parameters where given."""

    @abstractmethod
    def checks(self, embedding: Embedding, guards: Sequence[str], q: Scalars) -> dict[str, Sequence[Any]]:
        """Return the values of those guards that this robot has."""

    @abstractmethod
    def recovered(self, key: Key, guard: str, call: Failure) -> list[Array]:
        """Return results with bad samples recomputed; raise or warn if that is impossible."""

    # Configurations

    @abstractmethod
    def neutral(self) -> Array:
        """Return the neutral configuration."""

    @abstractmethod
    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Return random configurations (count, nq)."""

    @abstractmethod
    def integrate(self, q: Array, dv: Array) -> Array:
        """Return the configuration reached from q by dv."""

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """Return the motion from q0 to q1."""

    def assemble(self, guess: Array) -> Array:
        """Return closed configurations near guesses."""
        return guess

    def project(self, q: Array) -> Array:
        """Return closed configurations with the same independent coordinates."""
        return q

    def closure_error(self, q: Array) -> Array:
        """Return the closure error of the loops."""
        return np.zeros(q.shape[:-1])

    def condition(self, q: Array) -> Array:
        """Return the condition number of the equations for the dependent velocities."""
        return np.ones(q.shape[:-1])

    def tree_configuration(self, q: Array) -> Array:
        """Return the coordinates of every joint of the spanning tree."""
        return q

    @abstractmethod
    def reduced(self, q: Array, x: Array) -> Array:
        """Return the independent ones of velocities, or accelerations, of the tree."""

    @abstractmethod
    def from_actuators(self, positions: Array, guess: Array) -> Array:
        """Return configurations in which the actuators have given positions."""

    def with_independent(self, names: Sequence[str] | None, near: Array | None) -> Kind:
        """Return the robot in other independent velocities."""
        if names is not None and list(names) != list(self.facts.independent):
            raise InputError(
                f"with_independent: robot '{self.model.name}' has no loops, so its independent velocities are fixed: "
                f"{listed(self.facts.independent, 40)}"
            )
        return self

    def near(self, q: Array) -> Kind:
        """Return the robot in coordinates that are well conditioned at q."""
        return self

    @abstractmethod
    def with_model(self, model: Model) -> Kind:
        """Return a robot of the same kind with another model of the same joints."""

    def as_tree(self) -> Model:
        """Return the model for files: a spanning tree, its closures, and a closed configuration."""
        return self.model

    @property
    def settled(self) -> Model:
        """Return the model for edits of joints, or raise an error if there is none."""
        return self.as_tree()

    @abstractmethod
    def make(self, model: Model) -> Kind:
        """Return the kind of a robot with other joints or closures."""

    def text(self) -> str:
        """Return the robot as the text of a toml file."""
        return toml_text(self.as_tree())
