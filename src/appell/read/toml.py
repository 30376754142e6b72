"""Appell's own format: a robot as a TOML file.

A file contains the robot's name and either links and joints, or a Denavit–Hartenberg table. SI units; an angle is a
number of radians or text such as ``"90 deg"``::

    name = "pendulum"
    gravity = [0.0, 0.0, -9.81]             # optional, as are all keys below unless marked
    source = "where the numbers come from"
    notes = "what a reader should know"
    mimic = false                           # true couples joints that follow others, as mimic=True does
    floating = false                        # true adds a floating base "root", as floating=True does

    [[links]]
    name = "base"                           # required

    [[links]]
    name = "rod"
    mass = 2.0
    centre = [0.0, 0.0, -0.5]
    inertia = [0.1, 0.1, 0.01]              # about the centre: diagonal, or xx xy yy xz yz zz, or 3 rows of 3
    # parameters = [m, mx, my, mz, xx, xy, yy, xz, yz, zz]      about the origin, instead of the three above
    collisions = [{ kind = "capsule", radius = 0.02, length = 1.0, origin = { xyz = [0.0, 0.0, -0.5] } }]
    visuals = [{ kind = "mesh", file = "meshes/rod.stl", colour = [0.2, 0.5, 0.8, 1.0] }]
    # sphere: radius; capsule, cylinder: radius, length; box: size = [x, y, z]; ellipsoid: radii; mesh: file, scale

    [[joints]]
    name = "hinge"                          # required
    kind = "revolute"                       # required; see KINDS, and "universal"; "fixed" merges two links
    parent = "base"                         # required
    child = "rod"                           # required
    axis = [0.0, 1.0, 0.0]                  # [0, 0, 1] where absent
    origin = { xyz = [0.0, 0.0, 1.0], rpy = ["90 deg", 0.0, 0.0] }
    limits = { lower = "-170 deg", upper = "170 deg", velocity = 3.0, effort = 50.0 }
    offset = 0.0                            # added to q
    pitch = 0.0                             # advance per radian [m] where helical
    # axis2 = [0.0, 0.0, 1.0]               # the second axis where universal, required there
    mimic = { joint = "knee", multiplier = 1.0, offset = 0.0 }  # what it follows; see mimic at the top
    damping = 0.1
    friction = 0.0                          # Coulomb friction
    static_friction = 0.0                   # at rest, where it is more than friction, to which it falls over the speed
    stribeck_velocity = 0.0                 # [rad/s]; both act in simulations
    armature = 0.0
    stiffness = 0.0                         # of a spring at the joint, relaxed where q = spring_reference
    spring_reference = 0.0                  # joints of one coordinate have springs
    # elasticity = { stiffness = 2e4, damping = 5.0, rotor_inertia = 2e-4, ratio = 100.0 }
    #                                       # of the transmission: a motor "hinge/motor" drives the joint by a spring

and, where springs or dampers act between joints of one coordinate::

    [[springs]]
    name = "tendon"                         # required, as the next
    joints = { left = 1.0, right = -1.0 }   # coefficients c of the stretch Σ c·q − reference
    stiffness = 100.0                       # force per stretch
    damping = 0.5                           # force per rate of the stretch
    reference = 0.0

    [configurations]                        # by name: coordinates of some joints, 0 where absent
    folded = { hinge = "170 deg" }

and, where loops close it (:mod:`appell.model.closure`)::

    actuators = ["crank"]                   # the actuated joints; where absent, all independent ones
    home = { crank = "60 deg" }             # start of closing the loops, 0 by default
    independent = ["crank"]                 # the independent velocities; by default actuators and passive ones

    [[closures]]
    kind = "revolute"                       # required: a kind of closure, or rows = ["x", "y", "rz"]
    first = "coupler"                       # required: a frame (every link and joint is one), or one on a link,
    second = { link = "rocker", xyz = [0.4, 0.0, 0.0], rpy = [0.0, 0.0, 0.0] }
    name = "tip"                            # the two frames' where absent
    # radius = 0.1                          # of the wheel where kind = "rolling" (or rows = ["x", "y", "z"], which
    #                                       # hold its height too): z of first is the normal, z of second the axle

or, instead of `links` and `joints`::

    [dh]
    modified = true                         # false for a standard table (Paul)
    d_sign = 1                              # -1 where d counts against z (valera2003)

    [[dh.rows]]                             # the keys of appell.from_dh
    alpha = "90 deg"
    d = 0.15
    mass = 2.0

An unknown key is an error, so that a typing error is not silently ignored.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from appell.errors import ReadError
from appell.files import MEGABYTE
from appell.messages import alternatives, shown
from appell.model.build import Connection, Link, build
from appell.model.joints import KINDS
from appell.model.mimic import coupled
from appell.model.model import GRAVITY, Joint, Limits, Mimic, Model
from appell.read.dh import LOSS_KEYS, arm, joint_parameters
from appell.read.place import Contents, Place, check_keys, contents
from appell.read.shapes import SHAPE_KEYS, toml_shapes
from appell.read.toml_loops import LOOP_KEYS, closed, configurations, entries_of, name_of, origin
from appell.read.toml_springs import sprung
from appell.read.values import (
    INERTIA_KEYS,
    angle,
    direction,
    gravity_vector,
    inertia,
    limits,
    number,
    sequence,
    table,
    text,
    vector,
)
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector

TREE_KEYS = ("links", "joints")
TOP_KEYS = (
    *("name", "gravity", "source", "notes", "mimic", "floating", "configurations", "joint_columns", "springs", "dh"),
    *TREE_KEYS,
    *LOOP_KEYS,
)
LINK_KEYS = ("name", *INERTIA_KEYS, "included", *SHAPE_KEYS.values())
JOINT_KEYS = (
    "name",
    "kind",
    "parent",
    "child",
    "axis",
    "origin",
    "limits",
    "offset",
    "mimic",
    *LOSS_KEYS,
    "elasticity",
)
LARGEST_FILE = 2 * MEGABYTE
"""The largest accepted file [bytes], enough for five thousand links."""
DEEPEST = 8
DOTTED = re.compile(rb"(?:^|[\[{,])[ \t]*(?:[\w\"'-]+[ \t]*\.[ \t]*){%d}" % DEEPEST, re.MULTILINE)
"""A key with too many parts, such as a.a.a.…: the time of tomllib grows with the square of their number."""
OWN_KEYS = {"helical": "pitch", "universal": "axis2"}
"""The required key of one kind of joint."""


def read_toml(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Model:
    """Return the model of a file in appell's toml format, or of its text.

    Parameters
    ----------
    path_or_text
        A path, or the text itself: a string of more than one line.
    gravity
        Gravity in world axes [m/s²]; by default that of the file.
    source
        The name of the file in error messages; by default its path.

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
    top, place = tables(path_or_text, source)
    check_keys(top, TOP_KEYS, place)
    for key in ("source", "notes"):
        text(top.get(key, "-"), place.at(key))
    name = text(top.get("name", "robot"), place.at("name"))
    own_gravity = vector(top.get("gravity", GRAVITY), place.at("gravity"))
    read = _arm if _has_table(top, place) else _tree
    model = sprung(read(top, name, gravity_vector(gravity, own_gravity), place), top, place)
    model = closed(model.floating() if _flag(top, "floating", False, place) else model, top, place)
    columns = _flag(top, "joint_columns", False, place)
    model = replace(model, configurations=configurations(top, model, place), has_joint_columns=columns)
    return coupled(model) if _flag(top, "mimic", False, place) else model


