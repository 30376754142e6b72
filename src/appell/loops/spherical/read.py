"""Spherical robots out of toml: the table [spherical] of a file in appell's format.

    name = "my-wrist"
    gravity = [0.0, 0.0, -9.81]             # optional, as are source, notes, branches, home and spread

    [spherical]
    kind = "agile-wrist"
    lambda = ["0 deg", "120 deg", "240 deg"]    # angles: one number per leg, or one for all
    eta = ["0 deg", "120 deg", "240 deg"]
    gamma = 0.9553166181245093
    beta = 0.6154797086703873
    alpha1 = "80 deg"
    alpha2 = "70 deg"
    branches = [1, 1, 1]                    # sign of the root in abedloo2014 (34), one per leg
    link1 = { radius = 0.1, density = 1.378 }   # a thin arc [m, kg/m]; or a body, as below; or a list of three
    link2 = { radius = 0.1, density = 1.378 }
    platform = { mass = 1.351, inertia = [0.003829, 0.003829, 0.00045] }

or

    [spherical]
    kind = "sst"
    corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    star = "120 deg"
    actuated = { mass = 3.0, inertia = [0.0001, 0.0008, 0.008] }
    passive = { mass = 0.06, inertia = [0.00001, 0.005, 0.005] }
    platform = { mass = 2.6, inertia = [0.224, 0.224, 0.150] }

or, as :meth:`appell.Robot.save` writes any of them, leg by leg,

    [spherical]
    kind = "legs"
    sequence = "zyx"                        # of the Euler angles
    coordinates = ["yaw", "pitch", "roll"]  # their names, and those of a leg's joints
    joints = ["theta", "psi", "xi"]
    platform = { mass = 1.351, inertia = [0.003829, 0.003829, 0.00045] }

    [[spherical.legs]]
    base = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]      # rows; z is the motor's axis
    platform = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # rows; z is the axis on the platform
    alpha1 = "80 deg"
    alpha2 = "70 deg"
    branch = 1
    motors = [1]                                                    # optional: joints with a motor, 1 about e₁, 2 e₂
    link1 = { mass = 0.2 }
    link2 = { mass = 0.2 }
    axes1 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]     # optional: the axes of the links' inertias
    axes2 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    [[spherical.frames]]                    # optional: frames besides those of links and joints
    name = "tool"
    link = "platform"                       # or leg1_link1, leg1_link2, …
    xyz = [0.0, 0.0, 0.1]
    rpy = [0.0, 0.0, "90 deg"]

with two legs or more. Legs of another number of links give, instead of alpha1, alpha2, branch, link1 and link2,

    arcs = ["80 deg", "70 deg", "60 deg"]
    links = [{ mass = 0.2 }, { mass = 0.2 }, { mass = 0.1 }]
    motors = [1, 2]
    angles = ["10 deg", "20 deg", "0 deg"]  # optional: of the joints, where closing the loops begins

and then every leg does. Such a robot has no closed form: its loops are closed as those of any mechanism, and q are the
angles of its joints (:mod:`appell.loops.spherical.chains`).

A body has `mass`, `centre` and `inertia`, the last about the robot's centre, not its own; or ten `parameters`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from appell.errors import ReadError
from appell.loops.spherical.agile_wrist import AgileWrist, arc
from appell.loops.spherical.chains import ChainLeg, chains
from appell.loops.spherical.mechanism import Bodies, Leg, Mechanism
from appell.loops.spherical.sst import StarTriangle
from appell.messages import alternatives, shown
from appell.model.model import GRAVITY, Model
from appell.read import values
from appell.read.outline import roll_pitch_yaw
from appell.read.place import Place, check_keys
from appell.read.toml import tables
from appell.read.toml_loops import origin
from appell.read.write_toml import toml_value
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, cross, dot, scale

TOP_KEYS = ("name", "gravity", "source", "notes", "spherical")
COMMON = ("kind", "branches", "platform", "home", "spread")
WRIST_ANGLES = ("lambda", "eta", "gamma", "beta", "alpha1", "alpha2")
CHAIN_KEYS = ("base", "platform", "arcs", "links", "motors", "angles")
LEG_KEYS = ("base", "platform", "alpha1", "alpha2", "branch", "motors", "link1", "link2", "axes1", "axes2")
ARC_KEYS = ("radius", "density")
Three = tuple[float, float, float]


def read_spherical(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Mechanism:
    """Return the spherical robot of a toml file, or of its text, whose legs have two links each.

    Raises
    ------
    ReadError
        When the file does not describe one; the message names the file and the key.

    >>> read_spherical('''
    ... [spherical]
    ... kind = "sst"
    ... star = "120 deg"
    ... ''').name
    'sst'
    """
    found = read_legs(path_or_text, gravity=gravity, source=source)
    if isinstance(found, Model):
        raise ReadError(f"spherical robot '{found.name}' has no closed form: a leg has other than two links")
    return found


def read_legs(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Mechanism | Model:
    """Return the spherical robot of a toml file, or of its text: a model of chains where it has no closed form."""
    top, place = tables(path_or_text, source)
    check_keys(top, TOP_KEYS, place)
    for key in ("source", "notes"):
        values.text(top.get(key, "-"), place.at(key))
    here = place.at("spherical")
    entries = values.table(top.get("spherical"), here)
    kind = entries.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise here.at("kind").error(f"unknown kind {shown(kind)}; {alternatives(kind, _KINDS)}")
    name = values.text(top.get("name", kind), place.at("name"))
    own = values.vector(top.get("gravity", GRAVITY), place.at("gravity"))
    return _KINDS[kind](name, values.gravity_vector(gravity, own), entries, here)


def _wrist(name: str, gravity: Vector, entries: Mapping[str, object], place: Place) -> Mechanism:
    check_keys(entries, (*COMMON, *WRIST_ANGLES, "link1", "link2"), place, ("alpha1", "alpha2"))
    angles = {key: _angles(entries[key], place.at(key)) for key in WRIST_ANGLES if key in entries}
    renamed = {"lambda_" if key == "lambda" else key: value for key, value in angles.items()}
    wrist = AgileWrist(
        **renamed,
        links1=_bodies(entries.get("link1", {}), place.at("link1"), angles["alpha1"]),
        links2=_bodies(entries.get("link2", {}), place.at("link2"), angles["alpha2"]),
        platform=_body(entries.get("platform", {}), place.at("platform"), None),
        branches=_branches(entries, place),
    )
    return wrist.mechanism(name, gravity, **_whereabouts(entries, place))


def _star_triangle(name: str, gravity: Vector, entries: Mapping[str, object], place: Place) -> Mechanism:
    check_keys(entries, (*COMMON, "corners", "star", "actuated", "passive"), place)
    fields: dict[str, Any] = {}
    if "corners" in entries:
        rows = values.sequence(entries["corners"], place.at("corners"))
        if len(rows) != 3:
            raise place.at("corners").error(f"expected three corners, got {len(rows)}")
        fields["corners"] = tuple(values.vector(row, place.at("corners").at(i)) for i, row in enumerate(rows))
    if "star" in entries:
        fields["star"] = _angles(entries["star"], place.at("star"))
    robot = StarTriangle(
        **fields,
        actuated=_bodies(entries.get("actuated", {}), place.at("actuated"), None),
        passive=_bodies(entries.get("passive", {}), place.at("passive"), None),
        platform=_body(entries.get("platform", {}), place.at("platform"), None),
        branches=_branches(entries, place),
    )
    return robot.mechanism(name, gravity, **_whereabouts(entries, place))


def _legs(name: str, gravity: Vector, entries: Mapping[str, object], place: Place) -> Mechanism | Model:
    check_keys(entries, (*COMMON, "sequence", "coordinates", "joints", "legs", "frames"), place)
    legs = values.sequence(entries.get("legs", []), place.at("legs"))
    if any("arcs" in values.table(leg, place.at("legs").at(i)) for i, leg in enumerate(legs)):
        check_keys(entries, ("kind", "platform", "legs"), place)
        made = [_chain_leg(leg, place.at("legs").at(i)) for i, leg in enumerate(legs)]
        return chains(name, made, _body(entries.get("platform", {}), place.at("platform"), None), gravity)
    turns = values.text(entries.get("sequence", "zyx"), place.at("sequence"))
    if len(turns) != 3 or not set(turns) <= set("xyz") or turns[1] in (turns[0], turns[2]):
        raise place.at("sequence").error(f"expected three axes such as 'zyx' or 'zyz', got '{turns}'")
    names = {
        key: tuple(
            values.text(x, place.at(key).at(i)) for i, x in enumerate(values.sequence(entries[key], place.at(key)))
        )
        for key in ("coordinates", "joints")
        if key in entries
    }
    for key, given in names.items():
        if len(given) != 3:
            raise place.at(key).error(f"expected three names, got {len(given)}")
    frames = values.sequence(entries.get("frames", []), place.at("frames"))
    return Mechanism(
        name,
        turns,
        tuple(_leg(leg, place.at("legs").at(i)) for i, leg in enumerate(legs)),
        _body(entries.get("platform", {}), place.at("platform"), None),
        gravity,
        frames=tuple(_frame(frame, len(legs), place.at("frames").at(i)) for i, frame in enumerate(frames)),
        **names,  # type: ignore[arg-type]  # three each, as checked
        **_whereabouts(entries, place),
    )


def _leg(value: object, place: Place) -> Leg:
    entries = values.table(value, place)
    check_keys(entries, LEG_KEYS, place, LEG_KEYS[:4])
    first, second = (_body(entries.get(key, {}), place.at(key), None) for key in ("link1", "link2"))
    axes1, axes2 = (_axes(entries.get(key, IDENTITY), place.at(key)) for key in ("axes1", "axes2"))
    return Leg(
        base=_axes(entries["base"], place.at("base")),
        platform=_axes(entries["platform"], place.at("platform")),
        alpha1=values.angle(entries["alpha1"], place.at("alpha1")),
        alpha2=values.angle(entries["alpha2"], place.at("alpha2")),
        branch=1 if values.number(entries.get("branch", 1), place.at("branch")) > 0.0 else -1,
        inertias=(first, second),
        frames=(axes1, axes2),
        motors=_motors(entries.get("motors", [1]), place.at("motors")),
    )


def _frame(value: object, legs: int, place: Place) -> tuple[str, str, Pose]:
    """Return the name, the link and the pose of a frame."""
    entries = values.table(value, place)
    check_keys(entries, ("name", "link", "xyz", "rpy"), place)
    links = [*(f"leg{i + 1}_link{k}" for i in range(legs) for k in (1, 2)), "platform"]
    name, link = (values.text(entries.get(key, ""), place.at(key)) for key in ("name", "link"))
    if link not in links:
        raise place.at("link").error(f"no link '{link}'; {alternatives(link, links)}")
    return name, link, origin({key: entries[key] for key in ("xyz", "rpy") if key in entries}, place)


def _chain_leg(value: object, place: Place) -> ChainLeg:
    entries = values.table(value, place)
    check_keys(entries, CHAIN_KEYS, place, CHAIN_KEYS[:4])
    arcs, links, angles = (values.sequence(entries.get(key, []), place.at(key)) for key in ("arcs", "links", "angles"))
    if len(links) != len(arcs):
        raise place.at("links").error(f"expected {len(arcs)} links, one per arc, got {len(links)}")
    return ChainLeg(
        _axes(entries["base"], place.at("base")),
        _axes(entries["platform"], place.at("platform")),
        tuple(values.angle(x, place.at("arcs").at(i)) for i, x in enumerate(arcs)),
        tuple(_body(x, place.at("links").at(i), None) for i, x in enumerate(links)),
        _motors(entries.get("motors", [1]), place.at("motors"), len(arcs) + 1),
        tuple(values.angle(x, place.at("angles").at(i)) for i, x in enumerate(angles)),
    )


def _motors(value: object, place: Place, most: int = 2) -> tuple[int, ...]:
    """Return the joints of a leg that have a motor, counted from 0."""
    given = values.sequence(value, place)
    if any(isinstance(x, bool) or x not in range(1, most + 1) for x in given) or len(set(given)) != len(given):
        raise place.error(f"expected numbers of joints from 1 to {most}, those with a motor, got {shown(given)}")
    return tuple(int(values.number(x, place)) - 1 for x in given)


def _axes(value: object, place: Place) -> Matrix:
    """Return a rotation of three rows."""
    rows = values.sequence(value, place)
    if len(rows) != 3:
        raise place.error(f"expected three rows, got {len(rows)}")
    a, b, c = (values.vector(row, place.at(i)) for i, row in enumerate(rows))
    apart = max(abs(dot(x, y) - float(x is y)) for x in (a, b, c) for y in (a, b, c))
    if apart > 1e-9 or dot(cross(a, b), c) < 0.0:
        raise place.error("expected the rows of a rotation: orthonormal and right-handed")
    return (a, b, c)


_KINDS: dict[str, Callable[..., Mechanism | Model]] = {"agile-wrist": _wrist, "sst": _star_triangle, "legs": _legs}


def _angles(value: object, place: Place) -> Three:
    """Return one angle per leg, given as three or as one for all."""
    if isinstance(value, list | tuple):
        if len(value) != 3:
            raise place.error(f"expected one angle or three, one per leg, got {len(value)}")
        a, b, c = (values.angle(entry, place.at(i)) for i, entry in enumerate(value))
        return (a, b, c)
    same = values.angle(value, place)
    return (same, same, same)


def _branches(entries: Mapping[str, object], place: Place) -> tuple[int, int, int]:
    given = values.sequence(entries.get("branches", [1, 1, 1]), place.at("branches"))
    if len(given) != 3 or any(isinstance(x, bool) or x not in (1, -1) for x in given):
        raise place.at("branches").error(f"expected three of 1 or -1, got {shown(given)}")
    a, b, c = (1 if x == 1 else -1 for x in given)
    return (a, b, c)


def _whereabouts(entries: Mapping[str, object], place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "home" in entries:
        found["home"] = _angles(entries["home"], place.at("home"))
    if "spread" in entries:
        found["spread"] = values.angle(entries["spread"], place.at("spread"))
    return found


def _bodies(value: object, place: Place, arcs: Three | None) -> Bodies:
    """Return one body per leg, given as three or as one for all."""
    several = isinstance(value, list | tuple)
    given = values.sequence(value, place) if several else [value] * 3
    if len(given) != 3:
        raise place.error(f"expected one body or three, one per leg, got {len(given)}")
    a, b, c = (
        _body(entry, place.at(i) if several else place, None if arcs is None else arcs[i])
        for i, entry in enumerate(given)
    )
    return (a, b, c)


def _body(value: object, place: Place, angle_of_arc: float | None) -> Inertia:
    entries = values.table(value, place)
    if angle_of_arc is not None and "radius" in entries:
        check_keys(entries, ARC_KEYS, place)
        if "density" not in entries:
            raise place.error("missing key 'density'; add it [kg/m]")
        radius, density = (values.number(entries[key], place.at(key)) for key in ARC_KEYS)
        return arc(radius, density, angle_of_arc)
    check_keys(entries, (*values.INERTIA_KEYS, *ARC_KEYS) if angle_of_arc is not None else values.INERTIA_KEYS, place)
    if "parameters" in entries:
        return values.inertia(entries, place)
    mass = values.number(entries.get("mass", 0.0), place.at("mass"))
    centre = values.vector(entries.get("centre", ZERO), place.at("centre"))
    return Inertia.from_tensor(
        mass, scale(mass, centre), values.symmetric(entries.get("inertia", ZERO), place.at("inertia"))
    )


def spherical_text(robot: Mechanism) -> str:
    """Return a spherical robot as the text of a toml file, numbers to their last digit.

    >>> from appell.loops.spherical.sst import StarTriangle
    >>> spherical_text(StarTriangle().mechanism()).splitlines()[3:5]
    ['[spherical]', 'kind = "legs"']
    """
    own = {
        "kind": "legs",
        "sequence": robot.sequence,
        "coordinates": robot.coordinates,
        "joints": robot.joints,
        "home": robot.home,
        "spread": robot.spread,
        "platform": _body_entries(robot.platform),
    }
    lines = [f"name = {toml_value(robot.name)}", f"gravity = {toml_value(robot.gravity)}", "", "[spherical]"]
    lines += [f"{key} = {toml_value(value)}" for key, value in own.items()]
    for name, link, pose in robot.frames:
        entries = {"name": name, "link": link, "xyz": pose.position, "rpy": roll_pitch_yaw(pose.rotation)}
        lines += ["", "[[spherical.frames]]", *(f"{key} = {toml_value(value)}" for key, value in entries.items())]
    for leg in robot.legs:
        lines += [
            "",
            "[[spherical.legs]]",
            *(f"{key} = {toml_value(value)}" for key, value in _leg_entries(leg).items()),
        ]
    return "\n".join(lines) + "\n"


def _leg_entries(leg: Leg) -> dict[str, Any]:
    angles = {"alpha1": leg.alpha1, "alpha2": leg.alpha2, "branch": leg.branch}
    motors = {"motors": tuple(joint + 1 for joint in leg.motors)}
    links = {f"link{k + 1}": _body_entries(x) for k, x in enumerate(leg.inertias)}
    axes = {f"axes{k + 1}": x for k, x in enumerate(leg.frames)}
    return {"base": leg.base, "platform": leg.platform, **angles, **motors, **links, **axes}


def _body_entries(inertia: Inertia) -> dict[str, Any]:
    return {"parameters": inertia.parameters}
