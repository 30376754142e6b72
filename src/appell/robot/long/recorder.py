"""The executor that records one step per class of bodies, for loops over the bodies instead of written out steps.

A recursion runs once on expressions that stand for those of any body of a class. A vector of the tree has one entry, an
expression of leaves that stand for every body's share. What one pass returns and a later one reads becomes a field of
the items, number by number: what no result needs is not kept.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from appell.model.joints import KINDS
from appell.model.model import Frame, Joint, JointParameters, Model
from appell.model.parameters import PER_BODY, PER_SPRING, PER_VELOCITY, n_parameters, with_parameters
from appell.program.nodes import (
    Block,
    Fields,
    Item,
    Items,
    Share,
    Stage,
    Sweep,
)
from appell.recursion.articulated import Articulated
from appell.recursion.coupling import sources
from appell.recursion.kinematics import Link, Scalars
from appell.recursion.sweep import Around, Body, Executor, PerBody, Step
from appell.robot.long.body import (
    MASSLESS,
    body_constants,
    frame_constants,
    inertia_of,
    packed,
    posed,
    square,
    symmetric,
    unpacked,
    upper,
    with_z_axes,
)
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.vector import IDENTITY, ZERO, add, matvec
from appell.trace.expr import EVALUATE, Expr, Graph, Op, needed
from appell.trace.tape import Port, flatten, trace

CLASSES = 12
"""Most classes of bodies; beyond, those of one kind of joint share a class, which folds what all have alike."""
FRAME, ROOT = "frame", "world"
"""Classes beside the kinds of joint."""
WHOLE = -1
"""In place of a class: a memory that is no vector of the tree."""
Q, V, INDEX, OWN_Q, OWN_V = range(5)
"""The numbers of an item: where its coordinates begin in q of the tree, its velocities in v, which body (or frame) it
is, and where those that it follows begin in q and v of the robot."""
FORCES = ("tau", "load")
"""Inputs that act on the joints which follow no other."""
SYMMETRIC = {(Inertia, "second"), (Articulated, "linear"), (Articulated, "angular")}
"""Matrices of which fields hold the upper half."""

Key = tuple[str, tuple[float | None, ...]]
"""A class: the kind of joint and, per constant, what it is where that is folded."""


class Cell(NamedTuple):
    """One number that items keep: of which part of what they keep, and which number of that."""

    part: int
    number: int


class Read(NamedTuple):
    """A leaf that stands for a cell of "own", "parent" or "root", or for a number of the "state" of a walk."""

    where: str
    cell: Cell


@dataclass
class Recorded:
    """What a step of one class gives: numbers by cell, written, added to the parent's or to the root's; and shares."""

    key: int
    writes: dict[Cell, Any] = field(default_factory=dict)
    adds: dict[Cell, Any] = field(default_factory=dict)
    sums: dict[Cell, Any] = field(default_factory=dict)
    state: list[Any] = field(default_factory=list)
    shares: list[tuple[Share, list[Any]]] = field(default_factory=list)

    @property
    def cells(self) -> Iterator[tuple[Cell, Any]]:
        """Yield what is given by cell."""
        for part in (self.writes, self.adds, self.sums):
            yield from part.items()


@dataclass(eq=False)
class Pass:
    """One visit of all items, or a walk from each of them, with the steps of the classes."""

    inward: bool = False
    is_apart: bool = False
    part: int = -1
    cells: list[Cell] = field(default_factory=list)
    """The state of a walk."""
    steps: dict[int, Recorded] = field(default_factory=dict)
    first: dict[tuple[int, int], Recorded] = field(default_factory=dict)
    per_column: bool = True
    block: Block | None = None
    """In place of a visit."""

    @property
    def all(self) -> list[Recorded]:
        """Return all steps."""
        return [*self.first.values(), *self.steps.values()]


class Kept:
    """What a step returned for every body: in the same pass its value, later what the fields hold of it."""

    def __init__(self, recorder: Recorder, made: Pass, base: Any = None, *, is_sum: bool = False) -> None:
        self.recorder, self.made, self.base, self.is_sum = recorder, made, base, is_sum
        self.part = recorder.part(made)
        self.values: dict[int, Any] = {}

    def __getitem__(self, body: Any) -> Any:
        if isinstance(body, ClassBody):
            value = self.values[body.key]
            is_here = body.made is self.made
            return value if is_here else self.recorder.read(value, self.part, "own", is_fixed=not self.is_sum)
        return self.recorder.read(self.base, self.part, "parent")


class Each:
    """What a step returns for every body, computed wherever it is needed."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __getitem__(self, body: Any) -> Any:
        return self.step(body)


