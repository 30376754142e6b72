"""Differences between the robot of an MJCF file and MuJoCo in random states.

MuJoCo's constraints, contacts, springs, servos, fluids and gravity compensation are switched off in the compiled model,
and that model is what both sides take. Damping and rotor inertia stay, but for the rotor inertia of free joints.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from appell import interop
from appell.cli.agreement import Agreement, on_arrays, random_motion, refusal, relative, singular_note
from appell.errors import AppellError, AppellWarning
from appell.extras import extra
from appell.loading import load
from appell.read.mjcf import model_of_compiled
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

OFF = ("CONSTRAINT", "CONTACT", "SPRING", "ACTUATION")
"""The flags of forces beside those of the equations of motion."""


def mujoco_agreement(path: Path, *, samples: int, most: int | None = None) -> Agreement:
    """Return the comparison of an MJCF file with MuJoCo; `most` bounds the number of compared bodies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)  # about features that are ignored
        try:
            loaded = load(path)
            mujoco = extra("mujoco", "the comparison needs")
            compiled = plain(mujoco, mujoco.MjModel.from_xml_path(str(path.absolute())))
            robot = load(model_of_compiled(mujoco, compiled, str(path)), loops=False)
        except AppellError as error:
            return refusal(path, error, peer="MuJoCo", base="file")
    note = f"{len(loaded.model.closures)} loops open" if loaded.model.closures else ""
    blank = Agreement(path, False, robot.nq, robot.nv, note=note, peer="MuJoCo", base="file")
    if not robot.nv:
        return blank.noted("no moving joint")
    rng = np.random.default_rng(2018)
    q, v, a = random_motion(robot, samples, rng)
    weightless = singular_note(robot, on_arrays(robot, "mass_matrix", [q[:1]])[0])
    found = _errors(mujoco, compiled, robot, (q, v, a), most, has_inverse=not weightless)
    return blank.noted(weightless, errors=found)


def plain(mujoco: Any, compiled: Any) -> Any:
    """Return a compiled model with inertia, gravity, damping and rotor inertia only."""
    for name in OFF:
        compiled.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    compiled.opt.density = compiled.opt.viscosity = 0.0
    for name in ("jnt_stiffness", "tendon_stiffness", "tendon_damping", "tendon_armature", "body_gravcomp"):
        getattr(compiled, name)[:] = 0.0
    compiled.dof_frictionloss[:] = 0.0
    for name in ("jnt_stiffnesspoly", "dof_dampingpoly", "tendon_stiffnesspoly", "tendon_dampingpoly"):
        if hasattr(compiled, name):
            getattr(compiled, name)[:] = 0.0
    return compiled


def _errors(
    mujoco: Any, compiled: Any, robot: Robot, states: tuple[Array, Array, Array], most: int | None, *, has_inverse: bool
) -> dict[str, float]:
    q, v, a = states
    data, there, still = mujoco.MjData(compiled), interop.mujoco(robot, compiled), np.zeros_like(v)
    turns = np.array([there.matrix(x) for x in q])

    def inverse(v: Array, a: Array) -> Array:
        """Return the forces of MuJoCo for these accelerations, in our coordinates."""
        found = []
        for x, speeds, rates, turn in zip(q, v, a, turns, strict=True):
            data.qpos[:], data.qvel[:], data.qacc[:] = there.q(x), there.v(x, speeds), there.a(x, speeds, rates)
            mujoco.mj_inverse(compiled, data)
            found.append(turn.T @ data.qfrc_inverse)
        return np.array(found)

    def matrices() -> Array:
        found = []
        for x, turn in zip(q, turns, strict=True):
            data.qpos[:] = there.q(x)
            mujoco.mj_forward(compiled, data)
            full = np.zeros((compiled.nv, compiled.nv))
            mujoco.mj_fullM(compiled, data, full)
            found.append(turn.T @ full @ turn)
        return np.array(found)

    tau = inverse(v, a)
    torque = float(np.abs(tau).max())
    ours = on_arrays(robot, "inverse_dynamics", [q, v, a])
    gravity = on_arrays(robot, "gravity", [q])
    found = {
        "tau": relative(ours, tau),
        "M": relative(on_arrays(robot, "mass_matrix", [q]), matrices()),
        "gravity": relative(gravity, inverse(still, still), torque),
        "Y pi": relative(on_arrays(robot, "regressor", [q, v, a]) @ robot.parameters, tau),
        "poses": _poses_off(mujoco, compiled, robot, there, q, most),
    }
    if has_inverse:
        accelerations = on_arrays(robot, "forward_dynamics", [q, v, tau])
        found["residual"] = relative(inverse(v, accelerations), tau)
    return found


def _poses_off(mujoco: Any, compiled: Any, robot: Robot, there: Any, q: Array, most: int | None) -> float:
    names = [(i, compiled.body(i).name or f"body{i}") for i in range(1, compiled.nbody)]
    names = [(i, name) for i, name in names if name in robot.model.frame_index]
    names = names if most is None else names[:: -(-len(names) // most) or 1]
    if not names:
        return 0.0
    data, theirs = mujoco.MjData(compiled), []
    for x in q:
        data.qpos[:] = there.q(x)
        mujoco.mj_kinematics(compiled, data)
        theirs.append([np.c_[data.xmat[i].reshape(3, 3), data.xpos[i]] for i, _ in names])
    ours = np.stack([on_arrays(robot, "pose", [q], name)[:, :3] for _, name in names], axis=1)
    return relative(ours, np.array(theirs))
