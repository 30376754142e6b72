"""Kinematics of bodies, shared by all recursions.

Inside a sweep all vectors of body i are in body i's frame. A :class:`Link` carries them between a body's frame and its
parent's: `down` from parent to child, `up` from child to parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import WORLD, Frame, Model, Z
from appell.recursion.sweep import Body, Executor, PerBody, Rows, Tree, Unrolled, outward
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about, rotate_symmetric, rotate_tensor
from appell.spatial.scalar import Matrix, Scalar, Vector, cos, sin
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, matvec_t, scale, sub

Scalars = tuple[Scalar, ...]


class Link(NamedTuple):
    """A body as its parent sees it: rotations to its working frame, the position of its origin, and its inertia there.

    The rotations R = R₁R₂… are applied one after the other and never multiplied: where each is about a coordinate axis,
    as in the lean model, that is 4 multiplications and 2 additions per vector and rotation (mata2002, section 4.1).
    """

    rotations: tuple[Matrix, ...]
    position: Vector
    inertia: Inertia
    arm: Vector
    """The position once more, in the body's frame."""

    def down(self, vector: Vector) -> Vector:
        """Return a vector of the parent's frame in the body's frame."""
        for rotation in self.rotations:
            vector = matvec_t(rotation, vector)
        return vector

    def up(self, vector: Vector) -> Vector:
        """Return a vector of the body's frame in the parent's frame."""
        for rotation in reversed(self.rotations):
            vector = matvec(rotation, vector)
        return vector

    def up_tensor(self, tensor: Matrix) -> Matrix:
        """Return a tensor of the body's frame in the parent's frame, R T Rᵀ."""
        for rotation in reversed(self.rotations):
            tensor = rotate_tensor(rotation, tensor)
        return tensor

    def up_symmetric(self, tensor: Matrix) -> Matrix:
        """Return a symmetric tensor of the body's frame in the parent's frame."""
        for rotation in reversed(self.rotations):
            tensor = rotate_symmetric(rotation, tensor)
        return tensor


class JointMotion(NamedTuple):
    """What a joint adds to its body's motion, in the body's frame: Σ wₖxₖ and Σ lₖxₖ for joint rates x."""

    angular: Vector
    linear: Vector


class Velocity(NamedTuple):
    """Angular velocity of a body and velocity of its origin, in the body's frame."""

    angular: Vector
    linear: Vector


class Load(NamedTuple):
    """A force and a moment about the body's origin, in the body's frame."""

    force: Vector
    moment: Vector


STILL = Velocity(ZERO, ZERO)
NO_LOAD = Load(ZERO, ZERO)


def posed(model: Tree, q: Scalars, frames: Sequence[Frame] | None = None) -> Executor:
    """Return the executor for a tree at q, written out unless one is passed in; of the paths to some frames only."""
    if isinstance(model, Executor):
        return model if frames is None else model.leading_to(frames)
    return Unrolled(model, q, lambda: links(model, q), frames)


def links(model: Model, q: Scalars) -> list[Link]:
    """Return every body as its parent sees it.

    A body in `model.deferred` keeps its parent's axes: its own turn, about the z that both share, is left to its
    constants and to the bodies that leave the bundle of parallel axes.
    """

    def step(i: int, parent: _Turn) -> _Turn:
        joint = model.bodies[i].joint
        if i not in model.deferred:
            return _UNTURNED
        before = parent if _continues(model, i) else _UNTURNED
        return _Turn(before.angle + q[model.q_slices[i]][0], before.offset + joint.offset)

    turns = outward(model, _UNTURNED, step)
    pending = [_about_z(turn) if i in model.deferred else None for i, turn in enumerate(turns)]
    result = []
    for i, body in enumerate(model.bodies):
        rotation, position = body.joint.placement
        rotations = () if rotation == IDENTITY else (rotation,)
        inertia, after = body.inertia, pending[i]
        if after is not None:
            inertia = Inertia(inertia.mass, matvec(after, inertia.first), rotate_symmetric(after, inertia.second))
            arm = body.joint.seat
        else:
            moved = body.joint.pose(q[model.q_slices[i]])
            arm = matvec_t(moved.rotation, add(body.joint.seat, moved.position))
            position = add(position, matvec(rotation, moved.position))
            rotations = rotations if moved.rotation is IDENTITY else (*rotations, moved.rotation)
        before = pending[body.parent] if body.parent != WORLD else None
        if before is not None:
            position = matvec(before, position)
            if _continues(model, i):
                arm = position
            else:
                rotations = (before, *rotations)
        result.append(Link(rotations, position, inertia, arm))
    return result


class _Turn(NamedTuple):
    """The angle by which a deferred body is turned against its working frame: coordinates and constants apart."""

    angle: Scalar
    offset: float


_UNTURNED = _Turn(0.0, 0.0)


