"""Moreau–Jean time stepping: a step of a rollout with walls, joint limits and Coulomb friction of the joints.

The equations are in :mod:`appell.recursion.impulses`. A step is a block that sets them up, a loop of sweeps, and a
block that ends it. Control laws that feed back joint errors enter with their gains in M̂ (:mod:`scheme`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from appell.model.model import Model
from appell.model.parameters import velocity_names
from appell.program.nodes import Block, Copy, Loop, Program, inlined
from appell.program.record import Recorder, record
from appell.recursion import impulses
from appell.recursion.forward import carried_inward, carried_outward, divided, eliminated
from appell.recursion.impulses import (
    Blocks,
    Box,
    Contact,
    Group,
    Impulses,
    Place,
    greatest,
    least_speed,
    summed,
)
from appell.recursion.kinematics import Scalars, column_at, world_poses
from appell.robot.kind import FILE
from appell.robot.robot import Robot
from appell.robot.verbs.embedding import Posture
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector, select, sign, sqrt
from appell.spatial.vector import add, dot, matvec, scale, sub
from appell.trace.expr import Expr
from appell.trace.tape import Port, Tape, flatten, trace

SWEEP = "sweep"
"""The axis of the sweeps of a step."""
TRIES = 4
"""How often a step is repeated at most, until it holds the joints at the right limits."""
FAST = 1e9
"""A speed that no joint has."""


class Site(NamedTuple):
    """A contact point on a body, with a radius, and the tape of gap and gradient of its wall.

    `margin` is what its distance from the wall has to be.
    """

    body: int
    position: Vector
    radius: float
    margin: float
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
        sizes = {"impulse": 3 * n, "box": boxes, MEASURE: len(MEASURES)}
        fixed = tuple(Port(name, (n,)) for name in ("friction", "restitution", "offset") if n)
        return Ports(tuple(Port(name, (size,)) for name, size in sizes.items() if size), fixed)

    @property
    def fingerprint(self) -> str:
        """Return the data that programs depend on."""
        sites = [(*site[:4], site.wall.digest) for site in self.sites]
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


MEASURE = "measure"
"""The state with what is measured, on which no other depends."""
MEASURES = ("penetration", "residual", "energy_gain")
"""Of every robot: largest depth [m], largest change of a speed in the last sweep of a step [m/s], energy [J]."""


class _Touch(NamedTuple):
    """The contacts of one body: their numbers, the rows of their motion, their places in it, and their gaps."""

    numbers: tuple[int, ...]
    rows: tuple[Scalars, ...]
    places: tuple[Place | None, ...]
    gaps: Scalars


class _Joint(NamedTuple):
    """A joint with limits: its row, least and greatest speed within them, and the parts of these that lead back."""

    row: Scalars
    speeds: tuple[Scalar, Scalar]
    rises: tuple[Scalar, Scalar]

    @property
    def place(self) -> int | None:
        """Return the independent velocity that is the joint's, if there is one."""
        ones = [k for k, x in enumerate(self.row) if not (isinstance(x, float) and x == 0.0)]
        return ones[0] if len(ones) == 1 and self.row[ones[0]] == 1.0 else None


class _Solution(NamedTuple):
    """What a step finds: impulses, velocities, the change of a row's speeds in the last sweep, the energy added.

    `sides` are the limits at which joints are held: 1 the lower, −1 the upper, 0 none; `wrong` is above zero where they
    differ from what was assumed.
    """

    impulses: Impulses
    faster: Scalars
    residual: Scalar
    energy: Scalar
    sides: Scalars
    wrong: Scalar