def read_loops(model: Model, path: str | os.PathLike[str]) -> Model:
    """Return a model with the loops of a toml file that contains only closures, actuators and home."""
    given = contents(path, most=LARGEST_FILE)
    top, place = _tables(given), Place(given.source)
    check_keys(top, ("source", "notes", *LOOP_KEYS), place)
    if "closures" not in top:
        raise place.error("no [[closures]]; a file of loops needs at least one")
    return closed(model, top, place)


def tables(path_or_text: str | os.PathLike[str], source: str | None = None) -> tuple[Mapping[str, object], Place]:
    """Return the tables of a TOML file, or of its text, and their place."""
    given = contents(path_or_text, lambda given_text: "\n" in given_text, source, LARGEST_FILE)
    return _tables(given), Place(given.source)


def _tables(given: Contents) -> Mapping[str, object]:
    dotted = DOTTED.search(given.data)
    if dotted:
        line = given.data[: dotted.end()].count(b"\n") + 1
        raise ReadError(f"a key has more than {DEEPEST} parts; expected fewer", given.source, line)
    try:
        return tomllib.loads(given.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = given.data[: error.start].count(b"\n") + 1
        raise ReadError("not UTF-8 text, as TOML requires; convert the file", given.source, line) from None
    except ValueError as error:
        at_line = re.search(r"\(at line (\d+),", str(error))
        raise ReadError(f"not readable as TOML: {error}", given.source, int(at_line[1]) if at_line else None) from None
    except RecursionError:
        raise ReadError("not readable as TOML: nested too deeply", given.source) from None


def _has_table(top: Mapping[str, object], place: Place) -> bool:
    """Return whether the robot is given by a Denavit–Hartenberg table or by links and joints, one of them."""
    tree = [key for key in TREE_KEYS if key in top]
    if "dh" in top and tree:
        raise place.error(f"give [dh] or [[{tree[0]}]], not both")
    if "dh" not in top and "links" not in top:
        raise place.error("no robot; add [[links]] and [[joints]], or [dh]")
    return "dh" in top


def _arm(top: Mapping[str, object], name: str, gravity: Vector, place: Place) -> Model:
    here = place.at("dh")
    dh = table(top["dh"], here)
    check_keys(dh, ("modified", "d_sign", "rows"), here)
    modified, d_sign = _flag(dh, "modified", True, here), dh.get("d_sign", 1)
    if isinstance(d_sign, bool) or not isinstance(d_sign, int):
        raise here.at("d_sign").error(f"expected 1 or -1, got {shown(d_sign)}")
    rows = sequence(dh.get("rows", []), here.at("rows"))
    return arm(rows, here.at("rows"), modified=modified, d_sign=d_sign, name=name, gravity=gravity)


def _flag(entries: Mapping[str, object], key: str, default: bool, place: Place) -> bool:
    value = entries.get(key, default)
    if not isinstance(value, bool):
        raise place.at(key).error(f"expected true or false, got {shown(value)}")
    return value


def _tree(top: Mapping[str, object], name: str, gravity: Vector, place: Place) -> Model:
    links = [_link(entry, place.at("links").at(i)) for i, entry in entries_of(top, "links", place)]
    connections = [_connection(entry, place.at("joints").at(i)) for i, entry in entries_of(top, "joints", place)]
    model = build(name, links, connections, gravity=gravity, source=place.source)
    return replace(model, shapes=tuple(toml_shapes(top, place)))


def _link(value: object, place: Place) -> Link:
    entries = table(value, place)
    check_keys(entries, LINK_KEYS, place)
    included = inertia({"parameters": entries["included"]}, place.at("included")) if "included" in entries else None
    return Link(name_of(entries, "name", place), inertia(entries, place), included=included)


def _connection(value: object, place: Place) -> Connection:
    entries = table(value, place)
    kind = name_of(entries, "kind", place)
    known = [*KINDS, "universal", "fixed"]
    if kind not in known:
        raise place.at("kind").error(f"unknown kind '{kind}'; {alternatives(kind, known)}")
    check_keys(entries, (*JOINT_KEYS, OWN_KEYS[kind]) if kind in OWN_KEYS else JOINT_KEYS, place)
    if kind in OWN_KEYS and OWN_KEYS[kind] not in entries:
        raise place.error(f"a {kind} joint needs '{OWN_KEYS[kind]}'; add it")
    turns = kind == "universal" or (kind in KINDS and KINDS[kind].turns)
    joint = Joint(
        name_of(entries, "name", place),
        kind,
        axis=direction(vector(entries.get("axis", (0.0, 0.0, 1.0)), place.at("axis"))),
        placement=origin(entries["origin"], place.at("origin")) if "origin" in entries else Pose(),
        offset=(angle if turns else number)(entries.get("offset", 0.0), place.at("offset")),
        limits=limits(entries["limits"], turns, place.at("limits")) if "limits" in entries else Limits(),
        **joint_parameters(entries, turns, place),
        pitch=number(entries.get("pitch", 0.0), place.at("pitch")),
        mimic=_mimic(entries["mimic"], turns, place.at("mimic")) if "mimic" in entries else None,
    )
    axis2 = direction(vector(entries["axis2"], place.at("axis2"))) if "axis2" in entries else None
    for key in ("offset", "mimic"):
        if kind == "universal" and key in entries:
            raise place.at(key).error("a universal joint has two coordinates; write two revolute joints")
    return Connection(joint, name_of(entries, "parent", place), name_of(entries, "child", place), axis2=axis2)


def _mimic(value: object, turns: bool, place: Place) -> Mimic:
    entries = table(value, place)
    check_keys(entries, ("joint", "multiplier", "offset"), place)
    return Mimic(
        name_of(entries, "joint", place),
        number(entries.get("multiplier", 1.0), place.at("multiplier")),
        (angle if turns else number)(entries.get("offset", 0.0), place.at("offset")),
    )
