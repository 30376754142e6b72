"""The open control unit: what the wires do to numbers, how friction holds, and everything that stops a motion."""

from __future__ import annotations

import time

import numpy as np
import pytest

import appell
from appell.control import (
    PUMA600,
    Hardware,
    LoopRun,
    PointToPoint,
    Reading,
    Safety,
    SimulatedPlant,
    Tracking,
    gains,
    integral_gains,
    perturbed,
    run_loop,
    wait_until,
)
from appell.control.plant import _held
from appell.errors import InputError

GOAL = np.array([0.3, -0.7, 2.5, 0.2, 0.8, 0.3])
START = np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
ZERO = np.zeros(6)
RATE = 200.0


def still(t):
    return GOAL, ZERO, ZERO


def law_of(plant, *, goal=GOAL, frequency=6.0):
    return PointToPoint(appell.load("puma600"), goal, *gains(frequency), limit=plant.hardware.limit)


def stopped_by(plant, controller=None, duration=1.0, rate=RATE):
    run = run_loop(plant, controller or law_of(plant), duration, rate)
    assert run.stopped is not None
    at = plant.q.copy()
    plant.wait(plant.now() + 0.5)
    np.testing.assert_array_equal(plant.q, at)  # the brakes hold
    assert plant.is_braked
    return run.stopped


def test_counts_tell_an_angle_to_half_a_count():
    angles = np.random.default_rng(0).uniform(-2.0, 2.0, size=(100, 6))
    off = PUMA600.angles(PUMA600.encode(angles)) - angles
    assert (np.abs(off) <= 0.5 * np.abs(PUMA600.resolution) * (1 + 1e-9)).all()


def test_a_turn_of_a_motor_is_200_or_250_counts():
    turn = 2 * np.pi / np.asarray(PUMA600.gear)
    np.testing.assert_array_equal(PUMA600.encode(1.001 * turn), [200, 200, 250, 250, 250, 250])


def test_potentiometers_tell_an_angle_to_half_a_step_of_twelve_bits():
    angles = np.random.default_rng(1).uniform(-1.5, 1.5, size=(100, 6))
    off = PUMA600.absolute(PUMA600.potentiometer(angles)) - angles
    step = (np.asarray(PUMA600.upper) - PUMA600.lower) / 4095
    assert (np.abs(off) <= 0.5 * step * (1 + 1e-9)).all()


def test_converter_has_4096_levels_of_which_zero_is_one():
    levels = np.unique(PUMA600.convert(np.linspace(-12.0, 12.0, 100_001)[:, None] * np.ones(6)))
    assert levels.size == 4096
    assert 0.0 in levels
    assert levels.min() == -10.0


def test_hardware_that_cannot_be_is_said():
    with pytest.raises(InputError, match="torque must be above zero"):
        Hardware([200], [60.0], [0.0], [-1.0], [1.0], [2.0])
    with pytest.raises(InputError, match="the hardware has 6 joints, robot 'two-link' has 2"):
        SimulatedPlant(appell.load("two-link"))


def test_plant_without_friction_moves_as_the_simulator_to_first_order(puma):
    """Half the step, half the error, against appell.simulate at the same volts."""
    volts = PUMA600.convert(PUMA600.command(puma.gravity(START) + np.array([3.0, 4.0, -2.0, 0.3, 0.2, 0.05])))
    exact = appell.simulate(puma, START, ZERO, 0.2, control=volts * np.asarray(PUMA600.torque)).q[-1]
    errors = []
    for step in (1e-3, 5e-4):
        plant = SimulatedPlant(puma, q=START, step=step)
        plant.write(volts, (False, False), False)
        plant.wait(0.2)
        errors.append(np.abs(plant.q - exact).max())
    assert errors[0] < 1e-2
    np.testing.assert_allclose(errors[0] / errors[1], 2.0, rtol=0.05)


def test_friction_holds_a_joint_that_is_pushed_less_and_lets_go_one_pushed_more(puma):
    free = appell.load("puma600", gravity=(0.0, 0.0, 0.0))
    plant = SimulatedPlant(perturbed(free, friction=[5.0, 5.0, 5.0, 1.0, 1.0, 1.0]), q=START)
    plant.write(PUMA600.command([4.9, 0, 0, 0, 0, 0]), (False, False), False)
    plant.wait(0.2)
    np.testing.assert_array_equal(plant.v, 0.0)
    plant.write(PUMA600.command([5.3, 0, 0, 0, 0, 0]), (False, False), False)
    plant.wait(0.4)
    assert plant.v[0] > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_impulses_of_friction_oppose_what_slips_and_hold_what_does_not(puma, seed):
    """λ = M·(free − v') is at its bound against every joint that moves, and within it where one stands."""
    rng = np.random.default_rng(seed)
    M = puma.mass_matrix(rng.normal(size=6))
    free, most = rng.normal(size=6), np.diag(M) * rng.uniform(0.0, 1.0, size=6)
    v, _ = _held(free, np.linalg.inv(M), most, rng.normal(size=6))
    impulses = M @ (free - v)
    moves = v != 0.0
    assert moves.any()
    np.testing.assert_allclose(impulses[moves], (most * np.sign(v))[moves], rtol=1e-8, atol=1e-9)
    assert (np.abs(impulses[~moves]) <= most[~moves] * (1 + 1e-9)).all()


