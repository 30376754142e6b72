"""A run as an animation: the robot and the walls as lines, impacts as flashes with their impulses."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from appell.errors import AppellError, InputError
from appell.extras import extra
from appell.messages import listed
from appell.results.style import COLOURS, figure, matplotlib, styled
from appell.shapes.geometry import ribbon
from appell.shapes.skeleton import Skeleton, skeleton
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from appell.results.run import Impact, Run


PLANES = ("xy", "xz", "yz")
VIEWS = (*PLANES, "3d")
FLASH = 0.3
"""How long an impact is shown [s of the animation]."""
LABELS = 4
"""Simultaneous impact points up to which impulses are labelled; more labels would overlap."""
MOST = 5000
"""The largest number of frames of an animation."""
AZIMUTH, ELEVATION = np.radians(-60.0), np.radians(20.0)
"""The viewing direction of a motion in space."""


class View(NamedTuple):
    """The view: the projection (2, 3) from world to image, and the bounds of the image and of the world."""

    view: str
    projection: Array
    low: Array
    high: Array
    box: tuple[Array, Array]

    def seen(self, p: Array) -> Array:
        """Return points (..., 3) in image coordinates (..., 2)."""
        return np.asarray(p @ self.projection.T)

    @property
    def span(self) -> float:
        """Return the longer side of the image [m]."""
        return float((self.high - self.low).max())


class Mark(NamedTuple):
    """An impact in the image: its position, its age (0 to 1), the lines of its arrow, and its label."""

    place: Array
    age: float
    arrow: list[Array]
    label: str

    @property
    def beside(self) -> Array:
        """Return the position of the label, on the far side of the wall."""
        return np.asarray(self.place - 0.3 * (self.arrow[0][1] - self.place))


class FilmFrame(NamedTuple):
    """One frame: time, energy, positions of the skeleton's points, and the visible impacts with their ages, 0 to 1."""

    t: float
    energy: float
    points: Array
    flashes: tuple[tuple[Impact, float], ...]


def frames(run: Run, fps: float, speed: float) -> list[FilmFrame]:
    """Return the frames of an animation that shows `speed` seconds of motion per second."""
    robot = robot_of(run)
    start, end = float(run.t[0]), float(run.t[-1])
    count = int((end - start) * fps / speed)
    if count > MOST:
        raise InputError(f"run.animate: {count} frames are too many (at most {MOST}); raise speed or lower fps")
    times = start + speed / fps * np.arange(count + 1)
    times = np.append(times[times < end], end)
    q, v = run.at(times)
    points = skeleton(robot).positions(robot, q)
    energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    lasting = max(FLASH * speed, 1.5 * speed / fps)  # an impact between two frames is visible in one of them at least
    seen = [
        tuple((x, (t - x.time) / lasting) for x in run.impacts if 0.0 <= t - x.time < lasting) for t in times.tolist()
    ]
    return [FilmFrame(*parts) for parts in zip(times.tolist(), energy.tolist(), points, seen, strict=True)]


def robot_of(run: Run, what: str = "run.animate") -> Any:
    """Return the robot of a run that has a robot and states; `what` names the caller in the error."""
    if run.robot is None or not len(run.t):
        lack = "no states" if not len(run.t) else "no robot"
        raise InputError(f"{what}: the run of '{run.robot_name}' has {lack} to draw")
    return run.robot


def scene(run: Run, points: Array, plane: str) -> View:
    """Return the view of a motion: along the axis in which it has no extent, else in perspective from the side."""
    if plane not in (*VIEWS, "auto"):
        raise InputError(f"run.animate: no plane '{plane}'; known: {listed((*VIEWS, 'auto'))}")
    struck = [x.positions[x.normals.any(axis=-1)] for x in run.impacts]
    all_points = np.concatenate([points.reshape(-1, 3), *struck])
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    extent = high - low
    flat = [k for k in (2, 1, 0) if extent[k] <= 1e-6 * float(extent.max())]
    view = plane if plane != "auto" else {2: "xy", 1: "xz", 0: "yz"}[flat[0]] if flat else "3d"
    projection = _projection(view, np.array(robot_of(run).model.gravity))
    reach = float(np.linalg.norm(extent)) or 1.0
    outlines = (line for wall in run.walls if (line := wall.outline()) is not None)
    for line in (line[np.isfinite(line).all(axis=1)] for line in outlines):
        # a wall of about the size of the motion is shown whole, of a larger one the part nearby
        if float(np.linalg.norm(np.ptp(line, axis=0))) <= 4.0 * reach:
            low, high = np.minimum(low, line.min(axis=0)), np.maximum(high, line.max(axis=0))
    middle, half = 0.5 * (low + high), 0.5 * np.maximum(high - low, 0.1 * reach) + 0.06 * reach
    low, high = middle - half, middle + half
    seen = corners(low, high) @ projection.T
    return View(view, projection, seen.min(axis=0), seen.max(axis=0), (low, high))


