"""Cross-validation in blocks of time, and what residuals hint at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.identification.identify import identify
from appell.identification.solve import autocorrelation, inverse
from appell.identification.validation import _share, cross_validate, residuals


@pytest.fixture(scope="module")
def crossed(rubbing_fit):
    return cross_validate(rubbing_fit, 4)


def test_folds_cover_every_sample_once(rubbing_fit, crossed):
    times = np.concatenate([fold.t for fold in crossed.folds])
    assert np.array_equal(times, rubbing_fit.records[0].log.t)


def test_a_right_model_predicts_what_it_has_not_seen_as_well_as_what_it_has(rubbing_fit, crossed):
    assert crossed.score == pytest.approx(rubbing_fit.training.score, rel=0.25)


def test_too_many_parameters_predict_worse_than_they_fit(rubbing_log):
    """Five seconds, and friction with nine terms a motor that the log does not have."""
    fit = identify(appell.load("two-link"), rubbing_log.crop(0.0, 5.0), "qr", "full", rotors=False)
    assert cross_validate(fit, 3).score > 1.5 * fit.training.score


def test_a_fold_is_predicted_without_having_been_seen(rubbing_log):
    """A stretch with torques of its own does not change the fit that predicts it."""
    tau = rubbing_log.tau.copy()
    tau[:450] += 40.0
    robot = appell.load("two-link")
    fits = [identify(robot, log, "qr", "coulomb", rotors=False) for log in (rubbing_log, replace(rubbing_log, tau=tau))]
    clean, spoiled = (cross_validate(fit, 4) for fit in fits)
    assert spoiled.values[0] == pytest.approx(clean.values[0], rel=1e-9)
    assert spoiled.folds[0].score > 5.0 * clean.folds[0].score


def test_several_logs_are_cut_alike(rubbing_log):
    fit = identify(
        appell.load("two-link"), [rubbing_log, rubbing_log.crop(0.0, 12.0)], "qr", "coulomb", rotors=False
    )  # fmt: skip
    assert sum(len(fold.t) for fold in cross_validate(fit, 2).folds) == sum(len(record) for record in fit.records)


def test_the_table_has_a_row_a_fold_and_a_column_a_motor(rubbing_fit, crossed):
    table = crossed.table()
    assert [row[0] for row in table.rows] == ["1", "2", "3", "4", "mean", "training"]
    assert table.columns[2:-1] == rubbing_fit.training.motors


def test_progress_is_told_after_each_fold(rubbing_fit):
    told: list[int] = []
    cross_validate(rubbing_fit, 2, told.append)
    assert told == [1, 2]


@pytest.mark.parametrize("folds", [1, 0, 2.0, True])
def test_too_few_folds_are_refused(rubbing_fit, folds):
    with pytest.raises(InputError, match="folds: expected an integer of 2 or more"):
        cross_validate(rubbing_fit, folds)


def test_more_folds_than_samples_are_refused(rubbing_fit):
    with pytest.raises(InputError, match="too few for 100000 folds"):
        cross_validate(rubbing_fit, 100_000)


def test_a_motor_that_moves_in_one_fold_alone_is_refused(rubbing_log):
    q, v = rubbing_log.q.copy(), rubbing_log.v.copy()
    q[500:, 1], v[500:, 1] = q[500, 1], 0.0
    fit = identify(appell.load("two-link"), replace(rubbing_log, q=q, v=v), "qr", "coulomb", rotors=False)
    with pytest.raises(InputError, match="outside of one of 4 folds"):
        cross_validate(fit, 4)


# Residuals


def with_torque(log, extra):
    return replace(log, tau=log.tau + extra)


def hints(log, friction="coulomb", **options):
    fit = identify(appell.load("two-link"), log, "qr", friction, rotors=False, **options)
    return [motor.hints for motor in residuals(fit).motors]


def test_a_right_model_gets_no_hint(rubbing_log):
    """With a cutoff high enough to leave the steps of Coulomb friction as they are."""
    assert hints(rubbing_log, cutoff=40.0) == [(), ()]


def test_missing_friction_is_named(rubbing_log):
    assert hints(rubbing_log, False) == [("unmodelled friction",)] * 2


def test_friction_that_grows_with_load_is_named(rubbing_log):
    robot = appell.load("two-link")
    load = robot.gravity(rubbing_log.q)
    found = hints(with_torque(rubbing_log, 0.2 * np.abs(load) * np.sign(rubbing_log.v)))
    assert any("grows with the load" in hint for hint in found[0])


def test_a_spring_is_named(rubbing_log):
    found = hints(with_torque(rubbing_log, [0.0, 15.0] * (rubbing_log.q - rubbing_log.q.mean(axis=0)) ** 2))
    assert any("depends on the position" in hint for hint in found[1])


def test_a_constant_that_changes_shows_as_a_mean(rubbing_fit, rubbing_log):
    found = residuals(rubbing_fit, with_torque(rubbing_log, [3.0, 0.0])).motors
    assert found[0].mean == pytest.approx(3.0, abs=0.2)
    assert found[1].mean == pytest.approx(0.0, abs=0.2)


def test_memory_is_that_of_the_filter_for_white_noise(lively, rng):
    """An ideal filter at f has the autocorrelation sinc(2ft), whose integral to its first zero is 0.589/(2f)."""
    robot, t = appell.load("two-link"), np.arange(3000) / 100.0
    q, v, a = lively(t)
    tau = robot.inverse_dynamics(q, v, a) + rng.normal(size=q.shape)
    fit = identify(robot, {"t": t, "q": q, "v": v, "tau": tau}, "qr", False, rotors=False, cutoff=5.0)
    assert [x.memory for x in residuals(fit).motors] == pytest.approx([0.589 / 10.0] * 2, rel=0.15)


def test_what_is_explained_is_one_less_the_share_of_noise(rubbing_fit):
    record = rubbing_fit.records[0]
    for j, motor in enumerate(residuals(rubbing_fit).motors):
        keep = record.log.moving[:, j]
        e = (record.moved.tau - rubbing_fit.training.tau)[keep, j]
        assert motor.explained == pytest.approx(1.0 - np.var(e) / np.var(record.moved.tau[keep, j]))


def test_the_share_that_a_column_explains_does_not_depend_on_its_unit(rng):
    x, noise = rng.normal(size=(2, 200))
    noise -= noise.mean() + (noise @ (x - x.mean())) / (x @ (x - x.mean())) * (x - x.mean())
    e = 3.0 * (x - x.mean()) + noise
    everywhere = np.ones(200, dtype=bool)
    for unit in (1.0, 1e-20, 1e20):
        assert _share(e, [unit * x], everywhere) == pytest.approx(1.0 - np.var(noise) / np.var(e), rel=1e-12)


def test_what_no_row_informs_of_is_not_told():
    told, hidden = inverse(np.zeros((2, 2)))
    assert not told.any()
    assert hidden.all()


def test_autocorrelation_is_the_sum_of_products(rng):
    e = rng.normal(size=50)
    expected = [float(e[: 50 - k] @ e[k:]) for k in range(50)]
    assert autocorrelation([e], 50) == pytest.approx(expected)


def test_residuals_too_small_to_matter_get_no_hint(rubbing_log):
    """A twentieth of the friction that is missing above."""
    robot = appell.load("two-link")
    quiet = robot.inverse_dynamics(*states(rubbing_log)) + 0.4 * np.sign(rubbing_log.v)
    assert hints(replace(rubbing_log, tau=quiet), False) == [(), ()]


def states(log):
    return log.q, log.v, np.gradient(log.v, log.t, axis=0)


def test_the_table_has_a_hint_a_motor(rubbing_log):
    fit = identify(appell.load("two-link"), rubbing_log, "qr", False, rotors=False)
    found = residuals(fit)
    bare = replace(found, motors=tuple(motor._replace(hints=()) for motor in found.motors))
    assert [row[-1] for row in bare.table().rows] == ["no hints"] * 2
    assert [row[-1] for row in found.table().rows] == ["; ".join(motor.hints) for motor in found.motors]


def test_a_motor_that_rests_in_another_log_has_a_row(rubbing_fit, rubbing_log):
    q, v = rubbing_log.q.copy(), rubbing_log.v.copy()
    q[:, 0], v[:, 0] = q[0, 0], 0.0
    found = residuals(rubbing_fit, replace(rubbing_log, q=q, v=v))
    assert found.motors[0].hints == ("it moves in 0 samples only",)
    assert len(found.table().rows) == 2
