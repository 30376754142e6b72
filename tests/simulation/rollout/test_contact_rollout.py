"""Rollouts on the ground against closed forms, against the law of a step written out, and against many sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell import walls
from appell.control import PD, PDGravity
from appell.errors import AppellWarning, InputError
from appell.program.adjoint import adjoint, recorded
from appell.program.run import run as interpreted
from appell.program.stepping import Keep
from appell.robot.robot import Robot
from appell.simulation import Point
from appell.simulation.rollout.ground import contacts
from appell.simulation.rollout.scheme import rollout_program

Array = NDArray[Any]
G = 9.81
BODY = """<robot name="{name}"><link name="body"><inertial><mass value="2"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
SLIDE = """<robot name="slide"><link name="world"/><link name="body"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="body"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="100" velocity="100"/><dynamics friction="3" damping="0"/></joint></robot>"""
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def from_text(folder: Path, text: str, **options: Any) -> Robot:
    file = folder / "robot.urdf"
    file.write_text(text)
    return appell.load(file, **options)


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return from_text(tmp_path_factory.mktemp("block"), BODY.format(name="block", i=0.03), floating=True)


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """Return a solid ball of radius 0.1 m."""
    return from_text(tmp_path_factory.mktemp("ball"), BODY.format(name="ball", i=0.4 * 2 * 0.01), floating=True)