class _Problem(NamedTuple):
    """A step before impulses: M̂ and the impulse h f of all forces, and what may be touched.

    A joint at a limit is held: its change of velocity s is given, its row has D⁻¹ = 0, and with W = DL

        zₖ = D⁻¹ₖ yₖ + sₖ,   y = h f − Wᵀz (of ancestors),   v⁺ = v + L⁻¹z,   λₖ = (W (v⁺ − v))ₖ − yₖ.
    """

    parents: tuple[int, ...]
    matrix: tuple[Scalars, ...]
    push: Scalars
    v: Scalars
    rate: Scalar
    """1/h."""
    friction: Scalars
    restitution: Scalars
    touches: tuple[_Touch, ...]
    rubs: tuple[tuple[Scalars, Scalar], ...]
    """Rows with Coulomb friction, and the greatest impulses of these."""
    ends: tuple[_Joint, ...]
    """Joints with limits that are solved with the contacts."""
    held: tuple[_Joint, ...]
    """Joints with limits that are held there."""
    rebound: float
    """The restitution of limits."""

    def solved(self, call: Recorder, sweeps: int, start: Impulses, sides: Scalars) -> _Solution:
        """Return the step where joints are held at some limits."""
        n, count = len(self.v), len(self.rubs) + len(self.ends)
        free, jump = [1.0] * n, [0.0] * n
        for joint, side in zip(self.held, sides, strict=True):
            k = joint.place
            assert k is not None
            is_held = side * side
            free[k], jump[k] = 1.0 - is_held, is_held * (self._target(joint, side) - self.v[k])
        rows, inverse = eliminated(self.matrix, self.parents, free)
        lower, y, z = divided(rows, inverse), list(self.push), [0.0] * n
        for k in reversed(range(n)):
            z[k] = y[k] * inverse[k] + jump[k]
            for i in self._above(k):
                y[i] = y[i] - rows[k][i] * z[k]

        def made(jacobian: Sequence[Scalars]) -> tuple[Group, list[Scalar]]:
            columns = tuple(tuple(carried_inward(lower, self.parents, row)) for row in jacobian)
            scaled = tuple(tuple(a * b for a, b in zip(row, inverse, strict=True)) for row in columns)
            before = [summed(0.0, row, self.v) for row in jacobian]
            return Group(columns, scaled, tuple(map(summed, before, columns, [z] * len(columns)))), before

        groups = [self._contacts(touch, *made(touch.rows)) for touch in self.touches]
        for number, (row, most) in enumerate(self.rubs):
            found, _ = made([row])
            groups.append(found._replace(boxes=(Box(number, impulses.inverse(found), most),)))
        for number, (row, speeds, rises) in enumerate(self.ends, start=len(self.rubs)):
            found, _ = made([row])
            groups.append(found._replace(boxes=(Box(number, impulses.inverse(found), None, speeds, rises),)))
        a = impulses.delassus(groups)
        after, change = _repeated(call, sweeps, groups, a, start._replace(boxes=start.boxes[:count]))
        along = [(row, f) for group in groups for row, f in zip(group.y, group.gathered(after), strict=True)]
        kicks = [summed(0.0, [row[k] for row, _ in along], [f for _, f in along]) for k in range(n)]
        moved = carried_outward(lower, self.parents, [x + y * d for x, y, d in zip(z, kicks, inverse, strict=True)])
        faster = tuple(x + y for x, y in zip(self.v, moved, strict=True))
        residual: Scalar = 0.0
        for group, blocks, i in zip(groups, a, range(len(groups)), strict=True):
            for row in blocks[i]:
                speed = summed(0.0, row, group.gathered(change))
                residual = greatest(greatest(speed, -speed), residual)
        # λ adds the energy u_f·λ + ½λᵀAλ, of which the work of what closes penetrations is left out
        energy = 0.5 * sum((d * x * x for d, x in zip(inverse, kicks, strict=True)), start=0.0)
        for group in groups:
            energy = summed(energy, group.free, group.gathered(after)) - group.rising(after)
        found_sides, reactions, wrong = [], [], 0.0
        for joint, side in zip(self.held, sides, strict=True):
            k = joint.place
            assert k is not None
            reaction = summed(
                -(y[k] + kicks[k]), [rows[k][i] for i in (k, *self._above(k))], [moved[i] for i in (k, *self._above(k))]
            )
            low, high = joint.speeds
            passed = select(low - faster[k], 1.0, select(faster[k] - high, -1.0, 0.0))
            found_sides.append(select(side * side, select(reaction * side, side, 0.0), passed))
            reactions.append(side * side * reaction)
            off = found_sides[-1] - side
            wrong = wrong + off * off
        boxes = (*after.boxes, *reactions)
        return _Solution(Impulses(after.contacts, boxes), faster, residual, energy, tuple(found_sides), wrong)

    def _above(self, k: int) -> Iterator[int]:
        while (k := self.parents[k]) >= 0:
            yield k

    def _target(self, joint: _Joint, side: Scalar) -> Scalar:
        """Return the speed of a joint that is held at a limit."""
        k, speeds = joint.place, joint.speeds
        assert k is not None
        if self.rebound:
            back = -self.rebound * self.v[k]
            low, high = speeds
            speeds = select(back, greatest(low, back), low), select(-back, greatest(high, back, -1.0), high)
        return select(side, *speeds)

    def _contacts(self, touch: _Touch, group: Group, before: list[Scalar]) -> Group:
        """Return the rows of the contacts of one body."""
        contacts, a = list[Contact](), impulses.response(group, group)
        places, n = [place for place in touch.places if place is not None], range(len(touch.numbers))
        units: list[Vector] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        wrenches = [[place.wrench(x) for x in units] for place in places]
        moved = [[tuple(summed(0.0, row, x) for row in a) for x in own] for own in wrenches]
        lower = [[tuple(map(place.speeds, moved[j])) for j in n[: m + 1]] for m, place in enumerate(places)]
        for m, (k, place, gap) in enumerate(zip(touch.numbers, touch.places, touch.gaps, strict=True)):
            speeds, near = (before[0], group.free[0]), [a]
            if place is not None:
                speeds = place.speeds(tuple(before))[0], place.speeds(group.free)[0]
                # of contact j's impulses, each a column
                near = [tuple(zip(*lower[m][j], strict=True)) if j <= m else lower[j][m] for j in n]
            bound, rise = impulses.least_speed(gap, self.rate)
            bound = impulses.rebound(bound, *speeds, self.restitution[k])
            own: Any = near[m]
            contacts.append(Contact(k, place, self.friction[k], bound, rise, impulses.own(own), tuple(near)))  # type: ignore[arg-type]
        return group._replace(contacts=tuple(contacts))


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
        rate = 1.0 / h
        bare = () if pi is None else (tuple(0.0 if k in places else x for k, x in enumerate(pi)),)
        flat = call(matrix, given.q, *bare)[0]
        rows = [list(flat[n * k : n * (k + 1)]) for k in range(n)]
        for k, more in enumerate(given.implicit):
            rows[k][k] = rows[k][k] + more
        at = embedding.at(given.q)
        pushed, bias = call(actuation, given.q, given.tau)[0], call(biases, given.q, given.v, *bare)[0]
        most = [h * (robot.parameters[places[k]] if pi is None else pi[places[k]]) for k in rubs]
        joints = _joints(ground.limits, at, embedding.at(given.place).q if ground.limits else (), rate)
        touches = _touches(ground.sites, at, given.offset)
        problem = _Problem(
            tuple(at.parents),
            tuple(map(tuple, rows)),
            tuple(h * (x - y) for x, y in zip(pushed, bias, strict=True)),
            given.v,
            rate,
            given.friction,
            given.restitution,
            touches,
            tuple(zip(_units(rubs, at), most, strict=True)),
            tuple(joint for joint in joints if joint.place is None),
            tuple(joint for joint in joints if joint.place is not None),
            ground.rebound,
        )
        solution = _solved(call, problem, ground.sweeps, Impulses(_triples(given.impulse), given.box))
        moving = call(rates, given.q, solution.faster)[0]
        moved = tuple(x + h * rate for x, rate in zip(given.place, moving, strict=True))
        depth, residual, gain = given.measure
        for gap in (gap for touch in touches for gap in touch.gaps):
            depth = greatest(-gap, depth)
        residual = greatest(solution.residual, residual)
        measures = depth, residual, gain + select(solution.energy, solution.energy, 0.0)
        return moved, solution.faster, *solution.impulses, measures

    return step


