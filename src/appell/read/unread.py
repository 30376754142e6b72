"""Features of an MJCF file that are not supported, by MJCF name and with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from appell.read.compiled import BALL, FREE, is_off, is_on_axis, own, word
from appell.read.equalities import unread_tendons

SERVO = "<position>, <velocity> or another servo"
MJCF_NAMES = {
    "dyntype muscle": "<muscle>",
    "biastype affine": SERVO,
    "gaintype affine": SERVO,
    "trntype body": "<adhesion>",
}
"""The MJCF names of common actuators that are more than a torque at a joint."""


def unread(mujoco: Any, compiled: Any, tied: Container[int] = ()) -> list[str]:
    """Return the features that act on the motion and are not supported, such as ``2 × <tendon><fixed>``.

    `tied` are the equality constraints that are supported.
    """
    found = Counter(
        [
            *_joints(mujoco, compiled),
            *_bodies(mujoco, compiled),
            *unread_tendons(mujoco, compiled),
            *_actuators(mujoco, compiled),
            *_equalities(mujoco, compiled, tied),
        ]
    )
    found.update({"<deformable> flex": compiled.nflex, "<plugin>": compiled.nplugin})
    found.update({"<geom> that can touch (contact forces)": _touching(mujoco, compiled)})
    own = compiled.geom_dataid[compiled.geom_type == mujoco.mjtGeom.mjGEOM_MESH]
    found.update({"<geom> with a mesh that has no file": int((compiled.mesh_pathadr[own] < 0).sum())})
    return [f"{count} × {what}" for what, count in found.items() if count]


def _joints(mujoco: Any, compiled: Any) -> Iterator[str]:
    is_sprung = not is_off(mujoco, compiled, "PASSIVE", "SPRING")
    is_damped = not is_off(mujoco, compiled, "PASSIVE", "DAMPER")
    is_rubbing = not is_off(mujoco, compiled, "CONSTRAINT", "FRICTIONLOSS")
    for j in range(compiled.njnt):
        kind, dof = compiled.jnt_type[j], compiled.jnt_dofadr[j]
        if is_sprung and kind in (FREE, BALL) and compiled.jnt_stiffness[j]:
            yield f'<joint type="{"free" if kind == FREE else "ball"}" stiffness>'
        if is_sprung and np.any(own(compiled, "jnt_stiffnesspoly", j)):
            yield "<joint stiffness> beyond its linear term"
        if is_damped and np.any(own(compiled, "dof_dampingpoly", dof)):
            yield "<joint damping> beyond its linear term"
        if kind == BALL and compiled.jnt_limited[j]:
            yield '<joint type="ball" range>'
        rotors = compiled.dof_armature[dof:][: {FREE: 6, BALL: 3}.get(kind, 1)]
        if (rotors != rotors[0]).any():
            name = "free" if kind == FREE else "ball"
            yield f'<joint type="{name}"> with another armature per velocity (the first is used)'
        if kind == FREE and is_rubbing and compiled.dof_frictionloss[dof]:
            yield '<joint type="free" frictionloss> in world axes (used in body axes)'
        if compiled.jnt_actfrclimited[j] and compiled.jnt_actfrcrange[j].sum():
            yield "<joint actuatorfrcrange> with unequal bounds (the larger is used)"


def _bodies(mujoco: Any, compiled: Any) -> Iterator[str]:
    if not is_off(mujoco, compiled, "GRAVITY", "PASSIVE"):
        yield from ["<body gravcomp>"] * int(np.count_nonzero(compiled.body_gravcomp))
    yield from ["<body mocap> (fixed at its pose in the file)"] * int(compiled.nmocap)
    if not is_off(mujoco, compiled, "PASSIVE"):
        for name in ("density", "viscosity"):
            yield from [f"<option {name}> (fluid forces)"] * int(getattr(compiled.opt, name) > 0.0)


def _actuators(mujoco: Any, compiled: Any) -> Iterator[str]:
    """Yield the actuators that are more than a torque at a joint."""
    for i in range(len(compiled.actuator_trntype)):
        traits = [
            ("dyntype", word(mujoco.mjtDyn, compiled.actuator_dyntype[i]), ("none",)),
            ("gaintype", word(mujoco.mjtGain, compiled.actuator_gaintype[i]), ("fixed",)),
            ("biastype", word(mujoco.mjtBias, compiled.actuator_biastype[i]), ("none",)),
            ("trntype", word(mujoco.mjtTrn, compiled.actuator_trntype[i]), ("joint", "jointinparent")),
        ]
        beyond = next((f"{trait} {value}" for trait, value, plain in traits if value not in plain), None)
        if beyond:
            yield f"<actuator> {MJCF_NAMES.get(beyond, 'with ' + beyond)}"
        if not is_on_axis(mujoco, compiled, i):
            for what in ("armature", "damping"):
                if own(compiled, f"actuator_{what}", i):
                    yield f"<actuator> {what} away from hinges and slides"
        if np.any(own(compiled, "actuator_dampingpoly", i)):
            yield "<actuator> damping beyond its linear term"


def _equalities(mujoco: Any, compiled: Any, tied: Container[int]) -> Iterator[str]:
    if is_off(mujoco, compiled, "CONSTRAINT", "EQUALITY"):
        return
    for i in range(compiled.neq):
        if compiled.eq_active0[i] and i not in tied:
            yield f"<equality><{word(mujoco.mjtEq, compiled.eq_type[i])}>"


def _touching(mujoco: Any, compiled: Any) -> int:
    """Return the number of shapes that may collide with another body, or of explicit pairs if there is none."""
    if is_off(mujoco, compiled, "CONSTRAINT", "CONTACT"):
        return 0
    body = compiled.body_weldid[compiled.geom_bodyid]
    touching = np.zeros(compiled.ngeom, dtype=bool)
    for bit in range(32):
        active, passive = (
            ((mask >> bit) & 1).astype(bool) for mask in (compiled.geom_contype, compiled.geom_conaffinity)
        )
        if active.any() and passive.any() and len(set(body[active | passive].tolist())) > 1:
            touching |= active | passive
    return int(touching.sum()) or int(compiled.npair)
