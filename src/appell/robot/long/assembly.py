"""Long robots: the recursions' steps traced once per class of body, for loops over the bodies.

The steps of each verb are in :mod:`appell.robot.long.dynamics` and :mod:`appell.robot.long.kinematics`. Here they
become a program (:mod:`appell.program.nodes`) for one robot. Bodies fall into classes by their joint's kind
and by which of their constants are 0 or ±1, so that the steps of alike bodies fold alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from appell.model.joints import KINDS
from appell.model.lean import lean
from appell.model.model import WORLD, Frame, Model
from appell.model.parameters import PER_BODY, PER_VELOCITY
from appell.program.nodes import Begin, Copy, Fields, Item, Items, Program, Share, Stage, Start, Sweep, Walk
from appell.recursion.articulated import extents
from appell.recursion.forward import probe
from appell.recursion.kinematics import Scalars
from appell.robot.long import dynamics, kinematics
from appell.robot.long.body import MASSLESS, TracedBody, body_constants, frame_constants, packing, with_z_axes
from appell.robot.long.plan import FIELDS, INDEX, Context, Plan, Q, StepPlan, SweepPlan, V, WalkPlan
from appell.robot.verbs.coordinates import quaternion_errors
from appell.robot.verbs.guards import GUARDS
from appell.robot.verbs.table import MASS, VERBS
from appell.spatial.vector import IDENTITY
from appell.trace.tape import Port, flatten, trace

CLASSES = 12
"""Most classes of bodies; beyond, those of one kind of joint share a class, which folds what all have alike."""
PLANS: dict[str, Plan | Callable[..., Plan]] = {**dynamics.PLANS, **kinematics.PLANS}
"""The passes of every verb."""
FRAME, ROOT = "frame", "world"
"""Classes beside the kinds of joint."""

Key = tuple[str, tuple[float | None, ...]]
"""A class: the kind of joint and, per constant, what it is where that is folded."""


def program(
    model: Model,
    verb: str,
    frames: Sequence[Frame],
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    quaternions: Sequence[int] = (),
    *,
    is_parametric: bool = False,
) -> Program:
    """Return the program of a verb, about some frames where the verb is about a frame or points.

    The last input of a parametric program takes the place of the model's parameters. `quaternions` are the places in q
    of those whose lengths are checked, the last output.
    """
    filed = model
    if VERBS[verb].is_lean and not is_parametric:
        model = replace(lean(model), deferred=frozenset())
    own = outputs[:-1] if quaternions else outputs
    port = next((k for k, port in enumerate(own) if port.name == GUARDS[MASS].code.port), None)
    made = _Assembly(model, filed, verb, tuple(frames), is_parametric, port).program(inputs, own)
    return checked(made, quaternions, outputs[-1]) if quaternions else made


def checked(made: Program, places: Sequence[int], output: Port) -> Program:
    """Return a program with a pass over the quaternions, each an item, for ‖quaternion‖² − 1."""
    tape = trace("lengths", lambda x: quaternion_errors([0], x), [Port("quaternion", (4,))], [Port("error", (1,))])
    stage = Stage(tape, (Share(made.inputs[0].name, 4, 0),), (Share(output.name, 1, 1),))
    items = Items((Item(0, 0, (0, 0), ()), *(Item(1, 0, (place, k), ()) for k, place in enumerate(places))), {})
    check = Sweep(items, inward=False, fields=Fields(), stages=(None, stage))
    return replace(made, outputs=(*made.outputs, output), nodes=(*made.nodes, check))


class _Assembly:
    """A plan on its way to a program: the items with their classes, the sizes of the fields."""

    def __init__(
        self, model: Model, filed: Model, verb: str, frames: tuple[Frame, ...], parametric: bool, probe_port: int | None
    ) -> None:
        found = PLANS[verb]
        plan = found if isinstance(found, Plan) else found(model, is_parametric=parametric)
        self.plan: Plan = dynamics.probed(plan, probe_port) if probe_port is not None else plan
        self.verb, self.parametric, self.frames, self.friction = verb, parametric, frames, model.has_joint_parameters
        if self.plan.is_massless or parametric:
            bare = (replace(body, inertia=MASSLESS) for body in model.without_joint_parameters().bodies)
            model = replace(model, bodies=tuple(bare))
        self.model, file_rotations = with_z_axes(model)
        # a path to frames, or all bodies
        path = {i for frame in frames for i in model.ancestors(frame.body)}
        self.bodies = sorted(path) if frames else list(range(len(model.bodies)))
        needs_rotation = parametric or verb == "regressor"
        kinds = [model.bodies[i].joint.kind for i in self.bodies]
        used = dict.fromkeys(name for one in self.plan.passes for names in one.fields for name in names)
        # zeros, which fold, where nothing is probed
        probes = _probes(filed) if "probe" in used else [(0.0, 0.0, 0.0)] * len(filed.bodies)
        constants = [
            body_constants(self.model.bodies[i], file_rotations[i] if needs_rotation else IDENTITY, probes[i])
            for i in self.bodies
        ]
        constants += [frame_constants(frame, file_rotations) for frame in frames]
        self.constants = [(), *constants]
        self.keys = _keys([ROOT, *kinds, *([FRAME] * len(frames))], self.constants)
        self.classes: list[Key] = list(dict.fromkeys(self.keys))
        nv = max((KINDS[kind].nv for kind in kinds), default=0)
        joint_pose = max((len(packing(kind)[0]) for kind in kinds), default=0)
        sizes = FIELDS | {"joint_pose": joint_pose, "pivot": 8 * nv}
        self.fields = {name: sizes[name] for name in used}

    def program(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Program:
        """Return the program."""
        self.inputs, self.outputs = inputs, outputs
        base = {name: x for name, x in self.plan.base(self.model).items() if name in self.fields}
        rows = self._items()
        self.items = Items(rows, self.fields, base)
        made = [self._sweep(one) if isinstance(one, SweepPlan) else self._walk(one) for one in self.plan.passes]
        passes = tuple(one for one in made if any(one.stages))
        chain = all(item.parent == k for k, item in enumerate(rows[1:]))
        has_gaps = self.plan.has_gaps and not (chain and self.verb.endswith("_matrix"))
        zeroed = [Copy("", outputs[0].name)] if has_gaps else []
        return Program(self.verb, inputs, outputs, (*zeroed, Begin(self.items), *passes))

    def _items(self) -> tuple[Item, ...]:
        place = {WORLD: 0} | {i: k for k, i in enumerate(self.bodies, start=1)}
        rows = [(0, (0, 0, 0))]
        for i in self.bodies:
            numbers = (self.model.q_slices[i].start, self.model.v_slices[i].start, i)
            rows.append((place[self.model.bodies[i].parent], numbers))
        rows += [(place[frame.body], (0, 0, k)) for k, frame in enumerate(self.frames)]
        items = []
        for (parent, numbers), key, constants in zip(rows, self.keys, self.constants, strict=True):
            kept = tuple(x for x, known in zip(constants, key[1], strict=True) if known is None)
            items.append(Item(self.classes.index(key), parent, numbers, kept))
        return tuple(items)

    def _sweep(self, one: SweepPlan) -> Sweep:
        parts = {ROOT: one.world, FRAME: one.frame}
        stages = tuple(
            self._stage(key, part, part.step, one.fields) if (part := parts.get(key[0], one.body)) else None
            for key in self.classes
        )
        return Sweep(self.items, one.inward, one.fields, stages)

    def _walk(self, one: WalkPlan) -> Walk:
        """Return walks from every body, one per column of its joint if the plan requires it."""
        first: list[Stage] = []
        begins: dict[int, int] = {}
        for c, key in enumerate(self.classes):
            if key[0] in KINDS:
                begins[c] = len(first)
                columns = range(KINDS[key[0]].nv) if one.per_column else (None,)
                steps = [one.first.step if k is None else _of_column(one.first.step, k) for k in columns]
                first += [self._stage(key, one.first, step, one.fields, gives=one.state) for step in steps]
        starts = []
        for k, i in enumerate(self.bodies, start=1):
            stage, v = begins[self.classes.index(self.keys[k])], self.model.velocities(i)
            numbers = list(v) if one.per_column else [i]
            starts += [Start(k, stage + j, number) for j, number in enumerate(numbers)]
        stages = tuple(
            self._stage(key, one.body, one.body.step, one.fields, one.state, one.state) if key[0] in KINDS else None
            for key in self.classes
        )
        return Walk(self.items, one.fields, one.state, tuple(starts), tuple(first), stages)

    def _stage(
        self, key: Key, part: StepPlan, step: Callable[[Context], Any], fields: Fields, takes: int = 0, gives: int = 0
    ) -> Stage:
        """Return one step, traced."""
        kind, pattern = key
        kept = [k for k, known in enumerate(pattern) if known is None]
        shares = self._shares(kind)
        joint = KINDS.get(kind, KINDS["revolute"])
        results = [(self.outputs[k], layout) for k, layout in part.results]
        outputs = [share for port, layout in results for share in layout(port.name, port.shape, joint)]
        reads = [(where, name) for where in ("own", "parent", "root") for name in getattr(fields, where)]
        ports = [Port("constants", (len(kept),)), *(Port(name, (share.size,)) for name, share in shares)]
        ports += [*(Port(name, (self.fields[name],)) for _, name in reads), Port("state", (takes,))]
        sizes = [
            *(self.fields[name] for name in (*fields.writes, *fields.adds, *fields.sums)),
            *([gives] if gives else ()),
        ]
        count = sum(sizes) + sum(share.size for share in outputs)

        def traced(constants: Scalars, *others: Scalars) -> Any:
            full = list(pattern)
            for k, value in zip(kept, constants, strict=True):
                full[k] = value
            given: dict[str, Scalars] = dict.fromkeys(("v", "a", "load"), (0.0,) * (joint.nv if kind in KINDS else 0))
            given |= {name: x for (name, _), x in zip(shares, others, strict=False)}
            seen: dict[str, dict[str, Scalars]] = {"own": {}, "parent": {}, "root": {}}
            for (where, name), x in zip(reads, others[len(shares) :], strict=False):
                seen[where][name] = x
            pi, friction = given.pop("parameters", ()), given.pop("friction", ())
            body = TracedBody(kind, tuple(full), pi, friction)
            found = step(Context(self.model, self.parametric, body, given, **seen, state=others[-1]))
            results = [_padded(x, size) for x, size in zip(found, sizes, strict=False)]
            return results, tuple(found[len(sizes) :])

        tape = trace(f"{self.verb}: {kind}", traced, ports, [Port("results", (count,))])
        return Stage(tape, tuple(share for _, share in shares), tuple(outputs))

    def _shares(self, kind: str) -> list[tuple[str, Share]]:
        """Return what an item of a kind reads of the inputs."""
        shares = []
        for port in self.inputs:
            name = port.name
            if name in ("wrench", "dt"):
                shares.append((name, Share(name, port.size)))
            elif kind not in KINDS:
                continue
            elif name == "parameters":
                shares.append((name, Share(name, PER_BODY, INDEX, PER_BODY)))
                if self.friction:
                    count, first = PER_VELOCITY * KINDS[kind].nv, PER_BODY * len(self.model.bodies)
                    shares.append(("friction", Share(name, count, V, PER_VELOCITY, first)))
            else:
                own = Share(name, KINDS[kind].nq, Q) if name == "q" else Share(name, KINDS[kind].nv, V)
                shares.append((name, own))
        return shares


def _probes(filed: Model) -> list[tuple[float, ...]]:
    """Return the extent of every body and the factor of its pushes: that of a probe, times √(tr M)."""
    around = extents(filed)
    size = math.sqrt(
        sum(
            around[i].seen_by(column, filed.joint_parameters[k].armature)
            for i, body in enumerate(filed.bodies)
            for k, column in zip(filed.velocities(i), body.joint.columns, strict=True)
        )
    )
    return [(*extent, z * size) for extent, z in zip(around, probe(len(around)), strict=True)]


def _keys(kinds: list[str], constants: list[tuple[float, ...]]) -> list[Key]:
    """Return the class of every item."""
    keys: list[Key] = [
        (kind, tuple(x if x in (0.0, 1.0, -1.0) else None for x in numbers))
        for kind, numbers in zip(kinds, constants, strict=True)
    ]
    crowded = len({key for key in keys if key[0] in KINDS}) > CLASSES
    alike: dict[str, tuple[float | None, ...]] = {}
    for kind, pattern in keys:
        before = alike.get(kind, pattern)
        alike[kind] = tuple(x if x == y else None for x, y in zip(before, pattern, strict=True))
    return [(kind, alike[kind]) if crowded or kind == FRAME else (kind, pattern) for kind, pattern in keys]


def _of_column(step: Callable[..., Any], column: int) -> Callable[[Context], Any]:
    return lambda x: step(x, column)


def _padded(nested: Any, size: int) -> list[Any]:
    """Return scalars as a list of a size, filled up with zeros."""
    values = list(flatten(nested))
    return values + [0.0] * (size - len(values))