def corners(low: Array, high: Array) -> Array:
    """Return the corners (8, 3) of a box."""
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T


class StruckPoint(NamedTuple):
    """A point that struck: time, place, the wall's impulse on it [N·s] (zero at a joint's limit), and a label."""

    time: float
    place: Array
    impulse: Array
    label: str


def strikes(impact: Impact, place_of: Callable[[str], Array]) -> Iterator[StruckPoint]:
    """Yield the points of an impact; `place_of` returns the place of a joint that is at its limit."""
    for k, name in enumerate(impact.points):
        if impact.normals[k].any():
            push = impact.normals[k] * impact.impulse[k] + impact.friction[k]
            yield StruckPoint(impact.time, impact.positions[k], push, f"{np.linalg.norm(push):.3g} N·s")
        else:
            yield StruckPoint(impact.time, place_of(name), np.zeros(3), f"{name}: limit")


def _projection(view: str, gravity: Array) -> Array:
    if view in PLANES:
        return np.eye(3)[["xyz".index(axis) for axis in view]]
    up = -gravity / np.linalg.norm(gravity) if np.linalg.norm(gravity) > 0.0 else np.array([0.0, 0.0, 1.0])
    east = np.eye(3)[int(np.argmin(np.abs(up)))]
    east -= (east @ up) * up
    east /= np.linalg.norm(east)
    north = np.cross(up, east)
    right = -np.sin(AZIMUTH) * east + np.cos(AZIMUTH) * north
    towards = np.cos(AZIMUTH) * east + np.sin(AZIMUTH) * north
    return np.stack([right, np.cos(ELEVATION) * up - np.sin(ELEVATION) * towards])


# Walls


def _draw_walls(axes: Axes, run: Run, look: View) -> None:
    for wall in run.walls:
        line = wall.outline()
        if look.view == "3d" and hasattr(wall, "gap"):
            for part in wall.parts:
                for piece in wires(part, look.box):
                    axes.plot(*look.seen(piece).T, color="#777777", linewidth=0.6, alpha=0.55, zorder=1)
        elif line is not None:
            axes.plot(*look.seen(line).T, color="#555555", linewidth=1.8, zorder=1)
        else:
            for piece in _slice(wall, look.box, "xyz".index(({*"xyz"} - {*look.view}).pop())):
                axes.plot(*look.seen(piece).T, color="#555555", linewidth=1.8, zorder=1)


def wires(wall: Any, box: tuple[Array, Array], count: int = 9) -> Iterator[Array]:
    """Return lines on a wall: its intersections with planes across each of the axes."""
    for axis in range(3):
        for x in np.linspace(box[0][axis], box[1][axis], count):
            yield from _slice(wall, box, axis, float(x))


class WallShape(NamedTuple):
    """How a wall is drawn: lines, triangles of its surface if it has any, and whether the lines are its outline."""

    lines: list[Array]
    surface: tuple[Array, Array] | None
    is_outline: bool


def wall_shape(wall: Any, box: tuple[Array, Array], is_flat: bool) -> WallShape:
    """Return a wall as drawn around a box: its outline, or its intersections with planes where it has none."""
    line = wall.outline()
    if line is None:
        parts = wall.parts if hasattr(wall, "gap") else ()
        return WallShape([x for part in parts for x in wires(part, box) if len(x) > 1], None, False)
    line = line[np.isfinite(line).all(axis=1)]
    return WallShape([line], _surface(wall, line, box, is_flat), True)


