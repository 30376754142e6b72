"""The model of a robot: moving bodies, parents first, the joints that carry them, and named frames.

A :class:`Model` is frozen. Readers build it through :func:`appell.model.build.build`, which merges fixed joints and
checks it once; later code relies on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from appell.errors import ModelError
from appell.model.closure import Closure
from appell.model.joints import KINDS, Column, Kind
from appell.model.shapes import Shape
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector
from appell.spatial.vector import ZERO, matvec_t

WORLD = -1
"""The parent of bodies that are attached to the fixed world."""

ROOT = "root"
"""The name of a floating base's joint."""
GRAVITY: Vector = (0.0, 0.0, -9.81)
Z: Vector = (0.0, 0.0, 1.0)
Coordinates = tuple[tuple[str, tuple[float, ...]], ...]
"""Coordinates of some joints by name."""


@dataclass(frozen=True)
class Limits:
    """Limits of a joint: position, velocity and effort, in the joint's units; infinite where a file has none."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """A mimic: q = multiplier·q of another joint + offset; `line` is the line of the file."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    line: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Joint:
    """A moving joint.

    `placement` is the joint frame in the parent body's frame; the child's frame coincides with the joint frame where
    q + offset = 0 (only joints of one coordinate have an offset). `pitch` [m/rad] is the advance of a helical joint.
    `damping` [N·m·s/rad], `friction` [N·m] (Coulomb) and `armature` [kg·m²] (rotor inertia seen at the joint) act on
    the joint's own velocity and acceleration. Friction holds a joint at rest up to `static_friction` [N·m], at least
    `friction`, and falls to `friction` over the speed `stribeck_velocity` [rad/s]; both matter to simulations only.
    `stiffness` [N·m/rad] (a spring) on its coordinate's distance from
    `spring_reference` [rad], for joints of one coordinate. `mimic` takes effect only in a coupled model
    (:mod:`appell.model.mimic`).
    """

    name: str
    kind: str
    axis: Vector = Z
    placement: Pose = field(default_factory=Pose)
    offset: float = 0.0
    limits: Limits = field(default_factory=Limits)
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    spring_reference: float = 0.0
    static_friction: float = 0.0
    stribeck_velocity: float = 0.0
    pitch: float = 0.0
    mimic: Mimic | None = None

    @property
    def type(self) -> Kind:
        """Return the joint's type."""
        return KINDS[self.kind]

    def pose(self, q: tuple[Scalar, ...]) -> Pose:
        """Return the pose of the child's frame in the joint frame at q."""
        return self.type.pose(self, tuple(x + self.offset for x in q) if self.offset else q)

    @cached_property
    def seat(self) -> Vector:
        """Return the joint frame's origin in the joint frame's own axes, with exact zeros."""
        rotation, position = self.placement
        blur = 1e-15 * max(abs(x) for x in position)
        x, y, z = (0.0 if abs(c) <= blur else c for c in matvec_t(rotation, position))
        return (x, y, z)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the motion subspace in the child's frame, one column per velocity."""
        return self.type.columns(self)


class JointParameters(NamedTuple):
    """The joint parameters of one velocity: rotor inertia, viscous damping, Coulomb friction and stiffness."""

    armature: Scalar = 0.0
    damping: Scalar = 0.0
    friction: Scalar = 0.0
    stiffness: Scalar = 0.0


@dataclass(frozen=True)
class Spring:
    """A linear spring and damper between joints with one coordinate each.

    Its potential energy is ½·stiffness·s² with the stretch s = Σ cₖqₖ − reference. One joint with c = 1 is a joint
    spring; two joints with 1 and −1 are an elastic transmission; a fixed tendon of MJCF has any number of joints.

    Parameters
    ----------
    name
        The name, different from those of the joints.
    terms
        Names of the joints with their coefficients c.
    stiffness
        Stiffness per unit of s [N·m/rad, N/m].
    damping
        Viscous damping per unit of ṡ [N·m·s/rad, N·s/m].
    reference
        The value of Σ cₖqₖ at which the spring is relaxed.

    Examples
    --------
    >>> import appell
    >>> belt = appell.Spring("belt", (("joint1", 1.0), ("joint2", -1.0)), stiffness=50.0)
    >>> appell.load("two-link").with_springs(belt).model.springs[0].stiffness
    50.0
    """

    name: str
    terms: tuple[tuple[str, float], ...]
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    reference: float = 0.0


