"""The page in a browser: what a hand does on it, the robot does, and what is seen is no blank."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

import appell
from appell.viewer.playback import RunPage
from appell.viewer.viewer import Viewer

PATIENCE = 60.0


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


def until(is_so: Callable[[], bool], page: Any) -> bool:
    """Wait for something to become so; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < end:
        page.wait_for_timeout(50)
    return is_so()


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
