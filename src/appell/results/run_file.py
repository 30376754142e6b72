"""The parts of a run's .npz file, each checked before a run is made of them; errors name the file and the part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from appell.errors import AppellError, ReadError
from appell.files import shortened
from appell.loading import read_text
from appell.messages import shown
from appell.read.npz import read_arrays
from appell.read.place import Place, check_keys
from appell.read.values import sequence, table
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

VERSION = 2
"""Of the files that :meth:`appell.Run.save` writes."""
ABOUT = "about"
ARRAYS = ("t", "q", "v", "a", "tau", "energy")
PATH = ("starts", "ends", "coefficients", "quaternions")
KEYS = ("appell", "robot", "joints", "text", "walls", "ended_early", "notes", "impacts", "rests", "events")

TEXT, NAMES = "text", "names"
Shape = tuple[str | int, ...]
"""Sizes, as numbers or by name: k contacts of an impact, nq coordinates, nv velocities."""
SCALAR: Shape = ()
RECORDS: Mapping[str, Mapping[str, str | Shape]] = {
    "impacts": {
        "time": SCALAR,
        "points": NAMES,
        "walls": NAMES,
        **dict.fromkeys(("positions", "normals", "slip", "friction"), ("k", 3)),
        **dict.fromkeys(("approach", "departure", "impulse"), ("k",)),
        **dict.fromkeys(("energy_before", "energy_after"), SCALAR),
        **dict.fromkeys(("v_before", "v_after"), ("nv",)),
    },
    "rests": {
        "point": TEXT,
        "wall": TEXT,
        "start": SCALAR,
        "end": SCALAR,
        "link": TEXT,
        "position": (3,),
        "radius": SCALAR,
    },
    "events": {"name": TEXT, "time": SCALAR, "q": ("nq",), "v": ("nv",)},
}
"""The fields of each kind of record, with their types."""


class RunParts(NamedTuple):
    """The content of a file: arrays, arrays of the path, records by kind, other entries by key, and the robot."""

    arrays: dict[str, Array]
    path: dict[str, Array]
    records: dict[str, list[dict[str, Any]]]
    about: dict[str, Any]
    robot: Robot | None


def read_parts(path: Path) -> RunParts:
    """Return the parts of a file that :meth:`appell.Run.save` wrote.

    Raises
    ------
    ReadError
        When the file is not there, not whole, of another version, or has a part that no run has.
    """
    place = Place(shortened(path))
    given = read_arrays(path)
    about = _about(given.pop(ABOUT, None), place)
    expected = [*ARRAYS, *(f"path_{name}" for name in PATH)]
    check_keys(given, expected, place)
    for name in expected:
        if name not in given:
            raise place.error(f"there is no part '{name}'; save the run again")
    arrays = _arrays(given, bool(about["ended_early"]), place)
    sizes = {name: arrays[name[1]].shape[1] for name in ("nq", "nv")}
    curves = _path({name: given[f"path_{name}"] for name in PATH}, sizes, place)
    here = place.at(ABOUT)
    records = {
        kind: [_record(value, fields, sizes, at) for value, at in _entries(about, kind, here)]
        for kind, fields in RECORDS.items()
    }
    return RunParts(arrays, curves, records, about, _robot(about, arrays, here))


def _about(given: Array | None, place: Place) -> dict[str, Any]:
    """Return the JSON entry, with its texts checked."""
    here = place.at(ABOUT)
    if given is None or given.shape != () or given.dtype.kind != "U":
        raise place.error(f"not a run of appell's: expected a text '{ABOUT}'")
    try:
        about = dict(table(json.loads(str(given)), here))
    except ReadError:
        raise
    except (ValueError, RecursionError) as error:
        raise here.error(f"not readable as JSON: {error}") from None
    if about.get("appell") != VERSION:
        raise place.error(
            f"a run of another version of appell ({shown(about.get('appell'))}, expected {VERSION}); simulate it again"
        )
    check_keys(about, KEYS, here)
    for key in KEYS:
        if key not in about:
            raise here.error(f"there is no '{key}'; save the run again")
    for key in ("robot", "ended_early"):
        about[key] = _text(about[key], here.at(key))
    for key in ("joints", "notes"):
        about[key] = _names(about[key], here.at(key))
    about["walls"] = [_wall(value, at) for value, at in _entries(about, "walls", here)]
    return about


def _entries(about: Mapping[str, Any], key: str, place: Place) -> list[tuple[object, Place]]:
    """Return the entries of a list, each with its place."""
    return [(value, place.at(key).at(i)) for i, value in enumerate(sequence(about[key], place.at(key)))]


def _text(value: object, place: Place) -> str:
    if not isinstance(value, str):
        raise place.error(f"expected text, got {shown(value)}")
    return value


def _names(value: object, place: Place) -> tuple[str, ...]:
    return tuple(_text(x, place.at(i)) for i, x in enumerate(sequence(value, place)))


def _wall(value: object, place: Place) -> tuple[str, list[list[float]] | None]:
    """Return the label and the line of a wall's outline."""
    parts = sequence(value, place)
    if len(parts) != 2:
        raise place.error(f"expected a label and a line, got {shown(value)}")
    line = None if parts[1] is None else _numbers(parts[1], ("n", 3), {}, place.at(1)).tolist()
    return _text(parts[0], place.at(0)), line


