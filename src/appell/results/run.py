"""A run: the result of a simulation, to be evaluated, plotted, animated and saved."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.files import as_path, extension, write
from appell.results.animation import film
from appell.results.path import Path
from appell.results.player.page import Player, page, run_summary
from appell.results.plots import history
from appell.results.run_file import ARRAYS, PATH, VERSION, read_parts
from appell.results.style import written
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Impact:
    """A simultaneous impact of k points on k walls.

    A joint that reaches the end of its range is listed by its name among the points, with a zero normal and an impulse
    in N·m·s (N·s for a prismatic joint).

    Attributes
    ----------
    time
        Time of the impact [s].
    points, walls
        Names of the points and of the walls, k each.
    positions, normals
        Contact positions [m] and unit normals from the wall to the free side, (k, 3), in world coordinates.
    approach, departure
        Normal speeds towards the wall before, and away from it after the impact, (k,) [m/s].
    slip
        Tangential velocities before the impact, (k, 3) [m/s].
    impulse
        Normal impulses, (k,) [N·s].
    friction
        Tangential impulses, (k, 3) [N·s], in world coordinates.
    energy_before, energy_after
        Kinetic plus potential energy of the robot [J].
    v_before, v_after
        Velocities of the robot, (nv,) [rad/s, m/s].

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.papers.shafei2018 import START
    >>> robot = appell.load("shafei-tree")
    >>> run = appell.simulate(robot, START, np.zeros(robot.nv), 0.5, walls=[appell.walls.Circle(2.5)])
    >>> run.impacts[0].points, round(run.impacts[0].time, 6)
    (('link1', 'O5'), 0.385192)
    """

    time: float
    points: tuple[str, ...]
    walls: tuple[str, ...]
    positions: Array
    normals: Array
    approach: Array
    departure: Array
    slip: Array
    impulse: Array
    friction: Array
    energy_before: float
    energy_after: float
    v_before: Array
    v_after: Array

    @property
    def angles(self) -> Array:
        """Return the angles of incidence between the velocities of the points and the wall normals, (k,) [rad]."""
        return np.asarray(np.arctan2(np.linalg.norm(self.slip, axis=-1), self.approach))

    @property
    def loss(self) -> float:
        """Return the energy loss [J]."""
        return self.energy_before - self.energy_after


@dataclass(frozen=True)
class ContactInterval:
    """An interval from `start` to `end` [s] in which a point rested on a wall or slid along it.

    The point is at `position` (3,) [m] in the frame of the moving link `link`, the centre of a ball of `radius` [m]. Of
    a joint at its limit, `link` is empty.
    """

    point: str
    wall: str
    start: float
    end: float
    link: str = ""
    position: Array = field(default_factory=lambda: np.zeros(3), compare=False)
    radius: float = 0.0


@dataclass(frozen=True)
class EventRecord:
    """A user-defined event: its name, its time [s], and the state q (nq,) and v (nv,) at that time."""

    name: str
    time: float
    q: Array
    v: Array


@dataclass(frozen=True)
class Outline:
    """A wall read from a file: its label and the polyline (n, 3) that draws it, or None."""

    label: str
    line: list[list[float]] | None

    def outline(self) -> Array | None:
        """Return the polyline (n, 3) [m]."""
        return None if self.line is None else np.array(self.line)


__all__ = ["ContactInterval", "EventRecord", "Impact", "Outline", "Run"]


@dataclass(frozen=True)
class Run:
    """The result of :func:`appell.simulate`: states over time, with impacts, contacts and events.

    Attributes
    ----------
    t
        Times of the integration steps, (n,) [s]; an impact has two entries, before and after.
    q, v, a
        Coordinates (n, nq), velocities (n, nv) and accelerations (n, nv).
    tau
        Joint torques of the controller, (n, nu) [N·m, N].
    energy
        Kinetic plus potential energy, (n,) [J].
    impacts, rests, events
        Impacts, intervals of resting contact, and user-defined events, in order of time.
    path
        The integrator's polynomials between the times, which :meth:`at` evaluates.
    ended_early
        Empty, or the reason why the run ended before its duration.
    notes
        Remarks of the simulation.
    robot, walls
        The robot and the walls; None and outlines where a file has no more.
    robot_name, joint_names
        Names for tables and plots.

    Examples
    --------
    >>> import appell
    >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    >>> run.robot_name, float(run.t[-1]), len(run.impacts)
    ('two-link', 0.1, 0)
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    energy: Array
    impacts: tuple[Impact, ...]
    rests: tuple[ContactInterval, ...]
    events: tuple[EventRecord, ...]
    path: Path = field(repr=False)
    ended_early: str = ""
    notes: tuple[str, ...] = ()
    robot: Robot | None = field(default=None, repr=False, compare=False)
    walls: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    robot_name: str = ""
    joint_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        early = f", ended early: {self.ended_early}" if self.ended_early else ""
        span = f"{self.t[-1] - self.t[0]:.6g} s" if len(self.t) else "nothing"
        return f"<Run of '{self.robot_name}': {span}, {len(self.t)} states, {len(self.impacts)} impacts{early}>"

    def _repr_html_(self) -> str:
        return run_summary(self)

    @cached_property
    def nq(self) -> int:
        """Return the number of coordinates."""
        return int(self.q.shape[-1])

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """Return the state at any times of the run; at the time of an impact, the state after it.

        Parameters
        ----------
        t
            Times (...) between the first and the last of the run [s].

        Returns
        -------
        tuple of ndarray
            q (..., nq) and v (..., nv), from the integrator's polynomials.

        Raises
        ------
        InputError
            When a time is outside the run, or the run has no states.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> run = appell.simulate(robot, [0.0, 0.0], [0.0, 0.0], 0.1)
        >>> q, v = run.at([0.0, 0.05, 0.1])
        >>> q.shape
        (3, 2)
        """
        times = np.asarray(t, dtype=float)
        if not len(self.t):
            raise InputError(
                f"run.at: the run of '{self.robot_name}' has no states; it ended early: {self.ended_early}"
            )
        low, high = float(self.t[0]), float(self.t[-1])
        slack = 1e-12 * max(1.0, abs(high))
        if not np.isfinite(times).all() or (times < low - slack).any() or (times > high + slack).any():
            raise InputError(f"run.at: times must lie between {low:g} and {high:g} s, where this run ended")
        if not len(self.path.starts):  # it ended where it started
            times = np.zeros(times.shape, dtype=int)
            return self.q[times], self.v[times]
        y = self.path.at(times)
        q, v = y[..., : self.nq], y[..., self.nq :]
        return self._normalised(q), v

    def _normalised(self, q: Array) -> Array:
        for place in self.path.quaternions:
            q[..., place : place + 4] /= np.linalg.norm(q[..., place : place + 4], axis=-1, keepdims=True)
        return q

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot q, v, τ and energy against time, with impacts marked.

        Parameters
        ----------
        path
            The file to write, .png, .pdf or .svg; none by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; a notebook displays it.

        Raises
        ------
        InputError
            When the extension is unknown, the run has no states, or Matplotlib is not installed.

        Examples
        --------
        >>> import appell
        >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
        >>> len(run.plot().axes)
        4
        """
        return written("run.plot", path, lambda: history(self))

    @overload
    def animate(self, path: None = None, fps: float = ..., speed: float = ..., plane: str = ...) -> Player: ...
    @overload
    def animate(self, path: str | os.PathLike[str], fps: float = ..., speed: float = ..., plane: str = ...) -> File: ...
    def animate(
        self, path: str | os.PathLike[str] | None = None, fps: float = 25.0, speed: float = 1.0, plane: str = "auto"
    ) -> File | Player:
        """Play the motion in a notebook, or write it as a film: .gif, or .mp4 where ffmpeg is installed.

        Parameters
        ----------
        path
            The file of the film. Without one, a player is returned, which a notebook displays: the run in 3-D with a
            time slider, as in :meth:`to_html`.
        fps
            Frames per second.
        speed
            Seconds of motion per second of film: 0.2 is five times slower.
        plane
            "xy", "xz", "yz", "3d" for all of space, or "auto": the plane that the motion stays in, if it does.

        Returns
        -------
        pathlib.Path or Player
            The file, or the player.

        Raises
        ------
        InputError
            When the extension or the plane is unknown, a number is not positive, or the run has no states or no robot.

        Examples
        --------
        >>> import appell, tempfile
        >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.animate(folder + "/fall.gif").name
        'fall.gif'
        >>> run.animate()
        <Player of 'two-link', 0.1 s: displays itself in a notebook; run.to_html(path) writes it to a file>
        """
        if path is None:
            return Player(self, page(self, fps=max(fps, 60.0), speed=speed, plane=plane, autoplay=True))
        form = extension("run.animate", path, (".gif", ".mp4"))
        return write(path, film(self, form.removeprefix("."), fps, speed, plane))

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        source: str | os.PathLike[str] | None = None,
        packages: Iterable[str | os.PathLike[str]] = (),
        fps: float = 60.0,
        speed: float | None = None,
        plane: str = "auto",
    ) -> File:
        """Write one HTML file that plays the run in 3-D in a browser, without a server or a network.

        The page has a time slider, play, pause and speed, a camera to orbit and zoom, curves of q, v, τ and energy with
        a cursor, and a list of the impacts. The robot is drawn with the shapes of its file; where there are none, as
        a stick figure.

        Parameters
        ----------
        path
            The file, ``.html`` or ``.htm``.
        source
            The robot file whose shapes are drawn; by default the robot's own. A run that was read from a file needs it
            to find meshes.
        packages
            Folders in which ``package://`` names of meshes are looked up first.
        fps
            Recorded frames per second of motion; fewer where the file would become large. Poses in between are
            interpolated.
        speed
            Seconds of motion per second that the page plays at first; by default 1, less for short runs.
        plane
            How the camera looks at first: "xy", "xz", "yz", "3d", or "auto".

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            When the extension or the plane is unknown, a number is not positive, the run has no states or no robot, or
            the file cannot be written.

        Examples
        --------
        >>> import appell, tempfile
        >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.to_html(folder + "/run.html").stat().st_size < 100_000
        True
        """
        extension("run.to_html", path, (".html", ".htm"))
        return write(path, page(self, source=source, packages=packages, fps=fps, speed=speed, plane=plane))

    def save(self, path: str | os.PathLike[str]) -> File:
        """Write the run to a file: ``.npz`` with everything, or ``.csv`` with t, q, v, a, tau and energy.

        Parameters
        ----------
        path
            The file; its extension is the format.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            When the extension is unknown or the file cannot be written.

        Examples
        --------
        >>> import appell, tempfile
        >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = appell.Run.load(run.save(folder + "/run.npz"))
        >>> bool((again.q == run.q).all())
        True
        """
        if extension("run.save", path, (".npz", ".csv")) == ".csv":
            return write(path, self._csv())
        buffer = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {f"path_{name}": getattr(self.path, name) for name in PATH}
        np.savez_compressed(buffer, about=np.array(json.dumps(self._about())), **arrays)
        return write(path, buffer.getvalue())

    def _csv(self) -> str:
        numbered = {name: getattr(self, name) for name in ("q", "v", "a", "tau")}
        names = [f"{name}{k}" for name, values in numbered.items() for k in range(values.shape[-1])]
        rows = np.column_stack([self.t, *numbered.values(), self.energy])
        head = ",".join(["t", *names, "energy"])
        return "\n".join([head, *(",".join(f"{x:.17g}" for x in row) for row in rows)]) + "\n"

    def _about(self) -> dict[str, Any]:
        return {
            "appell": VERSION,
            "robot": self.robot_name,
            "joints": list(self.joint_names),
            "text": None if self.robot is None else self.robot.kind.text(),
            "walls": [[x.label, None if (line := x.outline()) is None else line.tolist()] for x in self.walls],
            "ended_early": self.ended_early,
            "notes": list(self.notes),
            "impacts": [_plain(impact) for impact in self.impacts],
            "rests": [_plain(rest) for rest in self.rests],
            "events": [_plain(event) for event in self.events],
        }

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Run:
        """Read a run that :meth:`save` wrote to an ``.npz`` file.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Run
            The run with its robot, without the shapes of the robot's file; walls are their outlines.

        Raises
        ------
        ReadError
            When the file is missing, incomplete, of another version or not a run; the message names the file and the
            entry.

        Examples
        --------
        See :meth:`save`.
        """
        parts = read_parts(as_path(path, "Run.load"))
        return Run(
            **parts.arrays,
            impacts=tuple(Impact(**x) for x in parts.records["impacts"]),
            rests=tuple(ContactInterval(**x) for x in parts.records["rests"]),
            events=tuple(EventRecord(**x) for x in parts.records["events"]),
            path=Path.of(**parts.path),
            ended_early=parts.about["ended_early"],
            notes=parts.about["notes"],
            robot=parts.robot,
            walls=tuple(Outline(*wall) for wall in parts.about["walls"]),
            robot_name=parts.about["robot"],
            joint_names=parts.about["joints"],
        )


def _plain(record: Any) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
