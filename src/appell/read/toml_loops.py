"""Parts of appell's toml format: loops, couplings, actuators, home and named configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from appell.messages import alternatives, listed
from appell.model import closure
from appell.model.closure import ROLLING, ROWS, Closure
from appell.model.model import Coordinates, Frame, Joint, Model
from appell.read.place import Place, check_keys
from appell.read.values import angle, number, numbers, pose, sequence, table, text, vector
from appell.spatial.pose import Pose
from appell.spatial.vector import ZERO

LOOP_KEYS = ("closures", "actuators", "home", "independent")
CLOSURE_KEYS = ("name", "kind", "rows", "first", "second", "radius")
COUPLING_KEYS = ("name", "coupling", "offset")


def closed(model: Model, top: Mapping[str, object], place: Place) -> Model:
    """Return a model with the closures, actuators and home of a file."""
    for i, entry in entries_of(top, "closures", place):
        model = _with_closure(model, table(entry, place.at("closures").at(i)), place.at("closures").at(i))
    joints = {body.joint.name: body.joint for body in model.bodies}
    actuators = [text(x, place.at("actuators").at(i)) for i, x in entries_of(top, "actuators", place)]
    for name in actuators:
        if name not in joints:
            raise place.at("actuators").error(_no_joint(name, joints))
    independent = [text(x, place.at("independent").at(i)) for i, x in entries_of(top, "independent", place)]
    return replace(
        model,
        independent_velocities=tuple(independent),
        actuators=tuple(actuators),
        home=_named_coordinates(top.get("home", {}), joints, place.at("home")),
    )


def configurations(top: Mapping[str, object], model: Model, place: Place) -> tuple[tuple[str, Coordinates], ...]:
    """Return the named configurations of a file."""
    here, joints = place.at("configurations"), {body.joint.name: body.joint for body in model.bodies}
    given = table(top.get("configurations", {}), here)
    return tuple((name, _named_coordinates(of, joints, here.at(name))) for name, of in given.items())


def _named_coordinates(value: object, joints: Mapping[str, Joint], place: Place) -> Coordinates:
    """Return the coordinates of some joints."""
    given = table(value, place)
    for name in given:
        if name not in joints:
            raise place.error(_no_joint(name, joints))
    return tuple((name, _coordinates(x, joints[name], place.at(name))) for name, x in given.items())


def _no_joint(name: str, joints: Mapping[str, Joint]) -> str:
    return f"no moving joint '{name}'; {alternatives(name, joints)}"


def _coordinates(value: object, joint: Joint, place: Place) -> tuple[float, ...]:
    if joint.type.nq == 1:
        return ((angle if joint.type.turns else number)(value, place),)
    return numbers(value, joint.type.nq, place)


def _with_closure(model: Model, entries: Mapping[str, object], place: Place) -> Model:
    if "coupling" in entries:
        return _with_coupling(model, entries, place)
    check_keys(entries, CLOSURE_KEYS, place)
    if ("kind" in entries) == ("rows" in entries):
        raise place.error("give either kind or rows")
    rows = _rows(entries, place)
    radius = number(entries.get("radius", 0.0), place.at("radius"))
    if entries.get("kind") == ROLLING and "radius" not in entries:
        raise place.error("a rolling closure needs 'radius'; add it")
    if "radius" in entries and not (radius > 0.0 and {*rows} <= {*ROWS[:3]}):
        raise place.at("radius").error("expected a radius above zero, of a closure that is rolling or has rows x, y, z")
    ends = [_end(model, entries, key, place) for key in ("first", "second")]
    usual = "|".join(f.name for f in ends) if all(f.name for f in ends) else f"closure{len(model.closures) + 1}"
    name = text(entries.get("name", usual), place.at("name"))
    if any(name == other.name for other in model.closures):
        raise place.at("name").error(f"two closures are named '{name}'; names must be unique")
    ends = [f if f.name else replace(f, name=f"{name}/{key}") for f, key in zip(ends, ("first", "second"), strict=True)]
    new = tuple(f for f in ends if f.name not in model.frame_index)
    tie = Closure(name, ends[0].name, ends[1].name, rows, radius)
    return replace(model, frames=(*model.frames, *new), closures=(*model.closures, tie))


def _with_coupling(model: Model, entries: Mapping[str, object], place: Place) -> Model:
    """Return the model with a coupling: a list of joints with their coefficients, and an offset."""
    check_keys(entries, COUPLING_KEYS, place)
    joints = {body.joint.name: body.joint for body in model.bodies}
    terms: dict[str, float] = {}
    for i, entry in enumerate(sequence(entries["coupling"], place.at("coupling"))):
        here = place.at("coupling").at(i)
        given = table(entry, here)
        check_keys(given, ("joint", "coefficient"), here)
        name = text(given.get("joint", ""), here.at("joint"))
        if name not in joints or joints[name].type.nq != 1 or name in terms:
            alone = [each for each, joint in joints.items() if joint.type.nq == 1]
            raise here.error(
                f"expected a joint of one coordinate, each once, got '{name}'; known joints: {listed(alone)}"
            )
        terms[name] = number(given.get("coefficient", 1.0), here.at("coefficient"))
    if not any(terms.values()):
        raise place.at("coupling").error("expected joints with coefficients that are not all zero")
    name = text(entries.get("name", f"closure{len(model.closures) + 1}"), place.at("name"))
    if any(name == other.name for other in model.closures):
        raise place.at("name").error(f"two closures are named '{name}'; names must be unique")
    tie = closure.coupling(name, terms, number(entries.get("offset", 0.0), place.at("offset")))
    return replace(model, closures=(*model.closures, tie))


def _rows(entries: Mapping[str, object], place: Place) -> tuple[str, ...]:
    if "kind" in entries:
        kind = text(entries["kind"], place.at("kind"))
        if kind not in closure.KINDS:
            raise place.at("kind").error(f"unknown kind '{kind}'; {alternatives(kind, closure.KINDS)}")
        return closure.KINDS[kind]
    given = [text(x, place.at("rows").at(i)) for i, x in enumerate(sequence(entries["rows"], place.at("rows")))]
    for i, row in enumerate(given):
        if row not in ROWS or row in given[:i]:
            raise place.at("rows").error(f"'{row}' is unknown or repeated; known rows: {listed(ROWS)}")
    if not given:
        raise place.at("rows").error(f"a closure needs a row; known rows: {listed(ROWS)}")
    return tuple(row for row in ROWS if row in given)


def _end(model: Model, entries: Mapping[str, object], key: str, place: Place) -> Frame:
    """Return the frame at one end of a closure: one of the model, or a new unnamed one on a link."""
    if key not in entries:
        raise place.error(f"missing key '{key}'; add it")
    here, value = place.at(key), entries[key]
    given = {"link": value} if isinstance(value, str) else table(value, here)
    check_keys(given, ("link", "xyz", "rpy"), here)
    name = name_of(given, "link", here)
    if name not in model.frame_index:
        raise here.error(f"no frame '{name}'; {alternatives(name, model.frame_index, most=40)}")
    frame = model.frame_index[name]
    if isinstance(value, str):
        return frame
    own = {at: x for at, x in given.items() if at != "link"}
    return replace(frame, name="", placement=frame.placement.then(origin(own, here)))


def name_of(entries: Mapping[str, object], key: str, place: Place) -> str:
    """Return the text of a required key."""
    if key not in entries:
        raise place.error(f"missing key '{key}'; add it")
    return text(entries[key], place.at(key))


def origin(value: object, place: Place) -> Pose:
    """Return the pose of a table of `xyz` and `rpy`."""
    entries = table(value, place)
    check_keys(entries, ("xyz", "rpy"), place)
    angles = sequence(entries.get("rpy", ZERO), place.at("rpy"))
    in_radians = [angle(entry, place.at("rpy").at(i)) for i, entry in enumerate(angles)]
    return pose(vector(entries.get("xyz", ZERO), place.at("xyz")), vector(in_radians, place.at("rpy")))


def entries_of(top: Mapping[str, object], key: str, place: Place) -> list[tuple[int, object]]:
    """Return the entries of a list, each with its place in it; none if the key is missing."""
    return list(enumerate(sequence(top.get(key, []), place.at(key))))
