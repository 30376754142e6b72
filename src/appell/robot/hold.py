"""Frames of a robot fixed to the world: a model with a closure between each frame and the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Frame, Model
from appell.recursion.kinematics import world_poses
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import matmul, transpose

ROWS = {3: KINDS["point"], 6: KINDS["frame"]}
"""The kind of closure by number of rows: the frame's origin, or the frame."""


def held(model: Model, frames: Mapping[str, int], q: Array) -> Model:
    """Return the model with frames fixed at their poses at q, in world axes; a floating base is not actuated."""
    poses = [*world_poses(model, tuple(map(float, q))), Pose()]  # the world comes last, at index −1
    added, closures = [], []
    for name, rows in frames.items():
        body, placement = model.frame_index[name].body, model.frame_index[name].placement
        rotation, position = poses[body].then(placement)
        upright = matmul(placement.rotation, transpose(rotation))  # world axes, while the frame is held
        added += [
            Frame(ground(name), WORLD, Pose(position=position)),
            Frame(f"{name}/held", body, Pose(upright, placement.position)),
        ]
        closures.append(Closure(name, ground(name), f"{name}/held", ROWS[rows]))
    bodies = zip(model.bodies, model.q_slices, strict=True)
    motors = [b.joint.name for b in model.bodies if b.joint.kind != "free" or b.parent != WORLD]
    return replace(
        model,
        frames=(*model.frames, *added),
        closures=(*model.closures, *closures),
        actuators=model.actuators or tuple(motors),
        home=tuple((body.joint.name, tuple(map(float, q[at]))) for body, at in bodies),
        independent_velocities=(),
    )


def ground(name: str) -> str:
    """Return the name of the world frame to which a frame is fixed."""
    return f"{name}/ground"
