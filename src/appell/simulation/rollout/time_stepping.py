"""Moreau–Jean time stepping: a step of a rollout with walls, joint limits and Coulomb friction of the joints.

The equations are in :mod:`appell.recursion.impulses`. A step is a block that sets them up, a loop of sweeps, and a
block that ends it. Control laws that feed back joint errors enter with their gains in M̂ (:mod:`scheme`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from appell.model.parameters import velocity_names
from appell.program.nodes import Block, Copy, Loop, Program, inlined
from appell.program.record import Recorder, record
from appell.recursion import impulses
from appell.recursion.forward import carried_inward, carried_outward, factorise
from appell.recursion.impulses import Blocks, Box, Contact, Group, Impulses, Place, summed
from appell.recursion.kinematics import Scalars, column_at, world_poses
from appell.robot.kind import FILE
from appell.robot.robot import Robot
from appell.robot.verbs.embedding import Posture
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector, select, sqrt
from appell.spatial.vector import add, dot, matvec, scale, sub
from appell.trace.expr import Expr
from appell.trace.tape import Port, Tape, flatten, trace

SWEEP, LIMITED = "sweep", "limited"
"""The axes of the sweeps of a step, without and with joint limits."""
FAST = 1e9
"""A speed that no joint has."""


class Site(NamedTuple):
    """A contact point on a body, with a radius, and the tape of gap and gradient of its wall."""

    body: int
    position: Vector
    radius: float
    wall: Tape


class Ports(NamedTuple):
    """States and fixed arguments."""

    states: tuple[Port, ...]
    fixed: tuple[Port, ...]


class Limit(NamedTuple):
    """The limits of a joint: its places among the coordinates and the velocities of the tree, least and greatest."""

    coordinate: int
    velocity: int
    lower: float
    upper: float


@dataclass(frozen=True)
class Ground:
    """What a robot may touch, and how often its contacts are visited in a step."""

    sites: tuple[Site, ...]
    sweeps: int
    limits: tuple[Limit, ...] = ()
    rebound: float = 0.0
    """The restitution of joint limits."""

    def ports(self, robot: Robot, *, is_parametric: bool) -> Ports:
        """Return the states and the fixed arguments of time stepping."""
        n = len(self.sites)
        boxes = len(rubbing(robot, is_parametric=is_parametric)) + len(self.limits)
        sizes = {"impulse": 3 * n, "box": boxes, "measure": len(MEASURES)}
        fixed = tuple(Port(name, (n,)) for name in ("friction", "restitution", "offset") if n)
        return Ports(tuple(Port(name, (size,)) for name, size in sizes.items() if size), fixed)

    @property
    def fingerprint(self) -> str:
        """Return the data that programs depend on."""
        sites = [(*site[:3], site.wall.digest) for site in self.sites]
        return repr((sites, self.sweeps, [tuple(limit) for limit in self.limits], self.rebound))


def rubbing(robot: Robot, *, is_parametric: bool) -> list[int]:
    """Return the velocities of the tree on which Coulomb friction acts; of parametric programs those that have f."""
    places = _friction_places(robot)
    return [k for k, at in enumerate(places) if is_parametric or robot.parameters[at] > 0.0]


def _friction_places(robot: Robot) -> list[int]:
    """Return the index in π of the Coulomb friction of every velocity of the tree, none without such parameters."""
    names = list(robot.parameter_names)
    wanted = [f"f_{name}" for name in velocity_names(robot.model)]
    return [names.index(name) for name in wanted] if wanted[0] in names else []


def slippery(robot: Robot) -> Robot:
    """Return the robot without the Coulomb friction of its joints."""
    places = _friction_places(robot)
    if not any(robot.parameters[places]):
        return robot
    pi = robot.parameters.copy()
    pi[places] = 0.0
    return robot.with_parameters(pi)


class Given(NamedTuple):
    """The arguments of a step."""

    q: Scalars
    place: Scalars
    """q as numbers, which may not be reduced by whole turns."""
    v: Scalars
    tau: Scalars
    dt: Scalars
    measure: Scalars
    friction: Scalars = ()
    restitution: Scalars = ()
    offset: Scalars = ()
    impulse: Scalars = ()
    box: Scalars = ()
    parameters: Scalars | None = None
    implicit: Scalars = ()
    """What implicit feedback adds to the mass matrix, one number per motor."""


MEASURES = ("penetration", "residual", "energy_gain")
"""Of every robot: largest depth [m], largest change of a speed in the last sweep of a step [m/s], energy [J]."""


class _Problem(NamedTuple):
    """What the impulses of a step depend on: M̂ = LᵀDL with 1/D, y = L⁻ᵀh f, v, and the rows."""

    parents: tuple[int, ...]
    lower: list[dict[int, Scalar]]
    inverse: list[Scalar]
    right: list[Scalar]
    v: Scalars
    groups: tuple[Group, ...] = ()

    def group(self, jacobian: Iterable[Sequence[Scalar]]) -> tuple[Group, list[Scalar]]:
        """Return a group of rows of J, and its speeds before the step."""
        rows = [tuple(row) for row in jacobian]
        y = tuple(tuple(carried_inward(self.lower, self.parents, row)) for row in rows)
        scaled = tuple(tuple(a * b for a, b in zip(row, self.inverse, strict=True)) for row in y)
        before = [summed(0.0, row, self.v) for row in rows]
        free = tuple(summed(a, row, self.right) for a, row in zip(before, scaled, strict=True))
        return Group(y, scaled, free), before

    def solved(self, call: Recorder, axis: str, sweeps: int, start: Impulses) -> _Solution:
        """Return the impulses after all sweeps, and what follows from them."""
        groups, a = self.groups, impulses.delassus(self.groups)
        after, change = _repeated(call, axis, sweeps, groups, a, start)
        along = [(y, f) for group in groups for y, f in zip(group.y, group.gathered(after), strict=True)]
        kicks = [summed(0.0, [y[k] for y, _ in along], [f for _, f in along]) for k in range(len(self.v))]
        scaled = [(x + y) * d for x, y, d in zip(self.right, kicks, self.inverse, strict=True)]
        jump = carried_outward(self.lower, self.parents, scaled)
        faster = tuple(x + y for x, y in zip(self.v, jump, strict=True))
        residual: Scalar = 0.0
        for group, blocks, i in zip(groups, a, range(len(groups)), strict=True):
            for row in blocks[i]:
                speed = summed(0.0, row, group.gathered(change))
                residual = impulses.greatest(impulses.greatest(speed, -speed), residual)
        # λ adds the energy u_f·λ + ½λᵀAλ, of which the work of what closes penetrations is left out
        energy = 0.5 * sum((d * x * x for d, x in zip(self.inverse, kicks, strict=True)), start=0.0)
        for group in groups:
            energy = summed(energy, group.free, group.gathered(after)) - group.rising(after)
        return _Solution(after, faster, residual, energy)


class _Solution(NamedTuple):
    """Impulses, the velocity after the step, the change of a row's speeds in the last sweep, and the energy added."""

    impulses: Impulses
    faster: Scalars
    residual: Scalar
    energy: Scalar


