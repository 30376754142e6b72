"""Loops in a separate file: the ``robot.yaml`` of example-parallel-robots, or appell's toml.

A ``robot.yaml`` pairs frames of the tree and specifies the closures::

    closed_loop: [['closedloop1_A', 'closedloop1_B']]   # frames that coincide
    type: ['6d']                                        # '3d': their origins do; '6d': their axes too
    name_mot: ['mot1', 'mot2']                          # the actuated joints
    joint_name: ['rod_ball']                            # optional: joints whose type URDF cannot express
    joint_type: ['SPHERICAL']                           # a ball joint; 'FIXED'; 'UJOINT_XY': about x, then y

A toml file of loops contains ``closures``, ``actuators`` and ``home`` in the format of :mod:`appell.read.toml`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from appell.errors import ReadError
from appell.files import as_path, shortened
from appell.messages import alternatives, shown
from appell.model.build import Connection, Link, build
from appell.model.closure import KINDS, Closure
from appell.model.model import Joint, Limits, Model
from appell.read.outline import outline
from appell.read.place import Contents, Place, contents
from appell.read.toml import read_loops
from appell.read.yaml import LARGEST_FILE, YamlNode, document
from appell.spatial.pose import Pose
from appell.spatial.vector import IDENTITY

TYPES = {"3d": KINDS["point"], "6d": KINDS["frame"]}
"""The rows of a yaml's types of closure."""
KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
AXES = dict(zip("XYZ", IDENTITY, strict=True))


@dataclass(frozen=True)
class Substitution:
    """A joint whose type replaces that of the tree's file, and the line of the replacement."""

    joint: str
    type: str
    line: int


@dataclass(frozen=True)
class LoopFile:
    """The closures of a tree: pairs of frames, actuators, and joints to substitute first."""

    closures: tuple[Closure, ...]
    actuators: tuple[tuple[str, int], ...] = ()
    substitutions: tuple[Substitution, ...] = ()


def with_loops(model: Model, path: str | os.PathLike[str]) -> Model:
    """Return a tree with the loops of a separate file.

    Raises
    ------
    ReadError
        When the file cannot be read, or names a frame or a joint that the tree does not have; the message names the
        file, the line and similar names.
    """
    file = as_path(path, "loops")
    suffix = file.suffix.lower()
    if suffix == ".toml":
        return read_loops(model, file)
    if suffix not in (".yaml", ".yml"):
        raise ReadError(f"unknown extension '{suffix}' of a file of loops; known: '.yaml', '.toml'", shortened(file))
    given = contents(file, most=LARGEST_FILE)
    loops = _loops(given)
    model = _substituted(model, loops.substitutions, given.source)
    joints = [body.joint.name for body in model.bodies]
    for c in loops.closures:
        for frame in (c.first, c.second):
            _check(frame, list(model.frame_index), "frame", Place(given.source, c.line, f"closure '{c.name}'"))
    for name, line in loops.actuators:
        _check(name, joints, "joint", Place(given.source, line, "name_mot"))
    return replace(model, closures=loops.closures, actuators=tuple(name for name, _ in loops.actuators))


def _check(name: str, known: Sequence[str], what: str, place: Place) -> None:
    if name not in known:
        raise place.error(f"{what} '{name}' is not in the robot file; {alternatives(name, known)}")


# The yaml


def _loops(given: Contents) -> LoopFile:
    top = _mapping(given)
    pairs, types = (_list(top, key, given) for key in ("closed_loop", "type"))
    motors = _list(top, "name_mot", given, optional=True)
    names, kinds = (_list(top, key, given, optional=True) for key in ("joint_name", "joint_type"))
    _same_length(pairs, types, ("closed_loop", "type"), given)
    _same_length(names, kinds, ("joint_name", "joint_type"), given)
    closures = tuple(_closure(pair, kind, given) for pair, kind in zip(pairs, types, strict=True))
    changes = zip(names, kinds, strict=True)
    return LoopFile(
        closures,
        tuple((_word(motor, given), motor.line) for motor in motors),
        tuple(Substitution(_word(name, given), _word(kind, given).upper(), name.line) for name, kind in changes),
    )


