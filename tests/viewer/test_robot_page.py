"""The page of a robot, without a browser: sliders, buttons, and what becomes of a slider that cannot go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.viewer.panel import RobotPage
from appell.viewer.view import Viewer

pytest.importorskip("viser")


def opened(name: Any, **options: Any) -> Viewer:
    """Return a viewer whose tests tick by themselves."""
    viewer = appell.view(name, browser=False, block=False, **options)
    viewer._loop.stop()
    return viewer


@pytest.fixture
def five_bar() -> Iterator[RobotPage]:
    with opened("five-bar") as viewer:
        assert isinstance(viewer.page, RobotPage)
        yield viewer.page


def test_a_motor_drags_the_loops_along(five_bar: RobotPage) -> None:
    robot, before = appell.load("five-bar"), five_bar.q
    five_bar.sliders[0].value += 0.1
    five_bar.tick(0.0)
    assert five_bar.q[0] - before[0] == pytest.approx(0.1)
    assert (np.abs(five_bar.q - before) > 1e-3).sum() > 1
    assert robot.closure_error(five_bar.q) < 1e-9
    assert five_bar.note == ""


def test_a_slider_goes_back_where_no_assembly_exists_and_a_line_says_so(five_bar: RobotPage) -> None:
    before, at = five_bar.q, [slider.value for slider in five_bar.sliders]
    five_bar.sliders[0].value, five_bar.sliders[1].value = at[0] + 1.2, at[1] - 1.2
    five_bar.tick(0.0)
    assert "no assembly" in five_bar.note
    assert np.array_equal(five_bar.q, before)
    assert [slider.value for slider in five_bar.sliders] == pytest.approx(at)
    five_bar.sliders[0].value = at[0] + 0.01
    five_bar.tick(0.0)
    assert five_bar.note == ""


@pytest.mark.parametrize("name", ["puma560", "stewart", "agile-wrist", "sst", "mobile-arm", "shafei-tree"])
def test_buttons_move_robot_and_sliders(name: str) -> None:
    with opened(name) as viewer:
        page = viewer.page
        assert isinstance(page, RobotPage)
        page._request("Random")
        page.tick(0.0)
        there = page.q
        page._request("Neutral")
        page.tick(0.0)
        assert not np.array_equal(page.q, there)
        assert np.allclose(page._slider_set.values(page.q), [slider.value for slider in page.sliders])


def test_the_ellipsoid_and_the_frames_are_drawn_when_asked_for() -> None:
    with opened("puma560") as viewer:
        page = viewer.page
        assert isinstance(page, RobotPage)
        page.overlays.ellipsoid.kind.value, page.overlays.frames.value = "inertia", "bodies"
        page.tick(0.0)
        assert viewer._server.scene.get_handle_by_name("/ellipsoid").visible
        assert viewer._server.scene.get_handle_by_name("/bodies/0/axes0").show_axes
        page.overlays.ellipsoid.kind.value = "none"
        page.tick(0.0)
        assert not viewer._server.scene.get_handle_by_name("/ellipsoid").visible


def test_a_robot_begins_where_it_is_told() -> None:
    with opened("two-link", q=[0.3, -0.2]) as viewer:
        assert viewer.q.tolist() == [0.3, -0.2]


def test_a_closed_robot_that_is_told_where_to_begin_is_closed_there() -> None:
    robot = appell.load("five-bar")
    with opened("five-bar", q=robot.neutral() + 0.05) as viewer:
        assert robot.closure_error(viewer.q) < 1e-9


def test_names_out_of_a_file_are_text_on_the_page(tmp_path: Any) -> None:
    file = tmp_path / "robot.urdf"
    evil = "&lt;img src=x onerror=alert(1)&gt;"
    file.write_text(
        f'<robot name="{evil}"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        f'<joint name="{evil}" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with opened(file) as viewer:
        page = viewer.page
        assert isinstance(page, RobotPage)
        page.tick(0.0)
        assert "<img" not in page._table.content
        assert "&lt;img" in page._table.content


@pytest.mark.parametrize(
    ("shown", "options", "words"),
    [
        (3, {}, "expected a robot, a run or a file's name, got int"),
        ("two-link", {"q": [0.0]}, "q"),
        ("two-link", {"q": [0.0, np.nan]}, "finite"),
        ("agile-wrist", {"q": [-1.25, 1.0, 0.86]}, "workspace"),
    ],
)
def test_bad_input_is_told_in_words(shown: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        appell.view(shown, browser=False, block=False, **options)


def test_a_robot_has_no_times() -> None:
    with opened("two-link") as viewer, pytest.raises(InputError, match="no times"):
        viewer.seek(1.0)


def test_viser_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(InputError, match=r"pip install 'appell\[view\]'"):
        appell.view("two-link", browser=False, block=False)
