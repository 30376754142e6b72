"""Fits recover what made the torques, within the deviations they state, and only what bodies can have."""

import numpy as np
import pytest

import appell
from appell.control import perturbed
from appell.errors import InputError
from appell.identification.friction import TERMS, bristles, friction_terms
from appell.identification.identify import identify
from appell.identification.physical import Prior, _bodies, _inequalities, _map, from_pseudo, is_possible, pseudo_inertia
from appell.identification.problem import Problem, Triangle, merged
from appell.identification.solve import METHODS, linear, lowered
from appell.model.parameters import PER_BODY

COULOMB, VISCOUS = np.array([0.6, 1.1, 0.8]), np.array([0.9, 0.4, 1.5])


@pytest.fixture(scope="module")
def arm():
    return appell.random_chain(3, np.random.default_rng(4))


@pytest.fixture(scope="module")
def motion(arm, fourier):
    return fourier(arm.nv, 1)


@pytest.fixture(scope="module")
def torques(arm, motion):
    return arm.inverse_dynamics(*motion[1:]) + COULOMB * np.sign(motion.v) + VISCOUS * motion.v


def truth(fit, robot):
    friction = np.column_stack([COULOMB, VISCOUS, 0.0 * COULOMB]).ravel()
    return np.concatenate([fit.base.values(robot), friction])


@pytest.mark.slow
def test_a_hundred_noisy_logs_give_parameters_within_three_deviations(arm, motion, torques, noisy):
    off = []
    for seed in range(100):
        fit = identify(arm, noisy(motion, torques, seed), "qr", "coulomb", rotors=False)
        off.append((fit.values - truth(fit, arm)) / fit.standard_errors)
    sizes = np.abs(off)
    # a normal variable is beyond three deviations in 0.27 % of draws and beyond five in none of some thousand
    assert np.mean(sizes < 3.0) > 0.99
    assert sizes.max() < 5.0
    assert 0.8 < np.sqrt(np.mean(sizes**2)) < 1.25


@pytest.mark.parametrize("method", ["qr", "svd", "pinv", "ridge", "physical"])
def test_every_method_recovers_the_base_parameters_without_noise(method, arm, motion, torques, noisy):
    fit = identify(arm, noisy(motion, torques, 0, 0.0), method, "coulomb", rotors=False)
    expected = truth(fit, arm)
    assert np.abs(fit.values - expected).max() < 0.02 * np.abs(expected).max()
    assert fit.training.score < 0.01


def test_ridge_has_the_least_error_of_generalised_cross_validation(rng):
    W, start = rng.normal(size=(30, 8)) * np.logspace(0.0, -2.0, 8), rng.normal(size=8)
    y = W @ rng.normal(size=8) + 0.3 * rng.normal(size=30)
    step = METHODS["ridge"](W, y + W @ start, start) - start

    def error(weight):
        hat = W @ np.linalg.solve(W.T @ W + weight * np.eye(8), W.T)
        return np.sum((y - hat @ y) ** 2) / (30.0 - np.trace(hat)) ** 2

    weight = step @ W.T @ (y - W @ step) / (step @ step)  # (WᵀW + λ)·step = Wᵀy
    least = min(error(x) for x in np.logspace(-6.0, 2.0, 161))
    assert error(weight) == pytest.approx(least, rel=1e-3)


def test_a_physical_fit_begun_from_wrong_masses_predicts_another_motion_to_the_noise(
    arm, motion, torques, fourier, noisy
):
    fit = identify(perturbed(arm, 1.3), noisy(motion, torques, 3), friction="coulomb", rotors=False)
    other = fourier(arm.nv, 2)
    tau = arm.inverse_dynamics(*other[1:]) + COULOMB * np.sign(other.v) + VISCOUS * other.v
    found = fit.predict(noisy(other, tau, 4))
    assert np.all(found.rms < 0.01 * tau.std(axis=0))
    assert fit.is_physical


def test_weights_per_motor_give_smaller_errors_than_equal_ones(arm, motion, torques):
    noise = np.array([1.0, 0.1, 0.01]) * np.random.default_rng(5).normal(size=torques.shape)
    log = {"t": motion.t, "q": motion.q, "v": motion.v, "tau": torques + noise}
    fits = {w: identify(arm, log, "qr", "coulomb", rotors=False, weights=w) for w in ("noise", "equal")}
    errors = {
        w: np.linalg.norm((fit.values - truth(fit, arm)) / fits["noise"].standard_errors) for w, fit in fits.items()
    }
    assert errors["noise"] < 0.5 * errors["equal"]