class Stretch(NamedTuple):
    """The stretch of a spring, Σ cₖqₖ − reference: for each term its index in q, its index in v, and c."""

    terms: tuple[tuple[int, int, float], ...]
    reference: float


@dataclass(frozen=True)
class Body:
    """A moving body: the joint that carries it, its parent's index (or `WORLD`) and its inertia in its own frame."""

    name: str
    parent: int
    joint: Joint
    inertia: Inertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body (or to the world): every link and joint of the file, fixed ones included.

    `inertia` is that of a link fixed to the body, in the frame; the body's inertia includes it.
    """

    name: str
    body: int
    placement: Pose
    inertia: Inertia | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Base:
    """The fixed base: name of the root link, and the inertia of all links merged into it."""

    name: str = "world"
    inertia: Inertia = field(default_factory=Inertia)


@dataclass(frozen=True)
class Model:
    """A tree of bodies, parent first, with gravity [m/s²] in world axes."""

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = GRAVITY
    source: str = ""
    base: Base = field(default_factory=Base)
    deferred: frozenset[int] = frozenset()
    """Bodies whose rotation about z the working frames omit: bundles of parallel axes in a lean model."""
    closures: tuple[Closure, ...] = ()
    """The closures of the loops of a closed robot."""
    actuators: tuple[str, ...] = ()
    """The actuated joints, if not all are."""
    home: Coordinates = ()
    """The start of closing the loops: coordinates of some joints by name; the others are neutral."""
    configurations: tuple[tuple[str, Coordinates], ...] = ()
    """Named configurations: MJCF keyframes and SRDF group states; joints they do not name are neutral."""
    independent_velocities: tuple[str, ...] = ()
    """The independent velocities of a robot with loops, where the file names them."""
    springs: tuple[Spring, ...] = ()
    """Springs and dampers between joints, in addition to those of the joints themselves."""
    shapes: tuple[Shape, ...] = ()
    """Visual and collision shapes of the links."""
    own_joint_parameters: tuple[JointParameters, ...] = ()
    """Joint parameters of each velocity in place of those of the joints: traced ones of a parametric program."""
    has_joint_columns: bool = False
    """Whether π has joint parameters even where no joint has any."""
    is_coupled: bool = False
    """Whether joints with a mimic follow their source; nq, nv and the slices count every joint of the tree even so."""

    @cached_property
    def nq(self) -> int:
        """Return the number of coordinates."""
        return sum(body.joint.type.nq for body in self.bodies)

    @cached_property
    def nv(self) -> int:
        """Return the number of velocities."""
        return sum(body.joint.type.nv for body in self.bodies)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Return for each body the slice of its joint's coordinates in q."""
        return tuple(_slices(body.joint.type.nq for body in self.bodies))

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Return for each body the slice of its joint's velocities in v."""
        return tuple(_slices(body.joint.type.nv for body in self.bodies))

    @cached_property
    def independent(self) -> Model:
        """Return the model whose joints are the robot's coordinates: without the followers of a coupled one."""
        if not self.is_coupled:
            return self
        return replace(self, bodies=tuple(b for b in self.bodies if b.joint.mimic is None), is_coupled=False)

    @cached_property
    def tree(self) -> Model:
        """Return the model with every joint moving independently."""
        return replace(self, is_coupled=False) if self.is_coupled else self

    @cached_property
    def joint_parameters(self) -> tuple[JointParameters, ...]:
        """Return rotor inertia, damping, Coulomb friction and stiffness of every velocity."""
        joints = (body.joint for body in self.bodies for _ in range(body.joint.type.nv))
        return self.own_joint_parameters or tuple(
            JointParameters(j.armature, j.damping, j.friction, j.stiffness) for j in joints
        )

    @cached_property
    def joint_stretches(self) -> tuple[Stretch | None, ...]:
        """Return for each velocity the stretch of its joint's own spring; None for joints with several coordinates."""
        stretches: list[Stretch | None] = []
        for body, q, v in zip(self.bodies, self.q_slices, self.v_slices, strict=True):
            own = Stretch(((q.start, v.start, 1.0),), body.joint.spring_reference)
            stretches += [own] if body.joint.type.nq == 1 else [None] * body.joint.type.nv
        return tuple(stretches)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Return the stretch of each spring between joints."""
        places = {
            body.joint.name: (q.start, v.start)
            for body, q, v in zip(self.bodies, self.q_slices, self.v_slices, strict=True)
        }
        return tuple(Stretch(tuple((*places[x], c) for x, c in s.terms), s.reference) for s in self.springs)

    def velocities(self, body: int) -> range:
        """Return the indices of a body's joint in v."""
        return range(self.v_slices[body].start, self.v_slices[body].stop)

    @cached_property
    def frame_index(self) -> dict[str, Frame]:
        """Return the frames by name."""
        return {frame.name: frame for frame in self.frames}

    def shapes_of(self, use: str) -> dict[str, list[Shape]]:
        """Return the visual or the collision shapes by link, in the order of the file."""
        found: dict[str, list[Shape]] = {}
        for shape in self.shapes:
            if shape.use == use:
                found.setdefault(shape.link, []).append(shape)
        return found

    def seat(self, shape: Shape) -> tuple[int, Pose]:
        """Return the body that carries a shape, and the shape's pose in the body's frame."""
        frame = self.frame_index[shape.link]
        return frame.body, frame.placement.then(shape.placement)

    def ancestors(self, body: int) -> Iterator[int]:
        """Yield a body, its parent, and so on to the root."""
        while body != WORLD:
            yield body
            body = self.bodies[body].parent

    def floating(self) -> Model:
        """Return the model with a floating base: a first joint "root" that carries all other bodies."""
        if any(body.joint.name == ROOT for body in self.bodies):
            raise ModelError(
                f"robot '{self.name}' already has a joint '{ROOT}', the name of a floating base; load without "
                "floating=True"
            )
        root = Body(self.base.name, WORLD, Joint(ROOT, "free"), self.base.inertia)
        bodies = (root, *(replace(body, parent=body.parent + 1) for body in self.bodies))
        frames = (Frame(ROOT, 0, Pose()), *(replace(frame, body=frame.body + 1) for frame in self.frames))
        return replace(self, bodies=bodies, frames=frames, base=Base())

    def without(self, *names: str) -> Model:
        """Return the model without some joint parameters: "damping", "friction", "armature", "stiffness".

        Springs and dampers between joints lose their stiffness and damping likewise.
        """
        none: dict[str, Any] = dict.fromkeys(names, 0.0)
        between: dict[str, Any] = {name: 0.0 for name in names if name in ("stiffness", "damping")}
        at_rest: dict[str, Any] = {"static_friction": 0.0} if "friction" in names else {}
        bodies = tuple(replace(body, joint=replace(body.joint, **none, **at_rest)) for body in self.bodies)
        springs = tuple(replace(spring, **between) for spring in self.springs)
        own = tuple(joint._replace(**none) for joint in self.own_joint_parameters)
        return replace(self, bodies=bodies, springs=springs, own_joint_parameters=own)

    def without_friction(self) -> Model:
        """Return the model without joint damping and Coulomb friction; rotor inertia and springs are kept."""
        return self.without("damping", "friction")

    def without_joint_parameters(self) -> Model:
        """Return the model without joint damping, Coulomb friction, rotor inertia and springs."""
        return replace(self.without(*JointParameters._fields), own_joint_parameters=(), has_joint_columns=False)

    def weightless(self) -> Model:
        """Return the model without gravity and springs: at rest, only external forces accelerate it."""
        return replace(self.without("stiffness"), gravity=ZERO)

    @property
    def has_springs(self) -> bool:
        """Return whether any joint has a spring, or springs or dampers act between joints."""
        return bool(self.springs) or any(body.joint.stiffness for body in self.bodies)

    @property
    def has_joint_parameters(self) -> bool:
        """Return whether π includes damping, Coulomb friction, rotor inertia and stiffness."""
        return (
            self.has_joint_columns
            or bool(self.own_joint_parameters)
            or any(b.joint.damping or b.joint.friction or b.joint.armature or b.joint.stiffness for b in self.bodies)
        )


def _slices(sizes: Iterator[int]) -> Iterator[slice]:
    start = 0
    for size in sizes:
        yield slice(start, start + size)
        start += size
