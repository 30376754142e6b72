"""Runs: saved and loaded whole, drawn as curves and as films."""

from __future__ import annotations

import os
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

import appell
from appell.errors import AppellError, InputError, ReadError
from appell.results.animation import film, frames, pictures, scene
from appell.results.path import Path
from appell.results.plots import curves
from appell.results.style import COLOURS
from appell.shapes.skeleton import skeleton

TIP = appell.simulation.Point("link2", (2.0, 0.0, 0.0), "tip")
FLOOR = appell.walls.Line((-3, -0.1), (3, -0.1), name="floor")


@pytest.fixture(scope="module")
def robot():
    return appell.load("two-link")


@pytest.fixture(scope="module")
def run(robot):
    return appell.simulate(robot, [0.0, 0.0], [0.0, 0.0], 0.3, walls=[FLOOR], points=[TIP], restitution=0.5)


@pytest.fixture(scope="module")
def tumbling():
    """A floating arm that turns in space, without impacts."""
    robot = appell.load("stanford", floating=True)
    v = np.zeros(robot.nv)
    v[3:6] = 1.0, 2.0, 0.5
    return appell.simulate(robot, robot.neutral(), v, 0.2, rtol=1e-6, atol=1e-8)


# Files


def test_a_run_comes_back_from_its_file_whole(run, tmp_path):
    again = appell.Run.load(run.save(tmp_path / "run.npz"))
    for name in ("t", "q", "v", "a", "tau", "energy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    times = np.linspace(0.0, 0.3, 77)
    np.testing.assert_array_equal(np.concatenate(again.at(times), axis=1), np.concatenate(run.at(times), axis=1))
    assert repr(again) == repr(run)
    for impact, other in zip(again.impacts, run.impacts, strict=True):
        assert (impact.points, impact.walls, impact.time) == (other.points, other.walls, other.time)
        np.testing.assert_array_equal(impact.impulse, other.impulse)
        np.testing.assert_array_equal(impact.v_after, other.v_after)


def test_a_loaded_run_has_its_robot_and_draws_its_walls(run, tmp_path):
    again = appell.Run.load(run.save(tmp_path / "run.npz"))
    assert again.robot is not None
    np.testing.assert_allclose(again.robot.mass_matrix(run.q), run.robot.mass_matrix(run.q), rtol=1e-14)
    np.testing.assert_array_equal(again.walls[0].outline(), FLOOR.outline())
    assert film(again, "gif", speed=2.0) == film(run, "gif", speed=2.0)


def test_a_csv_has_a_row_a_state(run, tmp_path):
    lines = run.save(tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == "t,q0,q1,v0,v1,a0,a1,tau0,tau1,energy"
    assert len(lines) == 1 + len(run.t)
    np.testing.assert_array_equal([float(x) for x in lines[-1].split(",")][1:3], run.q[-1])


def test_a_file_that_is_no_run_is_refused(tmp_path):
    other = tmp_path / "other.npz"
    np.savez(other, x=np.zeros(3))
    with pytest.raises(ReadError, match=r"other\.npz: not a run"):
        appell.Run.load(other)
    with pytest.raises(ReadError, match="file not found"):
        appell.Run.load(tmp_path / "none.npz")


def test_a_run_that_ended_where_it_started_is_there_at_its_one_time(run):
    still = replace(run, t=run.t[:1], q=run.q[:1], v=run.v[:1], path=Path([]), ended_early="at once")
    np.testing.assert_array_equal(still.at(0.0)[0], run.q[0])


KINDS = ["agile-wrist", "sst", "five-bar", "stewart", "mobile-arm"]


@pytest.fixture(scope="module", params=KINDS)
def moving(request):
    """A short run of a robot that is no open tree, pushed by its actuators."""
    robot = appell.load(request.param)
    return appell.simulate(
        robot, robot.neutral(), np.full(robot.nv, 0.1), 0.02, control=lambda t, q, v: np.full(robot.nu, 0.05)
    )


def test_every_kind_of_robot_comes_back_with_its_run(moving, tmp_path):
    again = appell.Run.load(moving.save(tmp_path / "run.npz"))
    assert again.robot is not None
    assert (again.robot.independent, again.robot.actuators) == (moving.robot.independent, moving.robot.actuators)
    np.testing.assert_allclose(again.robot.neutral(), moving.robot.neutral(), atol=1e-12)
    np.testing.assert_allclose(
        again.robot.mass_matrix(moving.q), moving.robot.mass_matrix(moving.q), rtol=1e-12, atol=1e-14
    )


def test_a_run_of_bound_followers_comes_back_bound(robots, tmp_path):
    robot = appell.load(robots / "panda_description" / "urdf" / "panda.urdf", mimic=True)
    run = appell.simulate(robot, robot.neutral(), np.full(robot.nv, 0.1), 0.01)
    again = appell.Run.load(run.save(tmp_path / "run.npz"))
    assert again.robot is not None
    assert (again.robot.nv, again.robot.model.is_coupled) == (robot.nv, True)
    points = skeleton(robot).positions(robot, run.q)
    for k, name in enumerate(robot.link_names):  # followers included
        np.testing.assert_allclose(points[:, k], robot.pose(run.q, name)[:, :3, 3], atol=1e-12)


def test_a_csv_has_a_force_per_actuator(moving, tmp_path):
    head = moving.save(tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert [name for name in head if name.startswith("tau")] == [f"tau{k}" for k in range(moving.robot.nu)]
    assert len(head) == 2 + moving.robot.nq + 2 * moving.robot.nv + moving.robot.nu


def test_a_run_of_another_version_is_refused(run, tmp_path):
    place = run.save(tmp_path / "run.npz")
    with np.load(place) as data:
        arrays = dict(data)
    arrays["about"] = np.array(str(arrays["about"]).replace('"appell": 2', '"appell": 1'))
    np.savez(place, **arrays)
    with pytest.raises(ReadError, match="another version"):
        appell.Run.load(place)


# Curves


def test_curves_of_every_kind_have_the_robots_names_and_units(moving):
    figure, robot = moving.plot(), moving.robot
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == list(dict.fromkeys([*robot.joint_names, *robot.actuators]))
    panels = {axes.get_ylabel(): axes for axes in figure.axes if axes.axison}
    unit = "N" if robot.name == "stewart" else "N·m"
    drawn = panels[f"τ [{unit}]"].lines
    assert len(drawn) == robot.nu
    np.testing.assert_array_equal(drawn[0].get_ydata(), moving.tau[:, 0])
    assert [line.get_color() for line in drawn] == [COLOURS[names.index(n) % len(COLOURS)] for n in robot.actuators]


def test_every_kind_of_robot_is_filmed(moving):
    shown = list(pictures(moving, 100.0, 1.0, "auto"))
    assert len(shown) == 3
    assert (shown[0] != 255).any()
    points = frames(moving, 100.0, 1.0)[0].points[skeleton(moving.robot).drawn]
    assert np.ptp(points, axis=0).max() > 0.05  # not a robot of one point


def test_curves_pass_through_the_states_and_keep_the_jumps(run):
    dense = curves(run)
    for impact in run.impacts:
        at = np.flatnonzero(dense.t == impact.time)
        np.testing.assert_allclose(dense.v[at[0]], impact.v_before, atol=1e-9)
        np.testing.assert_allclose(dense.v[at[-1]], impact.v_after, atol=1e-9)
    times = dense.t[np.diff(dense.t, append=1.0) > 0.0]
    np.testing.assert_allclose(dense.q[np.diff(dense.t, append=1.0) > 0.0], run.at(times)[0], atol=1e-9)


def test_a_plot_has_a_panel_for_q_v_tau_and_energy_with_units_and_impacts(run):
    axes = run.plot().axes
    assert [a.get_ylabel() for a in axes] == ["q [rad]", "v [rad/s]", "τ [N·m]", "energy [J]"]
    assert axes[3].get_xlabel() == "t [s]"
    for panel in axes:
        marks = [line.get_xdata()[0] for line in panel.lines if len(set(np.atleast_1d(line.get_xdata()))) == 1]
        assert {impact.time for impact in run.impacts} <= set(marks)


def test_rotations_and_translations_are_drawn_apart(tumbling):
    figure = tumbling.plot()
    labels = [a.get_ylabel() for a in figure.axes]
    assert labels == [*("q [m]", "v [m/s]", "τ [N]"), *("q [rad]", "v [rad/s]", "τ [N·m]"), "energy [J]"]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == tumbling.robot.joint_names


def test_thirty_five_joints_are_thirty_five_different_lines(rng):
    x = rng.normal(size=(3, 35))
    names = tuple(f"joint {k}" for k in range(35))
    run = appell.Run(np.arange(3.0), x, x, x, x, x[:, 0], (), (), (), Path([]), joint_names=names)
    [legend] = run.plot().legends
    lines: list[Any] = legend.get_lines()  # its dashes have no public name
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}
    assert len(looks) == len(legend.get_texts()) == 35


@pytest.mark.parametrize(("name", "start"), [("run.png", b"\x89PNG"), ("run.svg", b"<?xml"), ("run.pdf", b"%PDF")])
def test_a_plot_is_written_as_its_ending_says(run, tmp_path, name, start):
    run.plot(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_what_cannot_be_drawn_is_told(run, tmp_path):
    with pytest.raises(InputError, match=r"unknown extension of 'run\.bmp'; known: '\.png"):
        run.plot(tmp_path / "run.bmp")
    with pytest.raises(InputError, match="has no states to draw"):
        replace(run, t=run.t[:0]).plot()


# Films


def test_a_film_shows_the_motion_at_its_speed(run, tmp_path):
    place = run.animate(tmp_path / "run.gif", fps=20.0, speed=0.5)
    with Image.open(place) as shown:
        length = 0.0
        for k in range(getattr(shown, "n_frames", 0)):
            shown.seek(k)
            length += shown.info["duration"]
    # 0.3 s at half the speed, and the last picture
    assert length == pytest.approx(1000.0 * (0.6 + 0.05))


def test_the_sticks_are_where_the_links_are(run, robot):
    bones = skeleton(robot)
    for frame in frames(run, 25.0, 1.0):
        q, _ = run.at(frame.t)
        np.testing.assert_allclose(frame.points[1], robot.pose(q, "link2")[:3, 3], atol=1e-12)
        np.testing.assert_allclose(frame.points[2], (robot.pose(q, "link2") @ [1.0, 0.0, 0.0, 1.0])[:3], atol=1e-12)
        assert bones.lines == ((0, 1), (1, 2))


def test_an_impact_flashes_and_is_gone(run):
    flash = np.array([int(COLOURS[4][k : k + 2], 16) for k in (1, 3, 5)])
    shown = list(zip(frames(run, 50.0, 0.2), pictures(run, 50.0, 0.2, "auto"), strict=True))
    first = run.impacts[0].time
    lit = [t for (t, *_), image in shown if (np.abs(image.astype(int) - flash).max(axis=-1) < 40).sum() > 20]
    assert lit
    assert first <= lit[0] <= first + 0.2 / 50.0
    before = [image for frame, image in shown if frame.t < first]
    assert not any((np.abs(image.astype(int) - flash).max(axis=-1) < 40).any() for image in before)


def test_every_impact_is_on_a_picture_however_few_there_are(run):
    shown = frames(run, 5.0, 1.0)
    assert all(any(impact is seen for frame in shown for seen, _ in frame.flashes) for impact in run.impacts[:1])


@pytest.mark.parametrize(("gravity", "expected"), [((0.0, -9.81, 0.0), "xy"), ((0.0, 0.0, -9.81), "xy")])
def test_a_flat_motion_is_seen_in_its_plane(gravity, expected):
    robot = appell.load("two-link", gravity=gravity)
    run = appell.simulate(robot, [0.0, 0.0], [1.0, 0.0], 0.1)
    points = np.array([frame.points for frame in frames(run, 25.0, 1.0)])
    assert scene(run, points, "auto").view == expected
    assert scene(run, points, "yz").view == "yz"


def test_a_motion_in_space_is_seen_with_gravity_pointing_down(tumbling):
    points = np.array([frame.points for frame in frames(tumbling, 25.0, 1.0)])
    look = scene(tumbling, points, "auto")
    assert look.view == "3d"
    np.testing.assert_allclose(look.projection @ look.projection.T, np.eye(2), atol=1e-15)
    down = look.projection @ tumbling.robot.model.gravity
    assert down[0] == pytest.approx(0.0, abs=1e-12)
    assert down[1] < 0.0


def test_walls_in_space_are_drawn(tumbling):
    bare = next(pictures(tumbling, 25.0, 1.0, "3d"))
    tip = frames(tumbling, 25.0, 1.0)[0].points[-1]
    hill = appell.walls.SignedDistance(lambda p: p[..., 2] - tip[2] + 0.1 * np.sin(p[..., 0]))
    for wall in (appell.walls.Plane(point=tip), appell.walls.Sphere(0.3, centre=tip), hill):
        image = next(pictures(replace(tumbling, walls=(wall,)), 25.0, 1.0, "3d"))
        assert image.shape != bare.shape or (image != bare).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0.0}, "fps must be a number > 0"),
        ({"speed": -1.0}, "speed must be a number > 0"),
        ({"speed": 1e-6}, "frames are too many"),
        ({"plane": "zx"}, "no plane 'zx'; known: 'xy', 'xz', 'yz', '3d', 'auto'"),
    ],
)
def test_options_that_make_no_film_are_told(run, options, message):
    with pytest.raises(InputError, match=message):
        film(run, "gif", **options)


