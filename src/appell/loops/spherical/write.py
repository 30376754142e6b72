"""Spherical robots to toml: their legs one by one, as :mod:`appell.loops.spherical.read` reads them."""

from __future__ import annotations

from typing import Any

from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.read.outline import roll_pitch_yaw
from appell.read.write_toml import toml_value
from appell.spatial.inertia import Inertia


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
        "platform": _body(robot.platform),
    }
    lines = [f"name = {toml_value(robot.name)}", f"gravity = {toml_value(robot.gravity)}", "", "[spherical]"]
    lines += [f"{key} = {toml_value(value)}" for key, value in own.items()]
    for name, link, pose in robot.frames:
        entries = {"name": name, "link": link, "xyz": pose.position, "rpy": roll_pitch_yaw(pose.rotation)}
        lines += ["", "[[spherical.frames]]", *(f"{key} = {toml_value(value)}" for key, value in entries.items())]
    for leg in robot.legs:
        lines += ["", "[[spherical.legs]]", *(f"{key} = {toml_value(value)}" for key, value in _leg(leg).items())]
    return "\n".join(lines) + "\n"


def _leg(leg: Leg) -> dict[str, Any]:
    angles = {"alpha1": leg.alpha1, "alpha2": leg.alpha2, "branch": leg.branch}
    motors = {"motors": tuple(joint + 1 for joint in leg.motors)}
    links = {f"link{k + 1}": _body(x) for k, x in enumerate(leg.inertias)}
    axes = {f"axes{k + 1}": x for k, x in enumerate(leg.frames)}
    return {"base": leg.base, "platform": leg.platform, **angles, **motors, **links, **axes}


def _body(inertia: Inertia) -> dict[str, Any]:
    return {"parameters": inertia.parameters}
