"""Dragging a frame: the pose of a gizmo on the page is the goal of inverse kinematics from where the robot is.

Loops stay closed, and joints stay within their limits. A robot that cannot reach the gizmo goes as near as it can; once
the gizmo is released, it returns to the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from appell.errors import AppellError, AppellWarning
from appell.model.model import WORLD
from appell.planning.inverse_kinematics import inverse_kinematics
from appell.robot.robot import Robot
from appell.shapes.geometry import matrix, quaternions
from appell.spatial.scalar import Array
from appell.viewer.html import line, small

NONE = "none"
POSE, POSITION = "pose", "position"
TOLERANCE = 1e-6
"""How near the goal counts as reached [m, rad]."""
SCALE = 0.16
"""The length of the gizmo's arrows, in sizes of the robot."""
STEP, TURN = 0.1, 0.5
"""The farthest goal of one picture: in sizes of the robot, and [rad]. Loops then stay in their assembly mode."""
LEVER = 0.25
"""The length at which a rotation off by 1 rad counts as much as a position, in sizes of the robot."""
SAMPLES = 4
"""Configurations by which the directions of a frame's motion are found; one alone may be singular."""
FLAT = 1e-9
"""Singular values below this share of the largest count as zero."""


class Drag:
    """The folder "Drag" of a robot's page, and the gizmo."""

    def __init__(self, server: Any, robot: Robot, size: float, frame: str | None, wake: Callable[[], None]) -> None:
        self._server, self._robot, self._size, self._wake = server, robot, size, wake
        self._gizmo: Any = None
        self._shown: tuple[str, str] = (NONE, POSE)
        self._goal: Array | None = None
        self._is_held = False
        gui = server.gui
        with gui.add_folder("Drag"):
            frames = robot.model.frame_index
            names = (NONE, *(x for x in robot.frame_names if x in frames and frames[x].body != WORLD))
            self.frame = gui.add_dropdown("Frame", names, initial_value=frame or NONE)
            self.goal = gui.add_dropdown("Goal", (POSE, POSITION), initial_value=POSE, visible=False)
            self.holds_base = gui.add_checkbox("Base fixed", True, visible=False)
            self._text = gui.add_html("", visible=False)
        self.frame.on_update(lambda _: wake())
        self.goal.on_update(lambda _: wake())

    @property
    def is_moving(self) -> bool:
        """Return whether the robot is still on its way to the gizmo."""
        return self._goal is not None

    def update(self, q: Array) -> Array:
        """Return where the gizmo takes the robot from q; q itself where it is not dragged."""
        self._show(q)
        goal = self._goal
        if self._gizmo is None or goal is None:
            self._goal = None
            return q
        try:
            near = self._near(self._robot.pose(q, self.frame.value), goal)
            found = self._followed(q, near)
        except (AppellError, AppellWarning, np.linalg.LinAlgError) as error:
            self._text.content = line(str(error))
            near, found = goal, q
        # the goal of this picture may be on the way to the gizmo; another one may have come in the meantime
        is_last = near is goal or float(np.abs(self._robot.difference(q, found)).max(initial=0.0)) < TOLERANCE
        if is_last and self._goal is goal:
            self._goal = None
        return found

    def settle(self, q: Array) -> None:
        """Put the gizmo where its frame is, unless a hand holds it."""
        if self._gizmo is None or self._is_held:
            return
        pose = self._robot.pose(q, self.frame.value)
        turned = pose[:3, :3] if self.goal.value == POSE else np.eye(3)
        with self._server.atomic():
            self._gizmo.position, self._gizmo.wxyz = pose[:3, 3], quaternions(turned)

    def to(self, pose: Array, is_held: bool = True) -> None:
        """Take a pose (4, 4) of the gizmo as the next goal."""
        self._is_held = is_held
        self._goal = pose
        self._wake()

    # The gizmo

    def _show(self, q: Array) -> None:
        """Add or remove the gizmo after another frame or goal was chosen."""
        frame = self.frame.value
        if frame != self._shown[0]:
            self.goal.value = self._default_goal(frame)
        if (frame, self.goal.value) == self._shown:
            return
        self._shown = (frame, self.goal.value)
        if self._gizmo is not None:
            self._gizmo.remove()
        self._gizmo, self._goal, self._is_held = None, None, False
        self.goal.visible = self._text.visible = frame != NONE
        self.holds_base.visible = self._has_base_apart(frame)
        if frame == NONE:
            return
        linear, angular = self._motions(frame)
        self._gizmo = self._server.scene.add_transform_controls(
            "/gizmo",
            scale=SCALE * self._size,
            active_axes=(True, True, True) if self.goal.value == POSE else tuple(bool(row.any()) for row in linear),
            disable_axes=not linear.any(),
            disable_sliders=not linear.any(),
            disable_rotations=self.goal.value == POSITION or not angular.any(),
            depth_test=False,
        )
        self._gizmo.on_update(self._dragged)
        self._text.content = small("drag an arrow, a square or an arc of the gizmo")
        self.settle(q)

    async def _dragged(self, event: Any) -> None:
        # a coroutine: viser keeps the order of these, which threads do not
        x, y, z, w = (float(event.target.wxyz[k]) for k in (1, 2, 3, 0))
        rotation = scipy.spatial.transform.Rotation.from_quat([x, y, z, w]).as_matrix()
        self.to(matrix(rotation, event.target.position), is_held=event.phase != "end")

    def _motions(self, frame: str) -> tuple[Array, Array]:
        """Return the directions (3, k) in which a frame's origin moves, and about which the frame turns.

        A floating base may stand any way: its robot moves in all directions.
        """
        if self._base:
            return np.eye(3), np.eye(3)
        rng = np.random.default_rng(0)
        found = [self._robot.jacobian(q, frame) for q in (self._robot.random(rng) for _ in range(SAMPLES))]
        jacobian = np.concatenate(found, axis=1)
        size = np.abs(jacobian).max(initial=0.0)
        jacobian[np.abs(jacobian) <= FLAT * size] = 0.0
        return jacobian[:3], jacobian[3:]

    def _default_goal(self, frame: str) -> str:
        """Return "pose" for a frame that moves in six directions or only turns, otherwise "position"."""
        if frame == NONE:
            return POSE
        linear, _ = self._motions(frame)
        robot = self._on_fixed_base[0] if self._has_base_apart(frame) else self._robot
        jacobian = robot.jacobian(robot.random(np.random.default_rng(0)), frame)
        rank = int(np.linalg.matrix_rank(jacobian, tol=1e-6 * np.abs(jacobian).max(initial=1e-300)))
        return POSE if rank == 6 or not linear.any() else POSITION

    # Inverse kinematics

    def _near(self, pose: Array, goal: Array) -> Array:
        """Return the goal itself, or a pose on the way to it where it is far from a pose."""
        way = goal[:3, 3] - pose[:3, 3]
        turn = scipy.spatial.transform.Rotation.from_matrix(goal[:3, :3] @ pose[:3, :3].T).as_rotvec()
        farthest = max(
            float(np.linalg.norm(way)) / (STEP * self._size),
            float(np.linalg.norm(turn)) / TURN if self.goal.value == POSE else 0.0,
        )
        if farthest <= 1.0:
            return goal
        part = scipy.spatial.transform.Rotation.from_rotvec(turn / farthest).as_matrix()
        return matrix(part @ pose[:3, :3], pose[:3, 3] + way / farthest)

    def _followed(self, q: Array, goal: Array) -> Array:
        frame, is_pose = self.frame.value, self.goal.value == POSE
        robot, start, at = self._robot, q, np.arange(self._robot.nq)
        if self.holds_base.visible and self.holds_base.value:
            robot, at, neutral = self._on_fixed_base
            start = q[at]
            goal = neutral @ np.linalg.inv(self._robot.pose(q, self._base)) @ goal
        found = inverse_kinematics(
            robot,
            goal if is_pose else goal[:3, 3],
            frame,
            guess=start,
            restarts=0,
            tolerance=TOLERANCE,
            length=LEVER * self._size,
        )
        self._text.content = small("at the gizmo") if found.is_reached else line(_missed(found))
        result = q.copy()
        result[at] = found.q
        return result

    @cached_property
    def _base(self) -> str:
        """Return the name of the body that floats; empty for a robot that is fixed, or closed."""
        roots = [body for body in self._robot.model.bodies if body.parent == WORLD and body.joint.kind == "free"]
        return roots[0].name if len(roots) == 1 and not self._robot.closure_names else ""

    @cached_property
    def _on_fixed_base(self) -> tuple[Robot, Array, Array]:
        """Return the robot with its base locked in neutral, where its coordinates are in q, and the base's pose."""
        name = next(body.joint.name for body in self._robot.model.bodies if body.name == self._base)
        kept = np.delete(np.arange(self._robot.nq), self._robot.places("q")[name])
        return self._robot.locked([name]), kept, self._robot.pose(self._robot.neutral(), self._base)

    def _has_base_apart(self, frame: str) -> bool:
        """Return whether joints lie between a floating base and the frame."""
        if not self._base or frame == NONE:
            return False
        model = self._robot.model
        return model.bodies[model.frame_index[frame].body].name != self._base


def _missed(found: Any) -> str:
    """Return how far the frame is from the gizmo."""
    far = f"{1000.0 * float(found.position_error):.3g} mm"
    turned = float(np.degrees(found.attitude_error))
    return f"out of reach: {far}{f', {turned:.3g}°' if turned > 1e-4 else ''} from the gizmo"
