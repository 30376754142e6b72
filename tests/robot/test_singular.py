"""Singular mass matrices: what divides by M warns, with the joints; what is regular needs no look; float32 is right."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import appell
from appell.errors import AppellWarning, ModelError
from appell.loops.closed import kind_of
from appell.model.mimic import coupled
from appell.model.model import Mimic, Model
from appell.recursion import articulated
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.robot import tree
from appell.robot.long.kind import LongTree
from appell.robot.robot import Robot
from appell.robot.singular import recovery
from appell.robot.singular.massless import inverse_norm_bound, scaled
from appell.robot.singular.recovery import errors
from appell.robot.verbs.table import MASS, VERBS
from appell.spatial.vector import IDENTITY
from tests.support.evaluation import evaluate
from tests.support.residuals import WITHIN
from tests.support.robots import light_arm, models, random_state

SINGULAR = "singular mass matrix"
# an open robot has no contact forces, so that nothing is divided
DIVIDING_VERBS = [name for name, v in VERBS.items() if MASS in v.guards and not name.startswith("contact_forces")]


def states(robot: Robot, count: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and accelerations."""
    rng = np.random.default_rng(5)
    return robot.random(rng, count), rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nu))


def arguments(robot: Robot, verb: str) -> list[np.ndarray]:
    """Return random arguments of a verb that is given forces."""
    q, v, tau = states(robot)
    others = {"load": tau, "w": tau, "dt": np.full((len(q), 1), 1e-3)}
    return [q, v, tau, *(others[name] for name, _ in VERBS[verb].inputs[3:])]


@pytest.fixture(scope="module")
def floating() -> Robot:
    """Return an arm on a free base without mass."""
    return appell.load(light_arm(1.0, is_floating=True))


def test_verbs_that_divide_by_the_mass_matrix_are_known() -> None:
    assert {"forward_dynamics", "forward_dynamics_loaded", "forward_dynamics_derivatives", "motion"} <= set(
        DIVIDING_VERBS
    )


@pytest.mark.parametrize("verb", DIVIDING_VERBS)
def test_every_verb_warns_of_a_free_base_without_mass(floating: Robot, verb: str) -> None:
    with pytest.warns(AppellWarning, match=f"robot 'light': {SINGULAR}: .*'root'.*fix the base"):
        floating.evaluate(verb, *arguments(floating, verb))


@pytest.mark.parametrize("formulation", ["articulated", "composite", "gibbs", "lagrange", "mata2002", "mixed"])
def test_every_formulation_warns(formulation: str) -> None:
    robot = appell.load(light_arm(1e-13))
    with pytest.warns(AppellWarning, match=f"{SINGULAR}.*'joint2', 'joint3' can move together"):
        robot.forward_dynamics(*states(robot), formulation=formulation)


def test_one_sample_of_several_is_enough_and_the_line_is_the_callers() -> None:
    """Of three arms, by their parameters, the middle one is singular."""
    robot, bad = appell.load(light_arm(1.0)), appell.load(light_arm(1e-14))
    pi = np.stack([robot.parameters, bad.parameters, robot.parameters])
    q, v, a = states(robot, 3)
    with pytest.warns(AppellWarning, match=f"{SINGULAR}: the joints 'joint2', 'joint3'") as caught:
        robot.forward_dynamics(q, v, a, parameters=pi)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("is_floating", [False, True], ids=["fixed", "floating"])
def test_loops_over_bodies_warn(is_floating: bool) -> None:
    robot = Robot(LongTree(light_arm(1e-13 if not is_floating else 1.0, is_floating=is_floating), kind_of))
    for verb in ("forward_dynamics", "motion"):
        with pytest.warns(AppellWarning, match=SINGULAR):
            robot.evaluate(verb, *states(robot))


def test_coupled_trees_warn() -> None:
    """A follower of the first joint; the others turn against each other all the same."""
    model = light_arm(1e-13)
    follower = replace(model.bodies[0], joint=replace(model.bodies[0].joint, name="copy", mimic=Mimic("joint1", 1.0)))
    robot = appell.load(coupled(replace(model, bodies=(*model.bodies, follower))))
    assert robot.nv == 3
    with pytest.warns(AppellWarning, match=f"{SINGULAR}.*'joint2', 'joint3'"):
        robot.forward_dynamics(*states(robot))


