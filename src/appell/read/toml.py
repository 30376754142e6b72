"""Appell's own format: a robot as a TOML file.

A file says what the robot is called and holds either links and joints, or a Denavit–Hartenberg table. SI units; an
angle is a number of radians or text such as ``"90 deg"``::

    name = "pendulum"
    gravity = [0.0, 0.0, -9.81]             # optional, as are all keys below unless marked
    source = "where the numbers come from"
    notes = "what a reader should know"

    [[links]]
    name = "base"                           # required

    [[links]]
    name = "rod"
    mass = 2.0
    centre = [0.0, 0.0, -0.5]
    inertia = [0.1, 0.1, 0.01]              # about the centre: diagonal, or xx xy yy xz yz zz, or 3 rows of 3
    # parameters = [m, mx, my, mz, xx, xy, yy, xz, yz, zz]      about the origin, instead of the three above

    [[joints]]
    name = "hinge"                          # required
    kind = "revolute"                       # required; see KINDS, and "universal"; "fixed" makes two links one body
    parent = "base"                         # required
    child = "rod"                           # required
    axis = [0.0, 1.0, 0.0]                  # [0, 0, 1] where absent
    origin = { xyz = [0.0, 0.0, 1.0], rpy = ["90 deg", 0.0, 0.0] }
    limits = { lower = "-170 deg", upper = "170 deg", velocity = 3.0, effort = 50.0 }
    offset = 0.0                            # added to q
    pitch = 0.0                             # advance per radian [m] where helical
    # axis2 = [0.0, 0.0, 1.0]               # the second axis where universal, required there
    mimic = { joint = "knee", multiplier = 1.0, offset = 0.0 }  # what it follows if loaded with mimic=True
    damping = 0.1
    friction = 0.0
    armature = 0.0

or, instead of `links` and `joints`::

    [dh]
    modified = true                         # false for a standard table (Paul)
    d_sign = 1                              # -1 where d counts against z (valera2003)

    [[dh.rows]]                             # the keys of appell.from_dh
    alpha = "90 deg"
    d = 0.15
    mass = 2.0

A key that is not listed is an error, so that a typing error never passes for a default.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence

from appell.errors import ReadError
from appell.model.build import Connection, Link, build, listed
from appell.model.joints import KINDS
from appell.model.model import GRAVITY, Joint, Limits, Mimic, Model
from appell.read.dh import LOSS_KEYS, arm
from appell.read.place import Contents, Place, check_keys, contents
from appell.read.values import (
    INERTIA_KEYS,
    angle,
    direction,
    gravity_vector,
    inertia,
    limits,
    number,
    pose,
    sequence,
    shown,
    table,
    text,
    vector,
)
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import ZERO

TREE_KEYS = ("links", "joints")
TOP_KEYS = ("name", "gravity", "source", "notes", *TREE_KEYS, "dh")
LINK_KEYS = ("name", *INERTIA_KEYS)
JOINT_KEYS = ("name", "kind", "parent", "child", "axis", "origin", "limits", "offset", "mimic", *LOSS_KEYS)
OWN_KEYS = {"helical": "pitch", "universal": "axis2"}
"""The key that one kind of joint has and needs."""


def read_toml(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Model:
    """Return the model of a file in appell's own format, or of its text.

    Parameters
    ----------
    path_or_text
        A path, or the text itself: a string of more than one line.
    gravity
        Gravity in world axes [m/s²]; the file's own unless given.
    source
        What errors call the file; its path unless given.

    Raises
    ------
    ReadError
        When the file cannot be read or does not describe a robot; the message names the file and the key.

    Examples
    --------
    >>> model = read_toml('''
    ... name = "pendulum"
    ... [[dh.rows]]
    ... alpha = "90 deg"
    ... mass = 2.0
    ... centre = [0.5, 0.0, 0.0]
    ... ''')
    >>> model.name, model.bodies[0].inertia.mass
    ('pendulum', 2.0)
    """
    given = contents(path_or_text, lambda given_text: "\n" in given_text)
    if source is not None:
        given = given._replace(source=source)
    top, place = _tables(given), Place(given.source)
    check_keys(top, TOP_KEYS, place)
    for key in ("source", "notes"):
        text(top.get(key, "-"), place.at(key))
    name = text(top.get("name", "robot"), place.at("name"))
    own_gravity = vector(top.get("gravity", GRAVITY), place.at("gravity"))
    read = _arm if _has_table(top, place) else _tree
    return read(top, name, gravity_vector(gravity, own_gravity), place)


def _tables(given: Contents) -> Mapping[str, object]:
    try:
        return tomllib.loads(given.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = given.data[: error.start].count(b"\n") + 1
        raise ReadError("not UTF-8 text, which TOML must be", given.source, line) from None
    except ValueError as error:
        at_line = re.search(r"\(at line (\d+),", str(error))
        raise ReadError(f"not readable as TOML: {error}", given.source, int(at_line[1]) if at_line else None) from None
    except RecursionError:
        raise ReadError("not readable as TOML: nested too deeply", given.source) from None


def _has_table(top: Mapping[str, object], place: Place) -> bool:
    """Return whether the robot is a Denavit–Hartenberg table rather than links and joints; it must be one of them."""
    tree = [key for key in TREE_KEYS if key in top]
    if "dh" in top and tree:
        raise place.error(f"give [dh] or [[{tree[0]}]], not both")
    if "dh" not in top and "links" not in top:
        raise place.error("there is no robot; give [[links]] and [[joints]], or [dh]")
    return "dh" in top


def _arm(top: Mapping[str, object], name: str, gravity: Vector, place: Place) -> Model:
    here = place.at("dh")
    dh = table(top["dh"], here)
    check_keys(dh, ("modified", "d_sign", "rows"), here)
    modified, d_sign = dh.get("modified", True), dh.get("d_sign", 1)
    if not isinstance(modified, bool):
        raise here.at("modified").error(f"expected true or false, got {shown(modified)}")
    if isinstance(d_sign, bool) or not isinstance(d_sign, int):
        raise here.at("d_sign").error(f"expected 1 or -1, got {shown(d_sign)}")
    rows = sequence(dh.get("rows", []), here.at("rows"))
    return arm(rows, here.at("rows"), modified=modified, d_sign=d_sign, name=name, gravity=gravity)


def _tree(top: Mapping[str, object], name: str, gravity: Vector, place: Place) -> Model:
    links = [_link(entry, place.at("links").at(i)) for i, entry in _listed(top, "links", place)]
    connections = [_connection(entry, place.at("joints").at(i)) for i, entry in _listed(top, "joints", place)]
    return build(name, links, connections, gravity=gravity, source=place.source)


def _listed(top: Mapping[str, object], key: str, place: Place) -> list[tuple[int, object]]:
    return list(enumerate(sequence(top.get(key, []), place.at(key))))


def _link(value: object, place: Place) -> Link:
    entries = table(value, place)
    check_keys(entries, LINK_KEYS, place)
    return Link(_name(entries, "name", place), inertia(entries, place))


def _connection(value: object, place: Place) -> Connection:
    entries = table(value, place)
    kind = _name(entries, "kind", place)
    known = [*KINDS, "universal", "fixed"]
    if kind not in known:
        raise place.at("kind").error(f"unknown kind '{kind}'; known kinds: {listed(known)}")
    check_keys(entries, (*JOINT_KEYS, OWN_KEYS[kind]) if kind in OWN_KEYS else JOINT_KEYS, place)
    if kind in OWN_KEYS and OWN_KEYS[kind] not in entries:
        raise place.error(f"a {kind} joint needs '{OWN_KEYS[kind]}'; add it")
    turns = kind == "universal" or (kind in KINDS and KINDS[kind].turns)
    damping, friction, armature = (number(entries.get(key, 0.0), place.at(key)) for key in LOSS_KEYS)
    joint = Joint(
        _name(entries, "name", place),
        kind,
        axis=direction(vector(entries.get("axis", (0.0, 0.0, 1.0)), place.at("axis"))),
        placement=_origin(entries["origin"], place.at("origin")) if "origin" in entries else Pose(),
        offset=(angle if turns else number)(entries.get("offset", 0.0), place.at("offset")),
        limits=limits(entries["limits"], turns, place.at("limits")) if "limits" in entries else Limits(),
        damping=damping,
        friction=friction,
        armature=armature,
        pitch=number(entries.get("pitch", 0.0), place.at("pitch")),
        mimic=_mimic(entries["mimic"], turns, place.at("mimic")) if "mimic" in entries else None,
    )
    axis2 = direction(vector(entries["axis2"], place.at("axis2"))) if "axis2" in entries else None
    for key in ("offset", "mimic"):
        if kind == "universal" and key in entries:
            raise place.at(key).error("a universal joint has two coordinates; write two revolute joints")
    return Connection(joint, _name(entries, "parent", place), _name(entries, "child", place), axis2=axis2)


def _mimic(value: object, turns: bool, place: Place) -> Mimic:
    entries = table(value, place)
    check_keys(entries, ("joint", "multiplier", "offset"), place)
    return Mimic(
        _name(entries, "joint", place),
        number(entries.get("multiplier", 1.0), place.at("multiplier")),
        (angle if turns else number)(entries.get("offset", 0.0), place.at("offset")),
    )


def _name(entries: Mapping[str, object], key: str, place: Place) -> str:
    if key not in entries:
        raise place.error(f"there is no '{key}'; add it")
    return text(entries[key], place.at(key))


def _origin(value: object, place: Place) -> Pose:
    entries = table(value, place)
    check_keys(entries, ("xyz", "rpy"), place)
    angles = sequence(entries.get("rpy", ZERO), place.at("rpy"))
    in_radians = [angle(entry, place.at("rpy").at(i)) for i, entry in enumerate(angles)]
    return pose(vector(entries.get("xyz", ZERO), place.at("xyz")), vector(in_radians, place.at("rpy")))