class ClassBody(Body):
    """A body of a class in one pass: its constants are leaves, so that one step serves all members."""

    is_root = False

    def __init__(self, recorder: Recorder, key: int, made: Pass) -> None:
        self.recorder, self.key, self.made = recorder, key, made
        self.kind, self.constants = recorder.classes[key][0], recorder.constants[key]
        x = self.constants
        self.joint = Joint("", self.kind, placement=posed(x), pitch=x[23], spring_reference=x[28])
        self.from_file = square(x[29:38])

    @cached_property
    def inertia(self) -> Inertia:  # type: ignore[override]
        """Return its inertia."""
        pi = self.recorder.share("parameters", self.key)
        return inertia_of(pi, self.from_file) if pi else inertia_of(self.constants[12:22])

    @cached_property
    def parameters(self) -> list[JointParameters]:  # type: ignore[override]
        """Return the parameters of every velocity."""
        nv = KINDS[self.kind].nv
        if not self.recorder.is_parametric:
            return [JointParameters(*self.constants[24:28])] * nv
        x = self.recorder.share("friction", self.key)
        own = [JointParameters(*x[k : k + PER_VELOCITY]) for k in range(0, len(x), PER_VELOCITY)]
        return own or [JointParameters()] * nv

    @cached_property
    def pose(self) -> Pose:
        """Return the pose of its frame in the joint frame."""
        return self.recorder.pose(self)

    @cached_property
    def link(self) -> Link:
        """Return the body as its parent sees it."""
        placed, pose = self.joint.placement, self.pose
        rotations = tuple(r for r in (placed.rotation, pose.rotation) if r != IDENTITY)
        return Link(rotations, add(placed.position, matvec(placed.rotation, pose.position)), MASSLESS, ZERO)

    def of(self, x: Scalars) -> Scalars:
        """Return its joint's share of a vector of the tree."""
        return self.recorder.shared(x, self, KINDS[self.kind].nv)

    def at(self, q: Scalars) -> Scalars:
        """Return its joint's share of coordinates of the tree."""
        return self.recorder.shared(q, self, KINDS[self.kind].nq)


