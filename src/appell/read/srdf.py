"""Named configurations of a robot from an SRDF file: its group states.

    <robot name="arm">
      <virtual_joint name="floating" type="floating" parent_frame="world" child_link="base"/>
      <group_state name="home" group="all">
        <joint name="shoulder" value="0.5"/>
      </group_state>
    </robot>

A state has the name of its element; where several groups have a state of one name, ``group/name``. A virtual joint
stands for a floating base and is passed over on a fixed one. Everything else in the file is for planners.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from appell.model.build import listed
from appell.model.model import ROOT, Coordinates, Model
from appell.read.place import Place, contents
from appell.read.values import number
from appell.read.xml import Element, attribute, children, document, floats, line_of, place_of, tag

VIRTUAL = ("root_joint",)
"""What files call a floating base without a virtual joint: Pinocchio's name."""


def with_states(model: Model, path_or_text: str | os.PathLike[str]) -> Model:
    """Return a model with the group states of an SRDF file, or of its text, as named configurations.

    Raises
    ------
    ReadError
        When the file cannot be read, or a state names a joint that the robot does not have or gives it another number
        of coordinates; the message begins with file:line.

    >>> from appell.read.catalogue import read
    >>> text = '<robot><group_state name="up" group="arm"><joint name="joint1" value="1.5"/></group_state></robot>'
    >>> with_states(read("two-link"), text).configurations
    (('up', (('joint1', (1.5,)),)),)
    """
    given = contents(path_or_text, lambda text: text.lstrip("\ufeff \t\r\n").startswith("<"))
    root, place = document(given), Place(given.source)
    if tag(root) != "robot":
        raise replace(place, line=line_of(root)).error(f"expected <robot> as the outermost element, got <{tag(root)}>")
    virtual = {*VIRTUAL, *(attribute(element, "name", place) for element in children(root, "virtual_joint"))}
    sizes = {body.joint.name: body.joint.type.nq for body in model.bodies}
    states = children(root, "group_state")
    count = Counter(attribute(state, "name", place) for state in states)
    found: dict[str, Coordinates] = {}
    for state in states:
        name = attribute(state, "name", place)
        full = name if count[name] == 1 else f"{attribute(state, 'group', place)}/{name}"
        here = Place(given.source, line_of(state), f"group_state '{full}'")
        if full in found:
            raise here.error("is defined twice; give each state of a group a name of its own")
        joints = (_coordinates(element, model, sizes, virtual, here) for element in children(state, "joint"))
        found[full] = tuple(entry for entry in joints if entry is not None)
    others = tuple(entry for entry in model.configurations if entry[0] not in found)
    return replace(model, configurations=(*others, *found.items()))


def _coordinates(
    element: Element, model: Model, sizes: Mapping[str, int], virtual: set[str], owner: Place
) -> tuple[str, tuple[float, ...]] | None:
    """Return a joint's name and coordinates; None where the robot has it without any."""
    name = attribute(element, "name", owner)
    if name not in sizes and name in virtual:
        name = ROOT
    if name not in sizes:
        if name == ROOT or name in model.frame_index:
            return None
        raise replace(owner, line=line_of(element)).error(
            f"there is no joint '{name}'; robot '{model.name}' has {listed(sizes, 40)}"
        )
    place = place_of(element, "value", owner)
    return name, tuple(number(x, place) for x in floats(element, "value", sizes[name], owner))