def _numbers(value: object, shape: Shape, sizes: Mapping[str, int], place: Place) -> Array:
    """Return finite numbers of a shape; a size that is not among `sizes` may be any."""
    try:
        array = np.array(value)
    except (ValueError, RecursionError):  # lists of unequal lengths
        array = np.array(None)
    wanted = tuple(sizes.get(n, n) if isinstance(n, str) else n for n in shape)
    fits = len(wanted) == array.ndim and all(n in (m, "n") for n, m in zip(wanted, array.shape, strict=True))
    if array.dtype.kind not in "fiu" or not fits:
        size = " × ".join(map(str, wanted))
        raise place.error(f"expected {f'{size} numbers' if size else 'a number'}, got {shown(value)}")
    if not np.isfinite(array).all():
        raise place.error("expected finite numbers")
    return np.asarray(array, dtype=float)


def _record(value: object, fields: Mapping[str, str | Shape], sizes: Mapping[str, int], place: Place) -> dict[str, Any]:
    """Return the fields of an impact, a contact interval or an event."""
    entries, sizes = table(value, place), dict(sizes)
    check_keys(entries, fields, place)
    record: dict[str, Any] = {}
    for key, kind in fields.items():
        if key not in entries:
            raise place.error(f"there is no '{key}'")
        here = place.at(key)
        if kind == TEXT:
            record[key] = _text(entries[key], here)
        elif kind == NAMES:
            record[key] = _names(entries[key], here)
            if sizes.setdefault("k", len(record[key])) != len(record[key]):
                raise here.error(f"expected {sizes['k']} names, got {len(record[key])}")
        else:
            array = _numbers(entries[key], tuple(kind), sizes, here)
            record[key] = array if array.ndim else float(array)
    return record


def _arrays(given: Mapping[str, Array], is_early: bool, place: Place) -> dict[str, Array]:
    """Return times, states, torques and energies, one row per time; only a run that ended early may have NaN."""
    arrays = {name: _floats(given[name], 1 if name in ("t", "energy") else 2, place.at(name)) for name in ARRAYS}
    for name, array in arrays.items():
        if len(array) != len(arrays["t"]):
            raise place.at(name).error(f"expected {len(arrays['t'])} rows, one per time, got {len(array)}")
        if not np.isfinite(array).all() and not (is_early and name in ("a", "tau", "energy")):
            raise place.at(name).error("expected finite numbers")
    if (np.diff(arrays["t"]) < 0.0).any():
        raise place.at("t").error("expected times that do not decrease")
    if arrays["a"].shape[1] != arrays["v"].shape[1]:
        raise place.at("a").error(f"expected {arrays['v'].shape[1]} columns as v has, got {arrays['a'].shape[1]}")
    return arrays


def _floats(array: Array, dimensions: int, place: Place) -> Array:
    if array.dtype.kind != "f" or array.ndim != dimensions:
        raise place.error(f"expected floats of {dimensions} dimensions, got {array.dtype} of shape {array.shape}")
    return array.astype(float)


def _path(given: dict[str, Array], sizes: Mapping[str, int], place: Place) -> dict[str, Array]:
    """Return the polynomials of consecutive steps."""
    places = {name: place.at(f"path_{name}") for name in PATH}
    starts, ends = (_floats(given[name], 1, places[name]) for name in ("starts", "ends"))
    width = sizes["nq"] + sizes["nv"]
    coefficients, quaternions = given["coefficients"], given["quaternions"]
    if len(starts) or coefficients.shape != (0,):
        coefficients = _floats(coefficients, 3, places["coefficients"])
        if coefficients.shape != (len(starts), max(coefficients.shape[1], 1), width):
            raise places["coefficients"].error(
                f"expected shape ({len(starts)}, degree + 1, {width}), got {coefficients.shape}"
            )
    for name, array in (("starts", starts), ("ends", ends), ("coefficients", coefficients)):
        if len(array) != len(starts) or not np.isfinite(array).all():
            raise places[name].error(f"expected {len(starts)} finite entries, one per step")
    if (ends <= starts).any() or (np.diff(starts) < 0.0).any() or (np.diff(ends) < 0.0).any():
        raise places["starts"].error("expected steps one after the other, each from its start to its end")
    if quaternions.dtype.kind != "i" or quaternions.ndim != 1:
        raise places["quaternions"].error(f"expected integers, got {quaternions.dtype} of shape {quaternions.shape}")
    if (quaternions < 0).any() or (quaternions > sizes["nq"] - 4).any():
        raise places["quaternions"].error(f"expected the places of quaternions among {sizes['nq']} coordinates")
    return {"starts": starts, "ends": ends, "coefficients": coefficients, "quaternions": quaternions}


def _robot(about: Mapping[str, Any], arrays: Mapping[str, Array], place: Place) -> Robot | None:
    """Return the robot described in the file, after a check that it fits the arrays."""
    if about["text"] is None:
        return None
    here, given = place.at("text"), about["text"]
    if not isinstance(given, str) or "\n" not in given:  # a line alone would be taken for the name of a file
        raise here.error(f"expected the text of a robot's toml file, got {shown(given)}")
    try:
        robot = read_text(given, about["robot"])
    except AppellError as error:
        raise here.error(str(error)) from None
    for name, size in {"q": robot.nq, "v": robot.nv, "tau": robot.nu}.items():
        if arrays[name].shape[1] != size:
            raise here.error(f"robot '{robot.name}' needs {size} columns of {name}, got {arrays[name].shape[1]}")
    if tuple(robot.joint_names) != about["joints"]:
        raise place.at("joints").error(f"expected the joints of robot '{robot.name}'")
    return robot
