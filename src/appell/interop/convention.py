"""Conversion of states between appell and other libraries.

A :class:`Convention` has the joint order of the other library and a conversion rule per joint. With x the joint
coordinates and v the joint velocities, a rule has the library's coordinates y(x), the inverse, and a
map

    v' = T(x)·v,      a' = T·a + Ṫ·v,      τ' = T·τ,

whose T is orthogonal for every joint here, so that powers are equal: τ'·v' = τ·v. All functions take arrays with any
leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import InputError
from appell.messages import alternatives, listed
from appell.model.model import Joint, Model, Z
from appell.robot.robot import Robot, checked_robot
from appell.spatial import quaternion
from appell.spatial.scalar import Array


class Rule(NamedTuple):
    """A joint in another library: its number of coordinates, y(x) and the inverse, T·v, Tᵀ·v' and Ṫ·v."""

    nq: int
    given: Callable[[Array], Array] = lambda x: x
    own: Callable[[Array], Array] = lambda y: y
    turned: Callable[[Array, Array], Array] = lambda _, v: v
    back: Callable[[Array, Array], Array] = lambda _, v: v
    bias: Callable[[Array, Array], Array] = lambda _, v: np.zeros_like(v)


def plain(nq: int) -> Rule:
    """Return the rule of a joint that is equal in both."""
    return Rule(nq)


def _joined(*parts: Array) -> Array:
    leading = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*leading, part.shape[-1])) for part in parts], axis=-1)


# Quaternions: w first


def _w_first(x: Array) -> Array:
    return np.roll(x, 1, axis=-1)


def _w_last(y: Array) -> Array:
    return np.roll(y, -1, axis=-1)


def _rotated_back(x: Array, vector: Array) -> Array:
    return quaternion.rotate(quaternion.conjugate(x), vector)


W_FIRST = Rule(4, _w_first, _w_last)
"""A ball joint whose quaternion is w x y z."""

MUJOCO_FREE = Rule(
    7,
    lambda x: _joined(x[..., :3], _w_first(x[..., 3:])),
    lambda y: _joined(y[..., :3], _w_last(y[..., 3:])),
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], v[..., :3]), v[..., 3:]),
    lambda x, v: _joined(_rotated_back(x[..., 3:], v[..., :3]), v[..., 3:]),
    # d/dt (R v) = R (v̇ + ω × v)
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], np.cross(v[..., 3:], v[..., :3])), np.zeros_like(v[..., 3:])),
)
"""A free joint with the quaternion w x y z, the linear velocity in world axes and the angular one in the body's."""

DRAKE_FREE = Rule(
    7,
    lambda x: _joined(_w_first(x[..., 3:]), x[..., :3]),
    lambda y: _joined(y[..., 4:], _w_last(y[..., :4])),
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], v[..., 3:]), quaternion.rotate(x[..., 3:], v[..., :3])),
    lambda x, v: _joined(_rotated_back(x[..., 3:], v[..., 3:]), _rotated_back(x[..., 3:], v[..., :3])),
    # d/dt (R ω) = R ω̇, and the linear part as above
    lambda x, v: _joined(np.zeros_like(v[..., 3:]), quaternion.rotate(x[..., 3:], np.cross(v[..., 3:], v[..., :3]))),
)
"""A free joint with the quaternion w x y z before the position, the angular velocity first, both in world axes."""


# Angles


def _circle(x: Array) -> Array:
    return _joined(np.cos(x), np.sin(x))


def _angle(y: Array) -> Array:
    return np.arctan2(y[..., 1:2], y[..., :1])


CIRCLE = Rule(2, _circle, _angle)
"""An angle as cosine and sine."""

PLANAR_CIRCLE = Rule(
    4, lambda x: _joined(x[..., :2], _circle(x[..., 2:])), lambda y: _joined(y[..., :2], _angle(y[..., 2:]))
)
"""A planar joint with cosine and sine of its angle."""


def _in_plane(angle: Array, v: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1]], axis=-1)


PLANAR_WORLD = Rule(
    3,
    turned=lambda x, v: _joined(_in_plane(x[..., 2], v[..., :2]), v[..., 2:]),
    back=lambda x, v: _joined(_in_plane(-x[..., 2], v[..., :2]), v[..., 2:]),
    # d/dt (R v) = R (v̇ + ω z × v), z × v = (−v₂, v₁)
    bias=lambda x, v: _joined(
        _in_plane(x[..., 2], v[..., 2:] * np.stack([-v[..., 1], v[..., 0]], axis=-1)), np.zeros_like(v[..., 2:])
    ),
)
"""A planar joint whose linear velocity is in the axes of the joint frame."""


