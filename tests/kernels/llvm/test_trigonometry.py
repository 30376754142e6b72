"""Sine and cosine of native code against exact whole-number arithmetic, in units of the last place."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from appell.kernels.lowering.sines import LARGEST_FAST_ANGLE, half_pi_parts, pi_bits
from appell.spatial import scalar

WIDE, FINE = 1500, 200
"""Bits after the point: of π for the reduction of any double, and of the reduced angle."""
OFFSETS = (math.pi / 2, -1.0, 0.3)


def sine_and_cosine(x):
    """Return ⌊2^FINE·sin x⌋ and the cosine likewise, by reduction and Taylor series in whole numbers."""
    half_pi = pi_bits(WIDE) >> 1
    wide = x.numerator * 2**WIDE // x.denominator
    quadrant = (2 * wide + half_pi) // (2 * half_pi)
    r = (wide - quadrant * half_pi) >> (WIDE - FINE)
    square, term, results = (r * r) >> FINE, 1 << FINE, []
    for start in (1, 0):  # sin r = r − r³/3! + …, cos r = 1 − r²/2! + …
        term, total, n = (r if start else 1 << FINE), 0, start
        while term:
            total += term
            term = -((term * square) >> FINE) // ((n + 1) * (n + 2))
            n += 2
            if abs(term) <= 1:
                break
        results.append(total)
    s, c = results
    return [(s, c), (c, -s), (-s, -c), (-c, s)][quadrant % 4]


def errors(angles, found, offset=0.0):
    """Return the errors of found sines and cosines: absolute, and in units of the last place of the exact value."""
    absolute, units = [], []
    for x, pair in zip(angles, found, strict=True):
        exact = sine_and_cosine(Fraction(float(x)) + Fraction(offset))
        for value, whole in zip(pair, exact, strict=True):
            error = abs(Fraction(float(value)) - Fraction(whole, 2**FINE))
            absolute.append(float(error))
            unit = np.spacing(found.dtype.type(abs(whole / 2**FINE)))
            units.append(float(error / Fraction(float(unit))))
    return max(absolute), max(units)


@pytest.fixture(scope="module")
def kernel(compiled):
    """Return a kernel of sin x and cos x."""
    return compiled(lambda x: (scalar.sin(x[0]), scalar.cos(x[0])), {"x": (1,)}, {"y": (2,)})


@pytest.fixture(scope="module")
def angles():
    """Return angles of every size up to the largest fast one."""
    rng = np.random.default_rng(3)
    sizes = 10.0 ** rng.uniform(-8, 5, 1000) * rng.choice([-1.0, 1.0], 1000)
    special = [0.0, math.pi / 4, -math.pi / 4, 3.0, -3.0, LARGEST_FAST_ANGLE, -LARGEST_FAST_ANGLE]
    return np.concatenate([rng.uniform(-1e5, 1e5, 1000), rng.uniform(-7.0, 7.0, 1000), sizes, special])


@pytest.fixture(scope="module")
def right_angles():
    """Return the doubles nearest to multiples of π/2, and their neighbours."""
    x = np.random.default_rng(3).integers(-63000, 63000, 700) * (math.pi / 2)
    return np.concatenate([x, np.nextafter(x, 1e6), np.nextafter(x, -1e6)])


def test_the_reference_has_known_values():
    s, c = sine_and_cosine(Fraction(1))
    assert s / 2**FINE == pytest.approx(math.sin(1.0), rel=1e-15)
    assert c / 2**FINE == pytest.approx(math.cos(1.0), rel=1e-15)


def test_the_reference_reduces_the_largest_angles():
    # sin 10³⁰⁰, from Payne and Hanek's method in any correct mathematical library
    assert sine_and_cosine(Fraction(1e300))[0] / 2**FINE == pytest.approx(math.sin(1e300), abs=1e-15)


def test_pi_has_its_digits():
    digits = 314159265358979323846264338327950288419716939937510582097494459230781640628620899
    assert pi_bits(300) * 10**80 >> 300 == digits


def test_parts_of_half_pi_add_up_to_it():
    total = sum(map(Fraction, half_pi_parts((37, 37, 53))))
    assert abs(total - Fraction(pi_bits(300), 2**301)) < Fraction(1, 2**120)


def test_sine_and_cosine_are_good_to_about_a_unit_in_the_last_place(kernel, angles):
    assert errors(angles, kernel(angles[:, None]))[1] < 1.6


def test_single_sine_and_cosine_are_good_to_about_a_unit_in_the_last_place(kernel, angles):
    x = angles.astype(np.float32)
    assert errors(x, kernel(x[:, None]))[1] < 1.6


def test_sine_and_cosine_keep_their_digits_where_they_vanish(kernel, right_angles):
    found = np.abs(kernel(right_angles[:, None])).min(axis=1)
    exact = [min(abs(whole) / 2**FINE for whole in sine_and_cosine(Fraction(float(x)))) for x in right_angles]
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-27)


@pytest.mark.parametrize("offset", OFFSETS)
def test_an_offset_loses_nothing_to_the_size_of_the_angle(compiled, angles, offset):
    kernel = compiled(lambda x: (scalar.sin(x[0] + offset), scalar.cos(x[0] + offset)), {"x": (1,)}, {"y": (2,)})
    assert errors(angles, kernel(angles[:, None]), offset)[0] < 3e-16


def test_a_single_angle_with_an_offset_is_as_good(compiled, angles):
    kernel = compiled(lambda x: (scalar.sin(x[0] + 0.3), scalar.cos(x[0] + 0.3)), {"x": (1,)}, {"y": (2,)})
    x = angles.astype(np.float32)
    assert errors(x, kernel(x[:, None]), 0.3)[0] < 1.2e-7


def test_angles_beyond_the_fast_range_are_reduced_exactly(kernel):
    rng = np.random.default_rng(4)
    x = 10.0 ** rng.uniform(5, 308, 1000) * rng.choice([-1.0, 1.0], 1000)
    with np.errstate(over="ignore"):
        assert errors(x, kernel(x[:, None]))[0] < 6e-16


def test_large_angles_raise_no_warning(kernel):
    assert np.isfinite(kernel(np.array([[1e160], [-1e300]]))).all()


def test_large_single_angles_raise_no_warning(kernel):
    assert np.isfinite(kernel(np.array([[1e25], [-1e38]], np.float32))).all()


def test_single_angles_beyond_the_fast_range_are_reduced_exactly(kernel):
    rng = np.random.default_rng(4)
    x = (10.0 ** rng.uniform(5, 38, 1000) * rng.choice([-1.0, 1.0], 1000)).astype(np.float32)
    with np.errstate(over="ignore"):
        assert errors(x, kernel(x[:, None]))[0] < 2e-7


def test_large_angles_do_not_disturb_small_ones_beside_them(kernel):
    x = np.tile([0.5, 1e100, -2.0, 3e5], 5)
    np.testing.assert_allclose(kernel(x[:, None])[0::2], [[np.sin(y), np.cos(y)] for y in x[0::2]], rtol=1e-15)


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_angles_without_end_have_no_sine(kernel, x, kind):
    with np.errstate(invalid="ignore"):  # as NumPy's own sine warns of infinity
        assert np.isnan(kernel(np.full((3, 1), x, kind))).all()


def test_the_sine_of_a_tiny_angle_is_the_angle(kernel):
    x = np.array([1e-300, -1e-300, 5e-324, 1e-20, 0.0])
    np.testing.assert_array_equal(kernel(x[:, None]), np.stack([x, np.ones(5)], axis=-1))


def test_the_angle_of_a_computed_value_has_its_sine(compiled):
    kernel = compiled(lambda x: (scalar.sin(x[0] * x[1]), scalar.cos(x[0] - x[1])), {"x": (2,)}, {"y": (2,)})
    x = np.random.default_rng(5).normal(size=(50, 2)) * 30.0
    expected = np.stack([np.sin(x[:, 0] * x[:, 1]), np.cos(x[:, 0] - x[:, 1])], axis=-1)
    np.testing.assert_allclose(kernel(x), expected, atol=4e-16)


def test_a_sum_of_large_angles_has_its_sine(compiled):
    kernel = compiled(lambda x: (scalar.sin(x[0] + x[1]), scalar.cos(x[0] + x[1])), {"x": (2,)}, {"y": (2,)})
    x = np.random.default_rng(6).uniform(-1e12, 1e12, (50, 2))
    exact = [sine_and_cosine(Fraction(a) + Fraction(b)) for a, b in x.tolist()]
    np.testing.assert_allclose(kernel(x), [[s / 2**FINE, c / 2**FINE] for s, c in exact], rtol=0, atol=2e-15)