def stepper(robot: Robot, ground: Ground, names: Sequence[str], *, is_parametric: bool) -> Callable[..., Any]:
    """Return the function of a step: q, v, impulses, boxes and measures from a recorder and the named arguments."""
    plain = slippery(robot)
    matrix = robot.program("mass_matrix", parametric=is_parametric).spec.program()
    biases = plain.program("bias", parametric=is_parametric).spec.program()
    actuation, rates = (robot.program(verb).spec.program() for verb in ("actuation", "coordinate_rates"))
    embedding, n = robot.kind.embedding(FILE), robot.nv
    places, rubs = _friction_places(robot), rubbing(robot, is_parametric=is_parametric)

    def step(call: Recorder, *arguments: Scalars) -> Any:
        given = Given(**dict(zip(names, arguments, strict=True)))
        (h,), pi = given.dt, given.parameters
        bare = () if pi is None else (tuple(0.0 if k in places else x for k, x in enumerate(pi)),)
        flat = call(matrix, given.q, *bare)[0]
        rows = [list(flat[n * k : n * (k + 1)]) for k in range(n)]
        for k, more in enumerate(given.implicit):
            rows[k][k] = rows[k][k] + more
        at = embedding.at(given.q)
        lower, inverse = factorise(tuple(map(tuple, rows)), at.parents)
        pushed = call(actuation, given.q, given.tau)[0]
        push = [h * (x - y) for x, y in zip(pushed, call(biases, given.q, given.v, *bare)[0], strict=True)]
        right = carried_inward(lower, at.parents, push)
        problem = _Problem(tuple(at.parents), lower, inverse, right, given.v)
        touching = _Contacts(ground.sites, at, given, problem)
        groups = [touching.group(sites) for sites in touching.bodies.values()]
        for number, k in enumerate(rubs):
            most = h * (robot.parameters[places[k]] if pi is None else pi[places[k]])
            found, _ = problem.group(at.reduced_columns([_unit(k, at.model.nv)]))
            groups.append(found._replace(boxes=(Box(number, impulses.inverse(found), most),)))
        problem = problem._replace(groups=tuple(groups))
        start = Impulses(_triples(given.impulse), given.box)
        solution = problem.solved(call, SWEEP, ground.sweeps, start._replace(boxes=given.box[: len(rubs)]))
        if ground.limits:
            ends = [_ends(limit, embedding.at(given.place).q, h) for limit in ground.limits]
            units = at.reduced_columns([_unit(limit.velocity, at.model.nv) for limit in ground.limits])
            solution = _limited(call, ground, problem, list(zip(units, ends, strict=True)), start, solution)
        moving = call(rates, given.q, solution.faster)[0]
        moved = tuple(x + h * rate for x, rate in zip(given.place, moving, strict=True))
        depth, residual, gain = given.measure
        for gap in touching.gaps:
            depth = impulses.greatest(-gap, depth)
        residual = impulses.greatest(solution.residual, residual)
        measures = depth, residual, gain + select(solution.energy, solution.energy, 0.0)
        return moved, solution.faster, *solution.impulses, measures

    return step


