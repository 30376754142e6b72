"""The short way for one sample: taken where arrays are laid out as assumed, and left where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from appell.kernels.runtime import fast_call


@pytest.fixture
def kernel(compiled, monkeypatch):
    """Return a kernel that no cache keeps: its code may be compiled for a wrong layout."""
    monkeypatch.setenv("APPELL_CACHE", "off")
    fast_call.available.cache_clear()
    yield lambda: compiled(lambda x: (x[0] * x[1] + 1.0, x[1]), {"x": (2,)}, {"y": (2,)})
    fast_call.available.cache_clear()


@pytest.mark.skipif(not fast_call.available(), reason="this interpreter lays objects out otherwise")
def test_one_plain_sample_takes_the_short_way_and_all_else_the_general(kernel):
    made, asked = kernel(), []

    def general(*arguments):
        asked.append(arguments)
        return made(*arguments)

    call = made.fast_call(general)
    assert call(np.array([2.0, 3.0])).tolist() == [7.0, 3.0]
    assert asked == []
    for other in ([2.0, 3.0], np.array([2, 3]), np.array([2.0, 0.0, 3.0])[::2], np.array([2.0, 3.0], np.float32)):
        assert call(other).tolist() == [7.0, 3.0]
    assert len(asked) == 4


@pytest.mark.parametrize("shift", [-8, 8])
@pytest.mark.parametrize("field", fast_call.LAYOUT)
def test_arrays_of_another_layout_take_the_general_way(field, shift, kernel, monkeypatch):
    offset, kind = fast_call.LAYOUT[field]
    monkeypatch.setitem(fast_call.LAYOUT, field, (offset + shift, kind))
    made = kernel()
    call = made.fast_call(made.__call__)
    assert call == made.__call__
    assert call(np.array([2.0, 3.0])).tolist() == [7.0, 3.0]