def _angles(x: Array) -> Array:
    """Return roll, pitch and yaw of a quaternion x y z w; pitch in [−π/2, π/2]."""
    i, j, k, w = np.moveaxis(x, -1, 0)
    roll = np.arctan2(2.0 * (w * i + j * k), 1.0 - 2.0 * (i * i + j * j))
    # by atan2, accurate also where the sine is near one
    sine = 2.0 * (w * j - k * i)
    cosine = np.hypot(1.0 - 2.0 * (j * j + k * k), 2.0 * (w * k + i * j))
    yaw = np.arctan2(2.0 * (w * k + i * j), 1.0 - 2.0 * (j * j + k * k))
    return np.stack([roll, np.arctan2(sine, cosine), yaw], axis=-1)


def _of_angles(y: Array) -> Array:
    roll, pitch, yaw = (quaternion.exponential(y[..., k : k + 1] * np.eye(3)[k]) for k in range(3))
    return np.asarray(quaternion.multiply(yaw, quaternion.multiply(pitch, roll)))


ANGLES_WORLD = Rule(3, _angles, _of_angles, quaternion.rotate, _rotated_back)
"""A ball joint by roll, pitch and yaw, its angular velocity in the axes of the joint frame; d/dt (R ω) = R ω̇."""


DRAKE = {"free": DRAKE_FREE, "ball": ANGLES_WORLD, "planar": PLANAR_WORLD}
"""Conversion rules of the joints that differ in Drake."""


class Seat(NamedTuple):
    """A joint in both libraries: its rule, and the indices of its coordinates and velocities in both."""

    rule: Rule
    q: slice
    v: slice
    their_q: slice
    their_v: slice


