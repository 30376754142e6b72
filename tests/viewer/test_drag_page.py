"""The gizmo in a browser: a mouse drags an arrow, and the robot follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from appell.viewer.drag import SCALE
from appell.viewer.panel import RobotPage
from tests.support.pages import pixel, until


def grab(page: Any, place: Callable[[], tuple[float, float]], is_held: Callable[[], bool]) -> bool:
    """Press the mouse on a handle of the gizmo; it takes the mouse once a picture has shown that it hovers there."""
    for _ in range(40):
        note = page.locator(".mantine-Notification-closeButton")  # that it draws in software
        if note.count():
            note.first.dispatch_event("click")
        x, y = place()  # the page reports its camera a little after it is drawn
        page.mouse.move(x - 1.0, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(400)
        page.mouse.down()
        page.wait_for_timeout(400)
        if is_held():
            return True
        page.mouse.up()
    return False


@pytest.mark.parametrize(
    ("name", "frame", "axis"), [("puma560", "link6", 2), ("delta", "platform", 2)], ids=["serial", "closed"]
)
def test_a_mouse_drags_a_frame_and_the_robot_follows(name: str, frame: str, axis: int, visit: Any) -> None:
    robot = appell.load(name)
    with appell.view(robot, drag=frame, browser=False, block=False) as viewer:
        shown = viewer.page
        assert isinstance(shown, RobotPage)
        opened = visit(viewer)
        page = opened.page
        assert until(lambda: bool(viewer._server.get_clients()), page)
        before = robot.pose(viewer.q, frame)
        way = before[:3, axis] if shown.drag.goal.value == "pose" else np.eye(3)[axis]
        arm = SCALE * shown._scene.box.size

        def moved() -> float:
            return float((robot.pose(viewer.q, frame)[:3, 3] - before[:3, 3]) @ way)

        def at(share: float) -> tuple[float, float]:
            return pixel(viewer, page, before[:3, 3] + share * arm * way)

        assert grab(page, lambda: at(0.8), lambda: shown.drag._is_held)
        page.mouse.move(*at(1.3), steps=5)
        assert until(lambda: moved() > 0.1 * arm, page)
        page.mouse.up()
        assert until(lambda: not shown.drag._is_held, page)
        after = robot.pose(viewer.q, frame)
        across = (after - before)[:3, 3] - ((after - before)[:3, 3] @ way) * way
        assert np.abs(across).max() < 1e-5  # an arrow moves along itself alone
        if robot.closure_names:
            assert robot.closure_error(viewer.q) < 1e-9
        gizmo = viewer._server.scene.get_handle_by_name("/gizmo")
        assert until(lambda: bool(np.allclose(gizmo.position, robot.pose(viewer.q, frame)[:3, 3], atol=1e-6)), page)
        assert opened.errors == []