def _surface(wall: Any, line: Array, box: tuple[Array, Array], is_flat: bool) -> tuple[Array, Array] | None:
    """Return the triangles of a wall: its own, a band along its axis, or a square; None for an outline alone."""
    if (own := getattr(wall, "surface", lambda: None)()) is not None:
        return (own[0], own[1])
    if not hasattr(wall, "axis"):
        is_square = len(line) == 5 and np.allclose(line[0], line[-1])
        return (line[:4], np.array([[0, 1, 2], [0, 2, 3]])) if is_square else None
    axis = np.asarray(wall.axis, dtype=float) / np.linalg.norm(wall.axis)
    if is_flat:
        thick = 0.03 * float(np.linalg.norm(box[1] - box[0]))
        return ribbon(line, -thick * axis, thick * axis)
    along, height = corners(*box) @ axis, float(line[0] @ axis)
    return ribbon(line, (along.min() - height) * axis, (along.max() - height) * axis)


def _slice(wall: Any, box: tuple[Array, Array], axis: int, at: float | None = None) -> list[Array]:
    """Return the lines (n, 3) where a wall meets the plane across an axis, by default through the middle of the box."""
    contour_generator = extra("contourpy", "films need").contour_generator
    first, second = (k for k in range(3) if k != axis)
    x, y = (np.linspace(box[0][k], box[1][k], 61) for k in (first, second))
    p = np.empty((len(y), len(x), 3))
    p[..., axis] = 0.5 * (box[0][axis] + box[1][axis]) if at is None else at
    p[..., first], p[..., second] = np.meshgrid(x, y)
    gap = np.ma.array(wall.gap(p), mask=~wall.covers(p))
    lines = []
    for flat in contour_generator(x, y, gap).lines(0.0):
        line = np.empty((len(flat), 3))
        line[:, axis], line[:, [first, second]] = p[0, 0, axis], flat
        lines.append(line)
    return lines


# Pictures


