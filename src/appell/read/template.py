"""A URDF file with other inertial and joint parameters: only numbers change in the text of the file.

A body of the robot is one link of the file with all links fixed to it. The change of the body's inertia is written to
the link that the moving joint carries; the fixed links keep their numbers. If that link would have a negative mass, or
an inertia that no rigid body has, it gets the inertia of the whole body and the fixed links get none; a warning names
them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from appell.errors import ModelError, quiet, warn
from appell.messages import listed
from appell.model.build import principal_second_moments
from appell.model.mimic import coupled
from appell.model.model import ROOT, WORLD, Frame, Joint, Model
from appell.read.markup import SAME, Edits, XmlNode, number, parse
from appell.read.outline import without_offset
from appell.read.place import contents
from appell.read.urdf import read_urdf
from appell.read.values import rotation
from appell.read.write_urdf import centre_and_tensor, dynamics, limits, tensor_entries, warn_of_gravity
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.vector import ZERO, transpose

NEAR = 1e-9
"""Largest difference [m, 1] between a joint of the file and the robot's."""


def from_template(model: Model, template: str | os.PathLike[str]) -> bytes:
    """Return a URDF file with the inertias, damping, friction and limits of a model in place of its own.

    Raises
    ------
    ReadError
        When the template is not a URDF file.
    ModelError
        When its links and joints differ from the model's, or URDF cannot represent an inertia; the message names it.
    """
    given = contents(template)
    with quiet():  # of irregularities of the file, reported when it was loaded
        file = read_urdf(template, gravity=model.gravity)
    if not any(body.joint.name == ROOT for body in file.bodies) and _is_floating(model):
        file = file.floating()
    file = coupled(file) if model.is_coupled else file
    differences = list(_differences(model, file))
    if differences:
        more = f" (and {len(differences) - 3} more)" if len(differences) > 3 else ""
        raise ModelError(
            f"{given.source}: a template must have the links and joints of robot '{model.name}'; "
            f"{'; '.join(differences[:3])}{more}; use the file that the robot was loaded from, or omit the template"
        )
    robot = parse(given.data, given.source)
    edits = Edits(given.data)
    _inertias(edits, robot, model, file)
    elements = {node.attributes.get("name", "").strip(): node for node in robot.named("joint")}
    for ours, theirs in zip(model.bodies, file.bodies, strict=True):
        if ours.joint.name in elements:
            _joint(edits, elements[ours.joint.name], ours.joint, theirs.joint)
    _warn_of_frames(model, file)
    warn_of_gravity(model)
    return edits.made()


def _is_floating(model: Model) -> bool:
    return bool(model.bodies) and model.bodies[0].joint.name == ROOT and model.bodies[0].joint.kind == "free"


# Whether they match


def _differences(model: Model, file: Model) -> Iterator[str]:
    """Yield the differences of links, joints and placements between a robot and a template."""
    ours, theirs = ({body.joint.name: body for body in x.bodies} for x in (model, file))
    for what, some, others in (("the robot", ours, theirs), ("the file", theirs, ours)):
        only = [name for name in some if name not in others]
        if only:
            yield f"only {what} has joints {listed(only)}"
    missing = [name for name in file.frame_index if name not in model.frame_index and name not in theirs]
    if missing:
        yield f"only the file has links or fixed joints {listed(missing)}"
    if ours.keys() != theirs.keys():
        return
    if [*ours] != [*theirs]:
        yield "the joints have another order"
        return
    for own, other in zip(model.bodies, file.bodies, strict=True):
        a, b = without_offset(own.joint), without_offset(other.joint)
        if (own.name, own.parent) != (other.name, other.parent):
            yield f"joint '{a.name}' is between other links"
        elif (a.kind, a.mimic) != (b.kind, b.mimic):
            yield f"joint '{a.name}' is {_described(a)} in the robot, {_described(b)} in the file"
        elif not (_is_near(a.placement, b.placement) and math.dist(a.axis, b.axis) < NEAR):
            yield f"joint '{a.name}' has another origin or axis"
    for name, frame in file.frame_index.items():
        if name in model.frame_index and not _is_same(model.frame_index[name], frame):
            yield f"link or joint '{name}' has another pose"


def _described(joint: Joint) -> str:
    return f"{joint.kind}, following '{joint.mimic.joint}'" if joint.mimic else joint.kind


def _is_near(a: Pose, b: Pose) -> bool:
    rows = zip((*a.rotation, a.position), (*b.rotation, b.position), strict=True)
    return all(math.dist(x, y) < NEAR for x, y in rows)


def _is_same(a: Frame, b: Frame) -> bool:
    return a.body == b.body and _is_near(a.placement, b.placement)


def _warn_of_frames(model: Model, file: Model) -> None:
    new = [name for name in model.frame_index if name not in file.frame_index]
    if new:
        warn(
            f"robot '{model.name}': frames {listed(new)} are not in the template and not saved; save without "
            "template to keep them"
        )


# Inertias


