"""Assignment of a file's columns to quantities: by a user's map, or by the names in the header."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from appell.errors import InputError, ReadError
from appell.logs.table import QUANTITIES, LogTable
from appell.robot.robot import Robot

Columns = str | Mapping[str, Any]
"""A map from quantities to columns (numbers, ranges, names, patterns), as a dict or as text."""

TIMES = ("t", "time", "timestamp", "stamp", "seconds", "elapsed")
WORDS = {
    "q": ("q", "position", "positions", "pos", "angle", "actual_q", "actual_position", "joint_position"),
    "v": ("v", "qd", "dq", "velocity", "velocities", "vel", "speed", "actual_qd", "actual_velocity", "joint_velocity"),
    "a": ("a", "qdd", "ddq", "acceleration", "accelerations", "acc", "joint_acceleration"),
    "tau": ("tau", "effort", "efforts", "torque", "torques", "joint_torque", "joint_effort", "actual_torque"),
    "current": ("current", "currents", "i", "motor_current", "actual_current", "joint_current"),
}
"""Names of the quantities in common headers."""
MEANINGS = {word: kind for kind, words in WORDS.items() for word in words}
EXAMPLE = "t=0,q=1:7,v=7:13,current=13:19"


class Choice(NamedTuple):
    """The columns of a quantity and their factor to SI units."""

    columns: list[int]
    factor: float = 1.0


class ColumnPlan(NamedTuple):
    """The columns to read: the mapped quantities, and other columns, which are kept if they are numeric."""

    wanted: dict[str, Choice]
    others: dict[str, Choice]
    joints: tuple[str, ...]


def plan(columns: Columns | None, table: LogTable, robot: Robot | None, source: str) -> ColumnPlan:
    """Return the columns of each quantity, from the given map or else from the header.

    Raises
    ------
    InputError, ReadError
        When a map contains unknown columns, or there is neither a map nor a header.
    """
    # the robot's motors if each has one coordinate; others cannot be ordered by joint name
    names = robot.actuators if robot is not None and robot.nu == len(robot.actuators) else []
    if columns is not None:
        return _given(columns, table, names, source)
    if table.names is None:
        raise ReadError(
            f"has no header and {table.width} columns; map them, for example columns='{EXAMPLE}' (counted from 0, "
            "end of range excluded)",
            source,
        )
    if not table.names:
        raise ReadError("has no numeric columns; expected times t (n,) and positions q (n, joints)", source)
    found = _guessed(table, names, source)
    for name in ("t", "q"):
        if name not in found.wanted:
            known = ", ".join(table.names[:20]) + (" …" if len(table.names) > 20 else "")
            raise ReadError(
                f"no column of {'times' if name == 't' else 'positions'} recognised; the columns are {known}; "
                f"give a map such as columns={{'t': '{table.names[0]}', 'q': [names or a pattern]}}",
                source,
            )
    return found


# User maps


def parsed(text: str) -> dict[str, Any]:
    """Return the map of a text; names without an equals sign belong to the previous quantity.

    >>> parsed("t=0,q=1:7")
    {'t': ['0'], 'q': ['1:7']}
    >>> parsed("t=time,q=left,right")
    {'t': ['time'], 'q': ['left', 'right']}
    """
    found: dict[str, Any] = {}
    key = ""
    for part in filter(None, (x.strip() for x in text.split(","))):
        name, mark, value = part.partition("=")
        if mark:
            key = name.strip()
            if not key or not value.strip() or key in found:
                problem = "is repeated" if key in found else "needs a name and columns"
                raise InputError(f"columns: '{part}' {problem}; example: '{EXAMPLE}'")
            found[key] = [value.strip()]
        elif not key:
            raise InputError(f"columns: '{part}' belongs to no quantity; example: '{EXAMPLE}'")
        else:
            found[key].append(part)
    return found


def _given(columns: Columns, table: LogTable, joints: Sequence[str], source: str) -> ColumnPlan:
    given = parsed(columns) if isinstance(columns, str) else dict(columns)
    given.pop("topic", None)
    for name in ("t", "q"):
        if name not in given:
            raise InputError(f"columns: '{name}' is missing; expected at least t and q, example: '{EXAMPLE}'")
    wanted = {name: _choice(name, value, table, joints, source) for name, value in given.items()}
    if len(wanted["t"].columns) != 1:
        raise InputError(f"columns: t: expected one column of times, got {len(wanted['t'].columns)}")
    return ColumnPlan(wanted, {}, _labelled(wanted["q"].columns, table, joints))


def _choice(name: str, value: Any, table: LogTable, joints: Sequence[str], source: str) -> Choice:
    parts = value if isinstance(value, list | tuple | range) else [value]
    factor = 1.0
    if parts and isinstance(parts[0], str):
        scaled = re.fullmatch(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)\*(.+)", parts[0])
        if scaled:
            factor, parts = float(scaled[1]), [scaled[2], *parts[1:]]
    columns: list[int] = []
    for part in parts:
        columns += _places(name, part, table, joints, source)
    if not columns:
        raise InputError(f"columns: {name}: expected one or more columns, got {value!r}")
    return Choice(columns, factor)


def _places(name: str, part: Any, table: LogTable, joints: Sequence[str], source: str) -> list[int]:
    """Return the columns of one entry of a map: an integer, a slice, "1:7", a name or a pattern."""
    names = table.names or ()
    if isinstance(part, str) and part in table.groups:
        return list(table.groups[part])
    if isinstance(part, str) and part in names:
        return [names.index(part)]
    if isinstance(part, str) and re.fullmatch(r"\d+", part):
        part = int(part)
    elif isinstance(part, str) and (ends := re.fullmatch(r"(\d+):(\d+)", part)):
        part = slice(int(ends[1]), int(ends[2]))
    if isinstance(part, slice):
        wanted = list(range(part.start or 0, table.width if part.stop is None else part.stop, part.step or 1))
    elif isinstance(part, str):
        matched = [k for k, x in enumerate(names) if fnmatch.fnmatchcase(x, part)]
        if not matched:
            known = (
                f"the names are {', '.join(names)}" if names else f"the file has no header and {table.width} columns"
            )
            raise ReadError(f"columns: {name}: no column named '{part}'; {known}", source)
        return _ordered(matched, names, joints)
    else:
        try:
            wanted = [int(part)]
        except (TypeError, ValueError):
            raise InputError(f"columns: {name}: expected numbers, ranges or names of columns, got {part!r}") from None
    outside = [k for k in wanted if not 0 <= k < table.width]
    if outside:
        raise ReadError(f"columns: {name}: no column {outside[0]}; the file has columns 0 to {table.width - 1}", source)
    return wanted


def _ordered(matched: list[int], names: Sequence[str], joints: Sequence[str]) -> list[int]:
    """Return columns in the robot's order if their names contain joints, else by number, else in file order."""
    if joints:
        owners = {joint: k for k in matched if (joint := _joint_in(names[k], joints))}
        if len(owners) == len(matched) == len(joints):
            return [owners[joint] for joint in joints]
    numbers = [re.search(r"(\d+)\D*$", names[k]) for k in matched]
    found = [int(x[1]) for x in numbers if x]
    return [k for _, k in sorted(zip(found, matched, strict=True))] if len(set(found)) == len(matched) else matched


