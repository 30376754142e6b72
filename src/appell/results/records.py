"""Records of a run: impacts, contact intervals, events, and outlines of walls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from appell.spatial.scalar import Array


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
