"""Loops of an MJCF file: ``<equality>`` constraints that tie bodies or sites together, as closures.

``<connect>`` makes two points coincide, ``<weld>`` two frames. MuJoCo stores for a connect the point in both bodies'
frames, for a weld the point in the second body's frame and its pose in the first body's, position and quaternion.
Constraints on a mocap body are skipped, since a user moves such a body, and so are those within one link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Body, Coordinates, Frame
from appell.read.compiled import FREE, Names, fresh, is_off, vector, word
from appell.spatial.pose import Pose

Mount = tuple[str, Pose]
"""Where a body of the file is: a link of the tree and a pose in it."""


class Equalities(NamedTuple):
    """The result: closures, the frames they name, and the indices of their constraints."""

    closures: tuple[Closure, ...] = ()
    frames: tuple[Frame, ...] = ()
    held: frozenset[int] = frozenset()


def equalities(
    mujoco: Any, compiled: Any, mounts: Sequence[Mount], bodies: Sequence[Body], pose: Callable[[Any, Any], Pose]
) -> Equalities:
    """Return the closures of a compiled model; `pose` converts a position and a quaternion to a pose."""
    if is_off(mujoco, compiled, "CONSTRAINT", "EQUALITY"):
        return Equalities()
    index = {body.name: i for i, body in enumerate(bodies)}
    closures: list[Closure] = []
    frames: list[Frame] = []
    held: set[int] = set()
    taken: set[str] = set()
    for i in range(compiled.neq):
        kind = word(mujoco.mjtEq, compiled.eq_type[i])
        ends = _ends(mujoco, compiled, i, kind, pose) if kind in ("connect", "weld") else []
        if not compiled.eq_active0[i] or not ends or any(compiled.body_mocapid[body] >= 0 for body, _ in ends):
            continue
        if len({mounts[body][0] for body, _ in ends}) == 1:  # within one link, without effect
            continue
        name = mujoco.mj_id2name(compiled, mujoco.mjtObj.mjOBJ_EQUALITY, i) or fresh(f"{kind}{i}", taken)
        taken.add(name)
        for (body, own), side in zip(ends, ("first", "second"), strict=True):
            link, mount = mounts[body]
            frames.append(Frame(f"{name}/{side}", index.get(link, WORLD), mount.then(own)))
        rows = KINDS["point" if kind == "connect" else "frame"]
        closures.append(Closure(name, f"{name}/first", f"{name}/second", rows))
        held.add(i)
    return Equalities(tuple(closures), tuple(frames), frozenset(held))


def _ends(mujoco: Any, compiled: Any, i: int, kind: str, pose: Callable[[Any, Any], Pose]) -> list[tuple[int, Pose]]:
    """Return the two frames that a constraint makes coincide, each as a body and a pose in it."""
    objects = [int(compiled.eq_obj1id[i]), int(compiled.eq_obj2id[i])]
    if compiled.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        return [(int(compiled.site_bodyid[k]), pose(compiled.site_pos[k], compiled.site_quat[k])) for k in objects]
    data = compiled.eq_data[i]
    if kind == "connect":
        return [(body, Pose(position=vector(data[3 * k : 3 * k + 3]))) for k, body in enumerate(objects)]
    return [(objects[0], pose(data[3:6], data[6:10])), (objects[1], Pose(position=vector(data[:3])))]


def driven_joints(mujoco: Any, compiled: Any, names: Names) -> tuple[str, ...]:
    """Return the joints that actuators drive, in the order of the actuators."""
    driven = []
    for i in range(len(compiled.actuator_trntype)):
        if word(mujoco.mjtTrn, compiled.actuator_trntype[i]) in ("joint", "jointinparent"):
            driven.append(names.joints[int(compiled.actuator_trnid[i, 0])])
    return tuple(dict.fromkeys(driven))


def keyframes(mujoco: Any, compiled: Any, names: Names) -> tuple[tuple[str, Coordinates], ...]:
    """Return the configurations of the file's keyframes, by their names."""
    found: dict[str, Coordinates] = {}
    for i in range(compiled.nkey):
        name = mujoco.mj_id2name(compiled, mujoco.mjtObj.mjOBJ_KEY, i) or fresh(f"key{i}", {*found})
        found[name] = coordinates(compiled, names, compiled.key_qpos[i])
    return tuple(found.items())


def coordinates(compiled: Any, names: Names, qpos: Any) -> Coordinates:
    """Return the coordinates of every joint; those of the file's pose are ``compiled.qpos0``."""
    found = []
    for j, name in enumerate(names.joints):
        first = int(compiled.jnt_qposadr[j])
        size = {0: 7, 1: 4}.get(int(compiled.jnt_type[j]), 1)
        values = qpos[first : first + size].tolist()
        if size > 1:
            start = 3 if int(compiled.jnt_type[j]) == FREE else 0
            w, x, y, z = values[start:]
            values = [*values[:start], x, y, z, w]
        found.append((name, tuple(float(value) for value in values)))
    return tuple(found)
