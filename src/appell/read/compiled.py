"""MuJoCo's compiler and its result: the compiled model, its names, and the flags that disable features.

The mujoco package is optional; it is imported when the first MJCF file is read, and passed on as `mujoco`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError, ReadError
from appell.extras import extra
from appell.read.mjcf_costs import check_costs
from appell.read.place import Contents
from appell.spatial.scalar import Vector
from appell.spatial.vector import ZERO

FREE, BALL, SLIDE, HINGE = range(4)
"""The values of mjtJoint."""


def import_mujoco(source: str) -> Any:
    """Return the mujoco package; `source` is the name of the file in error messages."""
    try:
        return extra("mujoco", "MJCF files need")
    except InputError as error:
        raise ReadError(str(error), source) from None


def compile_mjcf(mujoco: Any, given: Contents, path_or_text: str | os.PathLike[str]) -> tuple[Any, list[str]]:
    """Return the compiled model and the warnings of mujoco, which it would otherwise write to a file."""
    check_costs(given.data, given.source, Path() if given.is_text else Path(path_or_text).parent)
    remarks: list[str] = []
    listener = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(remarks.append)
    try:
        if given.is_text:
            return mujoco.MjModel.from_xml_string(given.data.decode("utf-8", "replace").lstrip("\ufeff")), remarks
        # MuJoCo looks twice for some meshes of a relative path in its folder
        return mujoco.MjModel.from_xml_path(str(Path(path_or_text).absolute())), remarks
    except Exception as error:  # mujoco's own errors, and those of C++ when memory is exhausted
        reason = " ".join(str(error).split()) or type(error).__name__
        line = re.search(r"\bline (?:number=)?(\d+)", reason, re.IGNORECASE)
        # In a file with includes mujoco does not report which of them contains the line.
        is_here = line is not None and b"<include" not in given.data
        raise ReadError(f"mujoco: {reason}", given.source, int(line[1]) if line and is_here else None) from None
    finally:
        mujoco.set_mju_user_warning(listener)


def is_off(mujoco: Any, compiled: Any, *flags: str) -> bool:
    """Return whether ``<option><flag>`` disables any of these; flags unknown to this mujoco are not set."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0) for flag in flags)
    return any(compiled.opt.disableflags & int(bit) for bit in bits)


def gravity_of(mujoco: Any, compiled: Any) -> Vector:
    """Return gravity in world axes [m/s²], zero if its flag disables it."""
    if is_off(mujoco, compiled, "GRAVITY"):
        return ZERO
    return vector(compiled.opt.gravity)


def actuator_sums(mujoco: Any, compiled: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each velocity the damping and the armature of actuators on hinges and slides, by gear ratio."""
    damping, armature = np.zeros(compiled.nv), np.zeros(compiled.nv)
    for i in range(len(compiled.actuator_trntype)):
        if is_on_axis(mujoco, compiled, i):
            dof = compiled.jnt_dofadr[compiled.actuator_trnid[i, 0]]
            for total, what in ((damping, "damping"), (armature, "armature")):
                total[dof] += compiled.actuator_gear[i, 0] ** 2 * own(compiled, f"actuator_{what}", i)
    return damping, armature


def own(compiled: Any, name: str, i: int) -> Any:
    """Return an entry of an array, 0 for releases of mujoco without that array."""
    array = getattr(compiled, name, None)
    return 0.0 if array is None else array[i]


def vector(values: Any) -> Vector:
    """Return three numbers of a compiled model without negative zeros."""
    x, y, z = (value + 0.0 for value in values.tolist())
    return (x, y, z)


def joints_of(compiled: Any, i: int) -> range:
    """Return the joints of a body."""
    first = int(compiled.body_jntadr[i])
    return range(first, first + int(compiled.body_jntnum[i]))


def anchor_of(compiled: Any, j: int) -> Vector:
    """Return the anchor of a joint in the body's frame; the origin for joints without one."""
    return vector(compiled.jnt_pos[j]) if compiled.jnt_type[j] in (BALL, HINGE) else ZERO


def is_on_axis(mujoco: Any, compiled: Any, i: int) -> bool:
    """Return whether an actuator drives a hinge or a slide."""
    on_joint = word(mujoco.mjtTrn, compiled.actuator_trntype[i]) in ("joint", "jointinparent")
    return bool(on_joint and compiled.jnt_type[compiled.actuator_trnid[i, 0]] not in (FREE, BALL))


def word(enumeration: Any, value: Any) -> str:
    """Return the MJCF keyword of a value: "muscle" for mjDYN_MUSCLE."""
    return str(enumeration(int(value)).name).split("_", 1)[1].lower()


@dataclass(frozen=True)
class Names:
    """Names of each body, joint and site of the compiled model, and for each joint the link it carries."""

    bodies: list[str]
    joints: list[str]
    sites: list[str]
    links: list[str]


def names_of(mujoco: Any, compiled: Any, source: str) -> Names:
    """Return the names of the file, and generated ones for unnamed elements: ``body3``, ``body3_joint``, ``site0``."""

    def given(kind: Any, count: int) -> list[str]:
        try:
            return [mujoco.mj_id2name(compiled, kind, i) or "" for i in range(count)]
        except UnicodeDecodeError as error:
            raise ReadError(f"a name is not UTF-8: {error.object!r}; save the file as UTF-8", source) from None

    body_of = compiled.jnt_bodyid.tolist()
    bodies = _filled(given(mujoco.mjtObj.mjOBJ_BODY, compiled.nbody), lambda i: f"body{i}")
    joints = _filled(given(mujoco.mjtObj.mjOBJ_JOINT, compiled.njnt), lambda j: f"{bodies[body_of[j]]}_joint")
    sites = _filled(given(mujoco.mjtObj.mjOBJ_SITE, compiled.nsite), lambda k: f"site{k}")
    # the last joint of a body carries the body itself, if their frames are the same
    last = set((compiled.body_jntadr + compiled.body_jntnum - 1).tolist())
    is_own = [j in last and not any(anchor_of(compiled, j)) for j in range(compiled.njnt)]
    carried = [bodies[body] if own else "" for body, own in zip(body_of, is_own, strict=True)]
    return Names(bodies, joints, sites, _filled(carried, lambda j: f"{bodies[body_of[j]]}_{joints[j]}", bodies))


def _filled(names: list[str], proposal: Callable[[int], str], others: Sequence[str] = ()) -> list[str]:
    """Return the names with generated ones in place of empty ones, all unique."""
    taken = {*names, *others}
    result = []
    for i, name in enumerate(names):
        result.append(name or fresh(proposal(i), taken))
        taken.add(result[-1])
    return result


def fresh(name: str, taken: set[str]) -> str:
    """Return the name, or the name with the first number that makes it unique.

    >>> fresh("leg", {"leg", "leg2"})
    'leg3'
    """
    number, result = 2, name
    while result in taken:
        result, number = f"{name}{number}", number + 1
    return result
