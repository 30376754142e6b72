"""Overlays, limits and references without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.shapes.drawable import drawable
from appell.viewer.contacts import Arrows
from appell.viewer.overlays import chosen_axes, labels
from appell.viewer.panel import Reference, RobotPage
from appell.viewer.playback import RunPage
from appell.viewer.view import Viewer

pytest.importorskip("viser")


@contextmanager
def opened(shown: Any, **options: Any) -> Iterator[tuple[Viewer, Any]]:
    """Open a page whose test ticks by itself; yield the viewer and its page."""
    with appell.view(shown, browser=False, block=False, **options) as viewer:
        viewer._loop.stop()
        yield viewer, viewer.page


def node(viewer: Viewer, name: str) -> Any:
    """Return a node of the scene; None where there is none."""
    return viewer._server.scene.get_handle_by_name(name)


SHAPES = """<robot name="r"><link name="base"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<visual><geometry><sphere radius="0.1"/></geometry></visual>
{collision}</link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="2" effort="1" velocity="1"/></joint></robot>"""


def test_collision_shapes_are_shown_instead_of_visual_ones_or_beside_them(tmp_path: Any) -> None:
    file = tmp_path / "robot.urdf"
    box = '<collision><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>'
    file.write_text(SHAPES.format(collision=box))
    with opened(file) as (viewer, page):
        for shapes, is_seen in (("visual", (True, None)), ("collision", (False, True)), ("both", (True, True))):
            page.overlays.shapes.value = shapes
            page.tick(0.0)
            found = [node(viewer, f"/bodies/0/{name}0") for name in ("piece", "collision")]
            assert tuple(one and one.visible for one in found) == is_seen
        corners = node(viewer, "/bodies/0/collision0").vertices
        assert np.allclose(np.ptp(corners, axis=0), [1.0, 2.0, 3.0])
        assert corners[:, 2].mean() == pytest.approx(1.0)


def test_a_file_without_collision_shapes_is_remarked(tmp_path: Any) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(SHAPES.format(collision=""))
    with opened(file) as (_, page):
        page.overlays.shapes.value = "collision"
        page.tick(0.0)
        assert "no collision shapes" in page.overlays._remarks.content


def test_collision_shapes_of_mjcf_are_the_geoms_that_collide(tmp_path: Any) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><worldbody><body name="arm"><joint type="hinge"/>'
        '<geom type="sphere" size="0.1" contype="0" conaffinity="0"/><geom type="box" size="1 2 3" group="3"/>'
        "</body></worldbody></mujoco>"
    )
    drawn = drawable(appell.load(file))
    assert drawn.collisions is not None
    assert np.allclose(np.ptp(drawn.pieces[0].vertices, axis=0), 0.2, atol=1e-3)
    (piece,) = drawn.collisions().pieces
    assert np.allclose(np.ptp(piece.vertices, axis=0), [2.0, 4.0, 6.0])


def test_the_centre_of_mass_is_where_the_robot_says() -> None:
    robot, q = appell.load("puma560"), [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
    with opened(robot, q=q) as (viewer, page):
        page.overlays.centre.value = True
        page.tick(0.0)
        centre = robot.centre_of_mass(q)
        assert np.allclose(node(viewer, "/centre_of_mass/ball").position, centre)
        below = node(viewer, "/centre_of_mass/below").position
        assert np.allclose(below, [*centre[:2], page._scene.floor])
        page.overlays.centre.value = False
        page.tick(0.0)
        assert node(viewer, "/centre_of_mass/ball") is None


def test_opacity_fades_the_shapes(tmp_path: Any) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(SHAPES.format(collision=""))
    with opened(file) as (viewer, page):
        page.overlays.opacity.value = 0.4
        page.tick(0.0)
        assert node(viewer, "/bodies/0/piece0").opacity == pytest.approx(0.4)


def test_frames_are_drawn_where_they_are_and_named(rng: Any) -> None:
    robot = appell.load("puma560")
    drawn, q = drawable(robot), robot.random(rng)
    found = chosen_axes(robot.model, drawn.names, "all", "")
    assert sorted(one.name for one in found) == sorted(robot.frame_names)
    poses = drawn.poses(q)
    for one in found:
        assert np.allclose(poses[one.body] @ one.pose, robot.pose(q, one.name), atol=1e-12)
    texts = labels(found, [poses, drawn.poses(robot.random(rng))])
    assert len(texts) < len(found)  # frames with one origin share a label
    with opened(robot) as (viewer, page):
        page.overlays.frames.value, page.overlays.words.value = "all", "link6"
        page.tick(0.0)
        assert node(viewer, "/bodies/5/axes0/name").text == "link6"
        assert node(viewer, "/bodies/5/axes1") is None
        page.overlays.names.value = False
        page.tick(0.0)
        assert node(viewer, "/bodies/5/axes0/name") is None
        assert node(viewer, "/bodies/5/axes0") is not None


def test_sliders_of_joints_near_their_limits_are_coloured(tmp_path: Any) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(SHAPES.format(collision=""))
    with opened(file) as (_, page):
        (slider,) = page.sliders
        assert (slider.min, slider.max) == (-1.0, 2.0)
        for q, words, colour in ((0.0, "", ""), (1.9, "near 2", "#e67700"), (-1.0, "at -1", "#c92a2a")):
            slider.value = q
            page.tick(0.0)
            assert words in page._limits.content
            assert page._limits.visible == bool(words)
            assert (slider._impl.uuid in page._colours.content) == bool(words)
            assert colour in page._colours.content


def test_the_trace_of_a_moved_robot_is_where_its_frame_was() -> None:
    robot = appell.load("puma560")
    with opened(robot, traces=["link6"]) as (viewer, page):
        for x in (0.0, 0.3, 0.6):
            page.show([x, 0.0, 0.0, 0.0, 0.0, 0.0])
            page.tick(0.0)
        line = node(viewer, f"/traces/{robot.frame_names.index('link6')}/0").points
        ends = [robot.pose([x, 0.0, 0.0, 0.0, 0.0, 0.0], "link6")[:3, 3] for x in (0.3, 0.6)]
        assert np.allclose(line[-1], ends, atol=1e-6)
        page.overlays.traces._request("Clear traces")
        page.tick(0.0)
        assert node(viewer, f"/traces/{robot.frame_names.index('link6')}/0") is None


@pytest.fixture(scope="module")
def run() -> appell.Run:
    return appell.simulate(appell.load("two-link"), [0.3, 0.1], [0.0, 0.0], 1.0)


def test_a_ghost_follows_a_trajectory(run: appell.Run) -> None:
    robot = appell.load("two-link").with_frame("tip", "link2", _along_x(0.02))
    moved = appell.simulate(robot, [0.3, 0.1], [0.0, 0.0], 1.0)
    line = appell.trajectory.JointLine([0.0, 0.0], [1.0, -1.0], 1.0)
    with opened(moved, reference=line, traces=["tip"]) as (viewer, page):
        assert isinstance(page, RunPage)
        page.seek(0.4)
        page.tick(0.0)
        wanted = drawable(robot).poses(line(0.4).q)
        for k in range(2):
            assert np.allclose(node(viewer, f"/ghost/bodies/{k}").position, wanted[k, :3, 3], atol=1e-12)
        off = np.abs(moved.at(0.4)[0] - line(0.4).q)
        assert f"{off.max():.3g} rad" in page._state.content
        traced = node(viewer, f"/traces/{robot.frame_names.index('tip')}/1").points
        assert np.allclose(traced[0, 0], robot.pose(line(0.0).q, "tip")[:3, 3], atol=1e-6)
        assert np.allclose(traced[-1, 1], robot.pose(line(1.0).q, "tip")[:3, 3], atol=1e-6)


def _along_x(x: float) -> Any:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def test_a_reference_run_holds_its_ends(run: appell.Run) -> None:
    assert run.robot is not None
    found = Reference(run.robot, run)
    assert np.array_equal(found.at(-1.0), run.q[0])
    assert np.array_equal(found.at(9.0), run.q[-1])
    assert np.array_equal(found.at(0.5), run.at(0.5)[0])
    with pytest.raises(appell.InputError, match="times must lie"):
        found.at(float("nan"))


def test_of_a_closed_robots_trajectory_the_motors_count() -> None:
    robot = appell.load("five-bar")
    q = robot.neutral()
    motors = [robot.places("q")[name][0] for name in robot.actuators]

    def wanted(t: float) -> Any:
        goal = np.zeros(robot.nq)  # the passive joints are not filled in
        goal[motors] = q[motors] + 0.1 * t
        return goal, None, None

    found = Reference(robot, wanted).at(1.0)
    assert np.allclose(found[motors], q[motors] + 0.1)
    assert robot.closure_error(found) < 1e-9


def test_a_robot_stands_beside_a_configuration() -> None:
    robot = appell.load("two-link")
    with opened(robot, reference=[0.5, -0.5]) as (viewer, page):
        assert isinstance(page, RobotPage)
        wanted = drawable(robot).poses([0.5, -0.5])
        assert np.allclose(node(viewer, "/ghost/bodies/1").position, wanted[1, :3, 3])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": [0.0]}, "reference"),
        ({"reference": lambda t: np.zeros(3)}, "q of shape"),
        ({"reference": lambda t: 1 / 0}, "it raised ZeroDivisionError"),
        ({"traces": ["hand"]}, "traces: robot 'two-link' has no frame 'hand'"),
    ],
)
def test_references_and_traces_that_do_not_fit_are_refused(run: appell.Run, options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        appell.view(run, browser=False, block=False, **options)


def test_a_robot_has_no_time_for_a_run(run: appell.Run) -> None:
    with pytest.raises(InputError, match="a robot has no time"):
        appell.view("two-link", reference=run, browser=False, block=False)
    with pytest.raises(InputError, match="states of 6 coordinates for robot 'puma560'"):
        Reference(appell.load("puma560"), run)


def test_the_legend_of_arrows_gives_the_length_of_a_round_value() -> None:
    arrows = Arrows(None, "/arrows", (0, 0, 0), 2.0, 70.0)
    value, length = arrows.legend("N").split(" ≙ ")
    assert value == "50 N"
    assert float(length.split()[0]) == pytest.approx(1000.0 * 50.0 * arrows.length, rel=1e-2)
    assert arrows.length * 70.0 == pytest.approx(0.4)
