"""Impacts and contacts on the page: points that strike, impulses and contact forces as arrows.

A run records when points rest on walls, and q, v, a and tau at the integrator's steps, but no forces. They follow from
the equation of motion, M a + C v + G − Bτ = Jᵀλ, with J the Jacobian of the points that rest: along the normals of
their walls where such forces satisfy it (no friction), otherwise in all directions. λ is the solution of least norm:
the force itself where the contacts determine it, an even distribution where they do not (four feet of a table). A joint
at rest at a limit takes its share of the equation. Runs loaded from a file have their forces by the same equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from appell.model.model import WORLD
from appell.recursion.points import Place
from appell.results.animation import StruckPoint, strikes
from appell.results.run import ContactInterval, Run
from appell.robot.robot import Robot
from appell.robot.stance import ground
from appell.shapes.drawable import Drawable
from appell.shapes.palette import HIT, REST, linear
from appell.spatial.scalar import Array
from appell.viewer.html import small
from appell.viewer.scene import Box

LABELS = 4
"""Points that strike together whose impulses are written out; more labels would hide each other."""


def point_impacts(run: Run, drawable: Drawable) -> list[StruckPoint]:
    """Return the impacts of a run, one entry per point that struck."""
    bodies = {body.joint.name: k for k, body in enumerate(drawable.robot.model.bodies)}

    def place_of(t: float, joint: str) -> Array:
        return drawable.poses(run.at(t)[0])[bodies.get(joint, WORLD), :3, 3]

    return [x for impact in run.impacts for x in strikes(impact, partial(place_of, impact.time))]


class Contacts:
    """The marks of a run's impacts and contacts; :meth:`update` shows those of a time."""

    def __init__(self, server: Any, run: Run, drawable: Drawable, box: Box, wake: Callable[[], None]) -> None:
        self._server, self._box = server, box
        self._impacts = point_impacts(run, drawable)
        self.contacts = run_contacts(run, drawable)
        struck = typical_norm([one.impulse for one in self._impacts])
        pressed = typical_norm([force for contact in self.contacts for force in contact.forces])
        self._struck = Arrows(server, "/impacts/arrows", HIT, box.size, struck)
        self._pressed = Arrows(server, "/contacts/arrows", REST, box.size, pressed)
        self.scale = ArrowScale(
            server, [("impulses", self._struck, "N·s"), ("contact forces", self._pressed, "N")], wake
        )
        self._shown: tuple[Any, ...] = ()
        self._past: Any = None
        self._handles: list[Any] = []
        self._balls = 0

    def closed(self, t: float) -> list[ContactHistory]:
        """Return the contacts that exist at a time."""
        return [contact for contact in self.contacts if contact.is_closed(t)]

    def update(self, t: float, lasting: float, poses: Array) -> None:
        """Show impacts of the last `lasting` seconds, marks where points struck before, and contact forces."""
        self.scale.update()
        recent = tuple(k for k, one in enumerate(self._impacts) if 0.0 <= t - one.time < lasting)
        past = sum(one.time <= t for one in self._impacts)
        self._show_contacts(self.closed(t), t, poses)
        if (recent, past, self._struck.scale) == self._shown:
            return
        self._shown = (recent, past, self._struck.scale)
        self._show_past(past)
        self._show_impacts([self._impacts[k] for k in recent])

    def _show_impacts(self, struck: list[StruckPoint]) -> None:
        scene, size = self._server.scene, self._box.size
        for handle in self._handles:
            handle.remove()
        self._handles = [
            scene.add_icosphere(f"/impacts/{k}", 0.02 * size, HIT, position=one.place, cast_shadow=False)
            for k, one in enumerate(struck)
        ]
        self._struck.draw([one.place for one in struck], [one.impulse for one in struck])
        for k, one in enumerate(struck if len(struck) <= LABELS else []):
            beside = one.place + 1.12 * self._struck.length * one.impulse
            self._handles.append(scene.add_label(f"/impacts/label{k}", one.label, position=beside))

    def _show_past(self, past: int) -> None:
        """Leave a small mark where points have struck so far."""
        if self._past is not None:
            self._past.remove()
            self._past = None
        if past:
            places = np.array([one.place for one in self._impacts[:past]], dtype=np.float32)
            self._past = self._server.scene.add_point_cloud(
                "/struck",
                places,
                np.tile(np.array(HIT, dtype=np.uint8), (past, 1)),
                point_size=0.012 * self._box.size,
                point_shape="circle",
            )

    def _show_contacts(self, contacts: list[ContactHistory], t: float, poses: Array) -> None:
        """Mark the points in contact, and draw the forces on them."""
        places = [contact.position(poses) for contact in contacts]
        self._pressed.draw(places, [contact.at(t) for contact in contacts])
        for k, place in enumerate(places):
            self._server.scene.add_icosphere(
                f"/contacts/{k}", 0.012 * self._box.size, REST, position=place, cast_shadow=False, opacity=0.8
            )
        for k in range(len(places), self._balls):
            self._server.scene.remove_by_name(f"/contacts/{k}")
        self._balls = len(places)