class Convention:
    """The convention of another library for the states of a robot.

    :meth:`q`, :meth:`v`, :meth:`a` and :meth:`tau` convert to the library, the methods ``from_…`` convert back. All
    take arrays with any leading axes, which broadcast. For a closed-loop robot they take all joints of the spanning
    tree: ``robot.tree_configuration(q)``, ``robot.tree_velocity(q, v)``, ``robot.tree_acceleration(q, v, a)``.

    Parameters
    ----------
    name : str
        The library.
    robot : str
        The robot's name.
    seats : sequence of Seat
        The joints in the order of the library.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link", floating=True)
    >>> there = appell.interop.mujoco(robot)
    >>> there.q(robot.neutral())
    array([0., 0., 0., 1., 0., 0., 0., 0., 0.])
    >>> q, v = robot.neutral(), [1.0] * robot.nv
    >>> (there.from_v(there.q(q), there.v(q, v)) == v).all(), (there.from_q(there.q(q)) == q).all()
    (np.True_, np.True_)
    >>> a, tau = there.a(q, v, v), there.tau(q, v)
    >>> (there.from_a(there.q(q), there.v(q, v), a) == v).all(), (there.from_tau(there.q(q), tau) == v).all()
    (np.True_, np.True_)
    """

    def __init__(self, name: str, robot: str, seats: Sequence[Seat]) -> None:
        self.name, self._robot, self._seats = name, robot, tuple(seats)
        self.nq, self.nv = _size(seat.their_q for seat in seats), _size(seat.their_v for seat in seats)
        self._own_nq = _size(seat.q for seat in seats)

    def __repr__(self) -> str:
        return f"<Convention '{self.name}' of robot '{self._robot}': nq {self.nq}, nv {self.nv}>"

    # To the library

    def q(self, q: ArrayLike) -> Array:
        """Convert configurations to the library.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configurations of appell.

        Returns
        -------
        array, shape (..., nq')
            Configurations of the library.
        """
        x = self._sized("q", q, self._own_nq)
        return self._laid(x.shape[:-1], self.nq, ((s.their_q, s.rule.given(x[..., s.q])) for s in self._seats))

    def v(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Convert velocities to the library, v' = T(q)·v.

        Parameters
        ----------
        q, v : array_like
            Configurations (..., nq) and velocities (..., nv) of appell.

        Returns
        -------
        array, shape (..., nv)
            Velocities of the library.
        """
        return self._turned("v", q, v)

    def a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Convert accelerations to the library, a' = T·a + Ṫ·v.

        Parameters
        ----------
        q, v, a : array_like
            Configurations (..., nq), velocities and accelerations (..., nv) of appell.

        Returns
        -------
        array, shape (..., nv)
            Accelerations of the library.
        """
        bias = self._moved("v", q, v, lambda seat, x, u: seat.rule.bias(x, u))
        return np.add(self._turned("a", q, a), bias)

    def tau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert generalised forces to the library, of equal power: τ'·v' = τ·v.

        Parameters
        ----------
        q, tau : array_like
            Configurations (..., nq) and torques (..., nv) of appell.

        Returns
        -------
        array, shape (..., nv)
            Torques of the library.
        """
        return self._turned("tau", q, tau)

    def matrix(self, q: ArrayLike) -> Array:
        """Return T with v' = T·v, orthogonal: mass matrices are M' = T·M·Tᵀ, Jacobians J' = J·Tᵀ.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configurations of appell.

        Returns
        -------
        array, shape (..., nv, nv)
            T.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> appell.interop.mujoco(robot).matrix(robot.neutral())
        array([[1., 0.],
               [0., 1.]])
        """
        x = self._sized("q", q, self._own_nq)[..., None, :]
        return np.swapaxes(self._turned("v", x, np.eye(self.nv)), -1, -2)

    # From the library

    def from_q(self, q: ArrayLike) -> Array:
        """Convert configurations of the library to appell; angles stored as cosine and sine are within ±π.

        Parameters
        ----------
        q : array_like, shape (..., nq')
            Configurations of the library.

        Returns
        -------
        array, shape (..., nq)
            Configurations of appell.
        """
        y = self._sized("q", q, self.nq)
        parts = ((s.q, s.rule.own(y[..., s.their_q])) for s in self._seats)
        return self._laid(y.shape[:-1], self._own_nq, parts)

    def from_v(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Convert velocities of the library to appell.

        Parameters
        ----------
        q, v : array_like
            Configurations (..., nq') and velocities (..., nv) of the library.

        Returns
        -------
        array, shape (..., nv)
            Velocities of appell.
        """
        return self._back("v", self.from_q(q), self._sized("v", v, self.nv))

    def from_a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Convert accelerations of the library to appell, a = Tᵀ·(a' − Ṫ·v).

        Parameters
        ----------
        q, v, a : array_like
            Configurations (..., nq'), velocities and accelerations (..., nv) of the library.

        Returns
        -------
        array, shape (..., nv)
            Accelerations of appell.
        """
        x = self.from_q(q)
        u = self._back("v", x, self._sized("v", v, self.nv))
        return self._back("a", x, np.subtract(self._sized("a", a, self.nv), self.a(x, u, np.zeros(self.nv))))

    def from_tau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert generalised forces of the library to appell.

        Parameters
        ----------
        q, tau : array_like
            Configurations (..., nq') and torques (..., nv) of the library.

        Returns
        -------
        array, shape (..., nv)
            Torques of appell.
        """
        return self._back("tau", self.from_q(q), self._sized("tau", tau, self.nv))

    def _turned(self, name: str, q: ArrayLike, v: ArrayLike) -> Array:
        return self._moved(name, q, v, lambda seat, x, u: seat.rule.turned(x, u))

    def _moved(self, name: str, q: ArrayLike, v: ArrayLike, rule: Callable[[Seat, Array, Array], Array]) -> Array:
        x, u = self._sized("q", q, self._own_nq), self._sized(name, v, self.nv)
        parts = ((s.their_v, rule(s, x[..., s.q], u[..., s.v])) for s in self._seats)
        return self._laid(self._leading(name, x, u), self.nv, parts)

    def _back(self, name: str, x: Array, u: Array) -> Array:
        parts = ((s.v, s.rule.back(x[..., s.q], u[..., s.their_v])) for s in self._seats)
        return self._laid(self._leading(name, x, u), self.nv, parts)

    def _leading(self, name: str, x: Array, u: Array) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(x.shape[:-1], u.shape[:-1])
        except ValueError:
            raise InputError(
                f"{self.name}: the leading axes do not broadcast (q {x.shape[:-1]}, {name} {u.shape[:-1]}) for robot "
                f"'{self._robot}'"
            ) from None

    def _laid(self, leading: tuple[int, ...], size: int, parts: Iterator[tuple[slice, Array]]) -> Array:
        result = np.empty((*leading, size))
        for where, part in parts:
            result[..., where] = part
        return result

    def _sized(self, name: str, x: ArrayLike, size: int) -> Array:
        return numbers(self._robot, name, (size,), x).astype(float, copy=False)


def _size(places: Iterable[slice]) -> int:
    return sum(place.stop - place.start for place in places)


def tree_of(robot: Any, library: str) -> Model:
    """Return the converted joints: those of the spanning tree except mimic joints."""
    return checked_robot(library, robot).model.independent


def convention(
    name: str, model: Model, names: Sequence[str], rules: Mapping[str, Rule], sizes: Sequence[int] | None = None
) -> Convention:
    """Return the convention with joints in the order of `names`; `rules` are those of joint kinds that differ.

    If a robot's only free joint is missing in `names` and one name is unassigned, they match: libraries name a floating
    base differently. `sizes` are the library's numbers of coordinates, if known.
    """
    here = {body.joint.name: i for i, body in enumerate(model.bodies)}
    pairs = dict(zip(names, names, strict=True)) | _base(model, here, names)
    missing = [joint for joint in here if joint not in pairs.values()]
    unknown = [theirs for theirs, own in pairs.items() if own not in here]
    if missing or unknown or len(set(names)) != len(names):
        problem = f"lack {listed(missing)}" if missing else f"have {listed(unknown)}" if unknown else "repeat a joint"
        known = alternatives(unknown[0] if unknown else None, here, 40)
        raise InputError(f"{name}: the given joints {problem}; robot '{model.name}': {known}")
    seats, q, v = [], 0, 0
    for k, theirs in enumerate(names):
        i = here[pairs[theirs]]
        joint = model.bodies[i].joint
        rule = _rule(name, joint, rules)
        if sizes is not None and sizes[k] != rule.nq:
            raise InputError(
                f"{name}: joint '{theirs}' has {sizes[k]} coordinates there, but {rule.nq} as a {joint.kind} joint "
                f"of robot '{model.name}'; load the robot from the same file, or convert the model itself"
            )
        ours = model.q_slices[i], model.v_slices[i]
        seats.append(Seat(rule, *ours, slice(q, q + rule.nq), slice(v, v + joint.type.nv)))
        q, v = q + rule.nq, v + joint.type.nv
    return Convention(name, model.name, seats)


def _base(model: Model, here: Mapping[str, int], names: Sequence[str]) -> dict[str, str]:
    loose, left = [joint for joint in here if joint not in names], [joint for joint in names if joint not in here]
    is_base = len(loose) == len(left) == 1 and model.bodies[here[loose[0]]].joint.kind == "free"
    return {left[0]: loose[0]} if is_base else {}


def _rule(name: str, joint: Joint, rules: Mapping[str, Rule]) -> Rule:
    if joint.kind == "planar" and "planar" in rules and joint.axis != Z:
        raise InputError(
            f"{name}: joint '{joint.name}' is planar about {joint.axis}; the library supports only the xy plane"
        )
    return rules.get(joint.kind) or plain(joint.type.nq)


def drake(robot: Robot, names: Sequence[str] | None = None) -> Convention:
    """Return the convention of Drake's MultibodyPlant for a robot's states.

    A free body has q = quaternion w x y z, position, and v = angular, then linear velocity, in world axes. A ball joint
    has roll, pitch and yaw; its angular velocity is in joint axes, as is the linear velocity of a planar joint.

    Parameters
    ----------
    robot : Robot
        The robot.
    names : sequence of str, optional
        Drake's joints in the order of its coordinates, without fixed joints. Default: this robot's order. A floating
        base may have another name.

    Returns
    -------
    Convention
        The conversion.

    Raises
    ------
    InputError
        When the names do not match the robot's joints, or a planar joint is not in the xy plane.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link", floating=True)
    >>> appell.interop.drake(robot).q(robot.neutral())
    array([1., 0., 0., 0., 0., 0., 0., 0., 0.])
    """
    model = tree_of(robot, "drake")
    order = [body.joint.name for body in model.bodies] if names is None else list(names)
    return convention("drake", model, order, DRAKE)
