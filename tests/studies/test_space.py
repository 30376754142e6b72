import numpy as np
import pytest
from scipy import stats

import appell
from appell import space


def test_a_grid_is_the_product_of_its_axes():
    found = [tuple(case.values()) for case in space.grid(a=[1, 2], b=["x", "y", "z"], c=3.0)]
    assert found == [(a, b, 3.0) for a in (1, 2) for b in "xyz"]


@pytest.mark.parametrize("sample", [space.latin_hypercube, space.sobol])
def test_every_sixteenth_of_a_range_has_one_of_sixteen_samples(sample):
    found = sample(16, a=(2.0, 4.0), b=([0.0, -1.0], [1.0, 1.0])).columns
    for values, low, high in ((found["a"], 2.0, 4.0), (found["b"][:, 1], -1.0, 1.0)):
        assert sorted(np.floor(16 * (values - low) / (high - low))) == list(range(16))


def test_distributions_are_sampled_by_their_quantiles():
    a = np.asarray(space.sobol(1024, a=stats.norm(3.0, 0.5)).columns["a"])
    assert abs(a.mean() - 3.0) < 0.01
    assert abs(a.std() - 0.5) < 0.01


def test_random_draws_are_repeatable_and_may_be_arrays():
    def made(seed):
        return space.random(5, seed=seed, m=(1.0, 2.0), q=lambda rng: rng.normal(size=6))

    assert np.array_equal(made(1)[3]["q"], made(1)[3]["q"])
    assert made(1)[3]["m"] != made(2)[3]["m"]
    assert all(1.0 <= case["m"] < 2.0 for case in made(1))


@pytest.mark.parametrize(
    "make",
    [
        lambda: space.sobol(0, a=(0, 1)),
        lambda: space.sobol(4),
        lambda: space.latin_hypercube(4, a=(1, 0)),
        lambda: space.random(4, a=(0, np.inf)),
        lambda: space.random(4, a=3.0),
        lambda: space.grid(a=[1]) * space.grid(a=[2]),
    ],
)
def test_wrong_ranges_are_one_error(make):
    with pytest.raises(appell.InputError):
        make()
