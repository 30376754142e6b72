"""Damaged checkpoints and study files: one error that names the file, and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellError, InputError, ReadError
from appell.studies import store
from appell.studies.store import CASES, MANIFEST, PART, Checkpoint, parquet_bytes
from appell.studies.study_file import read_study

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

SPACE = appell.space.grid(x=[0.0, 1.0, 2.0])


def measured(x: float) -> dict[str, Any]:
    """Return the values of a case."""
    return {"double": 2.0 * x, "pair": np.array([x, 1.0]), "none": np.zeros((0, 2))}


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return the checkpoint of a finished study, with one part."""
    made = Path(tmp_path, "study")
    study = appell.sweep(measured, SPACE, checkpoint=made)
    for path in made.glob(PART):
        path.unlink()
    Checkpoint(made).add(study.outcomes)
    return made


def manifest(**changes: Any) -> Callable[[bytes], bytes]:
    """Return the change of some entries of a manifest."""
    return lambda data: json.dumps({**json.loads(data), **changes}).encode()


DIGEST = "is damaged: its content does not have the digest in its name; delete the file and run the study again"
DAMAGED: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "no JSON": (MANIFEST, lambda data: data[:-9], "is not a checkpoint"),
    "no UTF-8": (MANIFEST, lambda data: b"\xff" + data, "is not a checkpoint"),
    "JSON without end": (MANIFEST, lambda data: b"[" * 100_000, "is not a checkpoint"),
    "a list": (MANIFEST, lambda data: b"[]", "does not have format 2"),
    "no seed": (MANIFEST, manifest(seed=None), "manifest.json is damaged: no 'seed'"),
    "a number of cases that is none": (MANIFEST, manifest(cases="3"), "manifest.json is damaged: no 'cases'"),
    "fewer cases": (MANIFEST, manifest(cases=2), "3 cases, where manifest.json has 2"),
    "cut off": (PART, lambda data: data[:100], DIGEST),
    "empty": (PART, lambda data: b"", DIGEST),
    "a flipped bit": (PART, lambda data: data[:60] + bytes([data[60] ^ 8]) + data[61:], DIGEST),
    "a value's name": (PART, lambda data: data.replace(b"value.double", b"valuf.double"), DIGEST),
    "a case's name": (CASES, lambda data: data.replace(b"x", b"y"), DIGEST),
    "another file": (PART, lambda data: parquet_bytes({"x": np.zeros(2)}), DIGEST),
}


@pytest.mark.parametrize(("name", "change", "message"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_checkpoint_is_one_error_that_names_its_file(folder, name, change, message):
    (path,) = folder.glob(name)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(AppellError, match=message) as caught:
        appell.Study.load(folder)
    assert str(folder) in str(caught.value)
    assert path.name in str(caught.value)


def test_a_part_of_another_study_is_refused(folder, tmp_path):
    other = tmp_path / "other"
    appell.sweep(measured, appell.space.grid(x=[0.0, 1.0, 2.0, 3.0]), checkpoint=other)
    for path in other.glob(PART):
        (folder / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ReadError, match="a case number outside of the study's 3 cases"):
        appell.Study.load(folder)


def test_merging_parts_keeps_a_part_that_is_the_merged_one(folder, monkeypatch):
    monkeypatch.setattr(store, "MERGED", 0)
    Checkpoint(folder).merge()
    assert appell.Study.load(folder).values["double"].tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("name", [CASES, PART])
def test_a_damaged_file_can_be_deleted(folder, name):
    (path,) = folder.glob(name)
    path.write_bytes(b"PAR1")
    with pytest.raises(ReadError, match="delete the file and run the study again"):
        appell.Study.load(folder)
    path.unlink()
    appell.sweep(measured, SPACE, checkpoint=folder)
    study = appell.Study.load(folder)
    assert study.values["double"].tolist() == [0.0, 2.0, 4.0]
    assert study.values["none"].shape == (3, 0, 2)


@pytest.mark.parametrize("place", ["file", "a\0b"])
def test_what_no_folder_can_be_is_no_checkpoint(tmp_path, place):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be a checkpoint"):
        appell.sweep(measured, SPACE, checkpoint=tmp_path / place)


def test_cases_of_any_kind_have_a_checkpoint_and_a_table(tmp_path):
    space = appell.space.cases([{"x": 1.0, "y": [[1], [1, 2]]}, {"x": {"a": 1}, "y": 2**70}])
    study = appell.sweep(lambda x, y: {"z": np.array([1.0], ">f8")}, space, checkpoint=tmp_path / "c")
    assert not study.failed
    assert appell.Study.load(tmp_path / "c").cases[1]["x"] == "{'a': 1}"
    assert study.save(tmp_path / "s.parquet").stat().st_size
    wide = appell.sweep(lambda k: {"z": np.longdouble(k)}, {"k": [1, 2]}, checkpoint=tmp_path / "d")
    assert wide.values["z"].dtype == np.float64


def test_an_error_with_lone_surrogates_is_recorded(tmp_path):
    def failing(x: float, name: str) -> None:
        raise ValueError(name)

    cases = [{"x": 1.0, "name": "a\udcff"}]
    study = appell.sweep(failing, cases, checkpoint=tmp_path / "c")
    assert "a\\udcff" in appell.Study.load(tmp_path / "c").failed[0][1]
    assert study.save(tmp_path / "s.parquet").stat().st_size


STUDY = """function = "{function}"
[space]
kind = "{kind}"
n = {n}
[space.values]
{values}
"""
FILES = {
    "an argument n": ({"values": "n = [1.0, 2.0]"}, "an argument 'n' cannot be sampled"),
    "an argument seed": ({"values": "seed = [1.0, 2.0]"}, "an argument 'seed' cannot be sampled"),
    "enormous bound": ({"values": f"x = [0, {10**400}]"}, r"x: expected \(low, high\)"),
    "enormous range": ({"values": "x = [-1e308, 1e308]"}, "x: expected finite bounds"),
    "deep": ({"values": f"x = [0, {'[' * 40}1{']' * 40}]"}, r"x: expected \(low, high\)"),
    "empty bounds": ({"values": "x = [0, [[]]]"}, "x: expected finite bounds"),
    "many dimensions": ({"values": f"x = [0, {[1] * 22_000}]"}, "sobol: .*dimensionality"),
    "many samples": ({"n": 10**12}, "sobol: n: expected an integer of at least 1, at most 100000000"),
    "no function": ({"function": "math:pi"}, "'math:pi' is 3.14.*, not a function"),
    "long file name": ({"function": f"{'a' * 5000}.py:f"}, "file not found"),
    "NUL in a file name": ({"function": "a\\u0000.py:f"}, "file not found"),
}


@pytest.mark.parametrize(("changes", "message"), FILES.values(), ids=FILES.keys())
def test_a_wrong_study_file_is_one_error(tmp_path, changes, message):
    file = tmp_path / "study.toml"
    entries = {"function": "builtins:dict", "kind": "sobol", "n": 4, "values": "x = [0.0, 1.0]"}
    file.write_text(STUDY.format(**(entries | changes)))
    with pytest.raises(ReadError, match=message) as caught:
        read_study(file)
    assert str(caught.value).startswith(str(file))


def test_a_fixed_value_needs_a_function(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('function = "math:pi"\nfixed = {a = 1}\nspace = {values = {x = [1]}}\n')
    with pytest.raises(ReadError, match="not a function"):
        read_study(file)


def test_a_grid_of_too_many_cases_is_one_error():
    with pytest.raises(InputError, match="grid: the number of cases: expected an integer of at least 1, at most"):
        appell.space.grid(x=range(10**5), y=range(10**5))