def _units(velocities: Sequence[int], at: Posture) -> list[Scalars]:
    """Return the rows of some velocities of the tree."""
    n = at.model.nv
    return [tuple(row) for row in at.reduced_columns([tuple(float(j == k) for j in range(n)) for k in velocities])]


def _joints(limits: Sequence[Limit], at: Posture, q: Scalars, rate: Scalar) -> list[_Joint]:
    """Return the joints with limits."""
    found = []
    for limit, row in zip(limits, _units([limit.velocity for limit in limits], at), strict=True):
        x = q[limit.coordinate]
        low, rise = least_speed(x - limit.lower, rate) if math.isfinite(limit.lower) else (-FAST, 0.0)
        high, fall = least_speed(limit.upper - x, rate) if math.isfinite(limit.upper) else (-FAST, 0.0)
        found.append(_Joint(row, (low, -high), (rise, -fall)))
    return found


def _touches(sites: Sequence[Site], at: Posture, offset: Scalars) -> tuple[_Touch, ...]:
    """Return the contacts, by body."""
    poses = world_poses(at.model, at.q) if sites else []
    bodies: dict[int, list[int]] = {}
    for k, site in enumerate(sites):
        bodies.setdefault(site.body, []).append(k)
    found = []
    for body, numbers in bodies.items():
        pose, places, gaps = poses[body], list[Place](), list[Scalar]()
        for k in numbers:
            radius, arm = sites[k].radius, matvec(pose.rotation, sites[k].position)
            gap, *slope = sites[k].wall.run(add(pose.position, arm))
            length = sqrt(dot(slope, slope))  # type: ignore[arg-type]
            normal = scale(1.0 / length, tuple(slope))
            gaps.append((gap - offset[k]) / length - sites[k].margin)
            places.append(Place(impulses.contact_axes(normal), sub(arm, scale(radius, normal))))
        if len(numbers) > 1:
            motion = at.reduced_columns(_jacobian(at.model, poses, body, pose.position))
            found.append(_Touch(tuple(numbers), tuple(map(tuple, motion)), tuple(places), tuple(gaps)))
            continue
        (place,) = places
        linear = _jacobian(at.model, poses, body, add(pose.position, place.arm))[:3]
        rows = [tuple(summed(0.0, axis, column) for column in zip(*linear, strict=True)) for axis in place.axes]
        found.append(_Touch(tuple(numbers), tuple(map(tuple, at.reduced_columns(rows))), (None,), tuple(gaps)))
    return tuple(found)


