"""Denavit–Hartenberg tables against the products of matrices that define them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from appell.errors import InputError, ReadError
from appell.model.model import Limits, Model
from appell.read import from_dh
from appell.spatial.pose import Pose

KINDS = ["revolute", "prismatic", "revolute", "continuous", "prismatic"]


def rotate(axis: int, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(4)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def shift(axis: int, by: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[axis, 3] = by
    return matrix


def table_frames(rows, q, modified, d_sign=1):
    frames, here = [], np.eye(4)
    for row, value in zip(rows, q, strict=True):
        slides = row["kind"] == "prismatic"
        theta, d = row["theta"] + (0.0 if slides else value), d_sign * row["d"] + (value if slides else 0.0)
        twist, turn = rotate(0, row["alpha"]) @ shift(0, row["a"]), rotate(2, theta) @ shift(2, d)
        here = here @ (twist @ turn if modified else turn @ twist)
        frames.append(here)
    return frames


def model_frames(model: Model, q):
    poses: list[Pose] = []
    for body, value in zip(model.bodies, q, strict=True):
        placed = body.joint.placement.then(body.joint.pose((value,)))
        poses.append(placed if body.parent < 0 else poses[body.parent].then(placed))
    named = (poses[frame.body].then(frame.placement) for frame in model.frames if frame.name.startswith("dh"))
    return [np.block([[np.array(p.rotation), np.array([p.position]).T], [np.zeros(3), 1.0]]) for p in named]


def random_rows(rng):
    keys = ("a", "alpha", "d", "theta")
    return [{"kind": kind, **dict(zip(keys, rng.normal(size=4).tolist(), strict=True))} for kind in KINDS]


@pytest.mark.parametrize("modified", [True, False], ids=["modified", "standard"])
@pytest.mark.parametrize("d_sign", [1, -1])
def test_frames_are_the_products_of_the_table(rng, modified, d_sign):
    rows, q = random_rows(rng), rng.normal(size=len(KINDS))
    model = from_dh(rows, modified=modified, d_sign=d_sign)
    np.testing.assert_allclose(model_frames(model, q), table_frames(rows, q, modified, d_sign), atol=1e-14)


def test_valeras_offset_is_counted_against_z(rng):
    alpha, big_d = 0.7, -0.4
    placement = from_dh([(0.3, alpha, big_d, 0.0)], d_sign=-1).bodies[0].joint.placement
    # valera2003: p = [a, D sin α, −D cos α]
    assert placement.position == pytest.approx((0.3, big_d * math.sin(alpha), -big_d * math.cos(alpha)), abs=1e-16)


def test_a_standard_tables_inertia_belongs_to_its_own_frame(rng):
    rows = random_rows(rng)
    for row in rows:
        row |= {"mass": 2.0, "centre": rng.normal(size=3), "inertia": rng.uniform(1, 1.5, size=3)}
    standard = from_dh(rows, modified=False)
    for body, row, frame in zip(standard.bodies, rows, standard.frames[-len(rows) :], strict=True):
        in_table_frame = body.inertia.moved(frame.placement.inverse())
        np.testing.assert_allclose(in_table_frame.centre, row["centre"], atol=1e-14)
        about_centre = np.diag(row["inertia"]) + 2.0 * (
            row["centre"] @ row["centre"] * np.eye(3) - np.outer(row["centre"], row["centre"])
        )
        np.testing.assert_allclose(in_table_frame.tensor, about_centre, atol=1e-13)


@pytest.mark.parametrize("modified", [True, False], ids=["modified", "standard"])
def test_every_axis_passes_through_its_bodys_origin(rng, modified):
    model = from_dh(random_rows(rng), modified=modified)
    assert {body.joint.axis for body in model.bodies} == {(0.0, 0.0, 1.0)}


@pytest.mark.parametrize("quarters", range(-6, 7))
def test_multiples_of_a_quarter_turn_are_exact(quarters):
    rotation = from_dh([(0.0, quarters * math.pi / 2, 0.0, 0.0)]).bodies[0].joint.placement.rotation
    assert {abs(x) for row in rotation for x in row} == {0.0, 1.0}


def test_a_revolute_rows_theta_is_an_offset_of_q():
    assert from_dh([(0.0, 0.0, 0.0, 0.5)]).bodies[0].joint.offset == 0.5


def test_a_plain_row_is_the_row_of_its_four_keys():
    keyed = from_dh([{"a": 0.1, "alpha": 0.2, "d": 0.3, "theta": 0.4}])
    assert from_dh([(0.1, 0.2, 0.3, 0.4)]) == keyed
    assert from_dh(np.array([[0.1, 0.2, 0.3, 0.4]])) == keyed


def test_ways_to_write_an_inertia_agree():
    about_centre: dict[str, object] = {"mass": 2.0, "centre": (0.0, 0.0, 0.5)}
    rows: list[dict[str, object]] = [
        {**about_centre, "inertia": (1.0, 2.0, 1.5)},
        {**about_centre, "inertia": (1.0, 0.0, 2.0, 0.0, 0.0, 1.5)},
        {**about_centre, "inertia": np.diag([1.0, 2.0, 1.5])},
        {"parameters": (2.0, 0.0, 0.0, 1.0, 1.5, 0.0, 2.5, 0.0, 0.0, 1.5)},
    ]
    assert len({from_dh([row]).bodies[0].inertia for row in rows}) == 1


def test_names_limits_and_losses_are_kept():
    row = {
        "name": "waist",
        "link": "trunk",
        "limits": {"lower": "-90 deg", "upper": 1.0, "velocity": "180 deg", "effort": 5.0},
        "damping": 0.1,
        "friction": 0.2,
        "armature": 0.3,
    }
    body = from_dh([row]).bodies[0]
    assert (body.name, body.joint.name) == ("trunk", "waist")
    assert body.joint.limits == Limits(-math.pi / 2, 1.0, math.pi, 5.0)
    assert (body.joint.damping, body.joint.friction, body.joint.armature) == (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows: no row"),
        ([(0.0, 0.0, 0.0)], "rows[0]: expected 4 numbers, got 3"),
        (
            [(0.0, 0.0, 0.0, 0.0), {"alpa": 1.0}],
            "rows[1]: unknown key 'alpa'; did you mean 'alpha'?",
        ),
        ([{"kind": "ball"}], "rows[0].kind: unknown kind 'ball'"),
        ([{"alpha": "90°"}], "rows[0].alpha: expected radians as a number or degrees as text such as '90 deg'"),
        ([{"d": float("nan")}], "rows[0].d: expected a number, got NaN"),
        ([{"a": "long"}], "rows[0].a: expected a number, got 'long'"),
        ([{"a": True}], "rows[0].a: expected a number, got True"),
        ([{"a": 10**400}], "rows[0].a: expected a number within the range of float64"),
        ([{"centre": (0.0, 1.0)}], "rows[0].centre: expected 3 numbers, got 2"),
        ([{"inertia": (1.0, 2.0)}], "rows[0].inertia: expected 3 numbers (the diagonal), 6"),
        ([{"inertia": [[1, 0, 0], [1, 1, 0], [0, 0, 1]]}], "rows[0].inertia: expected a symmetric matrix"),
        ([{"mass": 1.0, "parameters": [0.0] * 10}], "rows[0]: give 'parameters' or 'mass', not both"),
        ([{"limits": {"low": 0.0}}], "rows[0].limits: unknown key 'low'"),
        ([{"limits": {"lower": 2.0, "upper": 1.0}}], "rows[0].limits: the lower limit 2 is above"),
        ([{"mass": -1.0}], "link 'link1' has a mass of -1 kg"),
        ([{"name": "j"}, {"name": "j"}], "joint 'j' is defined twice"),
        ("rows", "rows: expected a list, got 'rows'"),
        (["row"], "rows[0]: expected a list, got 'row'"),
    ],
    ids=lambda value: value.split(":")[0] if isinstance(value, str) else "",
)
def test_an_error_names_row_and_key(rows, message):
    with pytest.raises(ReadError) as caught:
        from_dh(rows)
    assert str(caught.value).startswith(message)


def test_a_sign_is_one_or_minus_one():
    with pytest.raises(ReadError, match="d_sign: expected 1, or -1"):
        from_dh([(0.0, 0.0, 0.0, 0.0)], d_sign=2)


def test_gravity_must_be_a_vector():
    with pytest.raises(InputError, match="three finite numbers"):
        from_dh([(0.0, 0.0, 0.0, 0.0)], gravity=(0.0, -9.81))
