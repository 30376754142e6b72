"""Extensions of URDF+: ``<loop>``, which connects two links like a joint, and ``<coupling>``, like gears.

A loop has a predecessor and a successor link, each with an ``<origin>``, and a type with an ``<axis>`` in the axes of
the predecessor's origin. A coupling has a ratio: with n the nearest common ancestor of its two links,

    ratio · Σ q on the path from n to the predecessor = Σ q on the path from n to the successor.                     (1)

Joints with ``independent="true"`` are actuated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appell.messages import alternatives
from appell.model.closure import KINDS, Closure, coupling
from appell.model.model import WORLD, Frame, Model
from appell.read.place import Place
from appell.read.values import direction, number
from appell.read.xml import Element, child, children, floats, line_of, place_of, required, tag
from appell.spatial.pose import Pose
from appell.spatial.rotation import normalized, perpendicular
from appell.spatial.vector import IDENTITY, cross, dot, transpose

ENDS = ("predecessor", "successor")
LOOPS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "spherical": "point",
    "ball": "point",
    "fixed": "frame",
    "planar": "planar",
}
"""Types of loops, and the rows that close them."""
Ends = Mapping[str, tuple[str, Pose]]


def constraints(root: Element) -> list[Element]:
    """Return the elements of URDF+, in file order."""
    return sorted((element for key in ("loop", "coupling") for element in children(root, key)), key=line_of)


def driven(root: Element) -> list[str]:
    """Return the joints marked as independent."""
    return [joint.get("name", "") for joint in children(root, "joint") if joint.get("independent") == "true"]


def with_constraints(model: Model, ties: Sequence[tuple[Element, Ends]], motors: Sequence[str]) -> Model:
    """Return the tree with its closures and couplings.

    Raises
    ------
    ReadError
        When a constraint names an unknown link, or has an unknown type or an invalid ratio.
    """
    frames, closures = list(model.frames), []
    taken: set[str] = set()
    for element, ends in ties:
        name = element.get("name", "").strip() or f"{tag(element)}{len(taken) + 1}"
        place = Place(model.source, line_of(element), f"{tag(element)} '{name}'")
        if name in taken:
            raise place.error("two constraints have this name; names must be unique")
        taken.add(name)
        for link, _ in ends.values():
            if link not in model.frame_index:
                raise place.error(f"no link '{link}'; {alternatives(link, model.frame_index)}")
        if tag(element) == "loop":
            new, tie = _loop(model, name, element, ends, place)
            frames += new
        else:
            tie = _coupling(model, name, element, ends, place)
        closures.append(tie)
    moving = {body.joint.name for body in model.bodies}
    actuators = tuple(motor for motor in motors if motor in moving)
    return replace(model, frames=tuple(frames), closures=tuple(closures), actuators=actuators)


def _loop(model: Model, name: str, element: Element, ends: Ends, place: Place) -> tuple[list[Frame], Closure]:
    kind = (element.get("type") or "revolute").strip()
    if kind not in LOOPS:
        raise place.error(f"unknown type '{kind}'; {alternatives(kind, LOOPS)}")
    given = child(element, "axis", place)
    turned = Pose()
    if given is not None and LOOPS[kind] not in ("point", "frame"):
        where = place_of(given, "xyz", place)
        x, y, z = (number(value, where) for value in floats(given, "xyz", 3, place))
        axis = direction((x, y, z))
        if not any(axis):
            raise where.error("the axis has zero length; set a direction")
        z_axis = normalized(axis)
        x_axis = perpendicular(z_axis, min(IDENTITY, key=lambda unit: abs(dot(unit, z_axis))))
        turned = Pose(transpose((x_axis, cross(z_axis, x_axis), z_axis)))
    new = []
    for key, (link, origin) in ends.items():
        carrier = model.frame_index[link]
        new.append(Frame(f"{name}/{key}", carrier.body, carrier.placement.then(origin).then(turned)))
    return new, Closure(name, new[0].name, new[1].name, KINDS[LOOPS[kind]], line=place.line)


def _coupling(model: Model, name: str, element: Element, ends: Ends, place: Place) -> Closure:
    """Return the closure of Eq. (1)."""
    ratio = required(element, "ratio", place)
    value = number(floats(ratio, "value", 1, place)[0], place_of(ratio, "value", place))
    ways = [tuple(model.ancestors(model.frame_index[link].body)) for link, _ in ends.values()]
    terms: dict[str, float] = {}
    for (way, other), coefficient in zip((ways, ways[::-1]), (value, -1.0), strict=True):
        for body in (body for body in way if body not in other and body != WORLD):
            joint = model.bodies[body].joint
            if joint.type.nq != 1:
                raise place.error(
                    f"joint '{joint.name}' has {joint.type.nq} coordinates; couplings need joints with one coordinate"
                )
            terms[joint.name] = coefficient
    if not any(terms.values()):
        raise place.error("no joint between its predecessor and its successor; choose other links")
    return coupling(name, terms, line=place.line)