# Arrows, all of one kind to one scale

LENGTH = 0.2
"""The arrow of a typical vector while the scale is 1, in sizes of the picture."""
SHORTEST = 0.004
"""Arrows shorter than this are not drawn, in sizes of the picture."""


def typical_norm(vectors: Sequence[Array]) -> float:
    """Return the geometric mean of the median and the greatest norm of vectors, those of norm zero left out.

    By the greatest alone, a single hard impact would hide all others; by the median alone, it would leave the picture.

    >>> typical_norm([np.array([1.0, 0.0]), np.array([0.0, 4.0]), np.array([0.0, 1.0]), np.zeros(2)])
    2.0
    """
    norms = [float(np.linalg.norm(vector)) for vector in vectors]
    moved = [norm for norm in norms if norm > 0.0]
    return float(np.sqrt(np.median(moved) * max(moved))) if moved else 0.0


class Arrows:
    """Arrows under one name of the scene; a vector of norm `typical` [N or N·s] is drawn LENGTH sizes long."""

    def __init__(self, server: Any, name: str, colour: tuple[int, int, int], size: float, typical: float) -> None:
        self._server, self._name, self._size = server, name, size
        red, green, blue = (x / 255.0 for x in colour)
        self._colour = linear((red, green, blue, 1.0))
        self._handle: Any = None
        self.typical = typical
        self.scale = 1.0

    @property
    def length(self) -> float:
        """Return the length [m] of the arrow of a unit vector."""
        return self.scale * LENGTH * self._size / self.typical if self.typical > 0.0 else 0.0

    def legend(self, unit: str) -> str:
        """Return the scale in words: a round value, and the length of its arrow."""
        if not self.typical:
            return ""
        power = 10.0 ** np.floor(np.log10(self.typical))
        value = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= self.typical * (1.0 + 1e-12))
        return f"{value:g} {unit} ≙ {1000.0 * value * self.length:.3g} mm"

    def draw(self, places: Sequence[Array], vectors: Sequence[Array]) -> None:
        """Draw vectors at places, in place of those before."""
        ends = [(p, p + self.length * f) for p, f in zip(places, vectors, strict=True)]
        seen = [end for end in ends if float(np.linalg.norm(end[1] - end[0])) > SHORTEST * self._size]
        if self._handle is not None and len(self._handle.points) == len(seen):
            self._handle.points = np.array(seen, dtype=np.float32)
            return
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        if seen:
            self._handle = self._server.scene.add_arrows(
                self._name,
                np.array(seen, dtype=np.float32),
                self._colour,
                shaft_radius=0.006 * self._size,
                head_radius=0.016 * self._size,
                head_length=0.04 * self._size,
            )


class ArrowScale:
    """The slider of the arrows' lengths, and the legend below it."""

    def __init__(self, server: Any, kinds: list[tuple[str, Arrows, str]], wake: Callable[[], None]) -> None:
        self._kinds = [kind for kind in kinds if kind[1].typical > 0.0]
        gui = server.gui
        with gui.add_folder("Arrows", visible=bool(self._kinds)):
            self.slider = gui.add_slider("Scale", 0.1, 5.0, 0.1, 1.0, hint="length of the arrows")
            self._text = gui.add_html("")
        self.slider.on_update(lambda _: wake())
        self.update()

    def update(self) -> None:
        """Set the arrows' scales to the slider's value."""
        for _, arrows, _ in self._kinds:
            arrows.scale = self.slider.value
        self._text.content = small("; ".join(f"{name}: {x.legend(unit)}" for name, x, unit in self._kinds))


