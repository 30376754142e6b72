import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appell

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env

from appell.interop import gymnasium as envs


@pytest.fixture(scope="module")
def arm():
    return appell.load("two-link")


def constant(state, tau):
    return np.ones(len(state.q))


def test_a_single_environment_passes_the_checker_of_gymnasium(arm):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(infinity|maximum|minimum).*")  # observations are not bounded
        check_env(envs.Env(arm, envs.swing_up(arm, effort=5.0)), skip_render_check=True)


@pytest.mark.parametrize("name", ["two-link", "five-bar", "agile-wrist", "mobile-arm"])
def test_a_step_is_a_rollout_of_every_copy(name, rng):
    robot = appell.load(name)
    env = envs.VectorEnv(robot, envs.Task(constant, effort=2.0), 3, dt=1e-3, substeps=5)
    env.reset(seed=0)
    action = rng.uniform(-1.0, 1.0, size=(3, env.single_action_space.shape[0]))
    env.step(action)
    moved = appell.rollout(
        robot, robot.neutral(), np.zeros(robot.nv), 2.0 * action[:, None], 1e-3, steps=5, method="euler"
    )
    assert np.array_equal(env.state.q, moved.q[:, -1])
    assert np.array_equal(env.state.v, moved.v[:, -1])


def test_episodes_end_after_their_duration_and_start_again_in_the_next_step(arm):
    env = envs.VectorEnv(arm, envs.Task(constant, effort=1.0, duration=0.03), 2, dt=0.005, substeps=2)
    first, _ = env.reset(seed=3)
    zero = np.zeros((2, 2))
    assert [env.step(zero)[3].all() for _ in range(3)] == [False, False, True]
    observation, reward, terminated, truncated, _ = env.step(zero)
    assert np.array_equal(observation, first)
    assert not any(x.any() for x in (reward, terminated, truncated))
    assert np.array_equal(env.state.t, [0.0, 0.0])


def test_a_copy_that_ended_is_reset_alone(arm):
    def ended(state):
        return np.arange(len(state.q)) == 1 if len(state.q) > 1 else np.zeros(1, dtype=bool)

    env = envs.VectorEnv(arm, envs.Task(constant, ended=ended, effort=1.0), 3)
    env.reset(seed=0)
    assert env.step(np.ones((3, 2)))[2].tolist() == [False, True, False]
    env.step(np.ones((3, 2)))
    assert env.state.t[1] == 0.0
    assert (env.state.t[[0, 2]] > 0.0).all()


def test_the_same_seed_gives_the_same_episodes(arm):
    runs = []
    for seed in (1, 1, 2):
        env = envs.VectorEnv(arm, envs.swing_up(arm, effort=5.0), 4)
        env.reset(seed=seed)
        runs.append(np.stack([env.step(np.full((4, 2), 0.3))[0] for _ in range(5)]))
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_domain_randomisation_moves_every_copy_by_its_own_inertias(arm):
    pi = np.asarray(arm.parameters)

    def drawn(rng, n):
        return pi * rng.uniform(0.5, 2.0, size=(n, 1))

    env = envs.VectorEnv(arm, envs.Task(constant, parameters=drawn, effort=1.0), 4)
    env.reset(seed=0)
    own = np.array(env._parameters)
    env.step(np.ones((4, 2)))
    moved = appell.rollout(
        arm, arm.neutral(), np.zeros(2), np.ones((4, 1, 2)), 0.005, steps=4, method="euler", parameters=own
    )
    assert np.array_equal(env.state.q, moved.q[:, -1])
    assert len(np.unique(env.state.q[:, 0])) == 4


def test_a_state_that_diverges_ends_its_episode(arm):
    env = envs.VectorEnv(arm, envs.Task(constant, effort=1e50), 2)
    env.reset(seed=0)
    observation, _, terminated, _, info = env.step(np.array([[0.0, 0.0], [1.0, -1.0]]))
    assert terminated.tolist() == [False, True]
    assert info["diverged"].tolist() == [False, True]
    assert np.isfinite(observation).all()


@pytest.mark.parametrize("name", ["reward", "ended", "observe"])
def test_a_function_of_a_task_that_changes_the_states_is_told(arm, name):
    def change(state, *tau):
        state.v[:] = 0.0
        return state.v

    changes: dict[str, Any] = {name: change}
    task = replace(envs.Task(constant, effort=1.0), **changes)
    with pytest.raises(appell.AppellError, match=rf"^Task.{name} raised ValueError: .*read-only .* change a copy"):
        envs.VectorEnv(arm, task, 3).step(np.zeros((3, 2)))


def test_the_swing_up_is_rewarded_most_at_the_top(arm):
    task = envs.swing_up(arm, effort=5.0)
    assert task.start is not None
    low, _ = task.start(np.random.default_rng(0), 1)
    grid = np.random.default_rng(1).uniform(-np.pi, np.pi, size=(2000, 2))
    best = grid[np.argmax(arm.potential_energy(grid))]
    q = np.vstack([best, low])
    reward = task.reward(envs.State(q, np.zeros((2, 2)), np.zeros((2, 0)), np.zeros(2)), np.zeros((2, 2)))
    assert reward[0] > 0.98
    assert reward[1] < 0.7


def test_a_swing_up_without_gravity_is_refused(arm):
    with pytest.raises(appell.InputError, match=r"swing_up: the goal of robot .* above its lowest posture"):
        envs.swing_up(arm.with_gravity((0.0, 0.0, 0.0)), effort=5.0)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (envs.Task(constant, parameters=lambda rng, n: np.ones((n, 3)), effort=1.0), "parameters"),
        (envs.Task(constant), "effort"),
        (envs.Task(constant, effort=[1.0, 2.0, 3.0]), "effort"),
        (envs.Task(constant, start=lambda rng, n: (np.zeros((n, 3)), np.zeros((n, 2))), effort=1.0), "start: q"),
        (envs.Task(constant, goal=lambda rng, n: [np.nan], effort=1.0), "goal"),
    ],
)
def test_tasks_that_do_not_fit_are_one_error(arm, task, words):
    with pytest.raises(appell.InputError, match=words):
        envs.VectorEnv(arm, task).reset()


def test_actions_of_another_shape_are_one_error(arm):
    env = envs.VectorEnv(arm, envs.Task(constant, effort=1.0), 2)
    env.reset()
    with pytest.raises(appell.InputError, match=r"expected \(2, 2\)"):
        env.step(np.zeros(2))
