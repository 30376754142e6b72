"""The folder "Show" of both pages: shapes, centre of mass, frames, paths of frames, and the ellipsoid of a frame.

With J the linear part of the frame's Jacobian and M the mass matrix, both follow from J W Jᵀ = Σ λᵢ uᵢuᵢᵀ and have
the semi-axes √λᵢ along uᵢ:

    inertia        W = M⁻¹   uᵀΛu = 1 with Λ = (J M⁻¹Jᵀ)⁻¹: long where the frame is light; 1/λᵢ is its mass there
    manipulability W = 1     the velocities of the frame for joint velocities of norm 1

Where a frame's origin cannot move, as on a spherical robot's platform, J is the angular part, and 1/λᵢ is a moment of
inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.errors import AppellError
from appell.model.model import WORLD, Model
from appell.results.style import COLOURS
from appell.robot.robot import Robot
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import matrix, quaternions
from appell.shapes.palette import HIT
from appell.spatial.scalar import Array
from appell.viewer.html import line, small
from appell.viewer.scene import GHOST, SHAPES, VISUAL, PageScene, RobotFigure

NONE = "none"
SHARE = 0.12
"""The longest semi-axis that an ellipsoid has when it is first shown, in sizes of the robot."""
THINNEST = 0.01
"""The shortest semi-axis drawn, in longest ones: a flat ellipsoid stays a solid."""
CENTRE = (240, 196, 25)


class Overlays:
    """What both pages can show beside the robot."""

    def __init__(
        self, server: Any, scene: PageScene, drawable: Drawable, wake: Callable[[], None], paths: Paths | None = None
    ) -> None:
        self._server, self._scene, robot = server, scene, drawable.robot
        self._centre = CentreMark(server, robot, scene, drawable.up)
        self._axes = FrameAxes(server, drawable, scene.figure, scene.box.size)
        self._shown_shapes, self._shown_opacity = VISUAL, 1.0
        gui = server.gui
        with gui.add_folder("Show"):
            self.shapes = gui.add_dropdown(
                "Shapes", SHAPES, initial_value=VISUAL, visible=drawable.collisions is not None
            )
            self._remarks = gui.add_html("", visible=False)
            self.opacity = gui.add_slider("Opacity", 0.1, 1.0, 0.05, 1.0)
            self.centre = gui.add_checkbox("Centre of mass", False)
            self._mass = gui.add_html("", visible=False)
            self.frames = gui.add_dropdown("Frames", CHOICES, initial_value=NONE)
            self.names = gui.add_checkbox("Names", True, visible=False)
            self.words = gui.add_text("containing", "", visible=False, hint="words, one of which a frame's name has")
            self.traces = Traces(server, robot, scene.box.size, wake, paths)
            self.ellipsoid = EllipsoidOverlay(server, scene, robot, wake)
        for handle in (self.shapes, self.opacity, self.centre, self.frames, self.names, self.words):
            handle.on_update(lambda _: wake())

    def update(self, q: Array) -> None:
        """Draw what is chosen at q."""
        if self.shapes.value != self._shown_shapes:
            self._shown_shapes = self.shapes.value
            remarks = self._scene.figure.show_shapes(self._shown_shapes)
            if remarks:
                self._remarks.content, self._remarks.visible = "".join(map(small, remarks)), True
        if self.opacity.value != self._shown_opacity:
            self._shown_opacity = self.opacity.value
            self._scene.figure.fade(self._shown_opacity)
        self.names.visible = self.words.visible = self.frames.value != NONE
        self._axes.show(self.frames.value, self.names.value, self.words.value)
        self._mass.visible = self.centre.value
        self._mass.content = self._centre.show(q if self.centre.value else None)
        self.traces.update(q)
        self.ellipsoid.update(q)


class CentreMark:
    """A ball at the centre of mass, and a line down to the floor below it."""

    def __init__(self, server: Any, robot: Robot, scene: PageScene, up: Array) -> None:
        self._server, self._robot, self._scene, self._up = server, robot, scene, up
        self._handles: list[Any] = []

    def show(self, q: Array | None) -> str:
        """Draw the centre of mass at q, or remove it; return the line of the panel."""
        if q is None:
            for handle in self._handles:
                handle.remove()
            self._handles = []
            return ""
        try:
            place = np.asarray(self._robot.centre_of_mass(q))
        except AppellError as error:
            return line(str(error))
        size, scene = self._scene.box.size, self._server.scene
        below = place + (self._scene.floor - place @ self._up) * self._up
        if not self._handles:
            self._handles = [
                scene.add_icosphere("/centre_of_mass/ball", 0.018 * size, CENTRE, cast_shadow=False, opacity=0.9),
                scene.add_icosphere("/centre_of_mass/below", 0.009 * size, CENTRE, cast_shadow=False),
                scene.add_line_segments("/centre_of_mass/line", np.zeros((1, 2, 3)), CENTRE, thickness=0.003 * size),
            ]
        ball, foot, drop = self._handles
        with self._server.atomic():
            ball.position, foot.position = place, below
            drop.points = np.array([[place, below]], dtype=np.float32)
        return small(f"{self._robot.total_mass:.4g} kg at {', '.join(f'{x:.3f}' for x in place)} m")


class EllipsoidOverlay:
    """The ellipsoid of inertia or of manipulability at a frame."""

    def __init__(self, server: Any, scene: PageScene, robot: Robot, wake: Callable[[], None]) -> None:
        self._server, self._scene, self._robot = server, scene, robot
        self._unit: dict[tuple[str, str], float] = {}
        self._body: Any = None
        gui = server.gui
        self.kind = gui.add_dropdown("Ellipsoid", (NONE, *KINDS), initial_value=NONE)
        self.frame = gui.add_dropdown(
            "at frame", tuple(robot.frame_names), initial_value=end_effector(robot), visible=False
        )
        self._text = gui.add_html("", visible=False)
        for handle in (self.kind, self.frame):
            handle.on_update(lambda _: wake())

    def update(self, q: Array) -> None:
        """Draw the ellipsoid at q, or none."""
        kind = self.kind.value
        self.frame.visible = self._text.visible = kind != NONE
        if kind == NONE:
            self._hide()
            return
        try:
            found = ellipsoid(self._robot, q, self.frame.value, kind)
        except (AppellError, np.linalg.LinAlgError) as error:
            self._hide()
            self._text.content = line(str(error))
            return
        self._draw(found, kind)

    def _draw(self, found: Ellipsoid, kind: str) -> None:
        key = (kind, self.frame.value)
        # the unit is kept while one frame is looked at, so that growing and shrinking is seen
        longest = float(found.lengths[0])
        if key not in self._unit and longest > 0.0:
            self._unit[key] = SHARE * self._scene.box.size / longest
        semi = np.maximum(found.lengths, THINNEST * longest) * self._unit.get(key, 0.0)
        if self._body is None:
            self._body = self._server.scene.add_icosphere(
                "/ellipsoid", 1.0, HIT, subdivisions=4, opacity=0.4, cast_shadow=False
            )
        with self._server.atomic():
            self._body.scale = tuple(np.maximum(semi, 1e-9).tolist())
            self._body.position, self._body.wxyz = found.centre, quaternions(found.axes)
            self._body.visible = True
        meaning = "semi-axes √λ of J M⁻¹Jᵀ" if kind == INERTIA else "semi-axes √λ of J Jᵀ"
        self._text.content = small(f"{found.legend}; {meaning}")

    def _hide(self) -> None:
        if self._body is not None:
            self._body.visible = False


# Axes and names of frames

BODIES, ALL = "bodies", "all"
CHOICES = (NONE, BODIES, ALL)
NAMES = 3
"""Names of frames with one origin that are written out; the label counts the others."""


class DrawnFrame(NamedTuple):
    """A frame to be drawn: its name, the body it is fixed to, and its pose in it (4, 4)."""

    name: str
    body: int
    pose: Array


def chosen_axes(model: Model, bodies: Iterable[str], which: str, words: str) -> list[DrawnFrame]:
    """Return the frames of bodies, or all, whose names contain one of the words; any name for no words.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> [one.name for one in chosen_axes(robot.model, robot.link_names, "bodies", "")]
    ['link1', 'link2']
    >>> [one.name for one in chosen_axes(robot.model, robot.link_names, "all", "ink2 nothing")]
    ['link2']
    """
    if which == BODIES:
        found = [DrawnFrame(name, body, np.eye(4)) for body, name in enumerate(bodies)]
    else:
        found = [DrawnFrame(frame.name, frame.body, matrix(*frame.placement)) for frame in model.frames if which == ALL]
    wanted = words.lower().replace(",", " ").split()
    return [one for one in found if not wanted or any(word in one.name.lower() for word in wanted)]


def labels(axes: Sequence[DrawnFrame], poses: Sequence[Array]) -> dict[int, str]:
    """Return the labels, by the first of the frames they belong to: frames with one origin share a label.

    Origins count as one where they coincide for each of some poses (n + 1, 4, 4) of the bodies.
    """
    together: dict[tuple[float, ...], list[int]] = {}
    for k, one in enumerate(axes):
        places = [(found[one.body] @ one.pose)[:3, 3] for found in poses]
        together.setdefault(tuple(np.round(np.concatenate(places), 6).tolist()), []).append(k)
    return {where[0]: _joined([axes[k].name for k in where]) for where in together.values()}


def _joined(names: list[str]) -> str:
    """Return some names in one line.

    >>> _joined(["a", "b", "c", "d", "e"])
    'a, b, c (+2)'
    """
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f" (+{more})" if more > 0 else "")


class FrameAxes:
    """Axes on the bodies of a figure; as children of the bodies' nodes they move with them."""

    def __init__(self, server: Any, drawable: Drawable, figure: RobotFigure, size: float) -> None:
        self._server, self._drawable, self._figure, self._size = server, drawable, figure, size
        self._handles: list[Any] = []
        self._shown: tuple[str, bool, str] = (NONE, False, "")

    def show(self, which: str, is_named: bool, words: str) -> None:
        """Draw the axes of frames, with names or without; nothing happens where they are drawn already."""
        if (which, is_named, words) == self._shown:
            return
        self._shown = (which, is_named, words)
        for handle in self._handles:
            handle.remove()
        drawable, scene, length = self._drawable, self._server.scene, 0.06 * self._size
        axes = chosen_axes(drawable.robot.model, drawable.names, which, words)
        rng = np.random.default_rng(0)
        poses = [drawable.poses(q) for q in (drawable.robot.neutral(), drawable.robot.random(rng))]
        texts = labels(axes, poses) if is_named else {}
        self._handles = [
            scene.add_frame(
                f"{self._figure.node(one.body)}/axes{k}",
                axes_length=length,
                axes_radius=0.03 * length,
                wxyz=quaternions(one.pose[:3, :3]),
                position=one.pose[:3, 3],
            )
            for k, one in enumerate(axes)
        ]
        for k, text in texts.items():
            scene.add_label(f"{self._handles[k].name}/name", text, font_screen_scale=0.8, anchor="bottom-left")


