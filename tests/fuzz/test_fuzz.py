"""A few inputs for every target, the same in every run, and every input that once failed."""

from __future__ import annotations

import pytest

from tests.fuzz.engine import SEEDS, outcome
from tests.fuzz.targets import TARGETS

FINDINGS = [
    pytest.param(target, path, id=f"{target.name}-{path.name}")
    for target in TARGETS.values()
    for path in target.findings()
]


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_accepted_or_refused(name, tmp_path):
    target = TARGETS[name]
    found = [outcome(target, data, tmp_path) for data in target.quick(14)]
    failures = {index: result.reason for index, result in enumerate(found) if result.kind == "failed"}
    assert failures == {}


@pytest.mark.parametrize(("target", "path"), FINDINGS)
def test_what_once_failed_does_not_fail_again(target, path, tmp_path):
    result = outcome(target, path.read_bytes(), tmp_path)
    assert result.kind != "failed", result.reason


def test_every_folder_of_seeds_has_its_target():
    assert {path.name for path in SEEDS.iterdir()} <= set(TARGETS)
