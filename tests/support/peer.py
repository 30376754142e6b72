"""A random tree in Pinocchio, link by link: its own merging of fixed links, its own joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from appell.model.build import Connection, Link
from appell.model.joints import plane
from appell.model.model import WORLD, Model
from appell.spatial.inertia import Inertia
from tests.support.robots import Drawing

Array = NDArray[Any]


class Peer:
    """A drawing, or a model of moving bodies, in Pinocchio."""

    def __init__(self, tree: Drawing | Model) -> None:
        self.pin: Any = pytest.importorskip("pinocchio")
        drawing = tree if isinstance(tree, Drawing) else _as_drawing(tree)
        self.model = self.pin.Model()
        self.model.gravity.linear = np.array(drawing.gravity)
        self._coordinates: list[tuple[int, Callable[[Array], Array]]] = []
        self._losses: list[list[float]] = []
        self._kinds: list[str] = []
        self._springs: list[tuple[float, float]] = []
        inertias = {link.name: link.inertia for link in drawing.links}
        seat = self.pin.SE3.Identity()
        carrier = 0
        if drawing.is_floating:
            carrier = self.model.addJoint(0, self.pin.JointModelFreeFlyer(), seat, "root")
            self._coordinates.append((7, _same))
            self._springs.append((0.0, 0.0))
            self._losses += [[0.0, 0.0, 0.0]] * 6
            self._kinds += ["free"]
        # per link: Pinocchio's joint that carries it, and the link's frame in that joint's
        self._seats = {drawing.links[0].name: (carrier, seat)}
        self._append(drawing.links[0].name, inertias[drawing.links[0].name])
        for connection in drawing.connections:
            self._connect(connection)
            self._append(connection.child, inertias[connection.child])
        self.data = self.model.createData()

    def _append(self, name: str, inertia: Inertia) -> None:
        carrier, seat = self._seats[name]
        if inertia.mass == 0.0:  # FromDynamicParameters divides by the mass
            theirs = self.pin.Inertia(0.0, np.zeros(3), np.array(inertia.tensor))
        else:
            theirs = self.pin.Inertia.FromDynamicParameters(np.array(inertia.parameters))
        self.model.appendBodyToJoint(carrier, theirs, seat)

    def _connect(self, connection: Connection) -> None:
        pin, joint = self.pin, connection.joint
        carrier, seat = self._seats[connection.parent]
        placement = seat * pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.position))
        if joint.kind == "fixed":
            self._seats[connection.child] = (carrier, placement)
            return
        axis, turn, move = np.array(joint.axis) / np.linalg.norm(joint.axis), pin.SE3.Identity(), _same
        if joint.kind in ("revolute", "continuous"):
            theirs = pin.JointModelRevoluteUnaligned(axis)
        elif joint.kind == "prismatic":
            theirs = pin.JointModelPrismaticUnaligned(axis)
        elif joint.kind == "helical":
            theirs = pin.JointModelHelicalUnaligned(axis, joint.pitch)
        elif joint.kind == "cylindrical":
            theirs = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(axis))
            theirs.addJoint(pin.JointModelPrismaticUnaligned(axis))
        elif joint.kind == "universal":
            assert connection.axis2 is not None
            theirs = pin.JointModelUniversal(axis, np.array(connection.axis2) / np.linalg.norm(connection.axis2))
        elif joint.kind == "planar":
            # Pinocchio's plane is that of x and y
            turn = pin.SE3(np.stack([*plane(joint.axis), joint.axis], axis=-1), np.zeros(3))
            theirs, move = pin.JointModelPlanar(), _cosine_and_sine
        else:
            theirs = pin.JointModelSpherical() if joint.kind == "ball" else pin.JointModelFreeFlyer()
        added = self.model.addJoint(carrier, theirs, placement * turn, joint.name)
        self._seats[connection.child] = (added, turn.inverse())
        offset = joint.offset
        self._coordinates.append((3 if joint.kind == "planar" else theirs.nq, lambda q: move(q + offset)))
        self._springs.append((joint.stiffness, joint.spring_reference))
        self._losses += [[joint.armature, joint.damping, joint.friction]] * theirs.nv
        self._kinds += [joint.kind]

    def coordinates(self, q: Any) -> Array:
        """Return Pinocchio's coordinates of a configuration."""
        parts, start = [], 0
        for size, move in self._coordinates:
            parts.append(move(np.asarray(q[start : start + size], dtype=float)))
            start += size
        return np.concatenate(parts)

    def torque(self, q: Any, v: Any, a: Any) -> Array:
        """Return the joint forces, springs included, rotor inertia and friction left out."""
        tau: Array = self.pin.rnea(self.model, self.data, self.coordinates(q), np.array(v), np.array(a)).copy()
        return tau + self.spring_forces(q)

    def spring_forces(self, q: Any) -> Array:
        """Return what springs of joints of one coordinate add to the joint forces."""
        forces, start = [], 0
        for (size, _), (stiffness, reference) in zip(self._coordinates, self._springs, strict=True):
            nv = {7: 6, 4: 3}.get(size, size)
            forces += [stiffness * (float(q[start]) - reference)] if size == 1 else [0.0] * nv
            start += size
        return np.array(forces)

    def loss(self, v: Any, a: Any) -> Array:
        """Return what rotor inertia, damping and friction add to the joint forces.

        That of rotor inertia is more than Pinocchio has: the linear velocities of free and planar joints turn, ω × v.
        """
        armature, damping, friction = np.array(self._losses).T
        turned, start = np.zeros(len(v)), 0
        for kind, joint in zip(self._kinds, list(self.model.joints)[1:], strict=True):
            if kind == "free":
                turned[start : start + 3] = np.cross(v[start + 3 : start + 6], v[start : start + 3])
            if kind == "planar":
                turned[start : start + 2] = np.cross((0.0, 0.0, v[start + 2]), (*v[start : start + 2], 0.0))[:2]
            start += joint.nv
        return np.asarray(armature * (a + turned) + damping * v + friction * np.sign(v))

    def mass_matrix(self, q: Any) -> Array:
        """Return the inertia matrix, rotor inertia left out."""
        upper = np.triu(self.pin.crba(self.model, self.data, self.coordinates(q)))
        full: Array = upper + np.triu(upper, 1).T
        return full

    def acceleration(self, q: Any, v: Any, tau: Any) -> Array:
        """Return the accelerations under joint forces, springs included, rotor inertia and friction left out."""
        push = np.array(tau) - self.spring_forces(q)
        a: Array = self.pin.aba(self.model, self.data, self.coordinates(q), np.array(v), push).copy()
        return a

    @property
    def armature(self) -> Array:
        """Return the rotor inertia of every velocity."""
        return np.array(self._losses)[:, 0]


def _same(q: Array) -> Array:
    return q


def _cosine_and_sine(q: Array) -> Array:
    return np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])


def _as_drawing(model: Model) -> Drawing:
    """Return the bodies of a model as links."""
    names = {WORLD: "world", **{i: body.name for i, body in enumerate(model.bodies)}}
    links = [Link("world"), *(Link(body.name, body.inertia) for body in model.bodies)]
    connections = [Connection(body.joint, names[body.parent], body.name) for body in model.bodies]
    return Drawing(tuple(links), tuple(connections), model.gravity)
