"""The body of a step of a looped program: traced constants, so that one step serves similar bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from appell.model.joints import QUATERNION, plane
from appell.model.model import WORLD, Body, Frame, Joint, JointParameters, Model, Z
from appell.model.parameters import PER_VELOCITY
from appell.recursion.articulated import Extent
from appell.recursion.gibbs import Acceleration, acceleration_tensor
from appell.recursion.joint_forces import joint_force
from appell.recursion.kinematics import JointMotion, Link, Scalars, joint_motion
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import rotate_symmetric
from appell.spatial.scalar import Matrix
from appell.spatial.vector import IDENTITY, ZERO, add, matmul, matvec, matvec_t, transpose
from appell.trace.expr import Expr, Graph, Op
from appell.trace.tape import flatten

MASSLESS = Inertia()


def with_z_axes(model: Model) -> tuple[Model, list[Matrix]]:
    """Return the model with every joint's axis along z of its body's frame, and R from each frame to that in the file.

    Bodies whose joint has no axis, or whose axis is z already, keep their frames, as the world does.
    """
    file_rotations: list[Matrix] = []
    bodies = []
    for body in model.bodies:
        joint, before = body.joint, IDENTITY if body.parent == WORLD else file_rotations[body.parent]
        keeps = joint.kind in QUATERNION or joint.axis == Z
        file_rotation = IDENTITY if keeps else transpose((*plane(joint.axis), joint.axis))
        rotation, position = joint.placement
        placement = Pose(matmul(matmul(transpose(before), rotation), file_rotation), matvec_t(before, position))
        joint = replace(joint, axis=Z, placement=joint.placement if before == file_rotation == IDENTITY else placement)
        inertia = body.inertia if file_rotation == IDENTITY else body.inertia.moved(Pose(transpose(file_rotation)))
        bodies.append(replace(body, joint=joint, inertia=inertia))
        file_rotations.append(file_rotation)
    return replace(model, bodies=tuple(bodies)), file_rotations


def frame_constants(frame: Frame, file_rotations: list[Matrix]) -> tuple[float, ...]:
    """Return the placement of a frame in the turned frame of its body."""
    rotation, position = frame.placement
    if frame.body != WORLD:
        back = transpose(file_rotations[frame.body])
        rotation, position = matmul(back, rotation), matvec(back, position)
    return tuple(float(x) for x in flatten((rotation, position)))


def body_constants(body: Body, file_rotation: Matrix, probe: tuple[float, ...]) -> tuple[float, ...]:
    """Return a body's numbers: placement 12, moments 10, the joint's 7, rotation 9, probe 3.

    Of the joint: offset, pitch, armature, damping, friction, stiffness and the spring's reference.

    The probe has three numbers: the extent of the body with all that it carries, and a factor of the pushes.
    """
    joint, (m, h, s) = body.joint, body.inertia
    moments = (m, *h, *upper(s))
    own = (joint.armature, joint.damping, joint.friction, joint.stiffness, joint.spring_reference)
    parts = (joint.placement, moments, joint.offset, joint.pitch, own, file_rotation, probe)
    return tuple(float(x) for x in flatten(parts))


def upper(m: Matrix) -> Scalars:
    """Return the six different entries of a symmetric matrix."""
    return (m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])


def symmetric(m: Scalars) -> Matrix:
    """Return the symmetric matrix of six entries."""
    return ((m[0], m[1], m[2]), (m[1], m[3], m[4]), (m[2], m[4], m[5]))


def square(m: Scalars) -> Matrix:
    """Return the matrix of nine entries, row by row."""
    return (m[0:3], m[3:6], m[6:9])


def posed(x: Scalars) -> Pose:
    """Return the pose of twelve numbers."""
    return Pose(square(x), x[9:12])


def accelerated(x: Scalars) -> Acceleration:
    """Return the motion of nine numbers: ω, ω̇, s̈."""
    omega, alpha, origin = square(x)
    return Acceleration(omega, alpha, acceleration_tensor(omega, alpha), origin)


@cache
def packing(kind: str) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
    """Return which entries of a joint's pose later passes need, and what all are then.

    First, per kept number, the entry that it is and its sign; then, per entry of the pose, the kept number and its
    sign, or −1 and a constant. A rotation about z, for one, keeps its cosine and sine.
    """
    graph = Graph()
    nq = Joint("", kind).type.nq
    q, (pitch,) = graph.inputs_like(nq, 1)
    pose = Joint("", kind, pitch=pitch).type.pose(Joint("", kind, pitch=pitch), q)  # type: ignore[arg-type]  # traced
    kept: dict[int, tuple[int, int, float]] = {}
    entries: list[tuple[int, float]] = []
    for k, entry in enumerate(flatten(pose)):
        if not isinstance(entry, Expr):
            entries.append((-1, float(entry)))
            continue
        value, side = (entry.args[0], -1.0) if entry.op is Op.NEG else (entry, 1.0)
        slot, _, _ = kept.setdefault(value.index, (len(kept), k, side))
        entries.append((slot, side))
    return tuple((k, side) for _, k, side in kept.values()), tuple(entries)


@dataclass(frozen=True)
class TracedBody:
    """A body whose constants are traced.

    `pi` are its ten inertial parameters, and `friction` armature, damping, friction and stiffness per velocity, where
    those are inputs of the program and not constants.
    """

    kind: str
    constants: Scalars
    pi: Scalars = ()
    friction: Scalars = ()

    @cached_property
    def joint(self) -> Joint:
        """Return the joint, with its axis along z."""
        return Joint("", self.kind, pitch=self.constants[23])

    @cached_property
    def file_rotation(self) -> Matrix:
        """Return R from the body's frame, whose z is the joint's axis, to its frame in the file."""
        return square(self.constants[29:38])

    @property
    def extent(self) -> Extent:
        """Return the extent of the body with all that it carries, by the parameters of the file."""
        return Extent(*self.constants[38:40])

    @cached_property
    def inertia(self) -> Inertia:
        """Return the body's own inertia."""
        m = self.constants[12:22]
        if not self.pi:
            return Inertia(m[0], m[1:4], symmetric(m[4:]))
        mass, first, second = Inertia.from_parameters(self.pi)
        back = transpose(self.file_rotation)
        if back == IDENTITY:
            return Inertia(mass, first, second)
        return Inertia(mass, matvec(back, first), rotate_symmetric(back, second))

    def joint_parameters(self) -> list[JointParameters]:
        """Return armature, damping, friction and stiffness of every velocity."""
        if self.pi:
            x = self.friction
            own = [JointParameters(*x[k : k + PER_VELOCITY]) for k in range(0, len(x), PER_VELOCITY)]
            return own or [JointParameters()] * self.joint.type.nv
        return [JointParameters(*self.constants[24:28])] * self.joint.type.nv

    def stretches(self, q: Scalars) -> Scalars:
        """Return, per velocity, what the joint's spring is stretched by; 0 of joints of several coordinates."""
        return (q[0] - self.constants[28],) if len(q) == 1 else (0.0,) * self.joint.type.nv

    def resistance(self, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
        """Return the joint's own rotor inertia, friction and spring."""
        fixed_axes = tuple(x + y for x, y in zip(a, self.joint.type.transport(v, v), strict=True))
        rows = zip(self.joint_parameters(), self.stretches(q), v, fixed_axes, strict=True)
        return tuple(joint_force(*own, *state) for own, *state in rows)

    def motion(self, x: Scalars) -> JointMotion:
        """Return what the joint adds for velocities or accelerations x."""
        return joint_motion(self.joint.columns, x)

    def pose(self, q: Scalars) -> Pose:
        """Return the joint's pose at q."""
        return self.joint.type.pose(self.joint, (q[0] + self.constants[22],) if len(q) == 1 else q)

    def link(self, pose: Pose) -> Link:
        """Return the body as its parent sees it, for a pose of its joint."""
        placed = posed(self.constants)
        position = add(placed.position, matvec(placed.rotation, pose.position))
        rotations = tuple(r for r in (placed.rotation, pose.rotation) if r != IDENTITY)
        return Link(rotations, position, MASSLESS, ZERO)

    def packed(self, pose: Pose) -> Scalars:
        """Return what later passes need of the joint's pose."""
        entries: list[Any] = list(flatten(pose))
        return tuple(entries[k] if side > 0.0 else -entries[k] for k, side in packing(self.kind)[0])

    def unpacked(self, kept: Scalars) -> Pose:
        """Return the joint's pose from what is kept of it, without another sine."""
        entries = packing(self.kind)[1]
        return posed(tuple(x if k < 0 else kept[k] if x > 0.0 else -kept[k] for k, x in entries))
