"""URDF files of models."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from lxml import etree

from appell.errors import ModelError, warn
from appell.messages import listed
from appell.model.build import Connection, Link
from appell.model.model import GRAVITY, Joint, Limits, Model
from appell.read.dh import LOSS_KEYS
from appell.read.markup import number
from appell.read.outline import check_names, outline, roll_pitch_yaw, without_offset
from appell.read.shapes import URDF_KINDS, add_urdf, described
from appell.read.urdf import ENDLESS, KINDS_BY_NAME
from appell.read.xml import Element
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, negate

_NAMES = {kind: name for name, kind in KINDS_BY_NAME.items()}
_LIMITED = ("revolute", "prismatic")
"""Types for which URDF requires limits."""


def urdf_text(model: Model, folder: Path | None = None) -> str:
    """Return a model as the text of a URDF file in a folder, numbers with all digits.

    Raises
    ------
    ModelError
        When URDF cannot represent a joint, a body's inertia or a loop; toml can.

    Warns
    -----
    AppellWarning
        When URDF cannot represent gravity or a shape.

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> print(urdf_text(read("puma560"))[:45])
    <?xml version="1.0" encoding="UTF-8"?>
    <robot
    """
    if model.closures:
        loops = listed(closure.name for closure in model.closures)
        raise ModelError(f"robot '{model.name}': URDF cannot represent its loops {loops}; save as .toml")
    if model.springs:
        springs = listed(spring.name for spring in model.springs)
        raise ModelError(
            f"robot '{model.name}': URDF cannot represent springs between joints ({springs}); save as .toml"
        )
    warn_of_gravity(model)
    lost = described(shape for shape in model.shapes if shape.kind not in URDF_KINDS)
    if lost:
        warn(f"robot '{model.name}': URDF cannot represent: shapes {listed(lost)}; save as .toml")
    links, connections, shapes = outline(model)
    check_names(model, "URDF")
    root = etree.Element("robot", name=model.name)
    for link in links:
        element = _link(root, link, model.name)
        for shape in shapes.get(link.name, ()):
            if shape.kind in URDF_KINDS:
                add_urdf(element, shape, folder, _origin)
    for connection in connections:
        _joint(root, connection, model.name)
    text: bytes = etree.tostring(root, pretty_print=True, xml_declaration=True, encoding="UTF-8")
    return text.decode().replace("'", '"', 4)  # lxml declares version and encoding in single quotes


def warn_of_gravity(model: Model, what: str = "URDF") -> None:
    """Warn of a gravity that a format cannot represent."""
    if model.gravity != GRAVITY:
        shown = ", ".join(f"{x:g}" for x in model.gravity)
        warn(f"robot '{model.name}': {what} has no gravity; pass gravity=({shown}) when loading, or save as .toml")


def _link(root: Element, link: Link, robot: str) -> Element:
    element = etree.SubElement(root, "link", name=link.name)
    if link.inertia == Inertia():
        return element
    centre, about_centre = centre_and_tensor(link.inertia, link.name, robot)
    inertial = etree.SubElement(element, "inertial")
    _origin(inertial, Pose(IDENTITY, centre))
    etree.SubElement(inertial, "mass", value=number(link.inertia.mass))
    etree.SubElement(inertial, "inertia", {key: number(x) for key, x in tensor_entries(about_centre).items()})
    return element


def centre_and_tensor(inertia: Inertia, name: str, robot: str, what: str = "URDF") -> tuple[Vector, Matrix]:
    """Return a body's mass centre and its inertia tensor about it.

    Raises
    ------
    ModelError
        When the body has a first moment and no mass; `what` is the format that cannot represent it.
    """
    if not inertia.mass and inertia.first != ZERO:
        raise ModelError(
            f"robot '{robot}': body '{name}' has a first moment and no mass, which {what} cannot represent; save as "
            ".toml"
        )
    centre = inertia.centre
    return centre, inertia.moved(Pose(IDENTITY, negate(centre))).tensor


def tensor_entries(tensor: Matrix) -> dict[str, float]:
    """Return the six entries of an inertia tensor by their names in URDF and SDF."""
    names = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
    return {name: tensor[i][j] for name, i, j in names}


def _joint(root: Element, connection: Connection, robot: str) -> None:
    joint = connection.joint if connection.joint.kind == "fixed" else without_offset(connection.joint)
    if joint.kind not in _NAMES:
        raise ModelError(
            f"robot '{robot}': joint '{joint.name}' is {joint.kind}, which URDF does not support; save as .toml"
        )
    element = etree.SubElement(root, "joint", name=joint.name, type=_NAMES[joint.kind])
    etree.SubElement(element, "parent", link=connection.parent)
    etree.SubElement(element, "child", link=connection.child)
    _origin(element, joint.placement)
    if joint.kind == "fixed":
        return
    etree.SubElement(element, "axis", xyz=_texts(joint.axis))
    _limit(element, joint)
    losses = dynamics(joint)
    if any(losses.values()):
        kept = {key: number(value) for key, value in losses.items() if value or key == "damping"}
        etree.SubElement(element, "dynamics", kept)  # other readers require a damping attribute
    if joint.mimic is not None:
        multiplier, offset = number(joint.mimic.multiplier), number(joint.mimic.offset)
        etree.SubElement(element, "mimic", joint=joint.mimic.joint, multiplier=multiplier, offset=offset)


def dynamics(joint: Joint) -> dict[str, float]:
    """Return the attributes of <dynamics>."""
    return {key: getattr(joint, key) for key in LOSS_KEYS}


def _limit(element: Element, joint: Joint) -> None:
    if joint.limits != Limits() or joint.kind in _LIMITED:
        etree.SubElement(element, "limit", {key: number(x) for key, x in limits(joint).items()})


def limits(joint: Joint) -> dict[str, float]:
    """Return the attributes of <limit>; the largest float represents infinity, which most readers of URDF reject."""
    own, largest = joint.limits, sys.float_info.max
    given = {"effort": own.effort, "velocity": own.velocity}
    if joint.kind not in ENDLESS and (math.isfinite(own.lower) or math.isfinite(own.upper)):
        given = {"lower": own.lower, "upper": own.upper, **given}
    return {key: max(-largest, min(x, largest)) for key, x in given.items()}


def _origin(parent: Element, pose: Pose) -> None:
    if pose != Pose():
        etree.SubElement(parent, "origin", xyz=_texts(pose.position), rpy=_texts(roll_pitch_yaw(pose.rotation)))


def _texts(vector: Vector) -> str:
    return " ".join(map(number, vector))
