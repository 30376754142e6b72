"""The gizmo without a browser: goals of a frame, and the robot that follows them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy

import appell
from appell.errors import InputError
from appell.viewer.drag import POSE, POSITION
from appell.viewer.panel import RobotPage

pytest.importorskip("viser")
STEPS = 200


@contextmanager
def page_of(robot: Any, frame: str, **options: Any) -> Iterator[RobotPage]:
    """Open a page whose test ticks by itself."""
    with appell.view(robot, drag=frame, browser=False, block=False, **options) as viewer:
        viewer._loop.stop()
        page = viewer.page
        assert isinstance(page, RobotPage)
        page.tick(0.0)
        yield page


def dragged(page: RobotPage, goal: Any) -> None:
    """Hold the gizmo at a goal until the robot has stopped."""
    page.drag.to(np.asarray(goal))
    assert any(not page.tick(0.0) for _ in range(STEPS))


def shifted(pose: Any, way: Any, turn: Any = (0.0, 0.0, 0.0)) -> Any:
    """Return a pose moved along and turned about the world's axes."""
    result = np.array(pose)
    result[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(turn).as_matrix() @ result[:3, :3]
    result[:3, 3] += way
    return result


@pytest.mark.parametrize(
    ("name", "frame", "goal", "way", "turn"),
    [
        ("puma560", "link6", POSE, (0.1, 0.05, -0.1), (0.1, -0.2, 0.3)),
        ("five-bar", "tips/second", POSITION, (-0.02, 0.03, 0.0), (0.0, 0.0, 0.0)),
        pytest.param("stewart", "platform", POSE, (0.02, -0.03, 0.05), (0.05, 0.1, 0.0), marks=pytest.mark.slow),
        ("delta", "platform", POSITION, (0.05, 0.02, -0.05), (0.0, 0.0, 0.0)),
        ("agile-wrist", "platform", POSE, (0.0, 0.0, 0.0), (0.2, 0.1, -0.1)),
    ],
)
def test_the_frame_goes_where_the_gizmo_is(name: str, frame: str, goal: str, way: Any, turn: Any) -> None:
    robot = appell.load(name)
    with page_of(robot, frame) as page:
        assert page.drag.goal.value == goal
        wanted = shifted(robot.pose(page.q, frame), way, turn)
        dragged(page, wanted)
        found = robot.pose(page.q, frame)
        assert np.abs((found - wanted)[:3] if goal == POSE else (found - wanted)[:3, 3]).max() < 1e-5
        if robot.closure_names:
            assert robot.closure_error(page.q) < 1e-9
        assert np.allclose(page._slider_set.values(page.q), [slider.value for slider in page.sliders], atol=1e-8)


def test_a_robot_goes_as_near_as_it_can_within_its_limits_and_the_gizmo_returns_when_released() -> None:
    robot = appell.load("puma560")
    with page_of(robot, "link6") as page:
        far = shifted(robot.pose(page.q, "link6"), (3.0, 0.0, 0.0))
        dragged(page, far)
        assert "out of reach" in page.drag._text.content
        assert (page.q >= robot.limits.lower - 1e-12).all()
        assert (page.q <= robot.limits.upper + 1e-12).all()
        assert robot.pose(page.q, "link6")[0, 3] > robot.pose(robot.neutral(), "link6")[0, 3]
        page.drag.to(far, is_held=False)
        page.tick(0.0)
        assert np.allclose(page.drag._gizmo.position, robot.pose(page.q, "link6")[:3, 3])


def test_a_floating_base_stays_where_it_is_unless_it_is_dragged_itself(robots: Any) -> None:
    robot = appell.load(robots / "go2_description" / "urdf" / "go2.urdf", floating=True)
    start, places = robot.random(np.random.default_rng(1)), robot.places("q")
    for joint, where in places.items():
        if joint != "root":
            start[where] = 0.8 if "thigh" in joint else -1.5 if "calf" in joint else 0.0
    with page_of(robot, "FL_foot", q=start) as page:
        at = places["root"]
        wanted = robot.pose(page.q, "FL_foot")
        wanted[:3, 3] += 0.02 * (robot.pose(page.q, "base")[:3, 3] - wanted[:3, 3])
        dragged(page, wanted)
        assert np.array_equal(page.q[at], start[at])
        assert np.abs(robot.pose(page.q, "FL_foot")[:3, 3] - wanted[:3, 3]).max() < 1e-5
        page.drag.frame.value = "base"
        page.tick(0.0)
        assert not page.drag.holds_base.visible
        wanted = shifted(robot.pose(page.q, "base"), (0.3, 0.1, 0.2), (0.0, 0.0, 0.5))
        before = page.q
        dragged(page, wanted)
        assert np.abs(robot.pose(page.q, "base") - wanted).max() < 1e-5
        assert np.abs(np.delete(page.q - before, at)).max() < 1e-6


def test_only_directions_in_which_the_frame_moves_have_arrows() -> None:
    with page_of("two-link", "link2") as page:
        assert page.drag._gizmo.active_axes == (True, True, False)
        assert page.drag._gizmo.disable_rotations
    with page_of("agile-wrist", "platform") as page:
        assert page.drag._gizmo.disable_axes
        assert not page.drag._gizmo.disable_rotations


def test_without_a_frame_there_is_no_gizmo() -> None:
    with page_of("two-link", "link2") as page:
        page.drag.frame.value = "none"
        page.tick(0.0)
        before = page.q
        page.drag.to(np.eye(4))
        page.tick(0.0)
        assert np.array_equal(page.q, before)
        assert not page.drag.is_moving


def test_an_unknown_frame_and_a_run_are_refused() -> None:
    with pytest.raises(InputError, match="drag: robot 'two-link' has no frame 'hand'; known: "):
        appell.view("two-link", drag="hand", browser=False, block=False)
    run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    with pytest.raises(InputError, match="drag: the configurations of a run are fixed"):
        appell.view(run, drag="link2", browser=False, block=False)