def test_a_robust_fit_stands_stretches_that_a_plain_one_does_not(arm, motion, torques, noisy):
    log = noisy(motion, torques, 6)
    log["tau"][300:340] += 20.0  # something was hit
    fits = [identify(arm, log, "qr", "coulomb", rotors=False, robust=robust) for robust in (True, False)]
    robust, plain = (np.linalg.norm((fit.values - truth(fit, arm)) / np.abs(truth(fit, arm)).max()) for fit in fits)
    assert robust < 0.5 * plain


def test_rotors_and_load_dependent_friction_are_found(arm, motion, noisy):
    rotor, load = np.array([0.3, 0.2, 0.1]), 0.08
    rigid = arm.inverse_dynamics(*motion[1:]) + rotor * motion.a
    tau = rigid * (1.0 + load * np.sign(motion.v) * np.sign(rigid)) + COULOMB * np.sign(motion.v)
    fit = identify(arm, noisy(motion, tau, 7), "qr", ["coulomb", "load"])
    found = dict(zip(fit.names, fit.values, strict=True))
    near = dict(zip(fit.names, fit.standard_errors, strict=True))
    for j in range(3):
        assert abs(found[f"load {j + 1}"] - load) < max(4.0 * near[f"load {j + 1}"], 0.1 * load)
    assert abs(found["Ia3"] - rotor[2]) < max(4.0 * near["Ia3"], 0.05 * rotor[2])


def test_logs_that_do_not_agree_leave_the_residual_of_both():
    rng = np.random.default_rng(14)
    theta, halves = rng.normal(size=3), [(rng.normal(size=(9, 3)), rng.normal(size=9)) for _ in range(2)]
    empty = Triangle(np.arange(3), np.zeros((0, 3)), np.zeros(0))
    (found,) = merged(*([empty.grown(Y, tau)] for Y, tau in halves))
    assert found.n == 18
    assert np.isclose(found.square(theta), sum(np.sum((Y @ theta - tau) ** 2) for Y, tau in halves), rtol=1e-12)


def test_fewer_rows_than_unknowns_leave_the_residual_of_the_rows():
    rng = np.random.default_rng(15)
    theta, Y, tau = rng.normal(size=5), rng.normal(size=(4, 5)), rng.normal(size=4)
    found = Triangle(np.arange(5), np.zeros((0, 5)), np.zeros(0))
    for row, right in zip(Y, tau, strict=True):
        found = found.grown(row[None], np.array([right]))
    assert np.isclose(found.square(theta), np.sum((Y @ theta - tau) ** 2), rtol=1e-12)


def test_the_units_of_columns_do_not_matter_to_a_linear_fit(rubbing_fit):
    problem, seen, sigma = rubbing_fit.problem, rubbing_fit.seen, rubbing_fit.sigma
    (record,) = rubbing_fit.records
    triangles = record.triangles(record.rigid(rubbing_fit.theta))
    units = np.ones(len(problem.names))
    units[list(seen.columns)] = np.logspace(-3.0, 3.0, len(seen.columns))
    scaled = [triangle._replace(R=triangle.R * units[triangle.columns]) for triangle in triangles]
    plain, other = (lowered(problem, seen, linear(problem, x, sigma, seen, "pinv")) for x in (triangles, scaled))
    np.testing.assert_allclose(other * units[list(seen.columns)], plain, rtol=1e-9)