def _unit(k: int, n: int) -> Scalars:
    return tuple(float(j == k) for j in range(n))


class _Ends(NamedTuple):
    """Least and greatest speed of a joint within its limits, and the parts of them that lead back to a limit."""

    speeds: tuple[Scalar, Scalar]
    rises: tuple[Scalar, Scalar]


def _ends(limit: Limit, q: Scalars, h: Scalar) -> _Ends:
    x = q[limit.coordinate]
    low, rise = impulses.least_speed(x - limit.lower, h) if math.isfinite(limit.lower) else (-FAST, 0.0)
    high, fall = impulses.least_speed(limit.upper - x, h) if math.isfinite(limit.upper) else (-FAST, 0.0)
    return _Ends((low, -high), (rise, -fall))


def _limited(
    call: Recorder,
    ground: Ground,
    problem: _Problem,
    joints: Sequence[tuple[Sequence[Scalar], _Ends]],
    start: Impulses,
    found: _Solution,
) -> _Solution:
    """Return the solution with joint limits: the one without them where no joint passes a limit."""
    beyond: Scalar = 0.0
    for row, (speeds, _) in joints:
        speed = summed(0.0, row, found.faster)
        beyond = impulses.greatest(impulses.greatest(speeds[0] - speed, speed - speeds[1]), beyond)
    rubs = len(found.impulses.boxes)
    whole = found._replace(impulses=found.impulses._replace(boxes=(*found.impulses.boxes, *(0.0,) * len(joints))))
    known = _Known((problem, joints, start, whole, beyond))

    def program(call: Recorder, numbers: Scalars) -> Any:
        problem, joints, start, whole, beyond = known.of(numbers)
        groups = list(problem.groups)
        for number, (row, (speeds, rises)) in enumerate(joints, start=rubs):
            group, (before,) = problem.group([row])
            if ground.rebound:
                low, high = speeds
                low = impulses.rebound(low, before, group.free[0], ground.rebound)
                speeds = low, -impulses.rebound(-high, -before, -group.free[0], ground.rebound)
            groups.append(group._replace(boxes=(Box(number, impulses.inverse(group), None, speeds, rises),)))
        solution = problem._replace(groups=tuple(groups)).solved(call, LIMITED, ground.sweeps, start)
        pairs = zip(flatten(solution), flatten(whole), strict=True)
        return tuple(select(beyond, x, y) for x, y in pairs)

    old = tuple(flatten(whole))
    inputs, state = Port("known", (len(known.live),)), Port("state", (len(old),))
    made = record("limits", program, [inputs], [state])
    nodes, slots = inlined(made, "limits_", {"known": "known"}, {"state": "state"})
    before, after, when = state._replace(name="before"), state._replace(name="after"), Port("when", (1,))
    body = (Copy("before", "state"), Loop("held_back", nodes, 1, when="when"), Copy("state", "after"))
    whole_program = Program("limits", (inputs, before, when), (after,), body, (state, *slots))
    numbers = iter(call(whole_program, known.live, old, (beyond,))[0])
    return _filled(whole, numbers)