def _inertias(edits: Edits, robot: XmlNode, model: Model, file: Model) -> None:
    elements = {node.attributes.get("name", "").strip(): node for node in robot.named("link")}
    emptied: list[str] = []
    for i, (name, new, old) in enumerate(_bodies(model, file), WORLD):
        if _are_equal(new, old) or name not in elements:
            continue
        own = _sum(_inertia(elements[name]), new, _scaled(old, -1.0))
        if not _is_physical(own) and (own.mass < 0 or _is_physical(new)):
            welded = [n for n in elements if n != name and file.frame_index[n].body == i]
            own = new
            for link in welded:
                if _inertia(elements[link]) != Inertia():
                    _set_inertia(edits, elements[link], Inertia(), link, model.name)
                    emptied.append(link)
        _set_inertia(edits, elements[name], own, name, model.name)
    if emptied:
        warn(
            f"robot '{model.name}': the mass of links {listed(emptied)} was moved to the links that they are fixed to, "
            "since their own inertia would be invalid otherwise"
        )


def _bodies(model: Model, file: Model) -> Iterator[tuple[str, Inertia, Inertia]]:
    """Yield name, new and old inertia of the fixed base and of every body."""
    yield file.base.name, model.base.inertia, file.base.inertia
    for ours, theirs in zip(model.bodies, file.bodies, strict=True):
        yield ours.name, ours.inertia, theirs.inertia


def _are_equal(a: Inertia, b: Inertia) -> bool:
    groups = ((slice(0, 1), slice(1, 4), slice(4, 10))[k] for k in range(3))
    for group in groups:
        x, y = a.parameters[group], b.parameters[group]
        if max(abs(p - q) for p, q in zip(x, y, strict=True)) > SAME * max(map(abs, (*x, *y))):
            return False
    return True


def _sum(*parts: Inertia) -> Inertia:
    total = Inertia()
    for part in parts:
        total = total.plus(part)
    return total


def _scaled(inertia: Inertia, factor: float) -> Inertia:
    return Inertia.from_parameters(tuple(factor * x for x in inertia.parameters))


def _is_physical(inertia: Inertia) -> bool:
    if inertia.mass < 0 or (inertia.mass == 0 and inertia.first != ZERO):
        return False
    principal = principal_second_moments(inertia)
    return min(principal) >= -NEAR * max(map(abs, principal))


def _inertia(link: XmlNode) -> Inertia:
    """Return the inertia of a link of the file, in its own frame."""
    inertial = link.child("inertial")
    if inertial is None:
        return Inertia()
    mass, tensor, pose = inertial.child("mass"), inertial.child("inertia"), _origin(inertial)
    assert mass is not None  # or it would not have been read
    assert tensor is not None
    xx, xy, xz, yy, yz, zz = (tensor.numbers(key, 1)[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    about_centre = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Inertia.from_centre(mass.numbers("value", 1)[0], ZERO, about_centre).moved(pose)


def _origin(inertial: XmlNode) -> Pose:
    origin = inertial.child("origin")
    if origin is None:
        return Pose()
    (x, y, z), (roll, pitch, yaw) = origin.numbers("xyz", 3), origin.numbers("rpy", 3)
    return Pose(rotation((roll, pitch, yaw)), (x, y, z))


def _set_inertia(edits: Edits, link: XmlNode, inertia: Inertia, name: str, robot: str) -> None:
    """Write an inertia into a link, in the axes of its <inertial>."""
    centre, about_centre = centre_and_tensor(inertia, name, robot)
    inertial = link.child("inertial")
    if inertial is None:
        place = f'<origin xyz="{" ".join(map(number, centre))}" rpy="0 0 0"/>'
        lines = [
            (1, "<inertial>"),
            (2, place),
            (2, _element("mass", {"value": inertia.mass})),
            (2, _element("inertia", tensor_entries(about_centre))),
            (1, "</inertial>"),
        ]
        edits.add(link, lines)
        return
    pose, origin = _origin(inertial), inertial.child("origin")
    turned = Inertia.from_tensor(0.0, ZERO, about_centre).moved(Pose(transpose(pose.rotation))).tensor
    mass_element, tensor = inertial.child("mass"), inertial.child("inertia")
    assert mass_element is not None
    assert tensor is not None
    edits.set(mass_element, "value", [inertia.mass])
    size = max(abs(x) for row in turned for x in row)
    for key, x in tensor_entries(turned).items():
        edits.set(tensor, key, [x], size)
    if inertia.mass and origin is not None and ("xyz" in origin.attributes or centre != ZERO):
        edits.set(origin, "xyz", centre)
    elif inertia.mass and centre != ZERO:
        edits.add(inertial, [(1, f'<origin xyz="{" ".join(map(number, centre))}" rpy="0 0 0"/>')])


# Joints


def _joint(edits: Edits, element: XmlNode, new: Joint, old: Joint) -> None:
    changed = {key: value for key, value in dynamics(new).items() if value != dynamics(old)[key]}
    if changed:
        found = element.child("dynamics")
        if found is None:
            given = {"damping": new.damping, **changed}  # other readers require a damping attribute
            edits.add(element, [(1, _element("dynamics", given))])
        else:
            for key, value in changed.items():
                edits.set(found, key, [value])
    if new.limits != old.limits:
        wanted, found = limits(new), element.child("limit")
        if found is None:
            edits.add(element, [(1, _element("limit", wanted))])
        else:
            before = limits(old)
            for key, value in wanted.items():
                if value != before.get(key):
                    edits.set(found, key, [value])


def _element(tag: str, entries: dict[str, float]) -> str:
    attributes = " ".join(f'{key}="{number(x)}"' for key, x in entries.items())
    return f"<{tag} {attributes}/>"
