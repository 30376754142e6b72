"""A run as one HTML file that plays it: what it contains, how it is packed, and how a notebook displays it."""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.display import Html, card, folded, frame, table
from appell.recursion.kinematics import world_poses
from appell.results.animation import PLANES, check_rates, corners, robot_of, scene, strikes, wall_shape
from appell.results.plots import ENERGY_COLOURS, SYMBOLS, TITLES, curve_names, energies, panels, thinned
from appell.results.style import COLOURS
from appell.shapes.drawable import Drawable, drawable
from appell.shapes.geometry import quaternions
from appell.shapes.meshes import Piece
from appell.shapes.palette import JOINTS
from appell.spatial.scalar import Array
from appell.syntax import html_data, html_text

if TYPE_CHECKING:
    from appell.results.run import Impact, Run
    from appell.robot.robot import Robot


SCRIPTS = ("scene.js", "curves.js", "player.js")
ALIGNED = 8
"""Arrays begin at multiples of so many bytes, which typed arrays of JavaScript ask for."""


def page(
    run: Run,
    *,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
    fps: float = 60.0,
    speed: float | None = None,
    plane: str = "auto",
    autoplay: bool = False,
) -> str:
    """Return a page that plays a run; see :meth:`appell.Run.to_html`."""
    drawn = drawable(robot_of(run, "run.to_html"), source, packages)
    description, data = packed({**content(run, drawn, fps, speed, plane), "autoplay": autoplay})
    return _part("player.html").format(
        title=html_text(run.robot_name or "run"),
        style=_part("player.css"),
        about=html_data(description),
        data=base64.b64encode(gzip.compress(data, 9, mtime=0)).decode(),
        script="\n".join(map(_part, SCRIPTS)),
    )