def _joint_in(name: str, joints: Sequence[str]) -> str | None:
    """Return the joint whose name is a word of a column's name; the longest if there are several."""
    inside = [x for x in joints if re.search(rf"(?<![A-Za-z0-9]){re.escape(x)}(?![A-Za-z0-9])", name)]
    return max(inside, key=len, default=None)


def _labelled(columns: Sequence[int], table: LogTable, joints: Sequence[str]) -> tuple[str, ...]:
    """Return the joints of the columns of q, from their names or from the robot's order."""
    if joints:
        return tuple(joints) if len(columns) == len(joints) else ()
    found = [_meaning((table.names or ())[k]) for k in columns] if table.names else []
    labels = [x[1] for x in found if x is not None and x[1] and not x[1].isdigit()]
    return tuple(labels) if labels and len(labels) == len(columns) else ()


# Names in the header


def _guessed(table: LogTable, joints: Sequence[str], source: str) -> ColumnPlan:
    names = table.names or ()
    wanted: dict[str, Choice] = {}
    if (time := next((k for word in TIMES for k, x in enumerate(names) if _plain(x) == word), None)) is not None:
        wanted["t"] = Choice([time])
    found: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        meaning = _meaning(name, joints)
        if meaning and k != time:
            found.setdefault(meaning[0], []).append(k)
    for kind, columns in found.items():
        labels = [(_meaning(names[k], joints) or ("", ""))[1] for k in columns]
        if len(set(labels)) < len(labels):
            twice = [names[k] for k, x in zip(columns, labels, strict=True) if labels.count(x) > 1]
            raise ReadError(f"columns {', '.join(twice[:4])} all match {kind}; select one with columns=…", source)
        wanted[kind] = Choice(_by_joint(kind, columns, labels, names, joints, source))
    used = {k for choice in wanted.values() for k in choice.columns}
    q = wanted.get("q", Choice([])).columns
    return ColumnPlan(wanted, _rest(names, used), _labelled(q, table, joints))


