"""What a verb takes and what it says of what it does not take."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellError, InputError

ONES = [1.0] * 6


@pytest.fixture(scope="module")
def robot():
    return appell.load("puma560")


def refused(message):
    return pytest.raises(InputError, match=f"^{re.escape(message)}")


WRONG = {
    "seven numbers": ([1.0] * 7, "q: expected (..., 6), got (..., 7) for robot 'puma560'"),
    "seven numbers in an array": (np.ones(7), "q: expected (..., 6), got (..., 7) for robot 'puma560'"),
    "rows of five": (np.ones((4, 5)), "q: expected (..., 6), got (..., 5) for robot 'puma560'"),
    "one number": (1.0, "q: expected (..., 6), got a single number for robot 'puma560'"),
    "nothing": ([], "q: expected (..., 6), got (..., 0) for robot 'puma560'"),
    "text": ("hello", "q: expected real numbers, got <U5 for robot 'puma560'"),
    "texts": (["a"] * 6, "q: expected real numbers, got <U1 for robot 'puma560'"),
    "complex numbers": ([1j] * 6, "q: expected real numbers, got complex128 for robot 'puma560'"),
    "a complex array": (np.ones(6, complex), "q: expected real numbers, got complex128 for robot 'puma560'"),
    "None": (None, "q: expected real numbers, got object for robot 'puma560'"),
    "a dictionary": ({"q": 1}, "q: expected real numbers, got object for robot 'puma560'"),
    "a ragged list": ([[1.0] * 6, [1.0] * 5], "q: expected an array of numbers, got a ragged list for robot 'puma560'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_q_is_named_with_what_was_expected(robot, what):
    value, message = WRONG[what]
    with refused(message):
        robot.inverse_dynamics(value, ONES, ONES)


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_tau_is_named_as_tau(robot, what):
    value, message = WRONG[what]
    with refused("tau" + message[1:]):
        robot.forward_dynamics(ONES, ONES, value)


def test_a_wrong_argument_of_a_single_argument_verb_is_named(robot):
    with refused("q: expected (..., 6), got (..., 3) for robot 'puma560'"):
        robot.mass_matrix(np.zeros(3))


def test_leading_axes_that_do_not_broadcast_are_named(robot):
    with refused("inverse_dynamics: the leading axes do not broadcast (q (3,), v (4,), a ()) for robot 'puma560'"):
        robot.inverse_dynamics(np.ones((3, 6)), np.ones((4, 6)), ONES)


def test_leading_axes_of_large_batches_that_do_not_broadcast_are_named(robot):
    with refused("inverse_dynamics: the leading axes do not broadcast"):
        robot.inverse_dynamics(np.ones((100_000, 6)), np.ones((99_999, 6)), ONES)


def test_a_large_batch_of_wrong_size_is_named(robot):
    with refused("q: expected (..., 6), got (..., 7) for robot 'puma560'"):
        robot.inverse_dynamics(np.ones((100_000, 7)), ONES, ONES)


BAD_OUT = {
    "of another shape": (np.empty((4, 6)), "out: expected an array of shape (3, 6), got (4, 6)"),
    "of another size": (np.empty(6), "out: expected an array of shape (3, 6), got (6,)"),
    "of whole numbers": (np.empty((3, 6), int), "out: expected an array of floats, got int64"),
    "a list": ([[0.0] * 6] * 3, "out: expected an array of shape (3, 6), got list"),
}


@pytest.mark.parametrize("what", BAD_OUT)
def test_a_wrong_out_is_named_with_what_was_expected(robot, what):
    out, message = BAD_OUT[what]
    with refused(message):
        robot.inverse_dynamics(np.ones((3, 6)), ONES, ONES, out=out)


def test_an_out_that_cannot_be_written_is_refused(robot):
    out = np.empty(6)
    out.flags.writeable = False
    with pytest.raises(InputError):
        robot.inverse_dynamics(ONES, ONES, ONES, out=out)


def test_a_single_precision_out_of_doubles_is_refused_or_right(robot, state):
    q, v, a = state(robot, 3)
    out = np.empty((3, 6), np.float32)
    try:
        robot.inverse_dynamics(q, v, a, out=out)
    except InputError:
        return
    np.testing.assert_allclose(out, robot.inverse_dynamics(q, v, a), rtol=1e-4, atol=1e-3)


def test_every_refusal_is_an_appell_error_and_a_value_error():
    assert issubclass(InputError, AppellError)
    assert issubclass(InputError, ValueError)


def test_too_few_arguments_are_pythons_to_refuse(robot):
    with pytest.raises(TypeError):
        robot.inverse_dynamics(ONES, ONES)


def test_an_unknown_frame_is_named_with_those_known():
    robot = appell.load("two-link")
    with refused("pose: frame: robot 'two-link' has no frame 'gripper'; known: "):
        robot.pose([0.0, 0.0], "gripper")


def test_an_unknown_name_is_named_with_the_catalogue():
    with refused("load: 'pumma' is neither a file nor in the catalogue; known: 'agile-wrist'"):
        appell.load("pumma")


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(AppellError, match=r"nowhere\.urdf"):
        appell.load("nowhere.urdf")


# What is taken


def test_lists_tuples_and_arrays_are_one(robot, state):
    q, v, a = state(robot)
    expected = robot.inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(robot.inverse_dynamics(q.tolist(), v.tolist(), a.tolist()), expected)
    np.testing.assert_array_equal(robot.inverse_dynamics(tuple(q), tuple(v), tuple(a)), expected)


def test_arguments_may_be_named(robot, state):
    q, v, a = state(robot)
    np.testing.assert_array_equal(robot.inverse_dynamics(q=q, v=v, a=a), robot.inverse_dynamics(q, v, a))


def test_one_sample_is_the_same_alone_and_in_a_batch(robot, state):
    q, v, a = state(robot, 12)
    batch = robot.inverse_dynamics(q, v, a)
    for k in range(12):
        np.testing.assert_array_equal(robot.inverse_dynamics(q[k], v[k], a[k]), batch[k])


def test_whole_numbers_are_taken_for_doubles(robot):
    found = robot.inverse_dynamics([0] * 6, [1] * 6, np.zeros(6, int))
    np.testing.assert_array_equal(found, robot.inverse_dynamics(np.zeros(6), np.ones(6), np.zeros(6)))
    assert found.dtype == np.float64


ODD_SINGLES: dict[str, Callable[..., Any]] = {
    "a column": lambda x: np.asfortranarray(np.tile(x, (3, 1)))[1],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "not writeable": lambda x: np.frombuffer(x.tobytes()),
    "of the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "a subclass": lambda x: x.view(np.recarray),
    "a matrix row": lambda x: x[None][0],
    "single": lambda x: x.astype(np.float32).astype(np.float64),
    "with one leading axis": lambda x: x[None],
}


@pytest.mark.parametrize("what", ODD_SINGLES)
def test_one_sample_of_any_layout_is_read(robot, state, what):
    q, v, a = state(robot)
    change = ODD_SINGLES[what]
    found = robot.inverse_dynamics(change(q), v, a)
    expected = robot.inverse_dynamics(np.asarray(change(q)).astype(float).reshape(6), v, a)
    np.testing.assert_array_equal(np.asarray(found).reshape(6), expected)


def test_the_result_is_a_new_array_each_time(robot):
    first = robot.mass_matrix(np.zeros(6))
    kept = first.copy()
    robot.mass_matrix(np.ones(6))
    np.testing.assert_array_equal(first, kept)


def test_a_result_outlives_its_robot():
    result = appell.load("two-link").inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))
    assert np.isfinite(result).all()


def test_out_receives_the_result_and_is_returned(robot, state):
    q, v, a = state(robot, 5)
    out = np.empty((5, 6))
    assert robot.inverse_dynamics(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, robot.inverse_dynamics(q, v, a))


def test_out_may_be_an_argument(robot, state):
    q, v, a = state(robot, 21)
    expected = robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q, v, a, out=a)
    np.testing.assert_array_equal(a, expected)


def test_out_of_one_sample_may_be_an_argument(robot, state):
    q, v, a = state(robot)
    expected = robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q, v, a, out=a)
    np.testing.assert_array_equal(a, expected)


def test_single_precision_in_is_single_precision_out(robot, state):
    q, v, a = (x.astype(np.float32) for x in state(robot, 5))
    assert robot.inverse_dynamics(q, v, a).dtype == np.float32


def test_not_a_number_stays_in_its_row(robot, state):
    q, v, a = state(robot, 10)
    clean = robot.forward_dynamics(q, v, a)
    q[4, 2] = np.nan
    found = robot.forward_dynamics(q, v, a)
    assert np.isnan(found[4]).any()
    np.testing.assert_array_equal(np.delete(found, 4, axis=0), np.delete(clean, 4, axis=0))


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("argument", range(3))
def test_not_a_number_anywhere_shows_in_the_torques(robot, state, argument, k):
    values = list(state(robot))
    values[argument][k] = np.nan
    assert np.isnan(robot.inverse_dynamics(*values)).any()
