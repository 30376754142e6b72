"""A short run of tests/stress.py, a longer one by a setting, and proof that it would find what it looks for."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np
import pytest

from appell.errors import AppellWarning
from tests import stress

MINUTES = float(os.environ.get("APPELL_STRESS_MINUTES", "2"))
"""How long the slow test runs."""


def test_threads_that_begin_together_end_well():
    number, faults = stress.rounds(0.0, 8)
    assert (number, faults) == (2, [])


@pytest.mark.slow
def test_threads_end_well_for_a_time():
    number, faults = stress.rounds(MINUTES, 8)
    assert number >= 2
    assert faults == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda x: x + 1e-5, "mass matrix: .* apart"),
        (lambda x: x.astype(np.float32), "mass matrix: float32"),
        (lambda x: (warnings.warn("odd", AppellWarning, stacklevel=1), x)[1], "odd"),
    ],
)
def test_a_fault_of_one_thread_is_found(change, fault, monkeypatch, tmp_path):
    tasks = stress.tasks
    calls: list[None] = []

    def few(at):
        found = tasks(at)

        def changed():
            calls.append(None)
            return change(found["mass matrix"]()) if len(calls) == 2 else found["mass matrix"]()

        return {"mass matrix": changed, **{name: found[name] for name in found if stress.warns(name) or "sim" in name}}

    monkeypatch.setattr(stress, "tasks", few)
    found = stress.play(0, 2, tmp_path)
    assert len(found) == 1
    assert re.search(fault, found[0])


def test_a_lost_warning_is_found(monkeypatch, tmp_path):
    tasks = stress.tasks
    silent = {"singular mass": lambda: np.zeros(9)}
    monkeypatch.setattr(
        stress, "tasks", lambda at: {n: t for n, t in tasks(at).items() if stress.warns(n) or "sim" in n} | silent
    )
    assert stress.play(0, 2, tmp_path) == ["0 of 2 warnings of singular mass matrix"]
