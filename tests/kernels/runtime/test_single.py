"""Single precision is compiled within a call of NumPy's: what fails there must reach the caller."""

from __future__ import annotations

import numpy as np
import pytest

import appell


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("no memory for code")])
def test_a_compilation_that_fails_is_raised_and_tried_again(failure, monkeypatch):
    kernel = appell.load("two-link").kernel("mass_matrix")
    q = np.full((3, 2), 0.3, dtype=np.float32)

    def fail(*_):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(kernel, "_compile", fail)
        with pytest.raises(type(failure)):
            kernel(q)
    single, double = kernel(q), kernel(q.astype(float))
    first = single[0] if isinstance(single, tuple) else single
    np.testing.assert_allclose(first, double[0] if isinstance(double, tuple) else double, rtol=1e-5)
