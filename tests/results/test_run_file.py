"""Files of runs that are damaged or made up: every part that no run has is refused, and named with its file."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import ReadError

FLOOR = appell.walls.Line((-3, -0.1), (3, -0.1), name="floor")
TIP = appell.simulation.Point("link2", (2.0, 0.0, 0.0), "tip")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return the bytes of every part of a run's file: of a run with impacts, a contact interval and an event."""
    event = appell.simulation.Event(lambda t, q, v: t - 0.05, "early")
    robot = appell.load("two-link")
    run = appell.simulate(robot, [0, 0], [0, 0], 0.3, walls=[FLOOR], points=[TIP], restitution=0.5, events=[event])
    assert run.impacts
    assert run.events
    path = run.save(tmp_path_factory.mktemp("run") / "run.npz")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def load(tmp_path):
    def load(parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> appell.Run:
        with zipfile.ZipFile(tmp_path / "run.npz", "w", method) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        return appell.Run.load(tmp_path / "run.npz")

    return load


def array_bytes(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def array_of(data: bytes) -> Any:
    return np.load(io.BytesIO(data))


def header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    """Return the header of an array that states a shape, without its numbers."""
    text = str({"descr": kind, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def with_about(parts: dict[str, bytes], change: Callable[[Any], object]) -> dict[str, bytes]:
    about = json.loads(str(array_of(parts["about.npy"])))
    change(about)
    return {**parts, "about.npy": array_bytes(json.dumps(about))}


def test_the_parts_make_a_run_again(parts, load):
    run = load(parts)
    assert run.impacts[0].positions.shape == (1, 3)
    assert (run.events[0].name, run.robot.name) == ("early", "two-link")


@pytest.mark.parametrize(
    "name", ["t", "q", "v", "a", "tau", "energy", "path_starts", "path_ends", "path_coefficients", "path_quaternions"]
)
def test_a_part_that_is_missing_is_named(parts, load, name):
    with pytest.raises(ReadError, match=rf"run\.npz: there is no part '{name}'"):
        load({key: data for key, data in parts.items() if key != f"{name}.npy"})


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("t", lambda x: x * np.nan, "t: expected finite numbers"),
        ("t", lambda x: x[::-1], "t: expected times that do not decrease"),
        ("t", lambda x: x[:, None], "t: expected floats of 1 dimensions"),
        ("t", lambda x: x[:-1], "q: expected .* rows, one per time"),
        ("t", lambda x: x.astype("M8[s]"), "t: expected floats"),
        ("q", lambda x: x[:-1], "q: expected .* rows, one per time"),
        ("q", lambda x: x.astype(object), "part 'q': contains Python objects"),
        ("q", lambda x: x.astype(complex), "q: expected floats"),
        ("q", lambda x: x.astype(str), "q: expected floats"),
        ("q", lambda x: np.hstack([x, x]), "path_coefficients: expected shape"),
        ("q", lambda x: x + np.inf, "q: expected finite numbers"),
        ("v", lambda x: x[:, :1], "a: expected 1 columns as v has, got 2"),
        ("tau", lambda x: x[:, :1], "about.text: robot 'two-link' needs 2 columns of tau, got 1"),
        ("energy", lambda x: x * np.nan, "energy: expected finite numbers"),
        ("path_starts", lambda x: x[::-1], "path_starts: expected steps one after the other"),
        ("path_ends", lambda x: x * 0.0, "path_starts: expected steps one after the other"),
        ("path_ends", lambda x: x[1:], "path_ends: expected .* finite entries, one per step"),
        ("path_coefficients", lambda x: x[:, :0], "path_coefficients: expected shape"),
        ("path_coefficients", lambda x: x * np.nan, "path_coefficients: expected .* finite entries"),
        ("path_quaternions", lambda x: np.array([-1]), "path_quaternions: expected the places of quaternions"),
        ("path_quaternions", lambda x: np.array([0]), "path_quaternions: expected the places of quaternions"),
        ("path_quaternions", lambda x: np.array([0.5]), "path_quaternions: expected integers"),
        ("about", lambda x: np.zeros(3), "not a run of appell's"),
        ("about", lambda x: np.array("{"), "about: not readable as JSON"),
        ("about", lambda x: np.array("[" * 100_000), "about: not readable as JSON"),
        ("about", lambda x: np.array("[]"), "about: expected a table"),
    ],
)
def test_arrays_that_no_run_has_are_refused(parts, load, name, change, message):
    with pytest.raises(ReadError, match=rf"run\.npz: {message}"):
        load({**parts, f"{name}.npy": array_bytes(change(array_of(parts[f"{name}.npy"])))})


def at(*keys: str | int):
    """Return a change of one entry of what a run keeps as JSON."""

    def change(value: object):
        def apply(about: Any) -> None:
            for key in keys[:-1]:
                about = about[key]
            about[keys[-1]] = value

        return apply

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about: about.pop("appell"), "a run of another version of appell"),
        (at("appell")(99), "a run of another version of appell .99, expected 2."),
        (lambda about: about.pop("notes"), "about: there is no 'notes'"),
        (at("more")(1), "about: unknown key 'more'"),
        (at("robot")(3), "about.robot: expected text"),
        (at("joints")([1, 2]), r"about.joints\[0\]: expected text"),
        (at("joints")(["a", "b"]), "about.joints: expected the joints of robot 'two-link'"),
        (at("text")("name = 3\n"), "about.text: two-link: name: expected text"),
        (at("text")("/dev/zero"), "about.text: expected the text of a robot's toml file"),
        (at("text")([]), "about.text: expected the text of a robot's toml file"),
        (at("ended_early")(None), "about.ended_early: expected text"),
        (at("notes")("abc"), "about.notes: expected a list"),
        (at("walls")([["a"]]), r"about.walls\[0\]: expected a label and a line"),
        (at("walls")([["a", [[1, 2]]]]), r"about.walls\[0\]\[1\]: expected n × 3 numbers"),
        (at("impacts")(5), "about.impacts: expected a list"),
        (at("impacts", 0)([]), r"about.impacts\[0\]: expected a table"),
        (lambda about: about["impacts"][0].pop("slip"), r"about.impacts\[0\]: there is no 'slip'"),
        (at("impacts", 0, "more")(1), r"about.impacts\[0\]: unknown key 'more'"),
        (at("impacts", 0, "time")("0.1"), r"about.impacts\[0\].time: expected a number, got '0.1'"),
        (at("impacts", 0, "time")(float("nan")), r"about.impacts\[0\].time: expected finite numbers"),
        (at("impacts", 0, "time")(True), r"about.impacts\[0\].time: expected a number, got True"),
        (at("impacts", 0, "time")(10**400), r"about.impacts\[0\].time: expected a number"),
        (at("impacts", 0, "normals")([[1, 2, 3], [1]]), r"about.impacts\[0\].normals: expected 1 × 3 numbers"),
        (at("impacts", 0, "walls")(["a", "b"]), r"about.impacts\[0\].walls: expected 1 names, got 2"),
        (at("impacts", 0, "v_after")([0.0]), r"about.impacts\[0\].v_after: expected 2 numbers"),
        (at("events", 0, "q")([0.0, None]), r"about.events\[0\].q: expected 2 numbers"),
        (at("rests")([{"point": "a", "wall": "b", "start": 0.0}]), r"about.rests\[0\]: there is no 'end'"),
    ],
)
def test_records_that_no_run_has_are_refused(parts, load, change, message):
    with pytest.raises(ReadError, match=rf"run\.npz: {message}"):
        load(with_about(parts, change))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.npy", header((10**15,)), r"part 't': shape \(1000000000000000,\) of float64 takes 8000000000000000 bytes"),
        ("t.npy", header((2**62, 2**62)), "part 't': shape"),
        ("t.npy", header((-1,)), r"part 't': has shape \(-1,\)"),
        ("t.npy", header((2**60,), "<U0"), "part 't': has entries of zero size"),
        ("t.npy", header((1,), "|O") + b"cos\nsystem\n", "part 't': contains Python objects"),
        ("t.npy", header((1,) * 100) + bytes(8), "part 't': maximum supported dimension"),
        ("t.npy", b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "part 't': has a damaged array header"),
        ("t.npy", b"\x93NUMPY\x03\x00", "part 't': array format version"),
        ("t.npy", b"", "part 't': EOF"),
        ("/etc/passwd", b"root", "part '/etc/passwd': EOF"),
        ("/etc/passwd.npy", array_bytes(np.zeros(1)), "unknown key '/etc/passwd'"),
        ("../t.npy", array_bytes(np.zeros(1)), "unknown key '../t'"),
    ],
)
def test_headers_are_checked_before_memory_is_taken(parts, load, name, data, message):
    with pytest.raises(ReadError, match=rf"run\.npz: {message}"):
        load({**parts, name: data})


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_compress_are_refused(parts, load, method):
    with pytest.raises(ReadError, match=r"run\.npz: part 'about': compressed by method"):
        load(parts, method)


@pytest.mark.parametrize("kept", [0, 1, 100, 0.3, 0.9, -1])
def test_a_file_that_was_cut_off_is_refused(parts, load, tmp_path, kept):
    load(parts)
    data = (tmp_path / "run.npz").read_bytes()
    (tmp_path / "run.npz").write_bytes(data[: int(kept * len(data)) if 0 < kept < 1 else kept])
    with pytest.raises(ReadError, match=r"run\.npz: incomplete or damaged \.npz file"):
        appell.Run.load(tmp_path / "run.npz")


def test_flipped_bits_are_refused_or_harmless(parts, load, tmp_path):
    load(parts, zipfile.ZIP_DEFLATED)
    data, rng = bytearray((tmp_path / "run.npz").read_bytes()), np.random.default_rng(0)
    for k in rng.integers(0, len(data), 60).tolist():
        broken = bytearray(data)
        broken[k] ^= 1 << int(rng.integers(8))
        (tmp_path / "run.npz").write_bytes(broken)
        with contextlib.suppress(ReadError):
            appell.Run.load(tmp_path / "run.npz")