def _mapping(given: Contents) -> Mapping[str, YamlNode]:
    top = document(given).entries
    if not top:
        raise ReadError("expected keys such as closed_loop, type and name_mot", given.source)
    unknown = [key for key in top if key not in KEYS]
    if unknown:
        raise ReadError(
            f"unknown key {shown(unknown[0])}; {alternatives(unknown[0], KEYS)}", given.source, top[unknown[0]].line
        )
    return top


def _list(top: Mapping[str, YamlNode], key: str, given: Contents, *, optional: bool = False) -> list[YamlNode]:
    if key not in top:
        if optional:
            return []
        raise ReadError(f"missing key '{key}'; add it", given.source)
    if not top[key].is_list:
        raise ReadError(f"{key}: expected a list", given.source, top[key].line)
    return top[key].items


def _same_length(first: list[YamlNode], second: list[YamlNode], keys: tuple[str, str], given: Contents) -> None:
    if len(first) != len(second):
        line = (second or first)[-1].line
        raise ReadError(
            f"{keys[0]} has {len(first)} entries and {keys[1]} {len(second)}; expected equal numbers",
            given.source,
            line,
        )


def _word(node: YamlNode, given: Contents) -> str:
    if not node.text:
        raise ReadError("expected a name", given.source, node.line)
    return str(node.text)


def _closure(pair: YamlNode, kind: YamlNode, given: Contents) -> Closure:
    if len(pair.items) != 2:
        raise ReadError("closed_loop: expected pairs of frames", given.source, pair.line)
    first, second = (_word(item, given) for item in pair.items)
    given_type = _word(kind, given)
    if given_type.lower() not in TYPES:
        hint = alternatives(given_type, TYPES)
        raise ReadError(f"type: unknown type '{given_type}'; {hint}", given.source, kind.line)
    return Closure(f"{first}|{second}", first, second, TYPES[given_type.lower()], line=pair.line)


# Substitutions


def _substituted(model: Model, substitutions: Sequence[Substitution], source: str) -> Model:
    """Return the tree rebuilt with some joints of another type: a fixed joint merges two bodies."""
    if not substitutions:
        return model
    joints = [body.joint.name for body in model.bodies]
    for each in substitutions:
        _check(each.joint, joints, "joint", Place(source, each.line, "joint_name"))
    kinds = {change.joint: change for change in substitutions}
    links, connections, shapes = outline(model)
    crosses: list[Link] = []
    changed: list[Connection] = []
    for connection in connections:
        change = kinds.get(connection.joint.name)
        if change is None:
            changed.append(connection)
        elif change.type == "FIXED":
            placement = connection.joint.placement.then(connection.joint.pose((0.0,) * connection.joint.type.nq))
            changed.append(replace(connection, joint=Joint(change.joint, "fixed", placement=placement)))
        elif change.type == "SPHERICAL":
            joint = replace(connection.joint, kind="ball", offset=0.0, limits=Limits(), mimic=None)
            changed.append(replace(connection, joint=joint))
        else:
            cross, halves = _universal(connection, change, source)
            crosses.append(cross)
            changed += halves
    built = build(model.name, [*links, *crosses], changed, gravity=model.gravity, source=model.source)
    return replace(built, shapes=tuple(shape for own in shapes.values() for shape in own))


def _universal(connection: Connection, change: Substitution, source: str) -> tuple[Link, list[Connection]]:
    """Return the cross and the two joints of a universal joint, each named after its axis."""
    axes = re.fullmatch(r"UJOINT_([XYZ])([XYZ])", change.type)
    if axes is None or axes[1] == axes[2]:
        raise ReadError(
            f"joint_type: unknown type '{change.type}' of joint '{change.joint}'; known types: 'SPHERICAL', 'FIXED', "
            "'UJOINT_XY' and other pairs of axes",
            source,
            change.line,
        )
    middle = f"{change.joint}/cross"
    first, second = (f"{change.joint}_{axis}" for axis in axes.groups())
    bare = replace(connection.joint, kind="revolute", offset=0.0, limits=Limits(), mimic=None)
    upper = replace(bare, name=first, axis=AXES[axes[1]])
    lower = replace(bare, name=second, axis=AXES[axes[2]], placement=Pose())
    return Link(middle), [Connection(upper, connection.parent, middle), Connection(lower, middle, connection.child)]
