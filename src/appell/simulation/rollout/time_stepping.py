"""Moreau–Jean time stepping: a step of a rollout with walls, joint limits and Coulomb friction of the joints.

The equations are in :mod:`appell.recursion.impulses`. A step is a block that sets them up, a loop of sweeps, and a
block that ends it. Control laws that feed back joint errors enter with their gains in M̂ (:mod:`scheme`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from appell.model.parameters import velocity_names
from appell.program.nodes import Block, Copy, Loop, Program
from appell.program.record import Recorder
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

SWEEP = "sweep"
"""The axis of the sweeps of a step."""


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


@dataclass(frozen=True)
class Ground:
    """What a robot may touch, and how often its contacts are visited in a step."""

    sites: tuple[Site, ...]
    sweeps: int

    def ports(self, robot: Robot, *, is_parametric: bool) -> Ports:
        """Return the states and the fixed arguments of time stepping."""
        n = len(self.sites)
        boxes = len(rubbing(robot, is_parametric=is_parametric))
        sizes = {"impulse": 3 * n, "box": boxes, "measure": len(MEASURES)}
        fixed = tuple(Port(name, (n,)) for name in ("friction", "restitution", "offset") if n)
        return Ports(tuple(Port(name, (size,)) for name, size in sizes.items() if size), fixed)

    @property
    def fingerprint(self) -> str:
        """Return the data that programs depend on."""
        return repr(([(*site[:3], site.wall.digest) for site in self.sites], self.sweeps))


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

        def group(jacobian: Sequence[Scalars]) -> tuple[Group, list[Scalar]]:
            own = [tuple(row) for row in at.reduced_columns(jacobian)]
            y = [tuple(carried_inward(lower, at.parents, row)) for row in own]
            scaled = [tuple(a * b for a, b in zip(row, inverse, strict=True)) for row in y]
            before = [summed(0.0, row, given.v) for row in own]
            free = [summed(a, row, right) for a, row in zip(before, scaled, strict=True)]
            return Group(tuple(y), tuple(scaled), tuple(free)), before

        touching = _Contacts(ground.sites, at, given)
        groups = [touching.group(sites, group) for sites in touching.bodies.values()]
        for number, k in enumerate(rubs):
            found, _ = group([tuple(float(k == j) for j in range(at.model.nv))])
            inertia = summed(0.0, found.y[0], found.scaled[0])
            most = h * (robot.parameters[places[k]] if pi is None else pi[places[k]])
            groups.append(found._replace(boxes=(Box(number, None, most, 1.0 / inertia),)))
        a = impulses.delassus(groups)
        start = Impulses(_triples(given.impulse), given.box)
        after, change = _repeated(call, ground.sweeps, groups, a, start)
        along = [(x, f) for group in groups for x, f in zip(group.y, group.gathered(after), strict=True)]
        kicked = [summed(0.0, [y[k] for y, _ in along], [f for _, f in along]) for k in range(n)]
        jump = carried_outward(lower, at.parents, [(x + y) * d for x, y, d in zip(right, kicked, inverse, strict=True)])
        faster = tuple(x + y for x, y in zip(given.v, jump, strict=True))
        moving = call(rates, given.q, faster)[0]
        moved = tuple(x + h * rate for x, rate in zip(given.place, moving, strict=True))
        measures = _measured(given.measure, touching, groups, a, after, change, inverse, kicked)
        return moved, faster, after.contacts, after.boxes, measures

    return step


class _Contacts:
    """The contacts of a step: where they are, and the laws of their normal speeds."""

    def __init__(self, sites: Sequence[Site], at: Posture, given: Given) -> None:
        self._sites, self._at, self._given = sites, at, given
        self._poses = world_poses(at.model, at.q) if sites else []
        self.bodies: dict[int, list[int]] = {}
        for k, site in enumerate(sites):
            self.bodies.setdefault(site.body, []).append(k)
        self.gaps: list[Scalar] = [0.0] * len(sites)
        self.rises: list[Scalar] = [0.0] * len(sites)

    def group(self, numbers: list[int], made: Callable[..., tuple[Group, list[Scalar]]]) -> Group:
        """Return the rows of the contacts of one body."""
        body, given = self._sites[numbers[0]].body, self._given
        pose = self._poses[body]
        places = [self._place(k, pose) for k in numbers]
        if len(numbers) == 1:
            (axes, arm), (k,) = places[0], numbers
            linear = self._jacobian(body, add(pose.position, arm))[:3]
            group, before = made([tuple(summed(0.0, axis, column) for column in zip(*linear, strict=True)) for axis in axes])
            bound = self._bound(k, before[0], group.free[0])
            own = impulses.own(impulses.response(group, group))  # type: ignore[arg-type]
            return group._replace(contacts=(Contact(k, None, given.friction[k], bound, own),))
        group, before = made(self._jacobian(body, pose.position))
        a, contacts = impulses.response(group, group), list[Contact]()
        for k, place in zip(numbers, places, strict=True):
            bound = self._bound(k, place.speeds(tuple(before))[0], place.speeds(group.free)[0])
            wrenches = [place.wrench(tuple(float(i == j) for j in range(3))) for i in range(3)]  # type: ignore[arg-type]
            columns = [place.speeds(tuple(summed(0.0, row, x) for row in a)) for x in wrenches]
            part: Any = tuple(zip(*columns, strict=True))
            contacts.append(Contact(k, place, given.friction[k], bound, impulses.own(part), part))
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

    def _bound(self, k: int, before: Scalar, free: Scalar) -> Scalar:
        bound, self.rises[k] = impulses.least_speed(self.gaps[k], self._given.dt[0])
        return impulses.rebound(bound, before, free, self._given.restitution[k])

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
    call: Recorder, sweeps: int, groups: Sequence[Group], a: Blocks, start: Impulses
) -> tuple[Impulses, Impulses]:
    """Return the impulses after all sweeps, and their change in the last one."""
    if not groups:
        return start, start
    problem: Any = tuple(impulses.weighed(groups, a))
    live = list({x.index: x for x in flatten(problem) if isinstance(x, Expr)}.values())
    places = {x.index: k for k, x in enumerate(live)}
    count = 3 * len(start.contacts)
    state, data = Port("impulse", (count + len(start.boxes),)), Port("data", (len(live),))

    def sweep(before: Scalars, known: Scalars) -> Any:
        def own(x: Any) -> Any:
            if isinstance(x, Expr):
                return known[places[x.index]]
            if not isinstance(x, tuple | list):
                return x
            parts = [own(y) for y in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)

        given = Impulses(_triples(before[:count]), before[count:])
        after = tuple(flatten(tuple(impulses.swept(*own(problem), given))))
        return after, tuple(x - y for x, y in zip(after, before, strict=True))

    change, now = state._replace(name="change"), state._replace(name="now")
    block = Block(trace(SWEEP, sweep, [state, data], [state, change]), ("now", "data"), ("now", "latest"))
    nodes = (Copy("impulse", "now"), Loop(SWEEP, (block,), sweeps), Copy("now", "after"), Copy("latest", "change"))
    outputs = (state._replace(name="after"), change)
    program = Program(SWEEP, (state, data), outputs, nodes, (now, state._replace(name="latest")))
    found = call(program, tuple(flatten(tuple(start))), live)
    after, latest = (Impulses(_triples(x[:count]), x[count:]) for x in found)
    return after, latest


def _measured(
    before: Scalars,
    touching: _Contacts,
    groups: Sequence[Group],
    a: Blocks,
    after: Impulses,
    change: Impulses,
    inverse: Sequence[Scalar],
    kicked: Sequence[Scalar],
) -> list[Scalar]:
    """Return the measures of a robot after a step.

    Of an impulse, u_f·λ + ½λᵀAλ is the energy that it adds, less the work of what closes penetrations.
    """
    depth, residual, gain = before
    for gap in touching.gaps:
        depth = impulses.greatest(-gap, depth)
    moves = [group.gathered(change) for group in groups]
    for i, _ in enumerate(groups):
        for k in range(len(a[i][i])):
            speed = sum((summed(0.0, a[i][j][k], move) for j, move in enumerate(moves)), start=0.0)
            residual = impulses.greatest(impulses.greatest(speed, -speed), residual)
    energy = 0.5 * sum((d * x * x for d, x in zip(inverse, kicked, strict=True)), start=0.0)
    for group in groups:
        energy = energy + summed(0.0, group.free, group.gathered(after))
        for contact in group.contacts:
            energy = energy - touching.rises[contact.number] * after.contacts[contact.number][0]
    return [depth, residual, gain + select(energy, energy, 0.0)]