@pytest.fixture(scope="module")
def slide(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return from_text(tmp_path_factory.mktemp("slide"), SLIDE)


@pytest.fixture(scope="module")
def go2(robots: Path) -> Robot:
    return appell.load(robots / "go2_description/urdf/go2.urdf", floating=True, friction=False)


CORNERS = [Point("body", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
BALL = [Point("body", radius=0.1)]
FEET = [Point(f"{leg}_foot", radius=0.022) for leg in ("FL", "FR", "RL", "RR")]
STAND = np.array([0.0, 0.0, 0.32, *UPRIGHT, *[0.0, 0.9, -1.8] * 4])


def on(robot: Robot, q0: Any, v0: Any, dt: float, steps: int, **options: Any) -> appell.Rollout:
    """Return a rollout by time stepping, on a plane unless other walls are given."""
    return appell.rollout(robot, q0, v0, None, dt, steps=steps, method="euler", **{"walls": [walls.Plane()]} | options)


def standing(go2: Robot, rows: int = 1, kp: float = 40.0, kd: float = 1.0, **options: Any) -> dict[str, Any]:
    """Return the options of a Go2 that stands under PD control, each with its own goal."""
    goal = np.tile(STAND, (rows, 1))
    goal[:, 7:] += 0.1 * np.random.default_rng(0).normal(size=(rows, 12)) * (rows > 1)
    law = PD(go2, goal if rows > 1 else goal[0], [0.0] * 6 + [kp] * 12, [0.0] * 6 + [kd] * 12)
    return {"control": law, "points": FEET, "friction": 0.6, **options}


# Closed forms


@pytest.mark.parametrize("share", [0.0, 0.6, 1.01])
def test_a_block_slides_down_an_incline_or_sticks(block, share):
    angle = 0.3
    normal, mu = np.array([-np.sin(angle), 0.0, np.cos(angle)]), share * np.tan(angle)
    q0 = [*(0.05 * normal), 0.0, -np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    a = max(G * (np.sin(angle) - mu * np.cos(angle)), 0.0)
    off = []
    for n in (500, 1000):
        run = on(
            block, q0, np.zeros(6), 1 / n, n, walls=[walls.Plane(normal=normal.tolist())], points=CORNERS, friction=mu
        )
        off.append(np.linalg.norm(run.q[-1, :3] - q0[:3]) - a / 2)
        assert run.penetration < 1e-8
        assert run.energy_gain == 0.0
    # semi-implicit: s = ½ a t² + ½ a t h
    assert np.allclose(off, [a / 1000, a / 2000], atol=2e-6)


def test_a_ball_bounces_with_its_restitution(ball):
    fall, e = 0.45, 0.5
    first = np.sqrt(2 * fall / G)
    again, up = 0.5 - first, e * G * first
    exact = 0.1 + up * again - 0.5 * G * again**2
    assert again < 2 * up / G  # between the first bounce and the second
    off = []
    for n in (1000, 4000):
        run = on(ball, [0, 0, 0.1 + fall, *UPRIGHT], np.zeros(6), 1 / n, n // 2, points=BALL, restitution=e)
        off.append(abs(run.q[-1, 2] - exact))
        assert run.energy_gain == 0.0
    assert off[0] < 1e-2
    assert off[1] < 0.5 * off[0]


def test_a_ball_slides_until_it_rolls_with_five_sevenths_of_its_speed(ball):
    off = []
    for n in (1000, 2000):
        run = on(ball, [0, 0, 0.1, *UPRIGHT], [0.7, 0, 0, 0, 0, 0], 1 / n, n // 2, points=BALL, friction=0.2)
        vx, _, _, _, wy, _ = ball.velocity(run.q[-2], run.v[-1], "body")
        assert wy * 0.1 == pytest.approx(vx, abs=1e-12)  # the lowest point is at rest
        off.append(abs(vx - 0.5))
    assert off[0] < 3e-3
    assert off[1] < 0.55 * off[0]


def test_impulses_change_the_momentum(block):
    h, v0 = 1e-3, [1.0, 0.5, -1.0, 0.3, -0.2, 0.4]
    run = on(block, [0, 0, 0.06, *UPRIGHT], v0, h, 200, points=CORNERS, friction=0.3, restitution=0.4)
    q, v = run.q[:-1], run.v[:-1]
    push = np.einsum("kij,kj->ki", block.mass_matrix(q), np.diff(run.v, axis=0)) + h * block.bias(q, v)
    force = np.einsum("kij,kj->ki", block.pose(q, "body")[:, :3, :3], push[:, :3])
    normal, *tangents = np.moveaxis(run.impulses[1:].sum(axis=1), -1, 0)
    assert np.allclose(force, np.stack([*tangents, normal], axis=-1), atol=1e-12)
    assert normal.max() > 1.0


def test_friction_stays_on_the_cone_and_opposes_the_slip(block):
    mu = 0.3
    run = on(block, [0, 0, 0.05, *UPRIGHT], [1.0, 0.5, 0, 0, 0, 2.0], 1e-3, 100, points=CORNERS, friction=mu)
    normal, tangents = run.impulses[1:, :, 0], run.impulses[1:, :, 1:]
    assert (np.linalg.norm(tangents, axis=-1) <= mu * normal * (1 + 1e-12) + 1e-17).all()
    for k, corner in enumerate(CORNERS):
        arm = np.array(corner.position)
        slip = np.array([block.velocity(q, v, "body") for q, v in zip(run.q[:-1], run.v[1:], strict=True)])
        turned = np.array([block.pose(q, "body")[:3, :3] @ arm for q in run.q[:-1]])
        speed = (slip[:, :3] + np.cross(slip[:, 3:], turned))[:, :2]
        fast = np.linalg.norm(speed, axis=-1) > 0.1
        cosine = (
            np.sum(speed * tangents[:, k], axis=-1)[fast]
            / (np.linalg.norm(speed, axis=-1) * np.linalg.norm(tangents[:, k], axis=-1))[fast]
        )
        assert fast.sum() > 50
        assert (cosine < -1 + 1e-6).all()


def test_joint_friction_stops_a_slide_and_holds_it(slide):
    run = on(slide, [0.0], [0.6], 1e-3, 1000, walls=[])
    distance = 0.6**2 / (2 * 3.0 / 2.0)
    assert run.q[-1, 0] == pytest.approx(distance, abs=0.6 * 1e-3)
    assert run.v[-1, 0] == 0.0
    held = appell.rollout(slide, [0.0], [0.0], [2.9], 1e-3, steps=100, method="euler", walls=[])
    assert (held.v == 0.0).all()
    moved = appell.rollout(slide, [0.0], [0.0], [3.1], 1e-3, steps=100, method="euler", walls=[])
    assert moved.v[-1, 0] == pytest.approx(0.1 * 0.1 / 2.0)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_slide_stops_at_its_limit(slide, e):
    free = slide.with_parameters(
        np.where([name.startswith("f_") for name in slide.parameter_names], 0, slide.parameters)
    )
    run = appell.rollout(free, [0.0], [2.0], None, 1e-3, steps=1000, method="euler", limits=e)
    assert run.q.max() <= 1.0 + 1e-12
    assert run.v[-1, 0] == pytest.approx(-2.0 * e)
    assert run.energy_gain == 0.0


def test_an_arm_on_its_limits_keeps_within_them(rng):
    arm = appell.load("puma560")
    lower, upper = arm.limits.lower, arm.limits.upper
    q0 = rng.uniform(0.2 * upper + 0.8 * lower, 0.8 * upper + 0.2 * lower, (20, 6))
    run = on(arm, q0, rng.normal(size=(20, 6)), 1e-3, 1500, walls=None, limits=True)
    assert (run.q >= lower - 1e-9).all()
    assert (run.q <= upper + 1e-9).all()
    assert (np.abs(run.q[:, -1] - lower).min() < 1e-9) | (np.abs(run.q[:, -1] - upper).min() < 1e-9)


# The law of a step


def test_pd_enters_at_the_end_of_the_step(go2):
    h, kp, kd = 2e-3, np.r_[np.zeros(6), np.full(12, 40.0)], np.r_[np.zeros(6), np.full(12, 1.0)]
    q = STAND + np.r_[0, 0, 1.0, np.zeros(16)]
    v, goal = np.random.default_rng(1).normal(size=18), STAND + np.r_[np.zeros(7), np.full(12, 0.1)]
    run = on(go2, q, v, h, 1, control=PDGravity(go2, goal, kp, kd), points=FEET)
    M = go2.mass_matrix(q) + np.diag(h * kd + h * h * kp)
    error = np.r_[np.zeros(6), goal[7:] - q[7:]]
    push = go2.gravity(q) + kp * error - (kd + h * kp) * v - go2.bias(q, v)
    assert np.allclose(run.v[1], v + h * np.linalg.solve(M, push), atol=1e-11)


def test_motors_at_their_torque_limit_are_explicit(slide):
    law = PD(slide, [0.9], 1e4, 10.0, limit=5.0)
    run = on(slide, [0.0], [0.0], 1e-3, 10, walls=[], control=law)
    assert np.allclose(run.v[1:, 0], np.arange(1, 11) * 1e-3 * (5.0 - 3.0) / 2.0)


@pytest.mark.parametrize("name", ["two-link", "puma560", "five-bar", "shafei-tree"])
def test_without_obstacles_and_friction_the_step_is_that_of_euler(name, rng):
    robot = appell.load(name)
    pi = np.where([x.startswith("f_") for x in robot.parameter_names], 0.0, robot.parameters)
    robot, q = robot.with_parameters(pi), robot.neutral()
    v, tau = 0.3 * rng.normal(size=robot.nv), rng.normal(size=robot.nu)
    runs = [appell.rollout(robot, q, v, tau, 1e-3, steps=20, method="euler", walls=x) for x in (None, ())]
    assert np.allclose(runs[0].v, runs[1].v, atol=1e-12)
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-12)


def test_native_code_is_the_program(block):
    ground = contacts(block, [walls.Plane()], CORNERS, 0.4, 0.0, 0.0, False, 20)
    program = rollout_program(block, "euler", None, ground.ground, keep=Keep.LAST)
    q0, v0, dt, steps = [0, 0, 0.06, *UPRIGHT], [0.5, 0, -2.0, 1.0, 0, 0], 1e-3, 20
    given = {"q": q0, "v": v0, "tau": [[0.0] * 6] * steps, "dt": [dt], **ground.numbers}
    known = [given.get(port.name, np.zeros(port.size)) for port in program.inputs]
    found = interpreted(program, *known)
    run = on(block, q0, v0, dt, steps, points=CORNERS, friction=0.4)
    exact = np.r_[run.q[-1], run.v[-1], run.impulses[-1].ravel()]
    assert np.allclose(found[: len(exact)], exact, atol=1e-12)
    assert run.impulses[-1].any()


def test_few_sweeps_give_what_many_give(go2):
    rows, steps = 8, 150
    options = standing(go2, rows)
    run = on(go2, np.tile(STAND, (rows, 1)), np.zeros(18), 2e-3, steps, **options)
    law = options["control"]
    goal = np.repeat(law.goal[:, None], steps, axis=1)
    many = on(
        go2,
        run.q[:, :-1],
        run.v[:, :-1],
        2e-3,
        1,
        **options | {"control": PD(go2, goal, law.kp, law.kd), "sweeps": 3000},
    )
    off = np.abs(many.v[:, :, 1] - run.v[:, 1:]).max(axis=-1)
    assert np.quantile(off, 0.99) < 1e-6
    assert run.impulses.any(axis=-1).mean() > 0.5


def test_feet_that_stand_neither_slip_nor_sink(go2):
    run = on(go2, STAND, np.zeros(18), 2e-3, 5500, save_every=500, limits=True, **standing(go2, kp=300.0, kd=12.0))
    places = np.stack([go2.pose(run.q, foot.frame)[..., :3, 3] for foot in FEET])
    assert np.ptp(places[:, 1:], axis=1)[:, :2].max() < 1e-6
    assert np.abs(places[:, 1:, 2] - 0.022).max() < 1e-4
    assert run.residual < 1e-6


@pytest.mark.parametrize("name", ["block", "slide"])
def test_the_adjoint_of_a_step_is_its_gradient(request, name):
    """Of a block that slides and turns on two corners, and of a slide that is held at its limit."""
    robot, steps = request.getfixturevalue(name), 4
    if name == "block":
        found = contacts(robot, [walls.Plane()], CORNERS[:2], 0.4, 0.0, 0.0, False, 5)
        q0 = np.array([0, 0, 0.0465, 0.01, 0.02, 0, 1.0])
        q0[3:] /= np.linalg.norm(q0[3:])
        v0 = np.array([0.5, 0.1, -0.3, 0.2, 0.1, -0.1])
    else:
        found = contacts(robot, [], None, 0.0, 0.0, 0.0, True, 5)
        q0, v0 = np.array([0.999]), np.array([0.7])
    program = rollout_program(robot, "euler", None, found.ground, keep=Keep.EVERY)
    back = adjoint(program, ("q", "v", "tau"), ("q", "v"))
    whole = recorded(program, [port for port in back.inputs if port.name.startswith("kept_")])
    rng, n = np.random.default_rng(0), robot.nq + robot.nv
    tau, weights = 0.1 * rng.normal(size=(steps, robot.nu)), rng.normal(size=(steps, n))

    def run(program: Any, x: Array, **more: Any) -> dict[str, Array]:
        given = {
            "q": x[: robot.nq],
            "v": x[robot.nq : n],
            "tau": x[n:].reshape(tau.shape),
            "dt": [1e-3],
            **found.numbers,
        }
        arguments = [(given | more).get(port.name, np.zeros(port.size)) for port in program.inputs]
        flat, results = np.array(interpreted(program, *(np.asarray(x).tolist() for x in arguments))), {}
        for port in program.outputs:
            size = port.size * (steps if port.axes else 1)
            results[port.name], flat = flat[:size].reshape(-1, port.size), flat[size:]
        return results

    def loss(x: Array) -> float:
        found = run(program, x)
        return float(np.sum(weights * np.concatenate([found["q"], found["v"]], axis=1)))

    x = np.concatenate([q0, v0, tau.ravel()])
    out = run(whole, x)
    assert any(out[key].any() for key in ("impulse", "box") if key in out)
    kept = {key: value for key, value in out.items() if key.startswith("kept_")}
    found_by = run(back, x, w_q=weights[:, : robot.nq], w_v=weights[:, robot.nq :], **kept)
    by = np.concatenate([found_by[f"by_{key}"].ravel() for key in ("q", "v", "tau")])
    step = 1e-7 * np.eye(len(x))
    assert np.allclose(by, [(loss(x + e) - loss(x - e)) / 2e-7 for e in step], atol=1e-6 * np.abs(by).max())


# Batches


def test_bits_depend_on_no_other_robot(go2, rng):
    q0, v0 = np.tile(STAND, (21, 1)), 0.3 * rng.normal(size=(21, 18))
    options = standing(go2, limits=True)
    before = appell.threads()
    try:
        appell.threads(2)
        run = on(go2, q0, v0, 2e-3, 200, save_every=50, **options)
        appell.threads(1)
        parts = [on(go2, q0[a:b], v0[a:b], 2e-3, 200, save_every=10, **options) for a, b in ((0, 1), (1, 4), (4, 21))]
    finally:
        appell.threads(before)
    for field in ("q", "v", "impulses"):
        assert np.array_equal(np.concatenate([getattr(x, field)[:, ::5] for x in parts]), getattr(run, field))
    for field in ("penetration", "residual", "energy_gain"):
        assert np.array_equal(np.concatenate([getattr(x, field) for x in parts]), getattr(run, field))


def test_every_robot_may_have_its_own_ground(block, rng):
    mu, e, offsets = (
        rng.uniform(0, 1, (5, 4)),
        rng.uniform(0, 1, (5, 4)),
        np.linspace(0, -0.05, 5)[:, None] * np.ones(4),
    )
    start = [0, 0, 0.06, *UPRIGHT], [1.0, 0, -1.0, 0, 0, 0], 1e-3, 100
    run = on(block, *start, points=CORNERS, friction=mu, restitution=e, offsets=offsets)
    one = on(block, *start, points=CORNERS, friction=mu[2], restitution=e[2], offsets=offsets[2])
    assert np.array_equal(run.v[2], one.v)
    names = [corner.label for corner in CORNERS]
    same: Any = {"friction": dict(zip(names, mu[0], strict=True)), "restitution": dict(zip(names, e[0], strict=True))}
    assert np.array_equal(run.v[0], on(block, *start, points=CORNERS, **same).v)
    lower = on(block, *start, points=CORNERS, friction=mu[4], restitution=e[4], walls=[walls.Plane((0, 0, -0.05))])
    assert np.allclose(run.v[4], lower.v, atol=1e-12)


def test_single_precision_and_parameters_agree(go2):
    options = standing(go2, limits=True)
    run = on(go2, STAND, np.zeros(18), 2e-3, 100, **options)
    assert np.allclose(
        run.v, on(go2, STAND, np.zeros(18), 2e-3, 100, parameters=go2.parameters, **options).v, atol=1e-9
    )
    single = on(go2, STAND.astype(np.float32), np.zeros(18, np.float32), 2e-3, 100, **options)
    assert single.q.dtype == np.float32
    assert np.abs(single.q - run.q).max() < 1e-3


# Walls


def test_walls_of_every_shape_hold_a_ball(ball):
    hill = walls.SignedDistance(lambda p: p[..., 2] - 0.1 * np.cos(p[..., 0]) + 0.1)
    for wall, below in (
        (hill, 0.0),
        (walls.Sphere(1.0, (0, 0, 1.0)), 0.0),
        (walls.Sphere(1.0, (0, 0, -1.0), inside=False), 0.0),
        (walls.Circle(1.0, (0, 0, 1.0), axis=(0, 1, 0)), 0.0),
        (walls.Ellipse(2.0, 1.0, (0, 0, 1.0), axis=(0, 1, 0)), 0.0),
    ):
        run = on(
            ball, [0, 0, 0.11, *UPRIGHT], np.zeros(6), 1e-3, 300, walls=[wall], points=[Point("body")], friction=1.0
        )
        assert run.q[-1, 2] == pytest.approx(below, abs=1e-3), wall.label
        assert run.impulses[-1, 0, 0] == pytest.approx(2 * G * 1e-3, rel=1e-2)


@pytest.mark.parametrize(
    "wall", [walls.Box((0, 0, -0.5), (2, 2, 1)), walls.Sphere(1.0, (0, 0, 1.0)), walls.Sphere(1.0, (0, 0, -1.0), False)]
)
def test_balls_touch_walls_with_their_surface(ball, wall):
    run = on(ball, [0, 0, 0.11, *UPRIGHT], np.zeros(6), 1e-3, 300, walls=[wall], points=BALL, friction=1.0)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert run.impulses[-1, 0, 0] == pytest.approx(2 * G * 1e-3)


def test_the_default_points_are_those_of_the_collision_shapes(tmp_path):
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
    ball = from_text(tmp_path, BODY.format(name="ball", i=0.008).replace("</link>", shape), floating=True)
    run = on(ball, [0, 0, 0.11, *UPRIGHT], np.zeros(6), 1e-3, 300)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-9)


# Arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk4"}, "walls and limits need method='euler'"),
        ({"friction": -1.0}, "friction must lie in 0 or more, got -1"),
        ({"friction": [0.1, -0.2, 0.3, 0.1]}, "friction: expected numbers in 0 or more"),
        ({"friction": [0.1, 0.2]}, r"friction: expected finite numbers \(..., 4\), one per contact, got shape \(2,\)"),
        ({"restitution": 1.5}, r"restitution must lie in \[0, 1\], got 1.5"),
        ({"friction": {"toe": 0.1}}, "unknown points 'toe'"),
        ({"points": ["toe"]}, "has no frame 'toe'"),
        ({"offsets": np.nan}, "offsets: expected finite numbers"),
        ({"walls": [3]}, "walls: expected a list of walls"),
        ({"walls": [walls.Segment((0, 0), (1, 0))]}, "walls with ends do not act in rollouts"),
        ({"walls": [walls.SignedDistance(lambda p: np.maximum(p[..., 2], 0.0))]}, "its gap cannot be compiled"),
        (
            {"points": [Point("body", (x, 0, 0)) for x in range(41)]},
            "41 contacts of robot 'block' with walls, at most 40",
        ),
        ({"points": None}, "has no contact points"),
        ({"sweeps": 0}, "sweeps: expected an integer of at least 1, got 0"),
        ({"limits": 2.0}, r"limits: expected a restitution in \[0, 1\]"),
        ({"limits": True, "restitution": [0.1] * 4}, "limits must be a number"),
    ],
)
def test_bad_arguments_are_named(block, options, message):
    given = {"walls": [walls.Plane()], "points": CORNERS, "method": "euler"} | options
    with pytest.raises(InputError, match=message):
        appell.rollout(block, [0, 0, 1, *UPRIGHT], np.zeros(6), None, 1e-3, steps=2, **given)


def test_a_robot_inside_a_wall_is_named_and_pushed_out(block):
    with pytest.warns(AppellWarning, match=r"1 of 2 robots 'block' start inside a wall, the deepest by 0.05 m \(body"):
        run = on(block, [[0, 0, 0.0, *UPRIGHT], [0, 0, 1.0, *UPRIGHT]], np.zeros(6), 1e-3, 400, points=CORNERS)
    assert run.q[0, -1, 2] == pytest.approx(0.05, abs=1e-3)
    assert np.abs(np.diff(run.q[0, :, 2])).max() < 0.6e-3
    assert run.penetration[0] == pytest.approx(0.05)
    assert run.energy_gain[0] == 0.0
