"""What a page that plays a run holds: poses over time, triangles, rods, walls, curves, impacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import InputError
from appell.recursion.kinematics import world_poses
from appell.results.animation import PLANES, robot_of, scene, wires
from appell.results.plots import ENERGY_COLOURS, SYMBOLS, TITLES, curve_names, energies, panels, thinned
from appell.results.style import COLOURS
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import quaternions, ribbon
from appell.shapes.meshes import Piece
from appell.shapes.palette import JOINTS
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.results.run import Impact, Run
    from appell.robot.robot import Robot

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
    check(fps, speed)
    times = frame_times(run, fps, len(robot.model.bodies))
    poses = motion(robot, run.at(times)[0])
    low, high, across = _seen(run, drawn, poses, plane)
    size = float(np.linalg.norm(high - low)) or 1.0
    span = float(run.t[-1] - run.t[0])
    early = [f"ended early: {run.ended_early}"] if run.ended_early else []
    return {
        "title": run.robot_name,
        "under": f"{span:.6g} s, {len(run.impacts)} impact{'s' if len(run.impacts) != 1 else ''}",
        "notes": [*early, *run.notes, *drawn.remarks],
        "span": [float(run.t[0]), float(run.t[-1])],
        "speeds": sorted({*SPEEDS, *([speed] if speed else [])}),
        "speed": speed or max((x for x in SPEEDS if x <= min(1.0, span / SLOWEST)), default=SPEEDS[0]),
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


def check(fps: float, speed: float | None) -> None:
    """Raise an InputError for a rate or a speed that is no number > 0."""
    for name, value in (("fps", fps), ("speed", 1.0 if speed is None else speed)):
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f"run.to_html: {name} must be a number > 0, got {value!r}")


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


def _seen(run: Run, drawn: Drawable, poses: Array, plane: str) -> tuple[Array, Array, Array | None]:
    """Return the box that the run happens in, and the normal of its plane where it stays in one."""
    some = poses[:: max(1, len(poses) // 100)]
    world = np.tile(np.eye(4), (len(some), 1, 1, 1))
    every = np.concatenate([some, world], axis=1)
    clouds = []
    for piece in drawn.pieces:
        corners = np.array(np.meshgrid(*zip(piece.vertices.min(axis=0), piece.vertices.max(axis=0), strict=True)))
        at = every[:, piece.body]
        clouds.append(np.einsum("nij,cj->nci", at[:, :3, :3], corners.reshape(3, -1).T) + at[:, None, :3, 3])
    if drawn.stick_figure is not None:
        clouds.append(np.array([drawn.stick_figure.points(at) for at in every]))
    points = np.concatenate(clouds, axis=1)
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
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    below = 0.0 if drawn.stick_figure is None else 1.6 * drawn.stick_figure.radius
    return {
        "height": min(float((corners @ drawn.up).min()), 0.0) - below,
        "cell": float(10.0 ** np.round(np.log10(0.1 * size))),
        "radius": 1.6 * size,
        "centre": (0.5 * (low + high)).tolist(),
    }


def _walls(run: Run, low: Array, high: Array, across: Array | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of the walls, and faint surfaces of those that have one, an axis or four corners."""
    size = float(np.linalg.norm(high - low)) or 1.0
    for wall in run.walls:
        line = wall.outline()
        if line is None:
            lines = [x for part in wall.parts for x in wires(part, (low, high))] if hasattr(wall, "gap") else []
            width = 0.001
        else:
            line = line[np.isfinite(line).all(axis=1)]
            lines, width = [line], 0.003
            surface = _surface(wall, line, low, high, across)
            if surface is not None:
                vertices, faces = surface
                yield {"kind": "surface", "vertices": vertices.astype(np.float32), "faces": faces.astype(np.uint32)}
        pairs = [np.stack([x[:-1], x[1:]], axis=1) for x in lines if len(x) > 1]
        if pairs:
            points = np.concatenate(pairs).astype(np.float32)
            yield {"kind": "lines", "points": points, "width": width * size}


def _surface(wall: Any, line: Array, low: Array, high: Array, across: Array | None) -> tuple[Array, Array] | None:
    if (own := getattr(wall, "surface", lambda: None)()) is not None:
        return (own[0], own[1])
    if hasattr(wall, "axis"):
        axis = np.asarray(wall.axis, dtype=float)
        axis = axis / np.linalg.norm(axis)
        if across is not None:
            thick = 0.03 * float(np.linalg.norm(high - low))
            return ribbon(line, -thick * axis, thick * axis)
        corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T @ axis
        height = float(line[0] @ axis)
        return ribbon(line, (corners.min() - height) * axis, (corners.max() - height) * axis)
    if len(line) == 5 and np.allclose(line[0], line[-1]):
        return line[:4], np.array([[0, 1, 2], [0, 2, 3]])
    return None


def _impact(impact: Impact, robot: Robot, times: Array, poses: Array) -> dict[str, Any]:
    """Return when and where points struck, their impulses, and the line of the list; a joint's limit has no arrow."""
    joints = [body.joint.name for body in robot.model.bodies]
    frame = poses[int(np.argmin(np.abs(times - impact.time)))]
    places, pushes, labels = [], [], []
    for k, name in enumerate(impact.points):
        if impact.normals[k].any():
            push = impact.normals[k] * impact.impulse[k] + impact.friction[k]
            places.append(impact.positions[k].tolist())
            pushes.append(push.tolist())
            labels.append(f"{np.linalg.norm(push):.3g} N·s")
        elif name in joints:
            places.append(frame[joints.index(name), :3, 3].tolist())
            pushes.append([0.0, 0.0, 0.0])
            labels.append(f"{name}: limit")
    each = [
        f"{point} – {wall}, {float(impulse):.3g} {'N·s' if normal.any() else 'N·m·s'}"
        for point, wall, impulse, normal in zip(
            impact.points, impact.walls, impact.impulse, impact.normals, strict=True
        )
    ]
    text = "; ".join(each)
    return {"time": impact.time, "label": text, "places": places, "pushes": pushes, "labels": labels}


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