@pytest.mark.parametrize("name", ["five-bar", "agile-wrist"])
def test_robots_with_loops_warn(name: str) -> None:
    robot = appell.load(name)
    q, v, tau = states(robot)
    with pytest.warns(AppellWarning, match=f"{SINGULAR}.*move no inertia"):
        robot.forward_dynamics(q, v, tau, parameters=np.zeros_like(robot.parameters))


def test_a_mass_matrix_that_is_singular_by_structure_is_an_error() -> None:
    """Without turned frames rounding cancels, and the program itself would divide by zero."""
    model = light_arm(0.0)
    joints = (replace(b.joint, placement=b.joint.placement._replace(rotation=IDENTITY)) for b in model.bodies)
    bodies = tuple(replace(body, joint=joint) for body, joint in zip(model.bodies, joints, strict=True))
    robot = appell.load(replace(model, bodies=bodies))
    with pytest.raises(ModelError, match=f"{SINGULAR} of robot 'light': the joints 'joint2', 'joint3' can move"):
        robot.forward_dynamics(*states(robot))


@pytest.mark.parametrize("formulation", ["articulated", "composite"])
def test_residuals_are_small_or_warned_of(formulation: str) -> None:
    """Forward dynamics of inverse dynamics, from a regular mass matrix to a singular one."""
    robot = appell.load(light_arm(1.0))
    q, v, a = states(robot, 20)
    for mass in 10.0 ** np.arange(-15, 1):
        pi = np.array([x for body in light_arm(mass).bodies for x in body.inertia.parameters])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tau = robot.inverse_dynamics(q, v, a, parameters=pi)
            again = robot.forward_dynamics(q, v, tau, parameters=pi, formulation=formulation)
        assert caught or np.abs(again - a).max() <= WITHIN
        assert caught or mass > 3e-8, mass
        assert not caught or mass < 3e-7, mass


def rods(count: int, *others: dict[str, object]) -> Robot:
    """Return a chain of rods, and what hangs on the last of them."""
    rod = {"a": 0.1, "mass": 0.1, "centre": [-0.05, 0, 0], "inertia": [1e-5, 1e-4, 1e-4]}
    return appell.from_dh([rod] * count + list(others), modified=False, gravity=(0, -9.81, 0))