# Forces at the contacts of a run, and of a robot whose frames are held to the world

CUTOFF = 1e-9
"""Singular values of Jᵀ below this share of the largest count as zero."""
FRICTIONLESS = 1e-6
"""The share of the forces that normal forces may leave over and still count as all of them."""
LIMITS = ("lower limit", "upper limit")
"""What a run calls the walls of joints at their limits."""


class ContactHistory(NamedTuple):
    """A contact from `times[0]` to `times[-1]`: its name, the point's place on a body, forces (n, 3) in world axes."""

    name: str
    body: int
    place: Array
    times: Array
    forces: Array

    def at(self, t: float) -> Array:
        """Return the force [N] at a time of the contact."""
        return np.array([np.interp(t, self.times, column) for column in self.forces.T])

    def is_closed(self, t: float) -> bool:
        """Return whether the contact exists at a time."""
        return bool(self.times[0] <= t <= self.times[-1])

    def position(self, poses: Array) -> Array:
        """Return where the point is, given the poses of the bodies."""
        return np.asarray(poses[self.body, :3, :3] @ self.place + poses[self.body, :3, 3])


def run_contacts(run: Run, drawable: Drawable) -> list[ContactHistory]:
    """Return the contacts of a run: points at rest on walls, and frames held to the world.

    >>> import appell
    >>> from appell.shapes.drawable import drawable
    >>> ball = appell.load("two-link")
    >>> run_contacts(appell.simulate(ball, [0.0, 0.0], [0.0, 0.0], 0.1), drawable(ball))
    []
    """
    robot = drawable.robot
    known = resting_places(run, drawable)
    rests = [rest for rest in run.rests if rest.point in known or rest.wall in LIMITS]
    samples: list[list[tuple[float, Array]]] = [[] for _ in rests]
    active = np.array([[rest.start <= t <= rest.end for rest in rests] for t in run.t]).reshape(len(run.t), len(rests))
    for pattern in np.unique(active, axis=0):
        which = np.flatnonzero(pattern)
        rows = np.flatnonzero((active == pattern).all(axis=1))
        if not which.size:
            continue
        points = [k for k in which if rests[k].wall not in LIMITS]
        joints = [rests[k].point for k in which if rests[k].wall in LIMITS]
        normals = [_normal(run, rests[k]) for k in points]
        places = [known[rests[k].point] for k in points]
        forces = _forces(run, robot, rows, places, [rests[k].radius for k in points], normals, joints)
        for i, k in enumerate(points):
            samples[k] += zip(run.t[rows].tolist(), forces[:, i], strict=True)
    found = [
        ContactHistory(
            rest.point, *known[rest.point], *map(np.array, zip(*sorted(sample, key=itemgetter(0)), strict=True))
        )
        for rest, sample in zip(rests, samples, strict=True)
        if sample
    ]
    if held_count(robot):
        found += _held_contacts(robot, run.t, robot.contact_forces(run.q, run.v, run.tau))
    return found


def stance(robot: Robot, q: Array, tau: Array) -> list[ContactHistory]:
    """Return the contacts of frames held to the world at rest under forces of the actuators."""
    return _held_contacts(robot, np.zeros(1), robot.contact_forces(q, np.zeros(robot.nv), tau)[None])


def held_count(robot: Robot) -> int:
    """Return how many frames of the robot are held to the world."""
    return sum(_is_held(robot, k) for k in range(len(robot.model.closures)))


def _is_held(robot: Robot, k: int) -> bool:
    closure = robot.model.closures[k]
    return bool(closure.first == ground(closure.name))


def _held_contacts(robot: Robot, times: Array, forces: Array) -> list[ContactHistory]:
    frames = robot.model.frame_index
    return [
        ContactHistory(
            name, frames[name].body, np.array(frames[name].placement.position, dtype=float), times, forces[:, k, :3]
        )
        for k, name in enumerate(robot.closure_names)
        if _is_held(robot, k)
    ]