# Paths of frames: of a run the whole path, of a robot the part it has moved along

POINTS = 2000
"""Points of a path that a moved robot leaves; older ones are forgotten."""
STEP = 1e-3
"""The shortest step that a path records, in sizes of the robot."""

Paths = Callable[[str], list[Array]]
"""From the name of a frame to its path (n, 3) and, where the page has a reference, that of the reference."""


class Traces:
    """The paths of chosen frames; `paths` gives them where the motion is known in advance."""

    def __init__(self, server: Any, robot: Robot, size: float, wake: Callable[[], None], paths: Paths | None) -> None:
        self._server, self._robot, self._size, self._wake, self._paths = server, robot, size, wake, paths
        self.frames: tuple[str, ...] = ()
        """The names of the traced frames."""
        self._lines: dict[str, list[Any]] = {}
        self._points: dict[str, list[Array]] = {}
        gui = server.gui
        self.frame = gui.add_dropdown("Trace", tuple(robot.frame_names), initial_value=end_effector(robot))
        gui.add_button_group("", ("Add trace", "Clear traces")).on_click(
            lambda event: self._request(event.target.value)
        )

    def _request(self, what: str) -> None:
        if what == "Clear traces":
            self.frames = ()
        else:
            self.add(self.frame.value)
        self._wake()

    def add(self, frame: str) -> None:
        """Trace a frame from now on."""
        if frame not in self.frames:
            self.frames = (*self.frames, frame)

    def update(self, q: Array) -> None:
        """Draw the paths up to q."""
        wanted = self.frames
        for frame in set(self._lines).difference(wanted):
            for handle in self._lines.pop(frame):
                handle.remove()
        for frame in set(self._points).difference(wanted):
            del self._points[frame]
        for frame in wanted:
            if self._paths is None:
                self._record(frame, np.asarray(self._robot.pose(q, frame))[:3, 3])
            elif frame not in self._lines:
                self._draw(frame, self._paths(frame))

    def _record(self, frame: str, place: Array) -> None:
        points = self._points.setdefault(frame, [])
        if points and float(np.linalg.norm(place - points[-1])) < STEP * self._size:
            return
        points.append(place)
        del points[:-POINTS]
        if len(points) > 1:
            self._draw(frame, [np.array(points)])

    def _draw(self, frame: str, paths: list[Array]) -> None:
        at = self._robot.frame_names.index(frame)
        own = COLOURS[self.frames.index(frame) % len(COLOURS)] if frame in self.frames else COLOURS[0]
        colours = [tuple(int(own[k : k + 2], 16) for k in (1, 3, 5)), GHOST.colour]
        self._lines[frame] = [
            self._server.scene.add_line_segments(
                f"/traces/{at}/{k}",
                np.stack([path[:-1], path[1:]], axis=1).astype(np.float32),
                colour,
                thickness=3.0 if k == 0 else 1.5,
                thickness_units="screen",
            )
            for k, (path, colour) in enumerate(zip(paths, colours, strict=False))
        ]