def test_tracking_on_an_arm_as_believed_errs_by_a_few_steps_of_its_sensors(puma, motion):
    plant = SimulatedPlant(puma, q=motion(0.0)[0], delay=1e-3)
    run = run_loop(plant, Tracking(puma, motion, *gains(15.0), limit=PUMA600.limit), 1.0, 500.0)
    assert run.stopped is None
    assert run.max_error.max() < 2e-3


def test_friction_slows_a_single_joint_as_a_constant_force_does():
    robot = appell.load("two-link", gravity=(0.0, 0.0, 0.0), friction=False)
    inertia = robot.mass_matrix([0.0, 0.0])[0, 0]
    stops = inertia / 0.3  # seconds from 1 rad/s
    hardware = Hardware([1000, 1000], [50, 50], [1, 1], [-3, -3], [3, 3], [9, 9])
    plant = SimulatedPlant(perturbed(robot, friction=[0.3, 1e3]), hardware, q=[0.0, 0.0], step=1e-3 * stops)
    plant.write(np.zeros(2), (False, False), False)
    plant.v = np.array([1.0, 0.0])
    plant.wait(0.5 * stops)
    np.testing.assert_allclose(plant.v, [0.5, 0.0], rtol=1e-3)
    plant.wait(1.1 * stops)
    np.testing.assert_array_equal(plant.v, 0.0)


def test_homing_finds_the_arm_to_half_a_step_of_its_potentiometers():
    plant = SimulatedPlant(q=START)
    run = run_loop(plant, law_of(plant, goal=START), 0.02, RATE)
    step = (np.asarray(PUMA600.upper) - PUMA600.lower) / 4095
    assert (np.abs(run.q[0] - START) <= 0.5 * step + np.abs(PUMA600.resolution)).all()


class Counted(SimulatedPlant):
    """An arm whose encoders have counted before the loop begins."""

    def read(self) -> Reading:
        reading = super().read()
        return reading._replace(counts=reading.counts + 5000)


def test_counts_before_the_first_period_are_no_motion():
    runs = [run_loop(plant, law_of(plant), 0.1, RATE) for plant in (SimulatedPlant(q=START), Counted(q=START))]
    np.testing.assert_allclose(runs[1].v, runs[0].v, atol=1e-9)


def test_wrong_masses_and_friction_leave_an_error_on_the_arm_that_integral_action_removes(puma, heavy, tmp_path):
    kp, kd, ki = integral_gains(8.0, 1.0, 6.0)
    runs = []
    for controller in (PointToPoint(puma, GOAL, kp, kd), Tracking(puma, still, kp, kd, ki, limit=PUMA600.limit)):
        plant = SimulatedPlant(heavy, q=START, delay=1e-3, step=2.5e-3)
        runs.append(run_loop(plant, controller, 3.0, RATE))
        runs[-1].plot(tmp_path / f"{len(runs)}.png")
    assert [run.stopped for run in runs] == [None, None]
    left, removed = (np.abs(run.error[-1]).max() for run in runs)
    assert left > 0.02
    assert removed < 0.1 * left
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in tmp_path.iterdir())


def test_thermal_switch_stops_the_motion():
    stop = stopped_by(SimulatedPlant(q=START, hot={2: 0.5}))
    assert (stop.kind, stop.joint) == ("thermal switch", 2)
    assert "joint 3 is overheated" in stop.message


def test_encoder_that_jumps_stops_the_motion():
    stop = stopped_by(SimulatedPlant(q=START, jumps={4: 0.5}))
    assert (stop.kind, stop.joint) == ("encoder fault", 4)
    assert "jumped by" in stop.message


def test_encoder_that_no_longer_counts_while_the_arm_moves_stops_the_motion():
    stop = stopped_by(SimulatedPlant(q=START, lost={0: 0.2}))
    assert (stop.kind, stop.joint) == ("encoder fault", 0)
    assert "potentiometer" in stop.message


