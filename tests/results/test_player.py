"""The page that plays a run, opened from disk: what it draws is the run, and it asks nobody for anything."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.errors import InputError
from appell.papers.shafei2018 import RADIUS, START
from appell.results.player.page import FRAME_BYTES, MOST, content, frame_times
from appell.shapes.drawable import body_poses, drawable

PATIENCE = 90_000
"""How long a page may take on a busy machine [ms]."""
UNTIL = """new Promise(done => {
  const look = () => player.time > 0.1 ? done() : requestAnimationFrame(look);
  look();
})"""
NAME = "</script><script>document.title='taken'</script><!-- & \"'"
ARM = """<robot name="arm">
  <link name="base">
    <inertial><mass value="5"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial>
    <visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
  <link name="rod"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="-9" upper="9" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def run() -> appell.Run:
    robot = appell.load("shafei-tree")
    return appell.simulate(robot, START, np.zeros(robot.nv), 0.7, walls=[appell.walls.Circle(RADIUS)])


class Opened(NamedTuple):
    """A page with the errors and requests of its life."""

    page: Any
    errors: list[str]
    requests: list[str]

    def picture(self) -> np.ndarray[Any, Any]:
        """Return the scene as (height, width, 3) bytes, once what is to be drawn is drawn."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        image = pytest.importorskip("PIL.Image").open(io.BytesIO(self.page.locator("#view").screenshot()))
        return np.asarray(image.convert("RGB")).astype(int)

    def time(self) -> float:
        return float(self.page.evaluate("player.time"))


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Path], Opened]]:
    """Return a function that opens a file and waits until it is ready."""
    pages = []

    def go(path: Path) -> Opened:
        page = browser.new_page(viewport={"width": 900, "height": 560})
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        seen = Opened(page, [], [])
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        return seen

    yield go
    for page in pages:
        page.close()


def _share(picture: Any, other: Any) -> float:
    """Return the share of the pixels that differ."""
    return float((np.abs(picture - other).sum(axis=-1) > 60).mean())


def test_a_file_from_disk_plays_scrubs_and_jumps_without_a_network(run, opened, tmp_path):
    file = run.to_html(tmp_path / "run.html")
    seen = opened(file)
    page, first = seen.page, seen.picture()
    background = first[-3, 3]
    assert 0.01 < _share(first, background) < 0.5
    page.select_option("#speed", "0.5")
    page.click("#play")
    page.evaluate(UNTIL)
    assert page.text_content("#play") == "Pause"
    page.click("#play")
    moved = seen.picture()
    assert _share(moved, first) > 0.003
    page.locator("#list button").first.click()
    assert seen.time() == run.impacts[0].time
    arrows = seen.picture()
    red, green, blue = np.moveaxis(arrows, -1, 0)
    assert ((red > 140) & (green < 130) & (blue < 60)).sum() > 50  # the impulses' orange
    assert page.locator("#labels span").count() == len(run.impacts[0].points)
    page.keyboard.press("]")
    assert seen.time() == run.impacts[1].time
    page.locator(".curves").first.click(position={"x": 200, "y": 40})
    assert seen.time() not in (0.0, run.impacts[1].time)
    page.evaluate("player.seek(0.2)")
    before = seen.picture()
    page.mouse.move(200, 200)
    page.mouse.wheel(0, 400)
    smaller = seen.picture()
    assert _share(smaller, background) < (np.abs(before - background).sum(axis=-1) > 60).mean()
    page.mouse.down()
    page.mouse.move(260, 220)
    page.mouse.up()
    assert _share(seen.picture(), smaller) > 0.003
    assert seen.errors == []
    assert seen.requests == [file.as_uri()]


def _floating(folder: Path) -> appell.Run:
    file = folder / "arm.urdf"
    file.write_text(ARM)
    robot = appell.load(file, floating=True)
    return appell.simulate(robot, robot.neutral(), [1.0, 0.5, 2.0, 3.0, -2.0, 4.0, 1.0], 0.8)


def _closed(_: Path) -> appell.Run:
    robot = appell.load("five-bar")
    return appell.simulate(robot, robot.neutral(), 0.5 * np.ones(robot.nv), 0.3)


def _spherical(_: Path) -> appell.Run:
    robot = appell.load("agile-wrist")
    return appell.simulate(robot, robot.neutral(), 0.5 * np.ones(robot.nv), 0.3)


@pytest.mark.parametrize("moved", [_floating, _closed, _spherical], ids=["floating", "closed", "spherical"])
def test_bodies_are_where_the_run_has_them(moved, opened, tmp_path):
    run = moved(tmp_path)
    seen = opened(run.to_html(tmp_path / "run.html"))
    for t in run.t[0] + np.array([0.0, 0.237, 0.61, 1.0]) * (run.t[-1] - run.t[0]):
        flat = seen.page.evaluate(f"(player.scene.move({t}), [...player.scene.poses])")
        drawn = np.array(flat).reshape(-1, 4, 4).transpose(0, 2, 1)
        expected = body_poses(run.robot, run.at(t)[0])
        assert np.abs(drawn - expected).max() < 1e-5 * max(1.0, float(np.abs(expected).max()))
    assert seen.errors == []


def test_shapes_of_a_file_are_drawn_in_their_colours(opened, tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    run = appell.simulate(appell.load(file), [0.3], [0.0], 0.5)
    saved = run.save(tmp_path / "run.npz")
    page = tmp_path / "run.html"
    done = CliRunner().invoke(app, ["view", str(saved), "--html", str(page), "--source", str(file)])
    assert done.exit_code == 0, done.stderr
    red, green, blue = np.moveaxis(opened(page).picture(), -1, 0)
    assert ((red > 120) & (green < 0.4 * red) & (blue < 0.4 * red)).sum() > 300


def test_text_of_files_is_text_on_the_page(run, opened, tmp_path):
    wall = run.impacts[0]
    named = replace(run, robot_name=NAME, notes=(NAME,), impacts=(replace(wall, points=(NAME, NAME)),))
    seen = opened(named.to_html(tmp_path / "run.html"))
    assert seen.page.title() == NAME
    assert seen.page.text_content("#title") == NAME
    assert seen.page.text_content("#notes") == NAME
    assert NAME in seen.page.text_content("#list")
    assert seen.page.locator("script").count() == 3
    assert seen.errors == []


def test_frames_are_few_enough_and_hold_the_impacts(run):
    times = frame_times(run, 60.0, 12)
    assert {impact.time for impact in run.impacts} <= set(times.tolist())
    assert len(times) >= 600
    long = replace(run, t=run.t * 1e5, impacts=())
    assert len(frame_times(long, 60.0, 12)) <= MOST + 1
    assert 28 * 100_000 * (len(frame_times(long, 60.0, 100_000)) - 1) <= FRAME_BYTES


def test_the_curves_are_those_of_the_run(run):
    made = content(run, drawable(run.robot), 60.0, None, "auto")
    titles = [panel["title"] for panel in made["panels"]]
    assert titles == ["q [rad]", "v [rad/s]", "τ [N·m]", "q [m]", "v [m/s]", "τ [N]", "energy [J]"]
    slides = made["panels"][4]
    curve = slides["curves"][0]
    values = np.array([run.at(t)[1][0] for t in slides["times"].astype(float)])
    jumps = np.min(np.abs(slides["times"][:, None] - [x.time for x in run.impacts]), axis=1) < 1e-6
    assert np.allclose(curve["values"][~jumps], values[~jumps], atol=1e-3)
    assert (curve["name"], curve["joint"]) == ("X1", 0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"path": "run.txt"}, r"\.html"),
        ({"path": "run.html", "fps": 0.0}, "fps must be a number > 0"),
        ({"path": "run.html", "speed": -1.0}, "speed must be a number > 0"),
        ({"path": "run.html", "plane": "up"}, "no plane 'up'"),
        ({"path": "run.html", "source": "nowhere.urdf"}, "no file 'nowhere.urdf'"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        run.to_html(**(arguments | {"path": tmp_path / arguments["path"]}))
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_a_robot_is_refused_and_so_is_a_robot_on_the_command_line(run, tmp_path):
    with pytest.raises(InputError, match=r"run\.to_html: the run of 'shafei-tree' has no robot"):
        replace(run, robot=None).to_html(tmp_path / "run.html")
    done = CliRunner().invoke(app, ["view", "puma560", "--html", str(tmp_path / "run.html")])
    assert done.exit_code == 2
    assert "--html: expected a run's .npz file, got 'puma560'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_player_of_a_notebook_is_the_page_in_a_frame_without_rights(run):
    player = run.animate(speed=0.2, plane="xy")
    shown = player._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;!DOCTYPE html&gt;')
    assert "<script" not in shown
    assert '"speed": 0.2' in player.html
    assert '"autoplay": true' in player.html