class _Known:
    """Nested values, and those of them that are not constant, as the arguments of a program of its own."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.live = list({x.index: x for x in _scalars(values) if isinstance(x, Expr)}.values())
        self._places = {x.index: k for k, x in enumerate(self.live)}

    def of(self, numbers: Scalars) -> Any:
        """Return the values with other numbers."""
        return _mapped(self.values, lambda x: numbers[self._places[x.index]] if isinstance(x, Expr) else x)


def _scalars(values: Any) -> Iterator[Any]:
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, tuple | list):
        for x in values:
            yield from _scalars(x)
    else:
        yield values


def _mapped(values: Any, function: Callable[[Any], Any]) -> Any:
    """Return nested values of the same structure."""
    if isinstance(values, dict):
        return {key: _mapped(x, function) for key, x in values.items()}
    if not isinstance(values, tuple | list):
        return function(values)
    parts = [_mapped(x, function) for x in values]
    return type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)


def _filled(values: Any, numbers: Iterator[Scalar]) -> Any:
    """Return nested values of the same structure from numbers."""
    return _mapped(values, lambda _: next(numbers))


class _Contacts:
    """The contacts of a step: where they are, and the laws of their normal speeds."""

    def __init__(self, sites: Sequence[Site], at: Posture, given: Given, problem: _Problem) -> None:
        self._sites, self._at, self._given, self._problem = sites, at, given, problem
        self._poses = world_poses(at.model, at.q) if sites else []
        self.bodies: dict[int, list[int]] = {}
        for k, site in enumerate(sites):
            self.bodies.setdefault(site.body, []).append(k)
        self.gaps: list[Scalar] = [0.0] * len(sites)

    def group(self, numbers: list[int]) -> Group:
        """Return the rows of the contacts of one body."""
        body, given = self._sites[numbers[0]].body, self._given
        pose = self._poses[body]
        places = [self._place(k, pose) for k in numbers]
        if len(numbers) == 1:
            (axes, arm), (k,) = places[0], numbers
            linear = self._jacobian(body, add(pose.position, arm))[:3]
            columns = list(zip(*linear, strict=True))
            group, before = self._made([tuple(summed(0.0, axis, column) for column in columns) for axis in axes])
            own = impulses.own(impulses.response(group, group))  # type: ignore[arg-type]
            bound = self._bound(k, before[0], group.free[0])
            return group._replace(contacts=(Contact(k, None, given.friction[k], *bound, own),))
        group, before = self._made(self._jacobian(body, pose.position))
        a, contacts = impulses.response(group, group), list[Contact]()
        for k, place in zip(numbers, places, strict=True):
            bound = self._bound(k, place.speeds(tuple(before))[0], place.speeds(group.free)[0])
            wrenches = [place.wrench(tuple(float(i == j) for j in range(3))) for i in range(3)]  # type: ignore[arg-type]
            columns = [place.speeds(tuple(summed(0.0, row, x) for row in a)) for x in wrenches]
            part: Any = tuple(zip(*columns, strict=True))
            contacts.append(Contact(k, place, given.friction[k], *bound, impulses.own(part), part))
        return group._replace(contacts=tuple(contacts))

    def _place(self, k: int, pose: Pose) -> Place:
        """Return directions and arm of a contact, and set its gap."""
        site = self._sites[k]
        arm = matvec(pose.rotation, site.position)
        gap, *slope = site.wall.run(add(pose.position, arm))
        length = sqrt(dot(slope, slope))  # type: ignore[arg-type]
        normal = scale(1.0 / length, tuple(slope))  # type: ignore[arg-type]
        self.gaps[k] = (gap - self._given.offset[k]) / length - site.radius
        return Place(impulses.contact_axes(normal), sub(arm, scale(site.radius, normal)))

    def _made(self, rows: Sequence[Scalars]) -> tuple[Group, list[Scalar]]:
        return self._problem.group(self._at.reduced_columns(rows))

    def _bound(self, k: int, before: Scalar, free: Scalar) -> tuple[Scalar, Scalar]:
        """Return the least normal speed of a contact, and the part of it that closes a penetration."""
        bound, rise = impulses.least_speed(self.gaps[k], self._given.dt[0])
        return impulses.rebound(bound, before, free, self._given.restitution[k]), rise

    def _jacobian(self, body: int, point: Vector) -> list[Scalars]:
        """Return the rows of the motion of a point of a body by the velocities of the tree."""
        model = self._at.model
        columns: list[Scalars] = [(0.0,) * 6] * model.nv
        for i in model.ancestors(body):
            for k, column in zip(model.velocities(i), model.bodies[i].joint.columns, strict=True):
                columns[k] = column_at(self._poses[i], column, point)
        return list(zip(*columns, strict=True))


def _triples(flat: Scalars) -> tuple[Vector, ...]:
    return tuple(flat[k : k + 3] for k in range(0, len(flat), 3))  # type: ignore[misc]


def _repeated(
    call: Recorder, axis: str, sweeps: int, groups: Sequence[Group], a: Blocks, start: Impulses
) -> tuple[Impulses, Impulses]:
    """Return the impulses after all sweeps, and their change in the last one."""
    if not groups:
        return start, start
    known = _Known(impulses.weighed(groups, a))
    count = len(tuple(flatten(start)))
    state, data = Port("impulse", (count,)), Port("data", (len(known.live),))

    def sweep(before: Scalars, numbers: Scalars) -> Any:
        after = tuple(flatten(impulses.swept(*known.of(numbers), _filled(start, iter(before)))))
        return after, tuple(x - y for x, y in zip(after, before, strict=True))

    change, now = state._replace(name="change"), state._replace(name="now")
    block = Block(trace(axis, sweep, [state, data], [state, change]), ("now", "data"), ("now", "latest"))
    nodes = (Copy("impulse", "now"), Loop(axis, (block,), sweeps), Copy("now", "after"), Copy("latest", "change"))
    outputs, latest = (state._replace(name="after"), change), state._replace(name="latest")
    found = call(Program(axis, (state, data), outputs, nodes, (now, latest)), tuple(flatten(start)), known.live)
    after, difference = (_filled(start, iter(x)) for x in found)
    return after, difference