def _forces(
    run: Run,
    robot: Robot,
    rows: Array,
    places: list[tuple[int, Array]],
    radii: list[float],
    normals: list[Callable[[Array], Array]],
    joints: list[str],
) -> Array:
    """Return the forces (n, k, 3) at k points in some samples of a run, where joints may be at their limits too.

    The force on a ball acts where it touches the wall.
    """
    q, v, a, tau = run.q[rows], run.v[rows], run.a[rows], run.tau[rows]
    n, k = len(q), len(places)
    if not k:
        return np.zeros((n, 0, 3))
    # behind the points three more for each, a metre away along the axes of its body, for its angular velocity
    about = tuple(_place(body, at) for body, place in places for at in (place, *(place + np.eye(3))))
    about = (*about[::4], *(x for i, x in enumerate(about) if i % 4))
    # velocities of the points, and of the joints at limits, for one unit velocity after the other: Jᵀ, row by row
    unit = np.eye(robot.nv)
    moved = robot.evaluate("point_velocities", q[:, None], unit, about=about)
    names = [body.joint.name for body in robot.model.bodies]
    at = [robot.model.v_slices[names.index(joint)].start for joint in joints]
    limits = robot.tree_velocity(q[:, None], unit)[..., at]
    lacking = robot.generalised_forces(q, v, a) - robot.evaluate("actuation", q, tau)
    points = robot.evaluate("point_positions", q, about=about)
    upright = np.stack([normal(points[:, i]) for i, normal in enumerate(normals)], axis=1)
    axes = points[:, k:].reshape(n, k, 3, 3) - points[:, :k, None]
    turned = moved[:, :, k:].reshape(n, -1, k, 3, 3) - moved[:, :, :k, None]
    arms = np.einsum("nkji,nki->nkj", axes, -np.array(radii)[:, None] * upright)
    moved = moved[:, :, :k] + np.einsum("nkj,nvkjx->nvkx", arms, turned)
    pushes, left = _solved(np.einsum("nvki,nki->nvk", moved, upright), limits, lacking)
    forces, _ = _solved(moved.reshape(n, robot.nv, -1), limits, lacking)
    is_normal = left <= FRICTIONLESS * np.maximum(np.linalg.norm(lacking, axis=-1), 1e-12)
    return np.where(is_normal[:, None, None], pushes[..., None] * upright, forces.reshape(n, k, 3))


def _solved(transposed: Array, limits: Array, lacking: Array) -> tuple[Array, Array]:
    """Return the multipliers of least norm, without those of joints at limits, and what they leave over."""
    matrix = np.concatenate([transposed, limits], axis=-1)
    found = (np.linalg.pinv(matrix, rcond=CUTOFF) @ lacking[..., None])[..., 0]
    left = np.linalg.norm((matrix @ found[..., None])[..., 0] - lacking, axis=-1)
    return found[:, : transposed.shape[-1]], left


def _normal(run: Run, rest: ContactInterval) -> Callable[[Array], Array]:
    """Return a wall's normal at points (n, 3); of a wall out of a file, the normal of the last impact before."""
    parts = [part for wall in run.walls for part in getattr(wall, "parts", ())]
    part = next((part for part in parts if part.label == rest.wall), None)
    if part is not None:
        moved = part.offset(rest.radius) if rest.radius else part
        return lambda p: np.asarray(_unit(moved.gradient(p)))
    struck = [
        impact.normals[impact.points.index(rest.point)]
        for impact in run.impacts
        if rest.point in impact.points and impact.time <= rest.start
    ]
    last = struck[-1] if struck else np.zeros(3)
    return lambda p: np.broadcast_to(last, p.shape)


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def resting_places(run: Run, drawable: Drawable) -> dict[str, tuple[int, Array]]:
    """Return the points that ever rest, as a body and a place on it."""
    frames = drawable.robot.model.frame_index
    return {rest.point: (frames[rest.link].body, rest.position) for rest in run.rests if rest.link in frames}


def _place(body: int, place: Array) -> Place:
    x, y, z = map(float, place)
    return Place(body, (x, y, z))
