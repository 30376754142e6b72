"""The body of a step of a looped program: traced constants, so that one step serves similar bodies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from appell.model.joints import QUATERNION, plane
from appell.model.model import WORLD, Body, Frame, Joint, Model, Z
from appell.recursion.kinematics import Scalars
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import rotate_symmetric
from appell.spatial.scalar import Matrix
from appell.spatial.vector import IDENTITY, matmul, matvec, matvec_t, transpose
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


def body_constants(body: Body, file_rotation: Matrix) -> tuple[float, ...]:
    """Return a body's numbers: placement 12, moments 10, the joint's 7, rotation 9.

    Of the joint: offset, pitch, armature, damping, friction, stiffness and the spring's reference.
    """
    joint, (m, h, s) = body.joint, body.inertia
    own = (joint.armature, joint.damping, joint.friction, joint.stiffness, joint.spring_reference)
    parts = (joint.placement, (m, *h, *upper(s)), joint.offset, joint.pitch, own, file_rotation)
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


def inertia_of(x: Scalars, file_rotation: Matrix | None = None) -> Inertia:
    """Return the inertia of ten moments, or of ten inertial parameters about the axes of the file."""
    if file_rotation is None:
        return Inertia(x[0], x[1:4], symmetric(x[4:]))
    mass, first, second = Inertia.from_parameters(x)
    back = transpose(file_rotation)
    if back == IDENTITY:
        return Inertia(mass, first, second)
    return Inertia(mass, matvec(back, first), rotate_symmetric(back, second))


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


def packed(kind: str, pose: Pose) -> Scalars:
    """Return what later passes need of a joint's pose."""
    entries: list[Any] = list(flatten(pose))
    return tuple(entries[k] if side > 0.0 else -entries[k] for k, side in packing(kind)[0])


def unpacked(kind: str, kept: Scalars) -> Pose:
    """Return a joint's pose from what is kept of it, without another sine."""
    return posed(tuple(x if k < 0 else kept[k] if x > 0.0 else -kept[k] for k, x in packing(kind)[1]))