def packed(about: Any) -> tuple[Any, bytes]:
    r"""Return a description whose arrays are places in a buffer, and that buffer.

    >>> packed({"x": np.array([1.0], dtype=np.float32)})
    ({'x': {'array': {'type': 'float32', 'at': 0, 'count': 1}}}, b'\x00\x00\x80?\x00\x00\x00\x00')
    """
    buffer = bytearray()

    def plain(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return {"array": _appended(buffer, x)}
        if isinstance(x, dict):
            return {key: plain(value) for key, value in x.items()}
        return [plain(value) for value in x] if isinstance(x, list | tuple) else x

    return plain(about), bytes(buffer)


def _appended(buffer: bytearray, array: Array) -> dict[str, Any]:
    start = len(buffer)
    buffer.extend(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    buffer.extend(bytes(-len(buffer) % ALIGNED))
    return {"type": array.dtype.name, "at": start, "count": int(array.size)}


def _part(name: str) -> str:
    return (files("appell.results.player") / name).read_text(encoding="utf-8")


# The content: poses over time, triangles, rods, walls, curves, impacts

LEAST, MOST = 600, 7200
"""Frames: at least so many, for slow motion, and at most."""
FRAME_BYTES = 16_000_000
"""Most bytes of all frames before compression."""
FACES = 500_000
"""Triangles of a robot; above that its meshes are thinned."""
POINTS = 1200
"""Points of a curve."""
SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SLOWEST = 4.0
"""A shorter run [s] is played slower, to last about as long."""


def content(run: Run, drawn: Drawable, fps: float, speed: float | None, plane: str) -> dict[str, Any]:
    """Return the description of a page: plain values, and arrays where there are many numbers.

    Raises
    ------
    InputError
        When the run has no states or no robot, or an argument is not valid.
    """
    robot = robot_of(run, "run.to_html")
    check_rates("run.to_html", fps, 1.0 if speed is None else speed)
    times = frame_times(run, fps, len(robot.model.bodies))
    poses = motion(robot, run.at(times)[0])
    low, high, across = seen(run, drawn, poses, plane)
    size = float(np.linalg.norm(high - low)) or 1.0
    span = float(run.t[-1] - run.t[0])
    early = [f"ended early: {run.ended_early}"] if run.ended_early else []
    return {
        "title": run.robot_name,
        "under": f"{span:.6g} s, {len(run.impacts)} impact{'s' if len(run.impacts) != 1 else ''}",
        "notes": [*early, *run.notes, *drawn.remarks],
        "span": [float(run.t[0]), float(run.t[-1])],
        "speeds": sorted({*SPEEDS, *([speed] if speed else [])}),
        "speed": speed or default_speed(span),
        "bodies": len(robot.model.bodies),
        "times": times,
        "frames": np.concatenate([poses[..., :3, 3], quaternions(poses[..., :3, :3])], axis=-1).astype(np.float32),
        "meshes": list(_meshes(drawn.pieces)),
        "sticks": _sticks(drawn),
        "walls": list(_walls(run, low, high, across)),
        "up": drawn.up.tolist(),
        "across": None if across is None else across.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "floor": None if across is not None else _floor(drawn, low, high, size),
        "impacts": [_impact(impact, robot, times, poses) for impact in sorted(run.impacts, key=lambda x: x.time)],
        "rests": [{"start": x.start, "end": x.end, "label": f"{x.point} on {x.wall}"} for x in run.rests],
        **_curves(run),
    }


def default_speed(span: float) -> float:
    """Return the speed at which a run of some duration [s] is played."""
    return max((x for x in SPEEDS if x <= min(1.0, span / SLOWEST)), default=SPEEDS[0])


# Motion


def frame_times(run: Run, fps: float, bodies: int) -> Array:
    """Return the times of the frames [s]: even, and those of the impacts.

    A run of many bodies or of many minutes has fewer frames a second than `fps`, so that the file stays small.
    """
    span = float(run.t[-1] - run.t[0])
    if span <= 0.0:
        return np.array([float(run.t[0])])
    most = int(np.clip(FRAME_BYTES / (28.0 * max(bodies, 1)), 2, MOST))
    count = int(np.clip(np.ceil(span * fps), min(LEAST, most), most))
    struck = np.array([impact.time for impact in run.impacts])[: 2 * most]
    return np.unique(np.concatenate([np.linspace(run.t[0], run.t[-1], count + 1), struck]))


def motion(robot: Robot, q: Array) -> Array:
    """Return the poses (n, bodies, 4, 4) of all bodies at configurations (n, nq).

    >>> import appell
    >>> motion(appell.load("two-link"), np.zeros((5, 2))).shape
    (5, 2, 4, 4)
    """
    found = world_poses(robot.model, tuple(np.moveaxis(robot.tree_configuration(q), -1, 0)))
    poses = np.tile(np.eye(4), (len(q), len(found), 1, 1))
    for k, (rotation, position) in enumerate(found):
        for i in range(3):
            poses[:, k, i, 3] = position[i]
            for j in range(3):
                poses[:, k, i, j] = rotation[i][j]
    return poses


# The robot


def _meshes(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    """Yield the triangles of each body and colour, vertices as 16-bit shares of their box."""
    total = sum(len(piece.faces) for piece in pieces)
    groups: dict[tuple[Any, ...], list[Piece]] = {}
    for piece in pieces:
        groups.setdefault((piece.body, piece.colour), []).append(piece)
    for (body, colour), parts in groups.items():
        starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
        vertices = np.concatenate([part.vertices for part in parts])
        faces = np.concatenate([part.faces + start for part, start in zip(parts, starts[:-1], strict=True)])
        if total > FACES:
            vertices, faces = clustered(vertices, faces, int(len(faces) * FACES / total))
        low, size = vertices.min(axis=0), np.ptp(vertices, axis=0)
        shares = np.round(65535.0 * (vertices - low) / np.where(size > 0.0, size, 1.0))
        yield {
            "body": int(body),
            "colour": [float(x) for x in colour],
            "low": low.tolist(),
            "size": size.tolist(),
            "vertices": shares.astype(np.uint16),
            "faces": faces.astype(np.uint16 if len(vertices) <= 65535 else np.uint32),
        }


def clustered(vertices: Array, faces: Array, most: int) -> tuple[Array, Array]:
    """Return a mesh of at most `most` triangles or so: vertices in one cell of a grid become their mean.

    >>> grid = np.stack(np.meshgrid(np.arange(50.0), np.arange(50.0), [0.0]), axis=-1).reshape(-1, 3)
    >>> k = np.arange(49 * 50)
    >>> fewer = clustered(grid, np.stack([k, k + 1, k + 50], axis=1), 500)[1]
    >>> 100 < len(fewer) <= 500
    True
    """
    cells = 1024.0
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max()) or 1.0
    while len(faces) > most and cells > 4.0:
        keys = np.floor((vertices - low) / size * cells).astype(np.int64)
        _, place = np.unique(keys @ np.array([1, 2048, 2048**2]), return_inverse=True)
        count = np.bincount(place)
        vertices = np.stack([np.bincount(place, vertices[:, k]) / count for k in range(3)], axis=1)
        faces = place[faces]
        different = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        faces, cells = faces[different], cells / 1.5
    return vertices, faces


def _sticks(drawn: Drawable) -> dict[str, Any] | None:
    found = drawn.stick_figure
    if found is None:
        return None
    ends, colours = found.ends
    return {
        "radius": found.radius,
        "bodies": found.bodies.tolist(),
        "places": found.places.tolist(),
        "rods": found.rods.tolist(),
        "colours": _shares(found.colours),
        "ends": ends.tolist(),
        "endColours": _shares(colours),
        "hubs": found.hubs.tolist(),
        "axes": found.axes.tolist(),
        "hubColour": list(JOINTS),
    }


def _shares(linear: Array) -> list[list[float]]:
    """Return colours in bytes of light as red, green, blue and opacity from 0 to 1."""
    shares = (np.asarray(linear, dtype=float).reshape(-1, 3) / 255.0) ** (1.0 / 2.2)
    return [[*share, 1.0] for share in shares.round(3).tolist()]


# The scene


def cloud(drawn: Drawable, poses: Array) -> Array:
    """Return points (n, k, 3) around a robot as drawn, at poses (n, bodies + 1, 4, 4) of its bodies and the world."""
    clouds = [] if drawn.pieces else [poses[:, :-1, :3, 3]]
    for piece in drawn.pieces:
        at, box = poses[:, piece.body], corners(piece.vertices.min(axis=0), piece.vertices.max(axis=0))
        clouds.append(np.einsum("nij,cj->nci", at[:, :3, :3], box) + at[:, None, :3, 3])
    if drawn.stick_figure is not None:
        clouds.append(np.array([drawn.stick_figure.points(at) for at in poses]))
    return np.concatenate(clouds, axis=1)


def seen(run: Run, drawn: Drawable, poses: Array, plane: str) -> tuple[Array, Array, Array | None]:
    """Return the box that the run happens in, and the normal of its plane where it stays in one."""
    some = poses[:: max(1, len(poses) // 100)]
    points = cloud(drawn, np.concatenate([some, np.tile(np.eye(4), (len(some), 1, 1, 1))], axis=1))
    look = scene(run, points, plane)
    is_flat = look.view in PLANES and (plane != "auto" or drawn.stick_figure is not None)
    if not is_flat:
        low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        reach = float(np.linalg.norm(high - low)) or 1.0
        for line in (wall.outline() for wall in run.walls):
            # a large wall is seen in part, so that the robot is not small
            if line is not None and float(np.linalg.norm(np.nanmax(line, axis=0) - np.nanmin(line, axis=0))) <= reach:
                low, high = np.fmin(low, np.nanmin(line, axis=0)), np.fmax(high, np.nanmax(line, axis=0))
        return low - 0.03 * reach, high + 0.03 * reach, None
    axis = next(k for k, name in enumerate("xyz") if name not in look.view)
    return *look.box, np.eye(3)[axis] * (-1.0 if axis == 1 else 1.0)


def _floor(drawn: Drawable, low: Array, high: Array, size: float) -> dict[str, Any]:
    below = 0.0 if drawn.stick_figure is None else 1.6 * drawn.stick_figure.radius
    return {
        "height": min(float((corners(low, high) @ drawn.up).min()), 0.0) - below,
        "cell": float(10.0 ** np.round(np.log10(0.1 * size))),
        "radius": 1.6 * size,
        "centre": (0.5 * (low + high)).tolist(),
    }


def _walls(run: Run, low: Array, high: Array, across: Array | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of the walls, and faint surfaces of those that have an axis or four corners."""
    size = float(np.linalg.norm(high - low)) or 1.0
    for wall in run.walls:
        lines, surface, is_outline = wall_shape(wall, (low, high), across is not None)
        if surface is not None:
            vertices, faces = surface
            yield {"kind": "surface", "vertices": vertices.astype(np.float32), "faces": faces.astype(np.uint32)}
        pairs = [np.stack([x[:-1], x[1:]], axis=1) for x in lines]
        if pairs:
            points = np.concatenate(pairs).astype(np.float32)
            yield {"kind": "lines", "points": points, "width": (0.003 if is_outline else 0.001) * size}


def _impact(impact: Impact, robot: Robot, times: Array, poses: Array) -> dict[str, Any]:
    """Return when and where points struck, their impulses, and the line of the list; a joint's limit has no arrow."""
    joints = [body.joint.name for body in robot.model.bodies]
    frame = poses[int(np.argmin(np.abs(times - impact.time)))]
    found = list(strikes(impact, lambda name: frame[joints.index(name), :3, 3] if name in joints else np.zeros(3)))
    each = zip(impact.points, impact.walls, impact.impulse, impact.normals, strict=True)
    return {
        "time": impact.time,
        "label": "; ".join(f"{p} – {wall}, {float(x):.3g} {'N·s' if n.any() else 'N·m·s'}" for p, wall, x, n in each),
        "places": [strike.place.tolist() for strike in found],
        "pushes": [strike.impulse.tolist() for strike in found],
        "labels": [strike.label for strike in found],
    }


# Curves


def _curves(run: Run) -> dict[str, Any]:
    """Return the panels of q, v and τ by kind of motion, that of the energy, and the joints' names and colours."""
    found, drawn = dict(sorted(panels(run).items(), key=lambda x: -sum(map(len, x[1].values())))), []
    names = list(run.joint_names) if run.robot is None else curve_names(run.robot)
    for kind, panel in found.items():
        for row, (symbol, lines) in enumerate(panel.items()):
            if lines:
                unit = SYMBOLS[kind][row]
                t, values = thinned(lines[0].t, np.column_stack([line.values for line in lines]), POINTS)
                each = [(line.joint, names[line.joint], column) for line, column in zip(lines, values.T, strict=True)]
                drawn.append(_panel(kind, f"{symbol} [{unit}]" if unit else symbol, t, each))
    t, each_energy = energies(run)
    t, values = thinned(t, np.column_stack(list(each_energy.values())), POINTS)
    totals = [(-1, name, column) for name, column in zip(each_energy, values.T, strict=True)]
    drawn.append(_panel("energy", "energy [J]", t, totals))
    joints = [{"name": name, "colour": COLOURS[k % len(COLOURS)]} for k, name in enumerate(names)]
    return {"panels": drawn, "kinds": [[kind, TITLES[kind]] for kind in found], "joints": joints}


def _panel(kind: str, title: str, t: Array, lines: Sequence[tuple[int, str, Array]]) -> dict[str, Any]:
    """Return the curves of one panel; those of energies belong to no joint and are named in the panel."""
    curves = [
        {
            "joint": k,
            "name": name,
            "colour": ENERGY_COLOURS[name] if k < 0 else COLOURS[k % len(COLOURS)],
            "dash": max(k, 0) // len(COLOURS),
            "values": np.ascontiguousarray(values, dtype=np.float32),
        }
        for k, name, values in lines
    ]
    return {"kind": kind, "title": title, "times": t.astype(np.float32), "curves": curves, "isNamed": lines[0][0] < 0}


# In a notebook: a player in a frame of its own, and a summary with the impacts

HEIGHT = 560
"""Of the player in a notebook [px]."""


@dataclass(frozen=True, eq=False, repr=False)
class Player:
    """A page that plays a run; a notebook displays it in a frame that can reach neither notebook nor network.

    >>> import appell
    >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    >>> run.animate()._repr_html_()[:29]
    '<iframe sandbox="allow-script'
    """

    run: Run
    html: str = field(repr=False)

    def __repr__(self) -> str:
        span = f"{self.run.t[-1] - self.run.t[0]:.6g} s"
        hint = "displays itself in a notebook; run.to_html(path) writes it to a file"
        return f"<Player of '{self.run.robot_name}', {span}: {hint}>"

    def _repr_html_(self) -> str:
        return frame(HEIGHT, sandbox="allow-scripts", srcdoc=self.html)


def run_summary(run: Run) -> Html:
    """Return a run as HTML: sizes, energy, remarks and a table of the impacts."""
    lines = []
    if len(run.t):
        lines.append(f"energy {run.energy[0]:.6g} J at the start, {run.energy[-1]:.6g} J at the end")
    if run.events:
        lines.append("events: " + ", ".join(f"{event.name} at {event.time:.6g} s" for event in run.events))
    if run.rests:
        resting = (f"{x.point} on {x.wall} {x.start:.4g} to {x.end:.4g} s" for x in run.rests[:5])
        lines.append("resting contacts: " + ", ".join(resting) + (" …" if len(run.rests) > 5 else ""))
    rows = [
        (f"{x.time:.6g}", ", ".join(x.points), ", ".join(x.walls), float(x.impulse.max(initial=0.0)), float(x.loss))
        for x in run.impacts
    ]
    columns = ("t [s]", "points", "walls", "largest impulse [N·s]", "energy loss [J]")
    impacts = folded(f"{len(rows)} impacts", table(columns, rows), len(rows) <= 20) if rows else Html("")
    shown = Html("<code>run.plot()</code>, <code>run.animate()</code>, <code>run.to_html(path)</code>")
    return card(repr(run).strip("<>"), *lines, *run.notes, impacts, shown)
