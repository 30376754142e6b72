"""The page in a browser: sliders and buttons move the robot, and the picture shows it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

import appell
from appell.viewer.playback import RunPage
from appell.viewer.view import Viewer
from tests.support.pages import pixel, until


class Seen(NamedTuple):
    """A viewer and a page that shows it; opening one takes seconds, so tests share it."""

    viewer: Viewer
    page: Any
    errors: list[str]
    requests: list[str]


@pytest.fixture(scope="module")
def arm(visit: Any) -> Iterator[Seen]:
    with appell.view("two-link", browser=False, block=False) as viewer:
        yield Seen(viewer, *visit(viewer))


@pytest.fixture(scope="module")
def film(visit: Any) -> Iterator[Seen]:
    robot = appell.load("two-link")
    run = appell.simulate(robot, [0.0, 0.0], [0.0, 0.0], 1.0, walls=[appell.walls.Circle(1.5, axis=(0.0, 1.0, 0.0))])
    with appell.view(run, browser=False, block=False) as viewer:
        yield Seen(viewer, *visit(viewer))


def picture(page: Any) -> Any:
    """Return what is seen beside the panel."""
    image = Image.open(io.BytesIO(page.screenshot(timeout=90_000))).convert("RGB")
    return np.asarray(image)[:, : image.width - 400].astype(float)


def type_into(page: Any, place: int, text: str) -> None:
    """Write a number beside a slider, as a hand does."""
    box = page.locator(".mantine-NumberInput-input").nth(place)
    box.fill(text)
    box.press("Enter")


def test_a_number_written_on_the_page_moves_the_robot(arm: Seen) -> None:
    type_into(arm.page, 1, "0.7")
    assert until(lambda: abs(arm.viewer.q[1] - 0.7) < 1e-9, arm.page)
    assert arm.errors == []


def test_a_slider_of_the_page_moves_the_robot(arm: Seen) -> None:
    arm.viewer.show([0.0, 0.0])
    arm.page.locator(".mantine-Slider-thumb").first.focus()
    for _ in range(5):
        arm.page.keyboard.press("ArrowRight")
    assert until(lambda: arm.viewer.q[0] > 0.0, arm.page)


def test_two_pages_show_one_robot(arm: Seen, visit: Any) -> None:
    second = visit(arm.viewer).page
    type_into(arm.page, 0, "-0.4")
    other = second.locator(".mantine-NumberInput-input").first
    assert until(lambda: other.input_value().startswith("-0.4"), second)
    second.close()


def test_the_page_fetches_nothing_from_elsewhere(arm: Seen) -> None:
    url = arm.viewer.url
    own = (url, url.replace("http", "ws"), f"blob:{url}", "data:")
    assert [request for request in arm.requests if not request.startswith(own)] == []
    assert len(arm.requests) > 1


def test_the_picture_is_no_blank(arm: Seen) -> None:
    assert until(lambda: bool(picture(arm.page).std() > 5.0), arm.page)
    assert len(np.unique(picture(arm.page).reshape(-1, 3) // 16, axis=0)) > 20


def test_play_on_the_page_lets_time_pass_and_pause_stops_it(film: Seen) -> None:
    page, shown = film.page, film.viewer.page
    assert isinstance(shown, RunPage)
    before = picture(page)
    page.get_by_role("button", name="Play").click()
    assert until(lambda: shown.time > 0.1, page)
    page.get_by_role("button", name="Pause").click()
    assert until(lambda: not shown.is_playing, page)
    held = film.viewer.q
    page.wait_for_timeout(300)
    assert np.array_equal(film.viewer.q, held)
    assert until(lambda: bool(np.abs(picture(page) - before).max() > 60.0), page)
    assert film.errors == []


def test_the_time_slider_of_the_page_seeks(film: Seen) -> None:
    shown = film.viewer.page
    assert isinstance(shown, RunPage)
    type_into(film.page, 0, "0.5")
    assert until(lambda: abs(shown.time - 0.5) < 1e-3, film.page)


CUBE = """<robot name="cube"><link name="base"/><link name="cube">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry><material name="white"><color rgba="1 1 1 1"/></material></visual>
</link><joint name="hinge" type="revolute"><parent link="base"/><child link="cube"/><origin xyz="0 0 0.5"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def cube(visit: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    file = tmp_path_factory.mktemp("cube") / "cube.urdf"
    file.write_text(CUBE)
    with appell.view(file, q=[0.0], browser=False, block=False) as viewer:
        yield Seen(viewer, *visit(viewer))


def test_a_white_robot_is_neither_washed_out_nor_lost_before_the_background(cube: Seen) -> None:
    """The three faces of a white cube have shades of their own, none as bright as the picture can show."""
    assert until(lambda: bool(cube.viewer._server.get_clients()), cube.page)
    (client,) = cube.viewer._server.get_clients().values()
    centre = np.array([0.0, 0.0, 0.5])

    def shades() -> list[Any]:
        found = picture(cube.page)
        towards = np.sign(np.array(client.camera.position) - centre)
        places = [pixel(cube.viewer, cube.page, centre + 0.5 * towards[k] * np.eye(3)[k]) for k in range(3)]
        corner = (20.0, 20.0)  # of the background
        spots = [found[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3] for x, y in (*places, corner)]
        return [np.median(spot, axis=(0, 1)) for spot in spots]

    def is_clear() -> bool:
        found = shades()
        contrasts = [np.abs(a - b).max() for k, a in enumerate(found) for b in found[:k]]
        return bool(np.max(found) < 250.0 and min(contrasts) > 8.0)

    for note in cube.page.locator(".mantine-Notification-closeButton").all():
        note.dispatch_event("click")
    assert until(is_clear, cube.page), shades()


def test_a_slider_at_its_limit_turns_red(cube: Seen) -> None:
    type_into(cube.page, 0, "1")
    thumb = cube.page.locator(".mantine-Slider-thumb").first
    colour = "e => getComputedStyle(e).backgroundColor"
    assert until(lambda: thumb.evaluate(colour) == "rgb(201, 42, 42)", cube.page)
    type_into(cube.page, 0, "0.2")
    assert until(lambda: thumb.evaluate(colour) != "rgb(201, 42, 42)", cube.page)
    assert cube.errors == []
