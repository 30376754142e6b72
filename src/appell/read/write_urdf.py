"""Models to URDF files."""

from __future__ import annotations

import math
import re
import sys
import warnings

from lxml import etree

from appell.errors import AppellWarning, ModelError
from appell.model.build import Connection, Link, listed
from appell.model.model import GRAVITY, Joint, Limits, Model
from appell.read.dh import LOSS_KEYS
from appell.read.outline import outline, roll_pitch_yaw, without_offset
from appell.read.urdf import ENDLESS, KINDS_BY_NAME
from appell.read.xml import Element
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, ZERO

_NAMES = {kind: name for name, kind in KINDS_BY_NAME.items()}
UNFIT = re.compile(r"[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\$\{|\$\(")
"""What a name in XML cannot hold: control characters, and what reads as an expression of xacro."""
_LIMITED = ("revolute", "prismatic")
"""Kinds that a URDF must give limits, whatever they are."""


def urdf_text(model: Model) -> str:
    """Return a model as the text of a URDF file, numbers to their last digit.

    Raises
    ------
    ModelError
        When URDF has no word for a joint, for a body's inertia or for a loop; toml has.

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> print(urdf_text(read("puma560"))[:45])
    <?xml version="1.0" encoding="UTF-8"?>
    <robot
    """
    if model.closures:
        loops = listed(closure.name for closure in model.closures)
        raise ModelError(f"robot '{model.name}': URDF has no word for its loops {loops}; save as .toml")
    if model.springs:
        springs = listed(spring.name for spring in model.springs)
        raise ModelError(f"robot '{model.name}': URDF has no springs between joints ({springs}); save as .toml")
    if model.gravity != GRAVITY:
        shown = ", ".join(f"{x:g}" for x in model.gravity)
        warnings.warn(
            f"robot '{model.name}': URDF holds no gravity; give gravity=({shown}) when loading, or save as .toml",
            AppellWarning,
            stacklevel=4,
        )
    links, connections = outline(model)
    for name in (model.name, *(link.name for link in links), *(each.joint.name for each in connections)):
        if name != name.strip() or UNFIT.search(name):
            raise ModelError(f"robot '{model.name}': URDF cannot hold the name {name!r}; save as .toml")
    root = etree.Element("robot", name=model.name)
    for link in links:
        _link(root, link, model.name)
    for connection in connections:
        _joint(root, connection, model.name)
    text: bytes = etree.tostring(root, pretty_print=True, xml_declaration=True, encoding="UTF-8")
    return text.decode().replace("'", '"', 4)  # lxml declares version and encoding in single quotes


def _link(root: Element, link: Link, robot: str) -> None:
    element = etree.SubElement(root, "link", name=link.name)
    if link.inertia == Inertia():
        return
    mass, first = link.inertia.mass, link.inertia.first
    if not mass and first != ZERO:
        raise ModelError(
            f"robot '{robot}': body '{link.name}' has a first moment and no mass, which URDF cannot say; save as .toml"
        )
    centre = link.inertia.centre
    about_centre = link.inertia.moved(Pose(IDENTITY, (-centre[0], -centre[1], -centre[2]))).tensor
    inertial = etree.SubElement(element, "inertial")
    _origin(inertial, Pose(IDENTITY, centre))
    etree.SubElement(inertial, "mass", value=_text(mass))
    names = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
    etree.SubElement(inertial, "inertia", {name: _text(about_centre[i][j]) for name, i, j in names})


def _joint(root: Element, connection: Connection, robot: str) -> None:
    joint = connection.joint if connection.joint.kind == "fixed" else without_offset(connection.joint)
    if joint.kind not in _NAMES:
        raise ModelError(
            f"robot '{robot}': joint '{joint.name}' is {joint.kind}, which URDF does not know; save as .toml"
        )
    element = etree.SubElement(root, "joint", name=joint.name, type=_NAMES[joint.kind])
    etree.SubElement(element, "parent", link=connection.parent)
    etree.SubElement(element, "child", link=connection.child)
    _origin(element, joint.placement)
    if joint.kind == "fixed":
        return
    etree.SubElement(element, "axis", xyz=_texts(joint.axis))
    _limit(element, joint)
    losses = {key: getattr(joint, key) for key in LOSS_KEYS}
    if any(losses.values()):
        kept = {key: _text(value) for key, value in losses.items() if value or key == "damping"}
        etree.SubElement(element, "dynamics", kept)  # other readers want a damping in it, zero or not
    if joint.mimic is not None:
        multiplier, offset = _text(joint.mimic.multiplier), _text(joint.mimic.offset)
        etree.SubElement(element, "mimic", joint=joint.mimic.joint, multiplier=multiplier, offset=offset)


def _limit(element: Element, joint: Joint) -> None:
    limits = joint.limits
    if limits == Limits() and joint.kind not in _LIMITED:
        return
    given = {"effort": limits.effort, "velocity": limits.velocity}
    if joint.kind not in ENDLESS and (math.isfinite(limits.lower) or math.isfinite(limits.upper)):
        given = {"lower": limits.lower, "upper": limits.upper, **given}
    largest = sys.float_info.max  # for infinity, which most readers of URDF refuse
    etree.SubElement(element, "limit", {key: _text(max(-largest, min(x, largest))) for key, x in given.items()})


def _origin(parent: Element, pose: Pose) -> None:
    if pose != Pose():
        etree.SubElement(parent, "origin", xyz=_texts(pose.position), rpy=_texts(roll_pitch_yaw(pose.rotation)))


def _texts(vector: Vector) -> str:
    return " ".join(map(_text, vector))


def _text(x: float) -> str:
    """Return the shortest text that reads as the same float."""
    return repr(float(x))