def _by_joint(
    kind: str, columns: list[int], labels: Sequence[str], names: Sequence[str], joints: Sequence[str], source: str
) -> list[int]:
    """Return the columns of one quantity in the robot's order, or in file order if their names contain no joints."""
    named = [x for x in joints if x in labels]
    if not named:
        return _ordered(columns, names, ())
    missing = [x for x in joints if x not in labels]
    if missing:
        raise ReadError(f"{kind}: no column for joint {', '.join(missing)}; found {', '.join(named)}", source)
    return [columns[labels.index(x)] for x in joints]


def _plain(name: str) -> str:
    """Return a name in lower case without its unit: "Time [s]" is "time"; "q[0]" keeps its number."""
    return re.sub(r"[\[(][^\d\[\]()]*[\])]$", "", name.strip().lower()).strip().lstrip("/")


def _meaning(name: str, joints: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return the quantity in a column's name, and its joint or number.

    >>> _meaning("qd_3"), _meaning("Position[0] (rad)"), _meaning("/joint_states/elbow/effort"), _meaning("tau_des1")
    (('v', '3'), ('q', '0'), ('tau', 'elbow'), None)
    >>> _meaning("arm_elbow_velocity", ["arm_elbow"])
    ('v', 'arm_elbow')
    """
    joint = _joint_in(name, joints)
    if joint:
        rest = [x.strip("_ -[]()") for x in re.split(r"[/.:]", _plain(name.replace(joint, "", 1)))]
        word = next((x for x in reversed(rest) if x), "")
        return (MEANINGS[word], joint) if word in MEANINGS else None
    plain = _plain(name)
    numbered = re.fullmatch(r"(?:.*/)?([a-z_]+?)s?[ ._\[(/]*(\d+)[\])]?", plain)
    if numbered and numbered[1] in MEANINGS:
        return MEANINGS[numbered[1]], numbered[2]
    parts = re.split(r"[/.:]", plain)
    case = re.split(r"[/.:]", name.strip().lstrip("/"))
    if parts[-1] in MEANINGS:
        return MEANINGS[parts[-1]], case[-2] if len(parts) > 1 else ""
    if len(parts) == 2 and parts[0] in MEANINGS:
        return MEANINGS[parts[0]], case[1]
    return None


def _rest(names: Sequence[str], used: set[int]) -> dict[str, Choice]:
    """Return the unassigned columns, numbered ones grouped: tau_des1 … tau_des6 are tau_des."""
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        if k not in used:
            stem = re.sub(r"[ _.\[(]*\d+[\])]?$", "", name) or name
            groups.setdefault(stem, []).append(k)
    return {name if name not in QUANTITIES else f"{name}_": Choice(columns) for name, columns in groups.items()}