def test_a_film_needs_a_robot_and_a_known_ending(run, tmp_path):
    with pytest.raises(InputError, match="has no robot"):
        replace(run, robot=None).animate(tmp_path / "run.gif")
    with pytest.raises(InputError, match=r"unknown extension of 'run\.avi'"):
        run.animate(tmp_path / "run.avi")


def test_an_mp4_without_ffmpeg_is_one_clear_error(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AppellError, match=r"needs ffmpeg, which is not installed; install it or write a \.gif"):
        run.animate(tmp_path / "run.mp4")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for ffmpeg is a shell script")
def test_ffmpeg_is_given_every_picture_in_an_even_size(run, tmp_path, monkeypatch):
    stand_in = tmp_path / "ffmpeg"
    stand_in.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$@" > {tmp_path}/arguments\ncat > "$last"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    data = run.animate(tmp_path / "run.mp4", speed=0.5).read_bytes()
    width, height = map(int, (tmp_path / "arguments").read_text().split("-s ")[1].split()[0].split("x"))
    assert (width % 2, height % 2) == (0, 0)
    assert len(data) == width * height * 3 * len(frames(run, 25.0, 0.5))


def test_a_gif_keeps_white_white(run):
    with Image.open(BytesIO(film(run, "gif", speed=3.0))) as shown:
        assert shown.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
