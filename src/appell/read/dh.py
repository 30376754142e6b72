"""Robots from Denavit–Hartenberg tables, modified (Craig, Khalil) and standard (Paul).

Row i of a table places frame i relative to frame i − 1. Its four numbers are used in this order:

    modified:  X_{i−1,i} = Rx(α) · Tx(a) · Rz(θ) · Tz(d)          frame i rotates about its own z
    standard:  X_{i−1,i} = Rz(θ) · Tz(d) · Tx(a) · Rx(α)          frame i rotates about z of frame i − 1

A revolute joint adds q to θ, a prismatic one adds q to d: the number in the row is the offset at q = 0.

A body's frame must rotate about an axis through its own origin, which the standard frame i, at the far end of link i,
does not. But the standard product, cut before Tx(a)·Rx(α) instead of after, is the modified one with a and α taken from
the row before. So both tables become the same bodies; the inertia that a standard table gives in frame i is moved to
the joint by Tx(a)·Rx(α), and the frame itself is kept under the name ``dh1``, ``dh2``, …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from appell.messages import listed, shown
from appell.model.build import Connection, Link, build
from appell.model.joints import KINDS
from appell.model.model import GRAVITY, Frame, Joint, Limits, Model
from appell.read import values
from appell.read.place import Place, check_keys
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Vector

GEOMETRY_KEYS = ("a", "alpha", "d", "theta")
LOSS_KEYS = (
    *("damping", "friction", "static_friction", "stribeck_velocity", "armature"),
    *("stiffness", "spring_reference"),
)
ROW_KEYS = ("name", "link", "kind", *GEOMETRY_KEYS, *values.INERTIA_KEYS, "limits", *LOSS_KEYS)
DH_KINDS = ("revolute", "continuous", "prismatic")

X: Vector = (1.0, 0.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)


def from_dh(
    rows: Sequence[Mapping[str, object] | Sequence[float]] | np.ndarray,
    *,
    modified: bool = True,
    d_sign: int = 1,
    name: str = "robot",
    gravity: Sequence[float] | None = None,
) -> Model:
    """Return the serial arm of a Denavit–Hartenberg table.

    Parameters
    ----------
    rows
        One row per joint, from the base outwards. A plain row is (a, α, d, θ) [m, rad, m, rad], a revolute joint of a
        link without mass. A complete row is a dictionary of any of

        - ``a``, ``alpha``, ``d``, ``theta``: the geometry, 0 by default; angles in radians or as text, "90 deg";
        - ``kind``: "revolute" (the default), "continuous" or "prismatic";
        - ``mass`` [kg], ``centre`` [m] and ``inertia`` about the centre [kg·m²], as 3 numbers (the diagonal), 6 (xx,
          xy, yy, xz, yz, zz) or 3 rows of 3; or ``parameters``, the ten numbers m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
          about the origin. All in the table's own frame i;
        - ``limits``: a dictionary of ``lower``, ``upper``, ``velocity``, ``effort``;
        - ``damping``, ``friction``, ``armature``: viscous damping, Coulomb friction and rotor inertia of the joint;
        - ``stiffness``, ``spring_reference``: the joint's spring, and the coordinate at which it is relaxed;
        - ``name`` and ``link``: names, by default joint1, joint2, … and link1, link2, ….
    modified
        True for a modified table (Craig, Khalil), False for a standard one (Paul).
    d_sign
        −1 where the table counts d against z, as valera2003 does with its D; 1 otherwise.
    name
        The robot's name.
    gravity
        Gravity in the axes of frame 0 [m/s²]; 9.81 along −z by default.

    Returns
    -------
    Model
        The model of the arm.

    Raises
    ------
    ReadError
        When a row is invalid; the message names the row, counted from 0, and the key.

    Examples
    --------
    A pendulum of 2 kg at 0.5 m from a horizontal axis, hanging along −x where q = 0:

    >>> model = from_dh([{"alpha": "90 deg", "mass": 2.0, "centre": (-0.5, 0.0, 0.0)}])
    >>> model.bodies[0].joint.placement.rotation
    ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))

    The same planar arm by both conventions; the standard frame dh1 is at the far end of the link:

    >>> planar = from_dh([(0.0, 0.0, 0.0, 0.0), (0.3, 0.0, 0.0, 0.0)])
    >>> paul = from_dh([(0.3, 0.0, 0.0, 0.0), (0.2, 0.0, 0.0, 0.0)], modified=False)
    >>> planar.bodies == paul.bodies
    True
    >>> paul.frame_index["dh1"].placement.position
    (0.3, 0.0, 0.0)
    """
    place = Place(path="rows")
    if not isinstance(modified, bool):
        raise Place(path="modified").error(f"expected True or False, got {shown(modified)}")
    return arm(
        values.sequence(rows, place),
        place,
        modified=modified,
        d_sign=d_sign,
        name=values.text(name, Place(path="name")),
        gravity=values.gravity_vector(gravity),
    )


def arm(
    rows: Sequence[object],
    place: Place,
    *,
    modified: bool = True,
    d_sign: int = 1,
    name: str = "robot",
    gravity: Vector = GRAVITY,
) -> Model:
    """Return the arm of the rows at a place; shared by :func:`from_dh` and the toml reader.

    >>> arm([(0.0, 0.0, 0.0, 0.0)], Place()).nq
    1
    """
    if not rows:
        raise place.error("no row; a robot needs at least one joint")
    if d_sign not in (1, -1):
        raise place.error(f"d_sign: expected 1, or -1 where d counts against z; got {shown(d_sign)}")
    table = [_row(row, d_sign, i, place.at(i)) for i, row in enumerate(rows)]
    tips = [Pose() if modified else row.twist for row in table]
    roots = [row.twist for row in table] if modified else [Pose(), *tips[:-1]]
    links, connections = [Link("base")], []
    for row, root, tip in zip(table, roots, tips, strict=True):
        placement = root.then(row.fixed)
        joint = replace(row.joint, placement=placement._replace(rotation=values.tidy(placement.rotation)))
        connections.append(Connection(joint, links[-1].name, row.link))
        links.append(Link(row.link, row.inertia.moved(tip)))
    model = build(name, links, connections, gravity=gravity, source=place.source)
    return replace(model, frames=model.frames + tuple(Frame(f"dh{i + 1}", i, tip) for i, tip in enumerate(tips)))


@dataclass(frozen=True)
class _Row:
    """A parsed row: Tx(a)·Rx(α), the constant part of Rz(θ)·Tz(d), and the joint."""

    link: str
    joint: Joint
    twist: Pose
    fixed: Pose
    inertia: Inertia


def _row(given: object, d_sign: int, index: int, place: Place) -> _Row:
    entries = _entries(given, place)
    check_keys(entries, ROW_KEYS, place)
    kind = values.text(entries.get("kind", "revolute"), place.at("kind"))
    if kind not in DH_KINDS:
        raise place.at("kind").error(f"unknown kind '{kind}'; known kinds: {listed(DH_KINDS)}")
    a, d = (values.number(entries.get(key, 0.0), place.at(key)) for key in ("a", "d"))
    alpha, theta = (values.angle(entries.get(key, 0.0), place.at(key)) for key in ("alpha", "theta"))
    d = d_sign * d + 0.0
    turns = KINDS[kind].turns
    joint = Joint(
        values.text(entries.get("name", f"joint{index + 1}"), place.at("name")),
        kind,
        axis=Z,
        offset=theta if turns else d,
        limits=values.limits(entries["limits"], turns, place.at("limits")) if "limits" in entries else Limits(),
        **joint_parameters(entries, turns, place),
    )
    return _Row(
        values.text(entries.get("link", f"link{index + 1}"), place.at("link")),
        joint,
        Pose(about(X, *values.cos_sin(alpha)), (a, 0.0, 0.0)),
        Pose(position=(0.0, 0.0, d)) if turns else Pose(about(Z, *values.cos_sin(theta))),
        values.inertia(entries, place),
    )


def joint_parameters(entries: Mapping[str, object], turns: bool, place: Place) -> dict[str, Any]:
    """Return damping, friction, armature and the spring of a joint's table, 0 by default."""
    found: dict[str, Any] = {key: values.number(entries.get(key, 0.0), place.at(key)) for key in LOSS_KEYS[:-1]}
    reference = entries.get("spring_reference", 0.0)
    return found | {
        "spring_reference": (values.angle if turns else values.number)(reference, place.at("spring_reference"))
    }


def _entries(given: object, place: Place) -> Mapping[str, object]:
    if isinstance(given, Mapping):
        return given
    return dict(zip(GEOMETRY_KEYS, values.numbers(given, 4, place), strict=True))