def _about_z(turn: _Turn) -> Matrix:
    angle = turn.angle + turn.offset
    return about(Z, cos(angle), sin(angle))


def _continues(model: Model, i: int) -> bool:
    """Return whether a body goes on with its parent's bundle of parallel axes."""
    body = model.bodies[i]
    return i in model.deferred and body.parent in model.deferred and body.joint.placement.rotation == IDENTITY


def joint_motions(model: Model, x: Scalars) -> list[JointMotion]:
    """Return what each joint contributes for joint velocities (or accelerations) x."""
    return [
        joint_motion(body.joint.columns, x[where]) for body, where in zip(model.bodies, model.v_slices, strict=True)
    ]


def joint_motion(columns: tuple[Column, ...], x: Scalars) -> JointMotion:
    """Return what one joint contributes."""
    angular, linear = ZERO, ZERO
    for column, rate in zip(columns, x, strict=True):
        angular = add(angular, scale(rate, column.angular))
        linear = add(linear, scale(rate, column.linear))
    return JointMotion(angular, linear)


def velocities(tree: Executor, v: Scalars) -> PerBody:
    """Return the velocity of every body: ω = Rᵀω_p + Σw v,  ṡ = Rᵀ(ṡ_p + ω_p × p) + Σl v."""
    own = motions(tree, v)
    return tree.outward(STILL, lambda body, parent: moved(body.link, own[body], parent))


def motions(tree: Executor, x: Scalars) -> PerBody:
    """Return what each joint contributes for joint velocities (or accelerations) x."""
    return tree.each(lambda body: joint_motion(body.columns, body.of(x)))


def moved(link: Link, own: JointMotion, parent: Velocity) -> Velocity:
    """Return a body's velocity from its parent's and its joint's."""
    carried = add(parent.linear, cross(parent.angular, link.position))
    return Velocity(add(link.down(parent.angular), own.angular), add(link.down(carried), own.linear))


def world_poses(model: Model, q: Scalars) -> PerBody:
    """Return X_WB of every body."""
    return placed(posed(model, q))[:-1]


def placed(tree: Executor) -> PerBody:
    """Return X_WB of every body."""
    return tree.outward(Pose(), lambda body, parent: parent.then(body.joint.placement).then(body.pose))


def pose(model: Tree, q: Scalars, frame: str) -> Rows:
    """Return the 4×4 matrix X_WF of a named frame."""
    tree = posed(model, q, [model.frame_index[frame]])
    poses = placed(tree)

    def matrix(body: Body, placement: Pose) -> Rows:
        rotation, position = poses[body].then(placement)
        return (*((*row, x) for row, x in zip(rotation, position, strict=True)), (0.0, 0.0, 0.0, 1.0))

    (found,) = tree.ends(((0.0,) * 4,) * 4, matrix)
    return found


def jacobian(model: Tree, q: Scalars, frame: str) -> Rows:
    """Return the 6×nv matrix that takes v to the frame's velocity: linear first, both in world axes."""
    tree = posed(model, q, [model.frame_index[frame]])
    return tree.columns(6, frame_columns(tree))


def frame_columns(tree: Executor) -> PerBody:
    """Return the columns of the Jacobian of the one frame that a tree leads to."""
    poses = placed(tree)
    (point,) = tree.ends(ZERO, lambda body, placement: poses[body].apply(placement.position))
    return tree.each(lambda body: [column_at(poses[body], column, point) for column in body.columns])


def column_at(pose: Pose, column: Column, point: Vector) -> Scalars:
    """Return what a unit velocity of a body's joint moves a point of the world by: linear first, in world axes."""
    angular = matvec(pose.rotation, column.angular)
    return (*add(matvec(pose.rotation, column.linear), cross(angular, sub(point, pose.position))), *angular)


def project(model: Model, i: int, moment: Vector, force: Vector) -> Scalars:
    """Return the generalised forces of body i's joint under a force and a moment about its origin: w·n + l·f."""
    return projected(model.bodies[i].joint.columns, Load(force, moment))


def projected(columns: tuple[Column, ...], load: Load) -> Scalars:
    """Return w·n + l·f of every column."""
    return tuple([power(column, load) for column in columns])


def power(column: Column, load: Load) -> Scalar:
    """Return w·n + l·f."""
    return dot(column.angular, load.moment) + dot(column.linear, load.force)


def carried(link: Link, load: Load) -> Load:
    """Return a body's load in its parent's frame and about its parent's origin: Rφ, Rχ + p × Rφ."""
    force = link.up(load.force)
    return Load(force, add(link.up(load.moment), cross(link.position, force)))


def gathered(chain: list[Link], load: Load, below: list[tuple[int, Load]]) -> Load:
    """Return a body's load with those of its children."""
    force, moment = load
    for child, other in below:
        passed = carried(chain[child], other)
        force, moment = add(force, passed.force), add(moment, passed.moment)
    return Load(force, moment)
