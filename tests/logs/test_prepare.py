"""Prepared logs: derivatives of a known motion, gaps, outliers, filters that shift nothing, velocities that lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appell.errors import InputError
from appell.logs.log import Log
from appell.logs.prepare import derivative, outliers, prepare, zero_phase
from appell.logs.read_log import read_log

GAINS = (11.976, 11.976, 9.8386, 10.763, 10.763, 10.763)


def quantised(x, step):
    return step * np.round(np.asarray(x) / step)


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


def said(prepared, word):
    return [repair for repair in prepared.repairs if word in str(repair)]


# Derivatives


def test_derivatives_of_a_smooth_motion_are_exact(log, wave):
    ready = prepare(replace(log, v=None))
    motion = wave(ready.t)
    assert np.abs(ready.q - motion.q).max() < 1e-6
    assert np.abs(ready.v - motion.v).max() < 1e-5
    assert np.abs(ready.a - motion.a).max() < 1e-3


def test_differences_of_eighth_order_converge_so():
    errors = []
    for n in (40, 80):
        t = np.arange(n + 1) / n
        errors.append(np.nanmax(np.abs(derivative(np.sin(12.0 * t)[:, None], n)[:, 0] - 12.0 * np.cos(12.0 * t))))
    assert 7.5 < np.log2(errors[0] / errors[1]) < 8.5


def test_acceleration_has_no_more_noise_than_quantisation_puts_below_the_cutoff(log, wave):
    step, cutoff = 1e-4, 5.0
    ready = prepare(replace(log, q=quantised(log.q, step), v=None), cutoff=cutoff)
    # white noise of step²/12 at 100 Hz, times (2πf)⁴, summed up to the cutoff
    noise = step / np.sqrt(12.0) * (2.0 * np.pi * cutoff) ** 2 * np.sqrt(2.0 * cutoff / (5.0 * 100.0))
    assert rms(ready.a - wave(ready.t).a) < 1.2 * noise


def test_recorded_velocity_gives_the_better_acceleration(log, wave):
    noisy = replace(log, q=quantised(log.q, 1e-4), v=quantised(log.v, 1e-4))
    with_v, without = prepare(noisy), prepare(replace(noisy, v=None))
    assert rms(with_v.a - wave(with_v.t).a) < 0.1 * rms(without.a - wave(without.t).a)


def test_uneven_times_are_brought_to_even_ones(wave, rng):
    t = np.cumsum(rng.uniform(0.008, 0.012, 1200))
    motion = wave(t)
    ready = prepare(Log.from_arrays(t, motion.q, v=motion.v, tau=motion.a))
    np.testing.assert_allclose(np.diff(ready.t), 1.0 / ready.rate, rtol=1e-9)
    assert np.abs(ready.a - wave(ready.t).a).max() < 1e-3
    assert len(said(ready, "time steps")) == 1


# One filter for all


def test_a_filter_shifts_nothing_in_time():
    t = np.arange(0.0, 10.0, 0.01)
    x = np.sin(2.0 * np.pi * 8.0 * t)[:, None]
    y = zero_phase(x, 100.0, 10.0, 4)[200:-200]
    c, s = np.cos(2.0 * np.pi * 8.0 * t[200:-200]), np.sin(2.0 * np.pi * 8.0 * t[200:-200])
    assert abs(y[:, 0] @ c) < 1e-6 * abs(y[:, 0] @ s)


def test_the_gain_at_the_cutoff_is_one_half():
    t = np.arange(0.0, 10.0, 0.01)
    y = zero_phase(np.sin(2.0 * np.pi * 10.0 * t)[:, None], 100.0, 10.0, 4)[200:-200, 0]
    assert np.sqrt(2.0) * rms(y) == pytest.approx(0.5, rel=1e-3)


def test_what_is_linear_in_the_motion_stays_so_through_the_filter(log):
    # tau = 2a + v/2 holds after the filter too, even where the filter eats into the motion
    ready = prepare(log, cutoff=1.0, order=2)
    assert np.abs(ready.tau - (2.0 * ready.a + 0.5 * ready.v)).max() < 1e-3 * np.abs(ready.tau).max()


def test_a_lower_rate_does_not_alias(log, wave):
    hum = 0.1 * np.sin(2.0 * np.pi * 21.0 * log.t)[:, None]
    ready = prepare(replace(log, tau=log.tau + hum), cutoff=5.0, rate=20.0)
    motion = wave(ready.t)
    assert ready.rate == 20.0
    assert np.abs(ready.tau - (2.0 * motion.a + 0.5 * motion.v)).max() < 1e-3


# Gaps, outliers, wraps


def test_a_gap_splits_the_log_and_is_not_bridged(log, wave):
    keep = (log.t < 9.0) | (log.t > 10.0)
    ready = prepare(Log.from_arrays(log.t[keep], log.q[keep], v=log.v[keep], tau=log.tau[keep]))
    assert len(ready.segments) == 2
    assert not ((ready.t > 9.0) & (ready.t < 10.0)).any()
    assert [str(x) for x in said(ready, "gap")] == ["8.990 to 10.010 s: a gap of 1.02 s splits the log"]
    assert np.abs(ready.a - wave(ready.t).a).max() < 1e-2


def test_segments_cover_all_samples_at_even_times(log):
    keep = (log.t < 9.0) | (log.t > 10.0)
    ready = prepare(Log.from_arrays(log.t[keep], log.q[keep], tau=log.tau[keep]))
    assert [ready.segments[0].start, ready.segments[0].stop] == [0, ready.segments[1].start]
    assert ready.segments[1].stop == len(ready)
    for segment in ready.segments:
        np.testing.assert_allclose(np.diff(ready.t[segment]), 0.01, rtol=1e-8)


def test_a_stretch_too_short_for_the_filter_is_left_out(log):
    keep = (log.t < 9.0) | (log.t > 10.0) | ((log.t > 9.4) & (log.t < 9.6))
    ready = prepare(Log.from_arrays(log.t[keep], log.q[keep], tau=log.tau[keep]))
    assert len(ready.segments) == 2
    assert "left out: shorter than" in str(said(ready, "9.410 to 9.590")[0])


def test_a_dropped_sample_is_no_gap(log):
    keep = np.delete(np.arange(len(log)), [300, 301, 700])
    ready = prepare(Log.from_arrays(log.t[keep], log.q[keep], tau=log.tau[keep]))
    assert len(ready.segments) == 1


@pytest.mark.parametrize(("name", "size"), [("q", 0.05), ("v", 0.5), ("tau", 5.0)])
def test_outliers_are_repaired_and_named(log, rng, name, size):
    noisy = replace(log, q=quantised(log.q, 1e-4), tau=log.tau + rng.normal(0.0, 0.1, log.tau.shape))
    signal = np.array(getattr(noisy, name))
    signal[[400, 700, 701], 1] += size
    clean, ready = prepare(noisy), prepare(replace(noisy, **{name: signal}))
    found = said(ready, "outlier")
    assert [str(x) for x in found] == [
        f"joint 2 at 9.000, 12.000, 12.010 s: 3 outliers of {name} replaced by interpolation"
    ]
    assert np.abs(getattr(ready, name) - getattr(clean, name)).max() < 0.02 * size


def test_noise_has_no_outliers(rng):
    assert not outliers(rng.normal(size=(20000, 3)), may_step=False).any()


def test_the_step_of_friction_is_no_outlier(log):
    tau = np.sign(log.v) * 3.0 + log.tau
    assert not outliers(tau, may_step=True).any()


def test_a_resting_joint_that_flickers_has_no_outliers(rng):
    assert not outliers(1e-4 * (rng.uniform(size=(1000, 6)) > 0.98), may_step=False).any()


def test_a_blow_that_rings_on_is_no_outlier(rng):
    t = np.arange(1000) * 0.01
    ring = np.where(t > 5.0, 5.0 * np.exp(-20.0 * (t - 5.0)) * np.cos(120.0 * (t - 5.0)), 0.0)
    assert not outliers((ring + rng.normal(0.0, 0.05, 1000))[:, None], may_step=True).any()


def test_angles_that_wrap_are_unwrapped(log):
    fast = log.q + 2.0 * log.t[:, None]
    wrapped = np.mod(fast + np.pi, 2.0 * np.pi) - np.pi
    ready = prepare(Log.from_arrays(log.t, wrapped, v=log.v + 2.0, tau=log.tau))
    assert np.abs(np.diff(ready.q, axis=0)).max() < 0.1
    assert len(said(ready, "unwrapped")) == 2
    assert not said(ready, "velocity")


# Recorded velocities


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda t, wave: -wave(t).v, "its sign is reversed"),
        (lambda t, wave: np.rad2deg(wave(t).v), "its scale is 57.3"),
        (lambda t, wave: wave(t - 0.04).v, "it is 40 ms late"),
        (lambda t, wave: 0.0 * t[:, None] + [0.0, 0.0], "it does not correlate with dq/dt"),
    ],
)
def test_velocities_that_contradict_positions_are_not_used(log, wave, lie, words):
    wrong = replace(log, q=quantised(log.q, 1e-5), v=lie(log.t, wave))
    ready = prepare(wrong)
    assert [x.where for x in said(ready, words)] == ["joint 1", "joint 2"]
    assert np.abs(ready.v - wave(ready.t).v).max() < 1e-2


def test_good_velocities_are_used(log):
    ready = prepare(replace(log, q=quantised(log.q, 1e-4)))
    assert not said(ready, "velocity")


def test_velocities_of_a_resting_joint_are_used(log, rng):
    still = replace(log, q=quantised(rng.normal(0.0, 1e-4, log.q.shape), 1e-4), v=np.zeros_like(log.q))
    ready = prepare(still)
    assert not said(ready, "velocity")
    assert not ready.v.any()


# Rest and motion


def test_rest_at_both_ends_is_left_out(log):
    still = np.repeat(log.q[:1], 300, axis=0)
    q = np.concatenate([still, log.q, np.repeat(log.q[-1:], 300, axis=0)])
    t = np.arange(len(q)) / 100.0
    tau = np.zeros_like(q)
    ready = prepare(Log.from_arrays(t, q, tau=tau), moving=0.05)
    assert 2.8 < ready.t[0] < 3.05
    assert 14.95 < ready.t[-1] < 15.2
    np.testing.assert_array_equal(ready.moving, np.abs(ready.v) > 0.05)
    assert len(said(ready, "pauses at the start")) == 1


def test_a_log_at_rest_is_kept_and_told(log):
    still = Log.from_arrays(log.t, 0.0 * log.q, tau=log.tau)
    ready = prepare(still, moving=0.02)
    assert not ready.moving.any()
    assert len(said(ready, "no joint is faster than 0.02")) == 1


def test_without_a_threshold_all_counts_as_moving(log):
    assert prepare(log).moving.all()


# Currents and errors


def test_gains_turn_currents_into_torques(log):
    ready = prepare(replace(log, tau=None), gains=[10.0, 10.0])
    np.testing.assert_allclose(ready.tau, prepare(log).tau, atol=1e-12)


def test_gains_win_over_recorded_torques_and_say_so(log):
    assert len(said(prepare(log, gains=[5.0, 5.0]), "recorded torques replaced by gains × current")) == 1


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        ({"tau": None}, {}, "the log has no torques; give gains [N·m/A] for its currents"),
        ({"tau": None, "current": None}, {}, "the log has no torques; map tau or current when reading it"),
        ({}, {"cutoff": 50.0}, "cutoff: expected a frequency from 0 to half the sampling rate of 100 Hz, got 50.0 Hz"),
        ({}, {"rate": 15.0}, "cutoff: expected a frequency from 0 to half the sampling rate of 15 Hz, got 10.0 Hz"),
        ({}, {"rate": -1.0}, "rate: expected a positive sampling rate"),
        ({}, {"order": 0}, "order: expected an integer from 1 to 12, got 0"),
        ({}, {"moving": -1.0}, "moving: expected a speed of 0 or more"),
        ({}, {"gains": [1.0]}, "gains: expected 2 numbers [N·m/A], one per joint"),
        ({}, {"cutoff": 0.1}, "a cutoff of 0.1 Hz needs"),
    ],
)
def test_what_cannot_be_prepared_is_told(log, change, options, problem):
    with pytest.raises(InputError) as caught:
        prepare(replace(log, **change), **options)
    assert problem in str(caught.value)


def test_a_free_base_is_refused(log):
    with pytest.raises(InputError, match="has 3 coordinates and 2 torques; expected one of each per joint"):
        prepare(Log.from_arrays(log.t, np.zeros((len(log), 3)), tau=log.tau))


# A real robot's logs


@pytest.mark.parametrize("name", ["ur-20_02_19_14harm50sec", "ur-20_02_10-30sec_12harm", "ur-20_02_19_14harm50secLoad"])
def test_a_real_robot_has_true_velocities_and_no_outliers(shared, ur_columns, name):
    ready = prepare(read_log(shared / "data" / "ur10e" / f"{name}.csv", ur_columns, gains=GAINS), moving=0.02)
    assert not said(ready, "outlier")
    assert not said(ready, "velocity")
    assert len(ready.segments) == 1
    assert len(said(ready, "time steps")) == 1


def test_the_lone_first_row_of_a_real_file_is_left_out(shared, ur_columns):
    ready = prepare(read_log(shared / "data" / "ur10e" / "ur-20_02_19_15harm50secLoad.csv", ur_columns, gains=GAINS))
    assert "a gap of 0.366 s splits the log" in str(said(ready, "gap")[0])
    assert len(ready.segments) == 1
