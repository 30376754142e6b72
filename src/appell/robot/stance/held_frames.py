"""Frames of a robot fixed to the world: a model with a closure between each frame and the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.messages import listed, shown
from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Frame, Model
from appell.recursion.kinematics import world_poses
from appell.robot.calls.compile import about_of
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import matmul, transpose

if TYPE_CHECKING:
    from appell.robot.robot import Robot

ROWS = {3: KINDS["point"], 6: KINDS["frame"]}
"""The kind of closure by number of rows: the frame's origin, or the frame."""


def checked(robot: Robot, frames: Mapping[str, int], at: ArrayLike | None) -> Model:
    """Return the model of a robot with frames fixed to the world at their poses in one configuration."""
    model = robot.kind.as_tree()
    wanted = _rows(robot.name, frames)
    for name in wanted:
        about_of(robot.kind, "pose", name, "held")
        if model.frame_index[name].body < 0:
            raise InputError(f"held: frame '{name}' of robot '{robot.name}' is fixed to the world already")
        if ground(name) in model.frame_index:
            raise InputError(f"held: frame '{name}' of robot '{robot.name}' is held already; name each frame once")
    q = robot.neutral() if at is None else robot.configuration("at", at)
    if q.ndim != 1 or not np.isfinite(q).all():
        raise InputError(f"held: at: expected one configuration ({robot.nq},) of finite numbers, got {shown(at)}")
    return held(model, wanted, robot.tree_configuration(q))


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


def _rows(robot: str, frames: Any) -> dict[str, int]:
    """Return the frames to be held, each with 3 or 6 rows."""
    if not isinstance(frames, Mapping) or not frames:
        raise InputError(
            f"held: expected frames of robot '{robot}' and 3 or 6 rows each, as in {{'foot': 3}}, got {shown(frames)}"
        )
    bad = [name for name, rows in frames.items() if isinstance(rows, bool) or rows not in ROWS]
    if bad:
        raise InputError(
            f"held: expected 3 rows (the frame's origin) or 6 (the frame), got {shown(frames[bad[0]])} for frame "
            f"{listed(map(str, bad[:1]))} of robot '{robot}'"
        )
    return {name: int(rows) for name, rows in frames.items()}