def test_friction_of_each_motor_brakes_by_its_own_terms(arm):
    """Every motor has the same inequalities of its own terms, if the fastest speeds are the same."""
    problem = Problem(arm, friction_terms("full"), False)
    n, terms = problem.n_rigid, len(problem.terms)
    G, h = _inequalities(problem, _bodies(problem), np.eye(len(problem.names)), Prior(), np.full(arm.nu, 2.0))
    assert not h.any()
    assert not G[:, :n].any()
    one = G[: len(G) // arm.nu, n : n + terms]
    assert (one.any(axis=1)).all()
    np.testing.assert_allclose(G[:, n:], np.kron(np.eye(arm.nu), one), atol=1e-15)


def test_a_payload_is_weighed(arm, motion, torques, noisy):
    fit = identify(arm, noisy(motion, torques, 8), friction="coulomb", rotors=False)
    pi = from_pseudo(pseudo_inertia(np.array([2.0, 0.3, 0.1, -0.2, 0.1, 0.0, 0.2, 0.01, 0.02, 0.15])))
    tau = torques + arm.regressor(*motion[1:])[..., -PER_BODY:] @ pi
    found = fit.payload(noisy(motion, tau, 9))
    assert abs(found.mass - 2.0) < max(4.0 * found.standard_errors[0], 0.02)


def test_the_fitted_robot_saves_and_loads_with_the_same_torques(arm, motion, torques, tmp_path, noisy):
    fit = identify(perturbed(arm, 0.8), noisy(motion, torques, 10), friction="coulomb", rotors=True)
    again = appell.load(fit.save(tmp_path / "fitted.urdf"), gravity=arm.model.gravity)
    tau = fit.robot.inverse_dynamics(*motion[1:])
    assert np.allclose(again.inverse_dynamics(*motion[1:]), tau, atol=1e-9 * np.abs(tau).max())
    assert np.linalg.norm(tau - torques) < 0.02 * np.linalg.norm(torques)


def test_a_fit_without_bounds_may_ask_for_bodies_that_cannot_be_and_says_so(arm, motion, torques, noisy):
    fits = {m: identify(arm, noisy(motion, torques, 11, 0.3), m, "coulomb") for m in ("qr", "physical")}
    assert not fits["qr"].is_physical
    assert fits["physical"].is_physical


def test_a_tight_prior_leaves_the_bodies_of_the_file(arm, motion, torques, noisy):
    guess = perturbed(arm, 0.8)
    fit = identify(guess, noisy(motion, torques, 12), friction="coulomb", rotors=False, spread=1e-6)
    np.testing.assert_allclose(fit.parameters, guess.parameters, rtol=1e-4, atol=1e-6)


def test_an_unknown_that_no_row_holds_keeps_its_unit():
    np.testing.assert_array_equal(_map([], 2, np.array([[0.0, 2.0]])), np.diag([1.0, 0.5]))


def test_bounds_of_masses_hold(arm, motion, torques, noisy):
    link = arm.link_names[1]
    fit = identify(arm, noisy(motion, torques, 12), friction="coulomb", masses={link: (5.0, 6.0)})
    assert 5.0 - 1e-6 <= fit.parameters[PER_BODY] <= 6.0 + 1e-6


def test_terms_that_a_log_cannot_tell_apart_are_left_out_and_named(arm, motion, torques, noisy):
    one_way = motion._replace(q=motion.q + 20.0 * motion.t[:, None], v=motion.v + 20.0)
    tau = arm.inverse_dynamics(*one_way[1:]) + VISCOUS * one_way.v
    fit = identify(arm, noisy(one_way, tau, 13), "qr", "coulomb", rotors=False)
    assert fit.seen.left_out == ("offset 1", "offset 2", "offset 3")  # never reversed: an offset is Coulomb friction


def test_bristles_slide_far_from_reversals_and_bend_by_their_length_at_one():
    q = np.concatenate([np.linspace(0.0, 1.0, 200), np.linspace(1.0, 0.9, 100)])[:, None]
    z = bristles(q, np.array([[1e-2]]), [slice(0, len(q))])[0, :, 0]
    assert abs(z[199] - 1.0) < 1e-12
    assert abs(z[-1] + 1.0) < 1e-3
    k = int(np.argmin(np.abs(q[200:, 0] - (1.0 - 1e-2 * np.log(2.0))))) + 200
    assert abs(z[k]) < 0.1  # after a way of δ ln 2 it stands upright


def test_a_body_is_possible_just_when_its_inertia_obeys_the_triangle_inequality():
    good = np.array([1.0, 0, 0, 0, 0.3, 0, 0.4, 0, 0, 0.5])
    assert is_possible(good)
    assert not is_possible(good * np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1.5]))
    assert np.allclose(from_pseudo(pseudo_inertia(good)), good)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"method": "guess"}, "unknown method 'guess'"),
        ({"friction": "sticky"}, "unknown model 'sticky'"),
        ({"friction": ["coulomb", "wind"]}, "unknown term 'wind'"),
        ({"colour": "red"}, "unknown option 'colour'"),
        ({"weights": "heavy"}, "weights: expected"),
        ({"masses": {"elbow": (1.0, 2.0)}}, "unknown link 'elbow'"),
    ],
)
def test_bad_options_are_named(change, text, arm, motion, torques, noisy):
    with pytest.raises(InputError, match=text):
        identify(arm, noisy(motion, torques, 0), **change)


def test_a_log_of_another_robot_is_refused(arm, fourier, noisy):
    moved = fourier(2, 0)
    with pytest.raises(InputError, match=r"2 columns of q, but robot .* has 3 motors"):
        identify(arm, noisy(moved, moved.q, 0))


def test_a_motor_that_does_not_move_is_named(arm, motion, torques, noisy):
    still = motion._replace(q=motion.q * [1, 1, 0], v=motion.v * [1, 1, 0])
    with pytest.raises(InputError, match=f"motor '{arm.actuators[2]}' moves in 0 samples"):
        identify(arm, noisy(still, torques, 0))


def test_every_model_of_friction_is_made_of_known_terms():
    assert {term.name for name in ("coulomb", "full") for term in friction_terms(name)} <= set(TERMS)
    assert friction_terms(False) == ()