class Recorder(Executor):
    """A tree of many bodies; its vectors have one entry, which stands for those of all bodies."""

    nv = 1
    is_coupled = False
    """Its vectors are those of the tree, whatever its joints follow."""

    def __init__(self, model: Model, inputs: Sequence[Port], *, is_massless: bool, is_parametric: bool) -> None:
        self.has_followers = model.is_coupled
        self.sources = sources(model, of_q=True), sources(model, of_q=False)
        self.own_nv = model.independent.nv
        self.nq, model = model.independent.nq, model.tree
        self.filed, self.inputs, self.is_parametric = model, inputs, is_parametric
        self.has_joint_parameters = model.has_joint_parameters
        if is_massless or is_parametric:
            bare = (replace(body, inertia=MASSLESS) for body in model.without_joint_parameters().bodies)
            model = replace(model, bodies=tuple(bare))
        self.model, self.file_rotations = with_z_axes(model)
        self.gravity, self.frame_index = model.gravity, model.frame_index
        self.keeps_file_axes = not (is_massless or is_parametric)
        self.frames: Sequence[Frame] = ()
        self.graph, self.passes, self.made_in = Graph(), list[Pass](), list[Pass]()
        self.base: dict[Cell, float] = {}
        self.leaves: dict[Read, Expr] = {}
        self.reads: dict[int, Read] = {}
        self.vectors: dict[int, Callable[[ClassBody], Scalars]] = {}
        self.of_shares: dict[tuple[str, int], tuple[Expr, ...]] = {}
        self.memories = {port.name: port for port in inputs}
        self.arguments = {*self.memories}
        self.fixed: set[int] = set()
        """The leaves that are constants of a class, or what an item keeps."""
        self.written: dict[str, Pass] = {}
        """The passes after which slots are known."""
        self.slots: list[Port] = []
        self.matrices: dict[int, Pass] = {}
        self.at_ends: dict[int, Pass] = {}
        self.inputs_of: dict[int, str] = {}
        self.outputs: dict[str, str] = {}
        """The outputs by the names under which walks record their entries."""
        self.held: dict[int, str] = {}
        self.outer: Sequence[str] = ()
        self.extra: list[Scalars] = []
        self.copied: Sweep | None = None
        """The pass that copies columns of springs."""
        self.poses: Kept | None = None

    @property
    def independent(self) -> Recorder:
        """Return the tree: no joint follows another."""
        return self

    def leading_to(self, frames: Sequence[Frame]) -> Executor:
        """Return the executor for the paths to some frames."""
        self.frames = frames
        return self

    # Items and classes

    @cached_property
    def bodies(self) -> list[int]:
        """Return the bodies that are visited."""
        path = {i for frame in self.frames for i in self.model.ancestors(frame.body)}
        return sorted(path) if self.frames else list(range(len(self.model.bodies)))

    @cached_property
    def numbers(self) -> list[tuple[float, ...]]:
        """Return the constants of every item."""
        rotations = [IDENTITY] * len(self.model.bodies) if self.keeps_file_axes else self.file_rotations
        found = [(*body_constants(self.model.bodies[i], rotations[i]), *self._followed(i)) for i in self.bodies]
        return [(), *found, *(frame_constants(frame, self.file_rotations) for frame in self.frames)]

    def _followed(self, i: int) -> tuple[float, float, float]:
        """Return the multiplier and the offset of a body's joint, and whether it follows another."""
        if self.model.bodies[i].joint.mimic is None or not self.has_followers:
            return 1.0, 0.0, 0.0
        _, multiplier, offset = self.sources[0][self.model.q_slices[i].start]
        return multiplier, offset, 1.0

    def followed(self, i: int) -> tuple[int, int]:
        """Return where the q and v that a body's joint has, or follows, begin in those of the robot."""
        model, (of_q, of_v) = self.model, self.sources
        q, v = model.q_slices[i], model.v_slices[i]
        return (of_q[q.start].place, of_v[v.start].place) if v.stop > v.start else (0, 0)

    @cached_property
    def keys(self) -> list[Key]:
        """Return the class of every item."""
        kinds = [self.model.bodies[i].joint.kind for i in self.bodies]
        return _keys([ROOT, *kinds, *([FRAME] * len(self.frames))], self.numbers)

    @cached_property
    def classes(self) -> list[Key]:
        """Return the classes."""
        return list(dict.fromkeys(self.keys))

    @cached_property
    def constants(self) -> list[tuple[Any, ...]]:
        """Return the constants of every class: leaves, or the numbers that all members have."""
        unknown = self.graph.unknown
        found = [tuple(unknown() if x is None else x for x in pattern) for _, pattern in self.classes]
        self.fixed |= {x.index for own in found for x in own if isinstance(x, Expr)}
        return found

    # What steps read

    def read(self, like: Any, part: int, where: str, *, is_fixed: bool = False) -> Any:
        """Return leaves in the structure of a value, that stand for the numbers of a part.

        Of a fixed value, numbers and constants of the class are kept, and what the item keeps already.
        """
        numbers = _halved(like)
        kept = [is_fixed and (not isinstance(x, Expr) or x.index in self.fixed) for x in numbers]
        leaves = (Read(where, Cell(part, k)) for k in range(len(numbers)))
        found = [x if keep else self.leaf(leaf) for x, keep, leaf in zip(numbers, kept, leaves, strict=True)]
        return _rebuilt(like, iter(found))

    def leaf(self, read: Read) -> Expr:
        """Return the leaf of a cell."""
        found = self.leaves.get(read)
        if found is None:
            found = self.leaves[read] = self.graph.unknown()
            self.reads[found.index] = read
            self.fixed |= {found.index} if read.where == "own" else set()
        return found

    def share(self, memory: str, key: int) -> tuple[Expr, ...]:
        """Return the leaves of a class's share of a memory; none of a memory that the program does not have."""
        if (memory, key) not in self.of_shares:
            self.of_shares[memory, key] = tuple(self.graph.unknown() for _ in range(self.place(memory, key).size))
        return self.of_shares[memory, key]

    def place(self, memory: str, key: int) -> Share:
        """Return where the share of a class stands."""
        if key == WHOLE:
            return Share(memory, self.memories[memory].size)
        joint, count = KINDS[self.classes[key][0]], len(self.model.bodies)
        if memory == "friction":
            size = PER_VELOCITY * joint.nv if self.is_parametric and self.has_joint_parameters else 0
            return Share("parameters", size, V, PER_VELOCITY, PER_BODY * count)
        if memory == "parameters":
            return Share(memory, PER_BODY * (memory in self.memories), INDEX, PER_BODY)
        numbers, nq = ((OWN_V, OWN_Q), self.nq) if memory in self.arguments else ((V, Q), self.model.nq)
        is_of_q = self.memories[memory].size == nq
        return Share(memory, (joint.nv, joint.nq)[is_of_q], numbers[is_of_q])

    def argument(self, port: Port, *, is_vector: bool) -> Scalars:
        """Return what a program is given for a memory: one entry for a vector of the tree."""
        if not is_vector:
            leaves = self.of_shares[port.name, WHOLE] = tuple(self.graph.unknown() for _ in range(port.size))
            return leaves
        (leaf,) = self.vector(Each(lambda body: self._argument(port.name, body)))
        self.inputs_of[leaf.index] = port.name
        return (leaf,)

    def _argument(self, memory: str, body: ClassBody) -> Scalars:
        """Return a joint's share of a memory; of one that follows another, what follows from that."""
        found, (multiplier, offset, follows) = self.share(memory, body.key), body.constants[38:41]
        if memory not in self.arguments:
            return found
        if memory in FORCES:
            return (0.0,) * len(found) if follows else found
        return tuple(multiplier * x + (offset if memory == "q" else 0.0) for x in found)

    def shared(self, x: Scalars, body: ClassBody, size: int) -> Scalars:
        """Return a class's share of a vector of one entry."""
        (entry,) = x
        if not isinstance(entry, Expr):
            return (entry,) * size
        if entry.index in self.vectors:
            return tuple(self.vectors[entry.index](body))
        made = needed([entry])
        columns = {e.index: tuple(self.vectors[e.index](body)) for e in made if e.index in self.vectors}
        size = max(map(len, columns.values()), default=size)
        rows = []
        for k in range(size):
            known: dict[int, Any] = {index: column[k] for index, column in columns.items()}
            for e in made:
                if e.args:
                    values = [known.get(arg.index, arg.value if arg.op is Op.CONST else arg) for arg in e.args]
                    known[e.index] = EVALUATE[e.op](*values)
            rows.append(known[entry.index])
        return tuple(rows)

    def pose(self, body: ClassBody) -> Pose:
        """Return the pose of a joint: computed in the first pass that needs it, then from what is kept of it."""
        if self.poses is None and body.made in self.passes:
            self.poses = Kept(self, body.made)
        if self.poses is not None and body.made is not self.poses.made:
            return unpacked(body.kind, self.poses[body])
        q = self._argument("q", body)
        found = body.joint.pose((q[0] + body.constants[22],) if len(q) == 1 else q)
        if self.poses is not None:
            self.poses.values[body.key] = packed(body.kind, found)
            self._write(body.made.steps[body.key].writes, self.poses.part, self.poses.values[body.key])
        return found

    # What steps give

    def part(self, made: Pass) -> int:
        """Return the number of a new part of what items keep, that a pass completes."""
        self.made_in.append(made)
        return len(self.made_in) - 1

    def _write(self, to: dict[Cell, Any], part: int, value: Any) -> None:
        to.update((Cell(part, k), x) for k, x in enumerate(_halved(value)))

    def _pass(self, *, inward: bool = False) -> Pass:
        """Return a pass over bodies: an outward one continues the one before if that is outward too."""
        last = self.passes[-1] if self.passes else None
        if inward or last is None or last.is_apart or last.inward or any(step.sums for step in last.all):
            self.passes.append(Pass(inward))
        return self.passes[-1]

    def _visited(self, made: Pass) -> Iterator[tuple[int, Recorded, ClassBody]]:
        for c, (kind, _) in enumerate(self.classes):
            if kind in KINDS:
                yield c, made.steps.setdefault(c, Recorded(c)), ClassBody(self, c, made)

    def _soonest(self, evaluate: Callable[[ClassBody], Any]) -> tuple[Pass, list[tuple[Recorded, Any]]]:
        """Return the first pass over bodies that has what some values need, and its steps with the values."""
        later = next((evaluate(body) for _, _, body in self._visited(Pass())), None)
        reads = (self.reads[e.index] for e in self.leaves_of(_halved(later)) if e.index in self.reads)
        after = [self.passes.index(self.made_in[x.cell.part]) + (x.where == "root") for x in reads]
        after += [self.passes.index(self.written[x]) for x in self._slots_of(_halved(later))]
        made = next((x for x in self.passes[max(after, default=0) :] if not x.is_apart), None)
        if made is None:
            made = Pass()
            self.passes.append(made)
        return made, [(step, evaluate(body)) for _, step, body in self._visited(made)]

    def _slots_of(self, values: Sequence[Any]) -> set[str]:
        """Return the slots that some values are made of."""
        used = {x.index for x in self.leaves_of(values)}
        found = ((name, leaves) for (name, _), leaves in self.of_shares.items() if name in self.written)
        return {name for name, leaves in found if used.intersection(x.index for x in leaves)}

    def outward(self, base: Any, step: Step) -> PerBody:
        """Return the states of all bodies, parents first."""
        return self._outward(base, lambda body, parent: (step(body, parent), None), None)[0]

    def _outward(self, base: Any, step: Step, nothing: Any) -> tuple[Kept, Kept]:
        made = self._pass()
        states, totals = Kept(self, made, base), Kept(self, made, nothing, is_sum=True)
        self.base |= {Cell(states.part, k): x for k, x in enumerate(_halved(base))}
        parent = self.read(base, states.part, "parent")
        for c, recorded, body in self._visited(made):
            states.values[c], totals.values[c] = step(body, parent)
            self._write(recorded.writes, states.part, states.values[c])
            self._write(recorded.writes, totals.part, totals.values[c])
        return states, totals

    def around(
        self, base: Any, nothing: Any, out: Step, back: Step, first: Step | None = None, climb: Step | None = None
    ) -> Around:
        """Return the results of both sweeps and of walks."""
        states, totals = self._outward(base, out, nothing)
        made = self.made_in[totals.part] = self._pass(inward=True)
        kept = Kept(self, made)
        for c, recorded, body in self._visited(made):
            given, kept.values[c] = back(body, states[body], totals[body])
            self._write(recorded.adds, totals.part, given)
            self._write(recorded.writes, kept.part, kept.values[c])
        world = self.read(nothing, totals.part, "root")
        if first is None or climb is None:
            return Around(states, totals, kept, world, ())
        entries = self._walks(
            lambda body, k: first(body, states[body], totals[body], k),
            lambda body, load: climb(body, states[body], load),
        )
        return Around(states, totals, kept, world, entries)

    def _walks(self, first: Step, climb: Step, *, per_column: bool = True) -> list[Any]:
        """Return matrices, each an entry that stands for all, of walks from every body."""
        made = Pass(is_apart=True, per_column=per_column)
        made.part = self.part(made)
        self.passes.append(made)
        matrices = [self.graph.unknown()]
        loads: dict[tuple[int, int], Any] = {}
        for c, _, body in self._visited(made):
            for k in range(KINDS[body.kind].nv) if per_column else (0,):
                recorded = made.first[c, k] = Recorded(c)
                loads[c, k], entries = first(body, k)
                self._entries(recorded, body, matrices, entries)
        numbers = {key: _halved(load) for key, load in loads.items()}
        # what is zero at every start is zero on the way
        zeros = [all(isinstance(x, float) and not x for x in column) for column in zip(*numbers.values(), strict=True)]
        for key, recorded in made.first.items():
            recorded.state = [*itertools.compress(numbers[key], map(operator.not_, zeros))]
        made.cells = [Cell(made.part, k) for k, zero in enumerate(zeros) if not zero]
        load = next(iter(loads.values()), None)
        state = self.read([0.0] * len(zeros), made.part, "state")
        state = [0.0 if zero else x for x, zero in zip(state, zeros, strict=True)]
        for _, recorded, body in self._visited(made):
            given, entries = climb(body, _rebuilt(load, iter(state)))
            recorded.state = [*itertools.compress(_halved(given), map(operator.not_, zeros))]
            self._entries(recorded, body, matrices, entries)
        self.matrices |= dict.fromkeys((x.index for x in matrices), made)
        return [((x,),) for x in matrices]

    def _entries(self, recorded: Recorded, body: ClassBody, matrices: list[Expr], entries: Any) -> None:
        """Append where the entries of a step of a walk stand, under the name of the matrix."""
        matrices += (self.graph.unknown() for _ in entries[len(matrices) :])
        n, nv = self.model.nv, KINDS[body.kind].nv
        for matrix, (in_column, in_row) in zip(matrices, entries, strict=True):
            name = f"matrix {matrix.index}"
            for k, x in enumerate(in_column):
                if isinstance(x, tuple | list):
                    width = n_parameters(self.filed)
                    recorded.shares.append((Share(name, len(x), V, width, k * width, len(x)), [*x]))
                else:
                    recorded.shares.append((Share(name, 1, V, n, k * n, start=1), [x]))
            if in_row:
                recorded.shares.append((Share(name, nv, V, start=n), [*in_row]))

    def parametric(self, first: Step, climb: Step, own: Step, named: Step, q: Scalars, v: Scalars) -> Any:
        """Return the matrix with a column per parameter."""
        width, given = n_parameters(self.filed), self._soonest(own)[1] if self.has_joint_parameters else ()
        ((matrix,),) = self._walks(lambda body, _: first(body), climb, per_column=False)[0]
        name, start = f"matrix {matrix.index}", PER_BODY * len(self.model.bodies)
        for recorded, rows in given:
            for k, row in enumerate(rows):
                share = Share(name, PER_VELOCITY, V, width + PER_VELOCITY, start + k * (width + PER_VELOCITY))
                recorded.shares.append((share, [*row]))
        entries = named(self.filed, (0.0,) * self.model.nq, (0.0,) * self.model.nv)
        slot = Port("named_columns", (PER_SPRING * len(entries),))
        if self._block(slot, lambda *x: [own for _, _, own in named(*x)], (q, v)):
            # an item per joint of a spring
            places = [(PER_SPRING * k, width * row + column) for k, (row, column, _) in enumerate(entries)]
            items = Items((Item(0, 0, (0, 0), ()), *(Item(1, 0, place, ()) for place in places)), {})
            copy = trace("copied", lambda x: x, [Port("x", (PER_SPRING,))], [Port("y", (PER_SPRING,))])
            stage = Stage(copy, (Share(slot.name, PER_SPRING, 0),), (Share(name, PER_SPRING, 1),))
            self.copied = Sweep(items, inward=False, fields=Fields(), stages=(None, stage))
        return ((matrix,),)

    def each(self, step: Step) -> PerBody:
        """Return step(body) for every body."""
        return Each(step)

    def vector(self, shares: PerBody) -> Scalars:
        """Return the vector of which every body has a share."""
        leaf = self.graph.unknown()
        self.vectors[leaf.index] = lambda body: tuple(shares[body])
        return (leaf,)

    def columns(self, n: int, shares: PerBody) -> Any:
        """Return the matrix of which every body has columns."""
        return tuple(self.vector(Each(lambda body, k=k: [x[k] for x in shares[body]])) for k in range(n))

    def total(self, start: Any, shares: PerBody) -> Any:
        """Return the sum over all bodies."""
        made, steps = self._soonest(lambda body: shares[body])
        part = self.part(made)
        for recorded, value in steps:
            self._write(recorded.sums, part, value)
        return self.read(start, part, "root")

    def ends(self, like: Any, step: Step) -> tuple[Any, ...]:
        """Return what a step gives for every frame."""
        made = Pass(is_apart=True)
        part = self.part(made)
        self.passes.append(made)
        for c, (kind, _) in enumerate(self.classes):
            if kind == FRAME:
                recorded = made.steps[c] = Recorded(c)
                self._write(recorded.sums, part, step(FRAME, posed(self.constants[c])))
        found = self.read(like, part, "root")
        self.at_ends |= {x.index: made for x in flatten(found)}
        return (found,)

    def named(self, function: Callable[..., Scalars], *vectors: Scalars, like: Scalars | None = None) -> Scalars:
        """Return a function of whole vectors."""
        slot = Port(f"named{len(self.slots)}", (self.model.nv if like is None else len(like),))
        if not self._block(slot, function, vectors):
            return (0.0,) * (1 if like is None else slot.size)
        return self.argument(slot, is_vector=like is None)

    def _memory(self, x: Any) -> str:
        """Return the memory that holds a vector of the tree; none of zeros."""
        if not isinstance(x, Expr) or (x.index in self.inputs_of and not self.has_followers):
            return self.inputs_of[x.index] if isinstance(x, Expr) else ""
        if x.index not in self.held:
            is_of_q = self.inputs_of.get(x.index) == "q"
            slot = Port(f"held{len(self.slots)}", (self.model.nq if is_of_q else self.model.nv,))
            self.slots.append(slot)
            self.memories[slot.name], self.held[x.index] = slot, slot.name
            self._output(slot, (x,))
        return self.held[x.index]

    def _block(self, slot: Port, function: Callable[..., Any], vectors: Sequence[Scalars]) -> bool:
        """Append a block that writes a function of whole vectors to a slot, unless that is zero."""
        if not any(flatten(function(self.filed, *((math.nan,) * self.model.nq for _ in vectors)))):
            return False
        reads = [self._memory(x) for (x,) in vectors]
        names = [*filter(None, reads), *(["parameters"] if self.is_parametric else ())]

        def whole(*given: Scalars) -> Any:
            parts, model = iter(given), self.filed
            if self.is_parametric:
                model = with_parameters(model, given[-1])
            return function(model, *(next(parts) if name else (0.0,) * self.model.nv for name in reads))

        tape = trace(slot.name, whole, [self.memories[name] for name in names], [slot])
        self.slots.append(slot)
        self.memories[slot.name] = slot
        self.written[slot.name] = Pass(is_apart=True, block=Block(tape, tuple(names), (slot.name,)))
        self.passes.append(self.written[slot.name])
        return True

    def known(self, numbers: Scalars) -> Scalars:
        """Return a vector of given numbers."""
        self.extra.append(tuple(map(float, numbers)))
        own = {
            c: tuple(self.graph.unknown() for _ in range(KINDS[self.classes[c][0]].nv))
            for c, _, _ in self._visited(Pass())
        }
        for c, leaves in own.items():
            self.constants[c] = (*self.constants[c], *leaves)
        return self.vector(Each(lambda body: own[body.key]))

    # The results

    def give(self, results: Sequence[tuple[Port, Any]], outer: Sequence[str] = ()) -> list[str]:
        """Append outputs, given as the recursions return them; return those of which some numbers are zero.

        Vectors in `outer` are those of the joints that follow no other.
        """
        self.outer = outer
        return [port.name for port, value in results if self._output(port, value)]

    def _output(self, port: Port, value: Any) -> bool:
        """Append an output to the steps that compute it; return whether some of it is left out, and is zero."""
        flat = list(flatten(value))
        first = flat[0].index if flat and isinstance(flat[0], Expr) else -1
        if first in self.matrices:
            self.outputs[f"matrix {first}"] = port.name
            parents = [self.model.bodies[i].parent for i in self.bodies]
            return not self.matrices[first].per_column or parents != [*range(-1, len(parents) - 1)]
        if first in self.at_ends:
            cells = [self.reads[x.index].cell for x in flat]
            for recorded in self.at_ends[first].steps.values():
                share = Share(port.name, len(cells), INDEX, len(cells))
                recorded.shares.append((share, [recorded.sums[cell] for cell in cells]))
            return False
        if port.shape and len(flat) == port.size // port.shape[-1] and self._is_of_bodies(flat, port):
            is_own = self.has_followers and port.name in self.outer
            is_of_q = port.shape[-1] != (self.own_nv if is_own else self.model.nv)
            number = (OWN_V, OWN_Q)[is_of_q] if is_own else (V, Q)[is_of_q]

            def shares(body: ClassBody) -> list[Scalars]:
                kind = KINDS[body.kind]
                return [self.shared((x,), body, kind.nq if is_of_q else kind.nv) for x in flat]

            for recorded, found in self._soonest(shares)[1]:
                if not (is_own and self.constants[recorded.key][40]):  # others have no entry of their own
                    rows = enumerate(found)
                    places = [(Share(port.name, len(x), number, 1, k * port.shape[-1]), [*x]) for k, x in rows]
                    recorded.shares += places
            return bool(self.frames)
        made = Pass(is_apart=True)
        self.passes.append(made)
        made.steps[0] = Recorded(0, shares=[(Share(port.name, port.size), flat)])
        return False

    def _is_of_bodies(self, flat: Sequence[Any], port: Port) -> bool:
        leaves = self.leaves_of(flat)
        return port.size != len(flat) or any(x.index in self.vectors for x in leaves)

    def leaves_of(self, values: Sequence[Any]) -> list[Expr]:
        """Return the leaves that some values are made of."""
        return [e for e in needed([x for x in values if isinstance(x, Expr)]) if e.op is Op.INPUT]