def test_encoder_that_does_not_change_at_full_volts_stops_the_motion(puma):
    blocked = SimulatedPlant(perturbed(puma, friction=[500, 20, 20, 5, 5, 5]), q=START)
    push = np.array([PUMA600.limit[0], 0, 0, 0, 0, 0])
    stop = stopped_by(blocked, lambda t, q, v: puma.gravity(q) + push)
    assert (stop.kind, stop.joint) == ("encoder fault", 0)
    assert "did not change for" in stop.message


def test_missed_period_stops_the_motion():
    stop = stopped_by(SimulatedPlant(q=START, delay=lambda k: 0.02 if k == 30 else 1e-3))
    assert stop.kind == "missed period"
    assert "late (period 5 ms)" in stop.message


def test_forces_that_are_no_numbers_stop_the_motion():
    plant = SimulatedPlant(q=START)
    law = law_of(plant)
    stop = stopped_by(plant, lambda t, q, v: law(t, q, v) if t < 0.1 else np.full(6, np.nan))
    assert stop.kind == "invalid torques"


def test_error_in_the_law_comes_through_with_the_arm_braked():
    plant = SimulatedPlant(q=START)
    law = law_of(plant)

    def failing(t, q, v):
        return law(t, q, v) if t < 0.1 else 1 / 0

    with pytest.raises(ZeroDivisionError):
        run_loop(plant, failing, 1.0, RATE)
    assert plant.is_braked


def test_delay_of_computing_is_what_the_run_measures():
    plant = SimulatedPlant(q=START, delay=2e-3)
    run = run_loop(plant, law_of(plant), 0.1, RATE)
    np.testing.assert_allclose(run.took, 2e-3, rtol=1e-9)
    np.testing.assert_allclose(run.jitter.greatest, 0.0, atol=1e-12)
    np.testing.assert_allclose(run.jitter.computing, 2e-3, rtol=1e-9)


def test_lateness_within_what_is_safe_is_counted_as_jitter():
    plant = SimulatedPlant(q=START, delay=lambda k: 6e-3 if k == 10 else 1e-3)
    run = run_loop(plant, law_of(plant), 0.2, RATE)
    assert run.stopped is None
    np.testing.assert_allclose(run.jitter.greatest, 1e-3, rtol=1e-6)


def test_saturation_is_timed(puma):
    plant = SimulatedPlant(q=START)
    run = run_loop(plant, law_of(plant, goal=START + 0.4, frequency=25.0), 0.3, RATE)
    assert run.saturation_time.max() > 0.01
    np.testing.assert_allclose(run.saturation_time, run.saturated.sum(axis=0) / RATE)


def test_metrics_of_a_known_run():
    t = np.arange(4.0)
    q = np.array([[1.0], [0.1], [-0.3], [0.1]])
    run = LoopRun(1.0, t, 0 * t, 0 * t, q, q, q, q, q > 0.5, 0 * q, None)
    np.testing.assert_allclose(run.rms_error, np.sqrt((1 + 0.01 + 0.09 + 0.01) / 4))
    assert run.max_error == 1.0
    assert run.saturation_time == 1.0
    assert np.isnan(run.settling(0.05)).all()
    np.testing.assert_array_equal(run.settling(0.2), [3.0])
    np.testing.assert_array_equal(run.settling(0.3), [1.0])


class Bench:
    """An arm on the machine's own clock: a simulated one whose time is moved on by what has really passed."""

    def __init__(self) -> None:
        self._arm = SimulatedPlant(q=START)
        self._zero = time.perf_counter()
        self.hardware = self._arm.hardware

    def now(self) -> float:
        return time.perf_counter() - self._zero

    def wait(self, until: float) -> float:
        return wait_until(self._zero + until) - self._zero

    def read(self) -> Reading:
        self._arm.wait(self.now())
        return self._arm.read()

    def write(self, volts: np.ndarray, tools: tuple[bool, bool], brake: bool) -> None:
        self._arm.wait(self.now())
        self._arm.write(volts, tools, brake)


def test_loop_runs_on_a_plant_with_a_clock_of_the_machine():
    plant = Bench()
    run = run_loop(plant, law_of(plant), 0.2, 50.0, homing=2, safety=Safety(late=1e3))
    assert run.stopped is None
    assert len(run.t) == 10
    assert (run.late >= 0.0).all()
    assert (run.took > 0.0).all()


def test_tools_are_switched_and_kept_at_the_end():
    plant = SimulatedPlant(q=START)
    run_loop(plant, law_of(plant), 0.1, RATE, tools=lambda t: (t > 0.05, False))
    assert plant.tools == (True, False)


def test_memory_of_a_law_is_reset_before_a_run(puma):
    law = Tracking(puma, still, *integral_gains(6.0), limit=PUMA600.limit)
    ends = [run_loop(SimulatedPlant(q=START), law, 0.1, RATE).q[-1] for _ in range(2)]
    np.testing.assert_array_equal(*ends)
