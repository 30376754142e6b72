"""Named configurations of a robot from an SRDF file: its group states.

    <robot name="arm">
      <virtual_joint name="floating" type="floating" parent_frame="world" child_link="base"/>
      <group_state name="home" group="all">
        <joint name="shoulder" value="0.5"/>
      </group_state>
    </robot>

A state has the name of its element, or ``group/name`` if several groups have a state of that name. A virtual joint
represents a floating base and is ignored for a fixed one. The rest of the file is ignored.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from appell.errors import warn
from appell.messages import listed
from appell.model.model import ROOT, Coordinates, Model
from appell.read.place import Place, contents
from appell.read.values import number
from appell.read.xml import Element, attribute, children, document, floats, line_of, place_of, tag

VIRTUAL = ("root_joint",)
"""The name of a floating base in files without a virtual joint, as in Pinocchio."""


def with_states(model: Model, path_or_text: str | os.PathLike[str]) -> Model:
    """Return a model with the group states of an SRDF file, or of its text, as named configurations.

    Raises
    ------
    ReadError
        When the file cannot be read, or a state has a wrong number of coordinates for a joint; the message begins with
        file:line.

    Warns
    -----
    AppellWarning
        Once, for joints that the robot does not have: a file is often shared by several variants of a robot.

    >>> from appell.read.catalogue import read
    >>> text = '<robot><group_state name="up" group="arm"><joint name="joint1" value="1.5"/></group_state></robot>'
    >>> with_states(read("two-link"), text).configurations
    (('up', (('joint1', (1.5,)),)),)
    """
    given = contents(path_or_text, lambda text: text.lstrip("\ufeff \t\r\n").startswith("<"))
    root, place = document(given), Place(given.source)
    if tag(root) != "robot":
        raise replace(place, line=line_of(root)).error(f"expected <robot> as the root element, got <{tag(root)}>")
    virtual = {*VIRTUAL, *(attribute(element, "name", place) for element in children(root, "virtual_joint"))}
    sizes = {body.joint.name: body.joint.type.nq for body in model.bodies}
    states = children(root, "group_state")
    count = Counter(attribute(state, "name", place) for state in states)
    found: dict[str, Coordinates] = {}
    strange: list[Element] = []
    for state in states:
        name = attribute(state, "name", place)
        full = name if count[name] == 1 else f"{attribute(state, 'group', place)}/{name}"
        here = Place(given.source, line_of(state), f"group_state '{full}'")
        if full in found:
            raise here.error("is defined twice; state names of a group must be unique")
        joints = (_coordinates(element, model, sizes, virtual, here, strange) for element in children(state, "joint"))
        found[full] = tuple(entry for entry in joints if entry is not None)
    if strange:
        names = dict.fromkeys(attribute(element, "name", place) for element in strange)
        warn(
            f"{given.source}:{line_of(strange[0])}: states of joints that robot '{model.name}' does not have are "
            f"ignored: {listed(names)}"
        )
    others = tuple(entry for entry in model.configurations if entry[0] not in found)
    return replace(model, configurations=(*others, *found.items()))


def _coordinates(
    element: Element, model: Model, sizes: Mapping[str, int], virtual: set[str], owner: Place, strange: list[Element]
) -> tuple[str, tuple[float, ...]] | None:
    """Return a joint's name and coordinates; None without coordinates, and for an unknown joint, which is recorded."""
    name = attribute(element, "name", owner)
    if name not in sizes and name in virtual:
        name = ROOT
    if name not in sizes:
        if name != ROOT and name not in model.frame_index:
            strange.append(element)
        return None
    place = place_of(element, "value", owner)
    return name, tuple(number(x, place) for x in floats(element, "value", sizes[name], owner))