def _jacobian(model: Model, poses: Sequence[Pose], body: int, point: Vector) -> list[Scalars]:
    """Return the rows of the motion of a point of a body by the velocities of the tree."""
    columns: list[Scalars] = [(0.0,) * 6] * model.nv
    for i in model.ancestors(body):
        for k, column in zip(model.velocities(i), model.bodies[i].joint.columns, strict=True):
            columns[k] = column_at(poses[i], column, point)
    return list(zip(*columns, strict=True))


def _solved(call: Recorder, problem: _Problem, sweeps: int, start: Impulses) -> _Solution:
    """Return the step in which no joint passes a limit and no limit pulls.

    It begins with the limits of the step before, and is repeated where these turn out to be wrong.
    """
    n = len(start.boxes) - len(problem.held)
    sides = tuple(map(sign, start.boxes[n:]))
    if not problem.held:
        return problem.solved(call, sweeps, start, ())
    first = _Solution(start, problem.v, 0.0, 0.0, sides, 1.0)
    known = _Known(problem)

    def program(call: Recorder, numbers: Scalars, before: Scalars, wrong: Scalars) -> Any:
        last = _filled(first, iter((*before, *wrong)))
        found = known.of(numbers).solved(call, sweeps, last.impulses, last.sides)
        *values, again = (select(wrong[0], x, y) for x, y in zip(flatten(found), flatten(last), strict=True))
        return values, again

    *old, _ = flatten(first)
    inputs, state, wrong = Port("known", (len(known.live),)), Port("state", (len(old),)), Port("wrong", (1,))
    ports = {port.name: port.name for port in (inputs, state, wrong)}
    nodes, slots = inlined(record("held", program, [inputs, state, wrong], [state, wrong]), "held_", ports, ports)
    begin, end = state._replace(name="begin"), state._replace(name="end")
    first_wrong, last_wrong = wrong._replace(name="first_wrong"), wrong._replace(name="last_wrong")
    tries = Loop("tries", (Loop("try", nodes, 1, when="wrong"),), TRIES)
    copies = Copy("begin", "state"), Copy("first_wrong", "wrong")
    body = (*copies, tries, Copy("state", "end"), Copy("wrong", "last_wrong"))
    whole = Program("held", (inputs, begin, first_wrong), (end, last_wrong), body, (state, wrong, *slots))
    values, (off,) = call(whole, known.live, old, (1.0,))
    solution: _Solution = _filled(first, iter((*values, off)))
    return solution


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


def _triples(flat: Scalars) -> tuple[Vector, ...]:
    return tuple(flat[k : k + 3] for k in range(0, len(flat), 3))


def _repeated(
    call: Recorder, sweeps: int, groups: Sequence[Group], a: Blocks, start: Impulses
) -> tuple[Impulses, Impulses]:
    """Return the impulses after all sweeps, and their change in the last one."""
    if not groups:
        return start, start
    known = _Known(impulses.Sweep.of(groups, a))
    count = len(tuple(flatten(start)))
    state, data = Port("impulse", (count,)), Port("data", (len(known.live),))

    def sweep(before: Scalars, numbers: Scalars) -> Any:
        after = tuple(flatten(known.of(numbers).again(_filled(start, iter(before)))))
        return after, tuple(x - y for x, y in zip(after, before, strict=True))

    change, now = state._replace(name="change"), state._replace(name="now")
    block = Block(trace(SWEEP, sweep, [state, data], [state, change]), ("now", "data"), ("now", "latest"))
    nodes = (Copy("impulse", "now"), Loop(SWEEP, (block,), sweeps), Copy("now", "after"), Copy("latest", "change"))
    outputs, latest = (state._replace(name="after"), change), state._replace(name="latest")
    found = call(Program(SWEEP, (state, data), outputs, nodes, (now, latest)), tuple(flatten(start)), known.live)
    after, difference = (_filled(start, iter(x)) for x in found)
    return after, difference
