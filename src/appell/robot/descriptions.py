"""Descriptions of verbs, arguments and joint coordinates, in ASCII for the headers of exported code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from appell.trace.tape import Port

AXES = {
    "revolute": ("angle [rad]", "rate [rad/s]"),
    "continuous": ("angle [rad]", "rate [rad/s]"),
    "prismatic": ("position [m]", "speed [m/s]"),
    "helical": ("angle [rad]", "rate [rad/s]"),
    "cylindrical": ("angle [rad], position [m]", "rate [rad/s], speed [m/s]"),
    "planar": ("position x y [m], angle [rad]", "velocity in the body's axes [m/s], rate [rad/s]"),
    "ball": ("quaternion x y z w", "angular velocity in the body's axes [rad/s]"),
    "free": (
        "position x y z [m], quaternion x y z w",
        "linear [m/s], then angular velocity [rad/s], in the body's axes",
    ),
}
"""Coordinates and velocities of each joint type."""

MACROS = {
    "q": ("NQ", "coordinates q"),
    "v": ("NV", "velocities v"),
    "u": ("NU", "joint torques"),
    "d": ("ND", "accelerations that inverse dynamics takes"),
    "t": ("NT", "velocities of the spanning tree"),
    "p": ("NP", "inertial and joint parameters"),
    "c": ("NC", "closures"),
    "m": ("NM", "memory of the control law"),
}
"""The macros of sizes, by the letters of the table of verbs, with their meanings."""


@cache
def _texts() -> dict[str, Any]:
    """Return the descriptions of verbs, of arguments, and of arguments that are something else in one verb."""
    return tomllib.loads((files("appell.robot") / "descriptions.toml").read_text(encoding="utf-8"))


def verb_description(verb: str) -> str:
    """Return the description of a verb.

    >>> verb_description("gravity")
    'gravity torques G(q)'
    """
    return str(_texts()["verbs"][verb])


def port_descriptions(verb: str, ports: Iterable[Port]) -> dict[str, str]:
    """Return the description of each argument of a verb; by default its name.

    >>> port_descriptions("velocity", [Port("V", (6,))])
    {'V': 'velocity [m/s], [rad/s]'}
    """
    texts = _texts()
    known = texts["arguments"] | texts["arguments_of"].get(verb, {})
    return {port.name: known.get(port.name) or port.name.replace("_", " ") for port in ports}
