"""Rows of closures are the rates of their residuals, and bias accelerations the rates of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Frame, Model
from appell.read.values import rotation
from appell.recursion import closure
from appell.recursion.kinematics import links
from appell.spatial.pose import Pose
from appell.spatial.rotation import about

Array = NDArray[Any]
FIT: dict[str, Any] = {
    "point": (rotation((0.4, -0.8, 1.1)), (0.0, 0.0, 0.0)),
    "frame": (rotation((0.0, 0.0, 0.0)), (0.0, 0.0, 0.0)),
    "revolute": (about((0.0, 0.0, 1.0), np.cos(2.9), np.sin(2.9)), (0.0, 0.0, 0.0)),
    "cylindrical": (about((0.0, 0.0, 1.0), np.cos(2.9), np.sin(2.9)), (0.0, 0.0, 0.7)),
    "prismatic": (rotation((0.0, 0.0, 0.0)), (0.0, 0.0, 0.7)),
    "planar": (about((0.0, 0.0, 1.0), np.cos(2.9), np.sin(2.9)), (0.3, -0.2, 0.0)),
    # Rx(1.2)·Ry(−0.7) keeps the first x at right angles to the second y
    "universal": (
        tuple(map(tuple, np.array(rotation((1.2, 0.0, 0.0))) @ np.array(rotation((0.0, -0.7, 0.0))))),
        (0.0, 0.0, 0.0),
    ),
}
"""Relative poses that each kind allows."""


def closed_tree(tree: Any, rng: np.random.Generator, kind: str, *, grounded: bool) -> tuple[Model, Array]:
    """Return a random tree of two arms, closed at a random configuration by a closure of some kind, and that q."""
    shape = [("revolute", 0), ("prismatic", 0), ("revolute", 0), ("revolute", 0), ("revolute", 3), ("revolute", 0)]
    model = tree(rng, [*shape, ("prismatic", 0), ("revolute", 0)])
    q = rng.normal(size=model.nq)
    chain = links(model, tuple(q))
    first = Frame("A", WORLD if grounded else 3, Pose(rotation(tuple(rng.normal(size=3))), tuple(rng.normal(size=3))))
    second = Frame("B", 7, Pose())
    model = replace(model, frames=(first, second), closures=(Closure("loop", "A", "B", KINDS[kind]),))
    (tie,) = closure.ties(model)
    fitting = closure.relative_pose(chain, tie).inverse().then(Pose(*FIT[kind]))
    return replace(model, frames=(first, replace(second, placement=fitting))), q


def residual(model: Model, q: Array) -> Array:
    chain = links(model, tuple(q))
    return np.array([x for tie in closure.ties(model) for x in closure.residual(chain, tie, tuple(q))])


def rows(model: Model, q: Array, axes: str = "first") -> Array:
    chain = links(model, tuple(q))
    found = [row for tie in closure.ties(model, axes) for row in closure.rows(model, chain, tie)]
    return np.array([[row.get(k, 0.0) for k in range(model.nv)] for row in found])


def rate(model: Model, q: Array, v: Array) -> Array:
    step = 1e-30
    return np.asarray(residual(model, q + 1j * step * v).imag / step)


@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize("kind", FIT)
def test_rows_are_the_rates_of_the_residuals_of_closed_loops(kind, grounded, tree, rng, agree):
    model, q = closed_tree(tree, rng, kind, grounded=grounded)
    agree(residual(model, q), np.zeros(len(KINDS[kind])), within=1e-13, size=1.0)
    by_step = np.stack([rate(model, q, unit) for unit in np.eye(model.nv)], axis=-1)
    agree(rows(model, q), by_step, within=1e-12)


@pytest.mark.parametrize("kind", FIT)
def test_openness_is_the_sum_of_squares_of_the_rows(kind, tree, rng):
    model, q = closed_tree(tree, rng, kind, grounded=False)
    step, size = 1e-6 * rng.normal(size=model.nv), 0.7
    (tie,) = closure.ties(model)
    scale = [1.0 / size if row in "xyz" else 1.0 for row in KINDS[kind]]
    expected = np.sum((scale * (rows(model, q) @ step)) ** 2)
    assert closure.openness(links(model, tuple(q + step)), tie, size, tuple(q + step)) == pytest.approx(
        expected, rel=1e-4
    )


@pytest.mark.parametrize("axes", closure.AXES)
@pytest.mark.parametrize("kind", FIT)
def test_drifts_are_the_second_rates_of_the_residuals(kind, axes, tree, rng, agree):
    model, q = closed_tree(tree, rng, kind, grounded=False)
    null = np.linalg.svd(rows(model, q))[2][len(KINDS[kind]) :]
    v = rng.normal(size=len(null)) @ null
    h = 1e-5
    second = (rate(model, q + h * v, v) - rate(model, q - h * v, v)) / (2.0 * h)
    chain = links(model, tuple(q))
    (tie,) = closure.ties(model, axes)
    bias = np.array(closure.bias_acceleration(chain, tie, closure.motions(model, chain, tuple(v))))
    # in whichever axes the rows are: they and their bias accelerations are one linear image of the first frame's
    image = rows(model, q, axes) @ np.linalg.pinv(rows(model, q))
    agree(bias, image @ second, within=1e-7)


@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize("rows_of_wheel", [("x", "y"), ("x", "y", "z")])
def test_the_bias_of_a_wheel_is_the_rate_of_its_rows_on_a_moving_plane_too(rows_of_wheel, grounded, tree, rng, agree):
    model, q = closed_tree(tree, rng, "point", grounded=grounded)
    model = replace(model, closures=(Closure("wheel", "A", "B", rows_of_wheel, radius=0.3),))
    v, step = rng.normal(size=model.nv), 1e-30
    chain = links(model, tuple(q))
    (tie,) = closure.ties(model)
    bias = closure.bias_acceleration(chain, tie, closure.motions(model, chain, tuple(v)))
    agree(np.array(bias), (rows(model, q + 1j * step * v) @ v).imag / step, within=1e-12)


def test_the_wrench_of_multipliers_does_the_work_of_the_rows(tree, rng, agree):
    model, q = closed_tree(tree, rng, "cylindrical", grounded=False)
    chain = links(model, tuple(q))
    (tie,) = closure.ties(model)
    multipliers = rng.normal(size=4)
    wrench = np.array(closure.wrench(tie, multipliers, chain))
    # on the second body, the six rows of a whole frame are its velocity along the first frame's axes
    six = closure.rows(model, chain, tie._replace(closure=Closure("loop", "A", "B", KINDS["frame"])))
    matrix = np.array([[row.get(k, 0.0) for k in range(model.nv)] for row in six])
    own = [k for i in tie.second_way for k in model.velocities(i)]
    agree((wrench @ matrix)[own], (multipliers @ rows(model, q))[own], within=1e-12)