class _Paper:
    """The figure of an animation: the background is drawn once, the moving parts for every frame."""

    def __init__(self, run: Run, bones: Skeleton, look: View) -> None:
        FigureCanvasAgg = matplotlib(".backends.backend_agg").FigureCanvasAgg
        self._run, self._bones, self._look = run, bones, look
        width, height = look.high - look.low
        ratio = float(np.clip(height / width, 0.5, 1.6))
        canvas = figure(5.2, 5.2 * ratio)
        canvas.set_dpi(100)
        canvas.set_layout_engine("none")
        agg: Any = FigureCanvasAgg  # untyped
        self._canvas = agg(canvas)
        is_flat = look.view in PLANES
        left, bottom, edge = (0.11, 0.095 / ratio, 0.02) if is_flat else (0.0, 0.0, 0.0)
        place = (left, bottom, 1.0 - left - edge, 1.0 - bottom - edge / ratio)
        self._axes = canvas.add_axes(place)
        # a metre is as long upwards as sideways
        middle, metre = 0.5 * (look.low + look.high), max(width / place[2], height / (place[3] * ratio))
        half = 0.5 * metre * np.array([place[2], place[3] * ratio])
        self._axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        self._axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        if is_flat:
            self._axes.set_xlabel(f"{look.view[0]} [m]", labelpad=2.0)
            self._axes.set_ylabel(f"{look.view[1]} [m]", labelpad=2.0)
        else:
            self._axes.set_axis_off()
            _draw_triad(self._axes, look)
        _draw_walls(self._axes, run, look)
        self._greatest = max((float(x.impulse.max(initial=0.0)) for x in run.impacts), default=0.0)
        self._sticks, self._joints, self._arrows, self._hits = self._moving()
        self._font = _font(13)
        self._canvas.draw()
        self._background = self._canvas.copy_from_bbox(canvas.bbox)

    def _moving(self) -> tuple[LineCollection, Any, LineCollection, Any]:
        """Return the artists that change in every frame; Matplotlib leaves animated artists out of the background."""
        LineCollection = matplotlib(".collections").LineCollection
        axes = self._axes
        width = float(np.clip(40.0 / max(len(self._bones.lines), 1), 1.4, 3.0))
        sticks = LineCollection([], colors=COLOURS[0], linewidths=width, capstyle="round", animated=True, zorder=3)
        arrows = LineCollection([], linewidths=2.0, animated=True, zorder=5)
        axes.add_collection(sticks, autolim=False)
        axes.add_collection(arrows, autolim=False)
        joints = axes.scatter([], [], s=4.0 * width, color="#333333", animated=True, zorder=4)
        hits = axes.scatter([], [], s=90.0, animated=True, zorder=4.5)
        return sticks, joints, arrows, hits

    def picture(self, frame: FilmFrame) -> Array:
        """Return one frame as an image (height, width, 3) of bytes."""
        to_rgba, Image, ImageDraw = matplotlib(".colors").to_rgba, _pillow("Image"), _pillow("ImageDraw")
        p = self._look.seen(frame.points)
        self._sticks.set_segments([p[list(line)] for line in self._bones.lines])
        self._joints.set_offsets(p[list(self._bones.seen)])
        marks = [mark for impact, age in frame.flashes for mark in self._marks(impact, age, frame)]
        self._hits.set_offsets(np.array([mark.place for mark in marks]).reshape(-1, 2))
        self._hits.set_facecolors([to_rgba(COLOURS[4], 1.0 - mark.age) for mark in marks])
        self._arrows.set_segments([line for mark in marks for line in mark.arrow])
        self._arrows.set_color([to_rgba(COLOURS[1], 1.0 - mark.age**2) for mark in marks for _ in mark.arrow])
        self._canvas.restore_region(self._background)
        for artist in (self._sticks, self._joints, self._hits, self._arrows):
            self._axes.draw_artist(artist)
        image = Image.fromarray(np.array(self._canvas.buffer_rgba())[..., :3])
        # Pillow draws text about fifty times faster than Matplotlib
        pen = ImageDraw.Draw(image)
        left, top = self._axes.bbox.x0 + 8.0, image.height - self._axes.bbox.y1 + 4.0
        pen.text((left, top), f"t = {frame.t:.3f} s\nE = {frame.energy:.3f} J", "#000000", self._font)
        latest = min((mark.age for mark in marks), default=0.0)
        labelled = [mark for mark in marks if mark.arrow and mark.age == latest]
        for mark in labelled if len(labelled) <= LABELS else []:
            x, y = self._axes.transData.transform(mark.beside)
            box = self._axes.bbox  # inside it, clear of the labels of the axes
            low, high = (box.x0 + 4.0, image.height - box.y1 + 4.0), (box.x1 - 90.0, image.height - box.y0 - 20.0)
            x, y = np.clip([x, image.height - y], low, high)
            pen.text((x, y), mark.label, COLOURS[1], self._font)
        return np.array(image)

    def _marks(self, impact: Impact, age: float, frame: FilmFrame) -> Iterator[Mark]:
        """Yield the marks of an impact: positions and arrows of the impulses; a joint at its limit has no arrow."""
        for strike in strikes(impact, lambda name: frame.points[self._bones.joints.index(name)]):
            place = self._look.seen(strike.place)
            yield Mark(place, age, self._arrow(place, strike.impulse), strike.label)

    def _arrow(self, place: Array, push: Array) -> list[Array]:
        """Return shaft and head; the length grows with the root of the impulse, so that weak impulses are visible."""
        size = float(np.linalg.norm(push))
        if not size > 0.0:
            return []
        shaft = 0.25 * self._look.span * np.sqrt(size / self._greatest) * self._look.seen(push / size)
        if np.hypot(*shaft) < 0.01 * self._look.span:
            return []
        tip, head = place + shaft, 0.022 * self._look.span * shaft / np.hypot(*shaft)
        side = np.array([-head[1], head[0]])
        return [np.array([place, tip]), np.array([tip - head + 0.6 * side, tip, tip - head - 0.6 * side])]


def _font(size: int) -> Any:
    """Return the monospaced font that ships with Matplotlib."""
    return _pillow("ImageFont").truetype(matplotlib(".font_manager").findfont("DejaVu Sans Mono"), size)


def _pillow(part: str) -> Any:
    return extra(f"PIL.{part}", "films need")


def _draw_triad(axes: Axes, look: View) -> None:
    """Draw the world's axes in the lower left corner."""
    corner = look.low + 0.09 * look.span
    for axis, name in enumerate("xyz"):
        tip = corner + 0.06 * look.span * look.projection[:, axis]
        axes.plot(*np.array([corner, tip]).T, color="#333333", linewidth=1.0)
        x, y = corner + 0.08 * look.span * look.projection[:, axis]
        axes.text(x, y, name, fontsize=8, ha="center", va="center")