def _halved(value: Any) -> list[Any]:
    """Return the numbers of a structure, of symmetric matrices the upper half."""
    if value is None:
        return []
    if not isinstance(value, tuple | list):
        return [value]
    names = getattr(value, "_fields", None)
    if names is None:
        return [x for part in value for x in _halved(part)]
    parts = zip(names, value, strict=True)
    return [x for name, part in parts for x in (upper(part) if (type(value), name) in SYMMETRIC else _halved(part))]


def _rebuilt(like: Any, numbers: Iterator[Any]) -> Any:
    """Return the structure of `like` with other numbers, in the order of :func:`_halved`."""
    if like is None:
        return None
    if not isinstance(like, tuple | list):
        return next(numbers)
    names = getattr(like, "_fields", None)
    if names is None:
        return type(like)([_rebuilt(part, numbers) for part in like])
    parts = zip(names, like, strict=True)
    half = [
        symmetric(tuple(itertools.islice(numbers, 6))) if (type(like), x) in SYMMETRIC else _rebuilt(y, numbers)
        for x, y in parts
    ]
    return type(like)(*half)


def _keys(kinds: list[str], constants: list[tuple[float, ...]]) -> list[Key]:
    """Return the class of every item."""
    keys: list[Key] = [
        (kind, tuple(x if x in (0.0, 1.0, -1.0) else None for x in numbers))
        for kind, numbers in zip(kinds, constants, strict=True)
    ]
    crowded = len({key for key in keys if key[0] in KINDS}) > CLASSES
    alike: dict[Any, tuple[float | None, ...]] = {}
    for kind, pattern in keys:
        sort = kind, pattern[-1:] if kind in KINDS else ()  # those that follow others apart
        alike[sort] = tuple(x if x == y else None for x, y in zip(alike.get(sort, pattern), pattern, strict=True))
    return [
        (kind, alike[kind, pattern[-1:] if kind in KINDS else ()]) if crowded or kind == FRAME else (kind, pattern)
        for kind, pattern in keys
    ]
