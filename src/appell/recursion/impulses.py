"""Impulses at contacts: Moreau–Jean time stepping with Coulomb friction and Newton's restitution.

With M̂ = LᵀDL, the free velocity v_f = v + M̂⁻¹h f and y = L⁻ᵀh f, contacts of Jacobian J add impulses λ:

    Y = L⁻ᵀJᵀ,   A = YᵀD⁻¹Y,   u = J v_f + Aλ,   v⁺ = v + L⁻¹D⁻¹(y + Yλ).

Every contact has a normal and two tangents. A sweep of projected Gauss–Seidel visits one contact after the other and
solves its law with all other impulses held: 0 ≤ λₙ ⟂ uₙ − bound ≥ 0, and λₜ on the disk of radius μλₙ, opposite to uₜ
where that is not zero. Several contacts of one body share the six coordinates of its motion; a box row has one
coordinate and least and greatest speeds, or a least and greatest impulse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import Matrix, Scalar, Vector, select, sqrt
from appell.spatial.vector import add, cross, matvec, matvec_t

TINY = 1e-36
"""Square of an impulse that is none, above the least number of single precision."""
FLAT = 1e-6
"""Ratio of det A to (tr A)² of two directions, below which they are one."""
DEEP = 0.2
"""Share of a penetration that is closed in a step."""
RISING = 0.5
"""Largest speed [m/s] at which a penetration is closed."""


class Place(NamedTuple):
    """A contact of a group of several: its directions as rows, and the arm from the group's point to it."""

    axes: Matrix
    arm: Vector

    def speeds(self, motion: Scalars) -> Vector:
        """Return normal and tangential speeds of a motion: velocity of the group's point, angular velocity."""
        return matvec(self.axes, add(motion[:3], cross(motion[3:], self.arm)))

    def wrench(self, impulse: Vector) -> Scalars:
        """Return an impulse of the contact as force and moment about the group's point."""
        force = matvec_t(self.axes, impulse)
        return (*force, *cross(self.arm, force))


class Own(NamedTuple):
    """What a visit needs of a contact's own part of A, which has the rows n, x and y."""

    normal: Scalar
    """−1/Aₙₙ, 0 where the contact cannot move along its normal."""
    lean: tuple[Scalar, Scalar]
    """−Aₙₜ/Aₙₙ."""
    coupling: tuple[Scalar, Scalar]
    """Aₜₙ."""
    stick: tuple[Scalar, Scalar, Scalar]
    """Aₜₜ⁻¹: its entries xx, xy and yy."""
    slide: Scalar
    """1/ρ of the greatest eigenvalue ρ of Aₜₜ."""
    kept: tuple[Scalar, Scalar, Scalar]
    """1 − Aₜₜ/ρ: its entries xx, xy and yy."""