# The ellipsoids of inertia and of manipulability

INERTIA, MANIPULABILITY = "inertia", "manipulability"
KINDS = (INERTIA, MANIPULABILITY)
STILL = 1e-12
"""A frame's origin does not move where its linear Jacobian is below this lever [m] times the angular one."""


class Ellipsoid(NamedTuple):
    """An ellipsoid: centre, axes as columns, semi-axes √λ, longest first, and the values 1/λ or √λ with their unit."""

    centre: Array
    axes: Array
    lengths: Array
    legend: str


def ellipsoid(robot: Robot, q: Array, frame: str, kind: str) -> Ellipsoid:
    """Return the ellipsoid of a kind at a frame.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> found = ellipsoid(robot, np.array([0.0, 1.0]), robot.link_names[-1], "inertia")
    >>> bool(np.allclose(found.axes.T @ found.axes, np.eye(3)))
    True
    """
    linear, angular = np.split(robot.jacobian(q, frame), 2)
    only_turns = bool(np.abs(linear).max(initial=0.0) <= STILL * np.abs(angular).max(initial=0.0))
    jacobian = angular if only_turns else linear
    right = jacobian.T
    if kind == INERTIA:
        # M may be singular: joints without inertia move as if they had next to none
        right = np.linalg.lstsq(robot.mass_matrix(q), jacobian.T, rcond=None)[0]
    values, axes = np.linalg.eigh(0.5 * (jacobian @ right + (jacobian @ right).T))
    lengths = np.sqrt(np.maximum(values, 0.0))[::-1]
    axes = axes[:, ::-1]
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return Ellipsoid(robot.pose(q, frame)[:3, 3], axes, lengths, _legend(lengths, kind, only_turns))


def _legend(lengths: Array, kind: str, only_turns: bool) -> str:
    if kind == MANIPULABILITY:
        unit = "rad/s" if only_turns else "m/s"
        return f"velocities {', '.join(f'{x:.3g}' for x in lengths)} {unit}"
    unit, tiny = "kg·m²" if only_turns else "kg", 1e-6 * max(float(lengths[0]), 1e-30)
    return "seen mass " + ", ".join(f"{1.0 / x**2:.3g}" if x > tiny else "∞" for x in lengths) + f" {unit}"


def end_effector(robot: Robot) -> str:
    """Return the frame farthest from the base: the last one on the body with the most joints before it.

    >>> import appell
    >>> end_effector(appell.load("agile-wrist"))
    'platform'
    """
    model = robot.model
    if model.closures:
        # in a loop the deepest body may be a rod; a body named platform is the end effector
        named = [body.name for body in model.bodies if "platform" in body.name.lower()]
        if named:
            return named[-1]
    depth = [len(list(model.ancestors(k))) for k in range(len(model.bodies))]
    frames = [frame for frame in model.frames if frame.body != WORLD]
    return max(reversed(frames), key=lambda frame: depth[frame.body]).name
