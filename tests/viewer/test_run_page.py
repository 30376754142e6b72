"""The page of a run, without a browser: what it draws at a time, and how time goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.papers.shafei2018 import RADIUS, START
from appell.results.plots import thinned
from appell.shapes.drawable import drawable
from appell.viewer.contacts import point_impacts
from appell.viewer.playback import Plot, RunPage
from appell.viewer.scene import Box, draw_walls
from appell.viewer.view import Viewer

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def run() -> appell.Run:
    robot = appell.load("shafei-tree")
    return appell.simulate(robot, START, np.zeros(robot.nv), 0.6, walls=[appell.walls.Circle(RADIUS)])


@pytest.fixture(scope="module")
def viewer(run: appell.Run) -> Iterator[Viewer]:
    with appell.view(run, browser=False, block=False) as opened:
        opened._loop.stop()  # the tests tick by themselves
        yield opened


@pytest.fixture
def page(viewer: Viewer) -> RunPage:
    assert isinstance(viewer.page, RunPage)
    viewer.page.is_playing = False
    viewer.page.seek(0.0)
    return viewer.page


def test_a_tick_plays_as_much_time_as_the_speed_says(page: RunPage, run: appell.Run) -> None:
    page.speed.value = "0.5×"
    page.toggle()
    assert page.tick(0.2)
    assert page.time == pytest.approx(0.1)
    assert np.array_equal(page.q, run.at(0.1)[0])


def test_a_film_in_a_loop_begins_again_and_one_without_stops(page: RunPage, run: appell.Run) -> None:
    page.speed.value, page.loop.value = "1×", True
    page.toggle()
    assert page.tick(0.7)
    assert page.time == pytest.approx(0.1)
    page.loop.value = False
    assert not page.tick(1.0)
    assert page.time == run.t[-1]


def test_next_and_previous_go_from_impact_to_impact(page: RunPage, run: appell.Run) -> None:
    times = [impact.time for impact in run.impacts]
    assert len(times) == 2
    for expected in [*times, run.t[-1]]:
        page._go("Next")
        assert page.time == expected
    for expected in [*reversed(times), 0.0]:
        page._go("Previous")
        assert page.time == expected


def test_a_run_cannot_be_moved_by_hand(viewer: Viewer) -> None:
    with pytest.raises(InputError, match="whose configurations are its own"):
        viewer.show([0.0])


def test_impacts_of_points_are_at_the_wall_and_push_inwards(run: appell.Run) -> None:
    assert run.robot is not None
    found = point_impacts(run, drawable(run.robot))
    assert len(found) == sum(len(impact.points) for impact in run.impacts)
    for one in found:
        assert np.linalg.norm(one.place) == pytest.approx(RADIUS, abs=1e-6)
        assert one.impulse @ one.place < 0.0


@pytest.fixture(scope="module")
def resting() -> appell.Run:
    robot, wall = appell.load("shafei-tree"), appell.walls.Circle(RADIUS)
    return appell.simulate(robot, START, np.zeros(robot.nv), 0.6, walls=[wall], restitution=0.0)


def test_contacts_are_marked_on_the_wall_with_their_forces(resting: appell.Run) -> None:
    t = 0.5 * (resting.rests[-1].start + resting.rests[-1].end)
    with appell.view(resting, browser=False, block=False) as opened:
        opened._loop.stop()
        page, scene = opened.page, opened._server.scene
        assert isinstance(page, RunPage)
        page.seek(t)
        page.tick(0.0)
        place = np.asarray(scene.get_handle_by_name("/contacts/0").position)
        assert resting.walls[0].gap(place) == pytest.approx(0.0, abs=1e-6)
        arrows = scene.get_handle_by_name("/contacts/arrows")
        assert len(arrows.points) == len(page.contacts.closed(t))
        before = np.diff(arrows.points, axis=1)
        page.contacts.scale.slider.value = 2.0
        page.tick(0.0)
        assert np.allclose(np.diff(arrows.points, axis=1), 2.0 * before, rtol=1e-5)


@pytest.mark.parametrize(
    "wall",
    [
        appell.walls.Circle(1.0),
        appell.walls.Arc(1.0),
        appell.walls.Ellipse(1.0, 2.0),
        appell.walls.Sphere(1.0),
        appell.walls.Line((0, 0), (1, 0)),
        appell.walls.Segment((0, 0), (1, 0)),
        appell.walls.Polyline([(0, 0), (1, 0), (1, 1)], closed=True),
        appell.walls.Plane(),
        appell.walls.Box((0.1, 0.2, 0.3), (0.5, 1.0, 1.5), [[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]),
        appell.walls.Heightfield(0.1 * np.sin(np.arange(63.0).reshape(9, 7)), 0.3, (-1.2, -0.9, 0.0)),
        appell.walls.SignedDistance(lambda p: p[..., 2] - 0.1 * np.sin(p[..., 0])),
    ],
    ids=lambda wall: wall.label,
)
@pytest.mark.parametrize("is_flat", [True, False])
def test_every_wall_is_drawn_on_itself(wall: Any, is_flat: bool) -> None:
    scene = _Scene()
    assert draw_walls(scene, (wall,), Box(-1.5 * np.ones(3), 1.5 * np.ones(3)), is_flat) == []
    lines = [made for name, made in scene.made if "points" in made]
    assert lines
    parts = wall.parts
    for points in (made["points"].reshape(-1, 3) for made in lines):
        nearest = np.min([np.abs(part.gap(points)) for part in parts], axis=0)
        assert nearest.max() < 5e-3
    if isinstance(wall, appell.walls.Box | appell.walls.Heightfield):
        ((vertices, _),) = (made["arguments"] for _, made in scene.made if made.get("verb") == "add_mesh_simple")
        assert np.abs(wall.gap(vertices)).max() < 1e-12


def test_a_wall_out_of_a_file_is_drawn_by_its_outline(run: appell.Run, tmp_path: Any) -> None:
    again = appell.Run.load(run.save(tmp_path / "run.npz"))
    scene = _Scene()
    assert draw_walls(scene, again.walls, Box(-np.ones(3), np.ones(3)), True) == []
    assert scene.made
    with appell.view(again, browser=False, block=False) as opened:
        assert np.allclose(opened.q, again.q[0], atol=1e-12)


def test_a_marker_stands_at_its_time_from_bottom_to_top() -> None:
    plot = Plot(_Scene(), 100)
    plot.show(np.linspace(0.0, 1.0, 11), np.linspace(0.0, 2.0, 11)[:, None], ["x"], "x")
    times, curve, marker = plot._data(0.53)
    there = np.flatnonzero(np.isfinite(marker))
    assert np.allclose(times[there], 0.53)
    assert marker[there[0]] < curve.min()
    assert marker[there[1]] > curve.max()
    assert (np.diff(times) >= 0.0).all()
    assert np.allclose(curve, 2.0 * times)


def test_thinned_curves_keep_their_ends_and_their_order() -> None:
    t = np.linspace(0.0, 1.0, 5000)
    thin, curves = thinned(t, np.sin(40.0 * t)[:, None], 400)
    assert len(thin) <= 402
    assert (thin[0], thin[-1]) == (0.0, 1.0)
    assert (np.diff(thin) > 0.0).all()
    assert curves.max() == pytest.approx(1.0, abs=1e-5)


def test_a_run_without_states_or_robot_is_told(run: appell.Run) -> None:
    from dataclasses import replace  # noqa: PLC0415

    with pytest.raises(InputError, match="no robot"):
        appell.view(replace(run, robot=None), browser=False, block=False)
    with pytest.raises(InputError, match="a run has its own configurations"):
        appell.view(run, q=[0.0], browser=False, block=False)


class _Scene:
    """A server that remembers what is drawn on it."""

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []

    @property
    def scene(self) -> _Scene:
        return self

    gui = scene

    def add_line_segments(self, name: str, points: Any, colours: Any, **options: Any) -> None:
        self.made.append((name, {"points": points, **options}))

    def __getattr__(self, verb: str) -> Any:
        def made(name: Any = "", *arguments: Any, **options: Any) -> _Scene:
            self.made.append((str(name), {"verb": verb, "arguments": arguments, **options}))
            return self

        return made