def warnings_of(robot: Robot, configurations: list[np.ndarray]) -> list[str]:
    """Return the warnings of forward dynamics in one call per configuration."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for q in configurations:
            robot.forward_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv))
    return [str(w.message) for w in caught]


@pytest.mark.skipif(bool(np.finfo(np.longdouble).eps > 1e-18), reason="no extended precision on this machine")
@pytest.mark.parametrize("posture", ["straight", "bent"])
def test_accelerations_of_a_long_chain_are_right_and_nothing_is_warned_of(posture: str) -> None:
    """M is so ill-conditioned that the bound of its error is 1e-7 and more; against extended precision."""
    robot, rng = rods(400), np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, 400)) * [[float(posture == "bent")], [1.0], [0.1]]
    found = robot.forward_dynamics(q, v, tau)
    exact = articulated.forward_dynamics(robot.model, *(tuple(np.longdouble(x) for x in y) for y in (q, v, tau)))
    assert np.abs(found - np.array(exact)).max() <= 1e-11 * np.abs(found).max()
    assert 0.0 < errors(robot.kind, q[None])[0] <= 1e-10


def test_a_long_chain_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, counts = rods(400), []

    def counted(*arguments: Any) -> np.ndarray:
        counts.append(1)
        return errors(*arguments)

    monkeypatch.setattr(recovery, "errors", counted)
    for _ in range(3):
        robot.forward_dynamics(*np.zeros((3, 400)))
    assert len(counts) == 1


def test_a_long_chain_with_a_massless_wrist_warns_where_its_axes_are_in_line() -> None:
    """What was right elsewhere says nothing of a singular configuration, and every warning of it is the same."""
    turn: dict[str, object] = {"mass": 0.0, "inertia": [0.0, 0.0, 0.0]}
    hand = {"mass": 1.0, "centre": [0.1, 0.0, 0.2], "inertia": [1e-2, 1e-2, 1e-2]}
    robot = rods(400, {**turn, "alpha": -math.pi / 2}, {**turn, "alpha": math.pi / 2}, hand)
    q, still = np.zeros((3, robot.nv)), np.zeros(robot.nv)
    q[:, -2] = 1.0
    robot.forward_dynamics(q, still, still)
    q[:, -2], q[:, 0] = 0.0, [0.0, 0.5, 1.0]
    told = warnings_of(robot, [q, q[1], q[2], q[:2]])
    assert len(told) == 4
    assert len(set(told)) == 1
    assert SINGULAR in told[0]
    assert "'joint401', 'joint403'" in told[0]


@pytest.mark.parametrize("mass", [1e-14, 1e-9])
def test_warnings_of_a_robot_do_not_differ_from_call_to_call(mass: float) -> None:
    robot = appell.load(light_arm(mass))
    q, _, _ = states(robot)
    told = warnings_of(robot, [q, q[0], q[1], q[2:]])
    assert len(told) > 1
    assert len(set(told)) == 1


def test_float32_samples_near_a_singular_mass_matrix_are_computed_in_float64() -> None:
    robot = appell.load(light_arm(1e-6))
    q, v, a = states(robot, 20)
    given = [x.astype(np.float32) for x in (q, v, robot.inverse_dynamics(q, v, a))]
    right = robot.forward_dynamics(*(x.astype(float) for x in given))
    found = robot.forward_dynamics(*given)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, right, rtol=1e-6)
    out = np.empty_like(found)
    assert robot.forward_dynamics(*given, out=out) is out
    np.testing.assert_array_equal(out, found)
    np.testing.assert_array_equal(robot.forward_dynamics(*(x[3] for x in given)), found[3])


def test_rollouts_warn(floating: Robot) -> None:
    q, v, tau = states(floating)
    with pytest.warns(AppellWarning) as caught:  # also that states do not stay finite
        appell.rollout(floating, q, v, tau[:, None], 1e-3, steps=2)
    assert f"{SINGULAR}: the joints" in str(caught[0].message)


def test_rollouts_in_float32_warn_of_what_float64_can_do() -> None:
    robot = appell.load(light_arm(1e-6))
    q, v, tau = states(robot)
    appell.rollout(robot, q, 0 * v, 1e-9 * tau[:, None], 1e-6, steps=2)
    q, v, tau = (x.astype(np.float32) for x in (q, 0 * v, 1e-9 * tau[:, None]))
    with pytest.warns(AppellWarning, match=f"{SINGULAR}.*or use float64"):
        appell.rollout(robot, q, v, tau, 1e-6, steps=2)


@pytest.mark.parametrize("name", ["puma560", "rx90", "stanford"])
def test_robots_whose_bodies_all_have_inertia_need_no_guard(name: str) -> None:
    robot = appell.load(name)
    assert not robot.program("forward_dynamics").guards
    assert [guard.name for guard in robot.program("forward_dynamics", parametric=True).guards] == ["mass"]


@settings(max_examples=60, deadline=None)
@given(models())
def test_the_bound_of_the_inverse_holds(model: Model) -> None:
    bound = inverse_norm_bound(model)
    if not model.nv or bound == np.inf:
        return
    mass = evaluate(mass_matrix_composite, model, random_state(model, 5)[0])
    least = np.linalg.eigvalsh(mass)[:, 0] * np.linalg.eigvalsh(scaled(mass))[:, 0]
    assert (np.sqrt(np.trace(mass, axis1=-2, axis2=-1) / least) <= bound * (1.0 + 1e-6)).all()


def test_the_bound_of_the_inverse_is_computed_once_per_machine(monkeypatch, tmp_path) -> None:
    def bound(name: str) -> float:
        kind = appell.load(name).kind
        assert isinstance(kind, tree.Tree)
        return kind._inverse_norm_bound

    monkeypatch.setenv("APPELL_CACHE", str(tmp_path))
    once = bound("puma560")
    monkeypatch.setattr(tree, "inverse_norm_bound", lambda model: math.nan)
    assert bound("puma560") == once
    assert math.isnan(bound("stanford"))