def contact_axes(n: Vector) -> Matrix:
    """Return a unit normal and two tangents as rows, without a branch (Duff et al. 2017)."""
    x, y, z = n
    s = select(z + 1e-300, 1.0, -1.0) if isinstance(z, float) else select(z, 1.0, -1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return n, (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)


def least_speed(gap: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """Return the least normal speed at a gap: −g/h, so that nothing tunnels; a penetration is closed in part.

    `rate` is 1/h.

    The second is the same where there is a penetration, else zero.
    """
    closing = -(gap * rate)
    share = DEEP * closing
    rise = select(closing, select(RISING - share, share, RISING), 0.0)
    return select(closing, rise, closing), rise


def rebound(bound: Scalar, before: Scalar, free: Scalar, restitution: Scalar) -> Scalar:
    """Return the least normal speed after an impact: −e·v where the free motion closes the gap, and v does."""
    back = -restitution * before
    bouncing = select(back - bound, back, bound)
    return select(bound - free, select(-before, bouncing, bound), bound)


def own(a: Matrix) -> Own:
    """Return the parts of a contact's own A that a visit needs."""
    (nn, n1, n2), (_, xx, xy), (_, _, yy) = a
    trace = xx + yy
    half = 0.5 * (xx - yy)
    slide = 1.0 / (0.5 * trace + sqrt(half * half + xy * xy + TINY))
    det = xx * yy - xy * xy
    regular = det - FLAT * (trace * trace)
    over = 1.0 / select(regular, det, 1.0)
    stick = tuple(select(regular, x * over, y) for x, y in ((yy, slide), (-xy, 0.0), (xx, slide)))
    movable = nn - FLAT * FLAT * trace
    normal = select(movable, -1.0 / select(movable, nn, 1.0), 0.0)
    kept = (1.0 - slide * xx, -(slide * xy), 1.0 - slide * yy)
    return Own(normal, (n1 * normal, n2 * normal), (n1, n2), stick, slide, kept)


def visited(part: Own, friction: Scalar, speeds: Vector, impulse: Vector) -> Vector:
    """Return the impulse of a contact for the speeds without it, the normal one less its bound and times −1/Aₙₙ."""
    _, x, y = impulse
    wanted = speeds[0] + part.lean[0] * x + part.lean[1] * y
    normal = select(wanted, wanted, 0.0)
    ux, uy = (s + c * normal for s, c in zip(speeds[1:], part.coupling, strict=True))
    radius = friction * normal
    square = radius * radius
    # sticking: the impulse without slip
    xx, xy, yy = part.stick
    sx, sy = -(xx * ux + xy * uy), -(xy * ux + yy * uy)
    # sliding: a step against the slip, onto the disk
    xx, xy, yy = part.kept
    px, py = (xx * x + xy * y) - part.slide * ux, (xy * x + yy * y) - part.slide * uy
    length = px * px + py * py
    scale = radius / sqrt(select(length - square, length, square) + TINY)
    sticks = square - (sx * sx + sy * sy)
    return normal, select(sticks, sx, scale * px), select(sticks, sy, scale * py)


class Contact(NamedTuple):
    """A contact: its number, its place in a group of several, its law, and what a visit needs of A.

    `bound` is the least normal speed, `rise` the part of it that closes a penetration. `near` are the rows of A in the
    columns of each contact of the group, its own included.
    """

    number: int
    place: Place | None
    friction: Scalar
    bound: Scalar
    rise: Scalar
    own: Own
    near: tuple[Matrix, ...] = ()

    def weighed(self, rows: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return numbers of normal and tangents, or rows of such, those of the normal times −1/Aₙₙ."""
        n, x, y = rows
        factor = self.own.normal
        return tuple(factor * z for z in n) if isinstance(n, tuple) else factor * n, x, y


class Box(NamedTuple):
    """A row with a greatest impulse and the speed zero, or with a least and a greatest speed.

    `inverse` is 1/A, `rises` the parts of the speeds that lead back to them.
    """

    number: int
    inverse: Scalar
    most: Scalar | None
    speeds: tuple[Scalar, Scalar] = (0.0, 0.0)
    rises: tuple[Scalar, Scalar] = (0.0, 0.0)

    def visited(self, speed: Scalar, impulse: Scalar) -> Scalar:
        """Return the impulse of the row for its speed."""
        if self.most is not None:
            return clipped(impulse - self.inverse * speed, -self.most, self.most)
        low, high = (impulse + self.inverse * (x - speed) for x in self.speeds)
        return clipped(0.0, low, high)


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Return a number within bounds."""
    return greatest(greatest(low, x), high, -1.0)


def greatest(x: Scalar, y: Scalar, sign: float = 1.0) -> Scalar:
    """Return the greater of two numbers, the less with the sign −1."""
    return select((x - y) * sign, x, y)


class Group(NamedTuple):
    """Rows that are solved together: those of one contact, of the motion of a body with several, or of a box.

    `y` are the columns of Y, `scaled` those of D⁻¹Y, `free` the speeds of the free motion.
    """

    y: tuple[Scalars, ...]
    scaled: tuple[Scalars, ...]
    free: Scalars
    contacts: tuple[Contact, ...] = ()
    boxes: tuple[Box, ...] = ()

    def gathered(self, impulses: Impulses) -> list[Scalar]:
        """Return the impulses of the members along the rows."""
        if self.boxes:
            return [impulses.boxes[box.number] for box in self.boxes]
        return gathered((contact.place, impulses.contacts[contact.number]) for contact in self.contacts)

    def rising(self, impulses: Impulses) -> Scalar:
        """Return the work of impulses on what closes penetrations."""
        work: Scalar = 0.0
        for contact in self.contacts:
            work = work + contact.rise * impulses.contacts[contact.number][0]
        for box in self.boxes:
            impulse = impulses.boxes[box.number]
            work = work + select(impulse, box.rises[0], box.rises[1]) * impulse
        return work


class Impulses(NamedTuple):
    """Impulses of the contacts, each along normal and tangents, and of the boxes."""

    contacts: tuple[Vector, ...]
    boxes: Scalars


def inverse(group: Group) -> Scalar:
    """Return 1/A of a group of one row, 0 where it cannot move."""
    ((a,),) = response(group, group)
    return select(a, 1.0 / select(a, a, 1.0), 0.0)


def response(a: Group, b: Group) -> tuple[Scalars, ...]:
    """Return the rows of A of one group, in the columns of another."""
    return tuple(tuple(summed(0.0, row, column) for column in b.scaled) for row in a.y)


def summed(start: Scalar, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    """Return start + Σxy without the products that are zero by structure."""
    total = start
    for a, b in zip(x, y, strict=True):
        if not (isinstance(a, float) and a == 0.0) and not (isinstance(b, float) and b == 0.0):
            total = total + a * b
    return total


Blocks = Sequence[Sequence[Sequence[Scalars]]]
"""Parts of A: the rows of one group, by groups, in the columns of another."""


def delassus(groups: Sequence[Group]) -> Blocks:
    """Return A."""
    lower = [[response(x, y) for y in groups[: i + 1]] for i, x in enumerate(groups)]
    n = range(len(groups))
    return [[lower[i][j] if j <= i else tuple(zip(*lower[j][i], strict=True)) for j in n] for i in n]


class Visit(NamedTuple):
    """A contact as sweeps need it: its normal row times −1/Aₙₙ, the motion without impulses less its bound."""

    contact: Contact
    free: Vector
    near: tuple[Any, ...]


class Sweep(NamedTuple):
    """The rows of groups as sweeps need them."""

    groups: tuple[Group, ...]
    visits: tuple[tuple[Visit, ...], ...]
    blocks: Blocks

    @classmethod
    def of(cls, groups: Sequence[Group], blocks: Blocks) -> Sweep:
        """Return the rows of some groups, with the blocks of A."""
        visits, rows = list[tuple[Visit, ...]](), list(blocks)
        for i, group in enumerate(groups):
            own = list[Visit]()
            for contact in group.contacts:
                n, x, y = contact.place.speeds(group.free) if contact.place else group.free
                # a visit has no need of the contact's own part
                near = tuple(contact.weighed(x) if k != len(own) else x[:0] for k, x in enumerate(contact.near))
                own.append(Visit(contact._replace(near=()), contact.weighed((n - contact.bound, x, y)), near))
            if own:
                rows[i] = [block if j != i else () for j, block in enumerate(rows[i])]
            if len(own) == 1:
                rows[i] = [own[0].contact.weighed(block) if block else () for block in rows[i]]
            visits.append(tuple(own))
        bare = tuple(Group((), (), () if group.contacts else group.free, (), group.boxes) for group in groups)
        return cls(bare, tuple(visits), rows)

    def again(self, impulses: Impulses) -> Impulses:
        """Return the impulses after a visit of every member of every group."""
        contacts, boxes = list(impulses.contacts), list(impulses.boxes)

        def pushed(group: Group, visits: Sequence[Visit]) -> list[Scalar]:
            if not visits:
                return [boxes[box.number] for box in group.boxes]
            return gathered((contact.place, contacts[contact.number]) for contact, _, _ in visits)

        along = list(map(pushed, self.groups, self.visits))
        for i, (group, visits) in enumerate(zip(self.groups, self.visits, strict=True)):
            motion = list(visits[0].free if len(visits) == 1 else group.free or [0.0] * 6)
            # the impulses that were found last come last: the others need not wait for them
            for j in (*range(i + bool(visits), len(self.groups)), *range(i)):
                motion = [summed(x, row, along[j]) for x, row in zip(motion, self.blocks[i][j], strict=True)]
            for k, box in enumerate(group.boxes):
                boxes[box.number] = box.visited(motion[k], boxes[box.number])
            for m, (contact, free, near) in enumerate(visits):
                speeds: Any = motion
                if contact.place is not None:
                    more = contact.weighed(contact.place.speeds(tuple(motion)))
                    speeds = [x + y for x, y in zip(free, more, strict=True)]
                for k in (*range(m + 1, len(visits)), *range(m)):
                    other = contacts[visits[k].contact.number]
                    speeds = [summed(x, row, other) for x, row in zip(speeds, near[k], strict=True)]
                before = contacts[contact.number]
                contacts[contact.number] = visited(contact.own, contact.friction, tuple(speeds), before)
            along[i] = pushed(group, visits)
        return Impulses(tuple(contacts), tuple(boxes))


def gathered(impulses: Iterable[tuple[Place | None, Vector]]) -> list[Scalar]:
    """Return the impulses of the contacts of a group along its rows."""
    wrenches = [list(x) if place is None else place.wrench(x) for place, x in impulses]
    return [sum(parts[1:], start=parts[0]) for parts in zip(*wrenches, strict=True)]
