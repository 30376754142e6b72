"""Scenarios: what a file says is what is simulated, and what it cannot say is told with the file and the key."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import appell
from appell.errors import ReadError
from appell.papers.shafei2018 import START
from appell.simulation.scenario import read_scenario
from appell.simulation.walls.table import WALLS

SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
SMALL = 'robot = "two-link"\nduration = 0.2\n'


def test_the_tree_of_the_examples_is_the_papers():
    scenario = read_scenario(SCENARIOS / "tree.toml")
    np.testing.assert_allclose(scenario.q, START, atol=1e-15)
    assert scenario.duration == 2.0
    assert scenario.options["walls"] == [appell.walls.Circle(2.5)]


def test_a_scenario_is_the_call_it_stands_for():
    scenario = read_scenario(
        SMALL
        + """
        restitution = 0.8
        tie_window = 0.0
        points = [{ frame = "link2", position = [2.0, 0.0, 0.0], name = "tip", radius = 0.05 }]
        [start]
        v = [0.0, -1.0]
        [[walls]]
        kind = "line"
        start = [-3, -0.1]
        end = [3, -0.1]
        """
    )
    robot = appell.load("two-link")
    tip = appell.simulation.Point("link2", (2.0, 0.0, 0.0), "tip", radius=0.05)
    wall = appell.walls.Line((-3, -0.1), (3, -0.1))
    run = appell.simulate(robot, [0, 0], [0, -1], 0.2, walls=[wall], restitution=0.8, tie_window=0.0, points=[tip])
    again = scenario.run()
    assert run.impacts
    np.testing.assert_array_equal(again.q, run.q)


@pytest.mark.parametrize(
    ("wall", "expected"),
    [
        ('kind = "circle"\nradius = 2.0\ncentre = [0, 1]', appell.walls.Circle(2.0, [0.0, 1.0])),
        ('kind = "sphere"\nradius = 3\ninside = false', appell.walls.Sphere(3.0, inside=False)),
        (
            'kind = "plane"\npoint = [0, 0, -3]\nname = "floor"',
            appell.walls.Plane([0.0, 0.0, -3.0], name="floor"),
        ),
        ('kind = "arc"\nradius = 3\nstart = 0\nend = "90 deg"', appell.walls.Arc(3.0, start=0.0, end=np.pi / 2.0)),
        ('kind = "ellipse"\na = 3\nb = 2\nangle = "30 deg"', appell.walls.Ellipse(3.0, 2.0, angle=math.radians(30.0))),
        ('kind = "polyline"\ncorners = [[0, 0], [1, 0]]', appell.walls.Polyline([[0.0, 0.0], [1.0, 0.0]])),
        ('kind = "line"\nstart = [0, 0]\nend = [1, 0]', appell.walls.Line([0.0, 0.0], [1.0, 0.0])),
        ('kind = "box"\ncentre = [0, 0, -3]\nsize = [1, 2, 3]', appell.walls.Box((0.0, 0.0, -3.0), (1.0, 2.0, 3.0))),
        (
            'kind = "box"\ncentre = [0, 0, -3]\nsize = [1, 1, 1]\nrotation = [0, 0, "90 deg"]',
            appell.walls.Box((0.0, 0.0, -3.0), (1.0, 1.0, 1.0), ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
        ),
        (
            'kind = "heightfield"\nheights = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]\ncell = 0.5\n'
            "origin = [-1, -1, -3]",
            appell.walls.Heightfield(
                [(0.0,) * 4, (0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 0.0), (0.0,) * 4], 0.5, (-1.0, -1.0, -3.0)
            ),
        ),
        (
            'kind = "circle"\nradius = 2\nrestitution = { link2 = 0.5 }\nfriction = 0.1\npoints = ["link2"]',
            appell.walls.Circle(2.0, restitution={"link2": 0.5}, friction=0.1, points=("link2",)),
        ),
    ],
)
def test_every_kind_of_wall_is_read(wall, expected):
    [found] = read_scenario(f"{SMALL}[[walls]]\n{wall}\n").options["walls"]
    assert repr(found) == repr(expected)


def test_there_are_no_other_kinds_of_walls():
    assert sorted(WALLS) == [
        "arc",
        "box",
        "circle",
        "ellipse",
        "heightfield",
        "line",
        "plane",
        "polyline",
        "sphere",
    ]


def test_joints_by_name_may_be_degrees_and_lists():
    scenario = read_scenario(SCENARIOS / "quadruped_drop.toml")
    assert scenario.robot.nv == 14
    np.testing.assert_allclose(scenario.q[7:9], np.radians([35.0, -70.0]))
    assert scenario.q[2] == 0.8
    assert not scenario.v.any()


def test_a_held_robot_stays_and_a_free_base_has_no_motor():
    law = '[control]\nkind = "pd"\nkp = 500.0\nkd = 50.0\ngravity = true\nrate = 200.0\n'
    scenario = read_scenario(f'robot = "stanford"\nduration = 0.1\n{law}')
    run = scenario.run()
    np.testing.assert_allclose(run.q, 0.0, atol=1e-9)
    free = read_scenario(f'robot = {{ source = "two-link", floating = true }}\nduration = 0.1\n{law}')
    tau = free.options["control"](0.0, free.robot.neutral(), np.zeros(8))
    np.testing.assert_array_equal(tau[:6], 0.0)
    assert tau[6:].any()


@pytest.mark.parametrize("name", ["five-bar", "stewart", "mobile-arm", "agile-wrist"])
def test_robots_with_loops_have_scenarios_too(name):
    robot = appell.load(name)
    motor = robot.actuators[0]
    law = f'[control]\nkind = "pd"\nkp = {{ {motor} = 5.0 }}\nkd = 1.0\ngravity = true\n'
    scenario = read_scenario(f'robot = "{name}"\nduration = 0.02\n{law}')
    run = scenario.run()
    assert run.tau.shape[1] == robot.nu
    np.testing.assert_allclose(run.q[-1], robot.neutral(), atol=1e-6)  # gravity is held
    assert robot.closure_error(run.q).max() < 1e-10


def test_constant_forces_are_those_of_the_file():
    run = read_scenario(SMALL + '[control]\nkind = "constant"\ntau = { joint2 = 3.0 }\n').run()
    np.testing.assert_array_equal(run.tau, np.broadcast_to([0.0, 3.0], run.tau.shape))


@pytest.mark.parametrize(("name", "duration"), [("tree", 0.6), ("rod_in_gutter", 0.6), ("quadruped_drop", 0.365)])
def test_an_example_runs_and_gains_no_energy(name, duration):
    scenario = replace(read_scenario(SCENARIOS / f"{name}.toml"), duration=duration)
    run = scenario.run()
    assert not run.ended_early
    assert run.impacts
    assert all(impact.loss >= -1e-9 * abs(impact.energy_before) for impact in run.impacts)


def test_the_rod_comes_to_rest_on_both_ends():
    run = read_scenario(SCENARIOS / "rod_in_gutter.toml").run()
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)
    assert {rest.point for rest in run.rests if rest.end == run.t[-1]} == {"left", "right"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('duration = 1\nrobto = "x"', "unknown key 'robto'; did you mean 'robot'"),
        ("duration = 1\n", "'robot' is missing"),
        ('robot = "two-link"\n', "'duration' is missing"),
        ('robot = "no-such"\nduration = 1', "robot: load: 'no-such' is neither a file"),
        ('robot = { file = "x" }\nduration = 1', "robot: unknown key 'file'"),
        ('robot = { source = "two-link", floating = 1 }\nduration = 1', "robot.floating: expected true or false"),
        ('robot = "two-link"\nduration = -1', "duration: expected a number above zero, got -1"),
        ('robot = "two-link"\nduration = "1"', "duration: expected a number, got '1'"),
        (SMALL + "restitution = 1.5", "restitution: expected a number from 0 to 1, got 1.5"),
        (SMALL + "restitution = { tip = 0.5 }", "restitution: no point 'tip'"),
        (SMALL + "friction = -0.1", "friction: expected zero or more"),
        (SMALL + 'impact_law = "hertz"', "impact_law: unknown 'hertz'; known: 'newton', 'poisson'"),
        (SMALL + 'method = "euler"', "method: unknown 'euler'; known: 'dop853', 'radau', 'rk4', 'symplectic'"),
        (SMALL + "tie_window = -1", "tie_window: expected zero or more, got -1"),
        (SMALL + "limits = 2.0", "limits: expected true, false or a restitution"),
        (SMALL + 'points = ["elbow"]', "points: points: robot 'two-link' has no frame 'elbow'"),
        (SMALL + "points = [{ position = [0, 0, 0] }]", "points[0]: 'frame' is missing"),
        (SMALL + "[start]\nq = [0.0]", "start.q: expected 2 numbers, got 1"),
        (SMALL + '[start]\nq = "home"', "start.q: expected 'neutral', a list of 2 numbers or joints by name"),
        (SMALL + "[start]\nq = { joint3 = 0.0 }", "start.q: robot 'two-link' has no joint 'joint3'"),
        (SMALL + "[start]\nv = [0.0, nan]", "start.v[1]: expected a number, got NaN"),
        (SMALL + "[start]\nw = 1", "start: unknown key 'w'; known: 'q', 'v'"),
        (SMALL + "[[walls]]\nradius = 1", "walls[0]: 'kind' is missing"),
        (SMALL + '[[walls]]\nkind = "cone"', "walls[0].kind: unknown 'cone'; known: 'circle', 'arc'"),
        (SMALL + '[[walls]]\nkind = "circle"', "walls[0]: a circle needs 'radius'"),
        (SMALL + '[[walls]]\nkind = "circle"\nradius = 0', "walls[0].radius: expected a number above zero"),
        (SMALL + '[[walls]]\nkind = "sphere"\nradius = 1\naxis = [0, 0, 1]', "walls[0]: unknown key 'axis'"),
        (SMALL + '[[walls]]\nkind = "plane"\nnormal = [0, 0, 0]', "walls[0]: plane: normal is zero"),
        (SMALL + '[[walls]]\nkind = "plane"\npoints = ["tip"]', "walls[0].points[0]: no point 'tip'"),
        (SMALL + '[control]\nkind = "lqr"', "control.kind: unknown 'lqr'; known: 'none', 'constant', 'pd'"),
        (SMALL + '[control]\nkind = "pd"\nkp = 1.0', "control: control of kind 'pd' needs 'kd'"),
        (SMALL + '[control]\nkind = "constant"\nkp = 1.0', "control: unknown key 'kp'; known: 'kind', 'tau'"),
        (SMALL + '[control]\nkind = "pd"\nkp = 1\nkd = 1\nrate = 0', "control.rate: expected a number above zero"),
    ],
)
def test_a_mistake_is_told_with_the_file_and_the_key(tmp_path, text, message):
    file = tmp_path / "scenario.toml"
    file.write_text(text)
    with pytest.raises(ReadError, match=re.escape(f"scenario.toml: {message}")):
        read_scenario(file)


def test_a_start_beyond_a_wall_is_told_with_the_file():
    scenario = read_scenario(SMALL + '[[walls]]\nkind = "sphere"\nradius = 1.0\ncentre = [5, 0, 0]\n')
    with pytest.raises(ReadError, match=r"<text>: start: simulate: at t = 0 s 'link2'"):
        scenario.run()