def check_rates(what: str, fps: float, speed: float) -> None:
    """Raise an InputError for a rate or a speed that is no number > 0; `what` names the caller."""
    for name, value in (("fps", fps), ("speed", speed)):
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f"{what}: {name} must be a number > 0, got {value!r}")


def pictures(run: Run, fps: float, speed: float, plane: str) -> Iterator[Array]:
    """Yield the frames of an animation, each an image (height, width, 3) of bytes."""
    check_rates("run.animate", fps, speed)
    shown = frames(run, fps, speed)
    with styled():
        bones = skeleton(robot_of(run))
        look = scene(run, np.array([frame.points[bones.drawn] for frame in shown]), plane)
        paper = _Paper(run, bones, look)
        for frame in shown:
            yield paper.picture(frame)


def film(run: Run, kind: str, fps: float = 25.0, speed: float = 1.0, plane: str = "auto") -> bytes:
    """Return an animation as the content of a file: "gif", or "mp4" where ffmpeg is installed.

    Raises
    ------
    InputError
        When the format or the plane is unknown, or a number is not positive.
    AppellError
        When ffmpeg is not installed, or fails.
    """
    makers: dict[str, Callable[[Iterator[Array], float], bytes]] = {"gif": gif, "mp4": mp4}
    if kind not in makers:
        raise InputError(f"run.animate: unknown format '{kind}'; expected .gif or .mp4")
    return makers[kind](pictures(run, fps, speed, plane), fps)


# Encoding: GIF by Pillow, MP4 by ffmpeg


def gif(shown: Iterator[Array], fps: float) -> bytes:
    """Return images as a GIF file that loops."""
    Image = extra("PIL.Image", "films need")
    palette = _palette()
    nearest, flat = _nearest(palette), []
    for picture in shown:
        red, green, blue = (picture[..., k].astype(np.uint16) >> 3 for k in range(3))
        image = Image.fromarray(nearest[red << 10 | green << 5 | blue])
        image.putpalette(palette.ravel().tolist())
        flat.append(image)
    # GIF durations are whole hundredths of a second: rounding the ends keeps the total length
    ends = np.round(100.0 / fps * np.arange(len(flat) + 1))
    stream = BytesIO()
    flat[0].save(
        stream,
        "GIF",
        save_all=True,
        append_images=flat[1:],
        duration=(10.0 * np.maximum(np.diff(ends), 2.0)).astype(int).tolist(),
        loop=0,
    )
    return stream.getvalue()


def _palette() -> Array:
    """Return the palette of a GIF, one for all frames to avoid flicker: the colours drawn with, and their blends."""
    inks = [COLOURS[0], COLOURS[1], COLOURS[4], "#333333", "#777777"]
    rgb = np.array([[int(ink[k : k + 2], 16) for k in (1, 3, 5)] for ink in inks])
    blend = np.linspace(0.0, 1.0, 24)[:, None, None]
    light = (1.0 - blend) * rgb + blend * 255.0  # towards white
    dark = (1.0 - blend[::4]) * rgb[:3] + blend[::4] * 85.0  # and towards the grey lines
    return np.round(np.concatenate([light.reshape(-1, 3), dark.reshape(-1, 3), [[0.0, 0.0, 0.0]]])).astype(np.uint8)


def _nearest(palette: Array) -> Array:
    """Return the index of the nearest palette entry for every colour of five bits per channel, (32768,)."""
    steps = np.linspace(0.0, 255.0, 32)
    cube = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(scipy.spatial.KDTree(palette).query(cube)[1], dtype=np.uint8)


def mp4(shown: Iterator[Array], fps: float) -> bytes:
    """Return images as an MP4 file, encoded by ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise AppellError("run.animate: .mp4 needs ffmpeg, which is not installed; install it or write a .gif")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "film.mp4")
        first = next(shown)
        height, width = (side // 2 * 2 for side in first.shape[:2])  # the common pixel format needs even sizes
        form = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
        made = ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(target)]
        command = [program, "-loglevel", "error", "-y", *form, *made]
        data = b"".join(picture[:height, :width].tobytes() for picture in (first, *shown))
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode or not target.exists():
            reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise AppellError(f"run.animate: ffmpeg failed: {reason}; write a .gif instead")
        return target.read_bytes()
