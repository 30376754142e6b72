"""MJCF files that are written: MuJoCo compiles them, computes what appell does, and reading them gives the robot."""

from __future__ import annotations

import functools
import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import appell
from appell.model import manifold
from appell.model.closure import KINDS, Closure
from appell.model.mimic import coupled
from appell.model.model import Joint, Limits, Mimic, Model
from appell.read import read, read_mjcf
from appell.read.write_mjcf import mjcf_text
from tests.support.evaluation import evaluate
from tests.support.kinds import program
from tests.support.pool import CLOSED, COUPLED, DRAWINGS, SPHERICAL, pool
from tests.support.robots import models

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")

Array = NDArray[Any]
PACKAGES = Path(sysconfig.get_path("purelib"))
ROBOTS = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
URDFS = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]
MJCFS = sorted((PACKAGES / "gymnasium/envs/mujoco/assets").glob("*.xml"))
FEW = ("ur5_robot", "panda", "solo12", "ant", "humanoid", "pusher_v5")
SAMPLES = 3
AGAIN, THEIRS = 1e-12, 1e-9
inverse_dynamics, mass_matrix = program("inverse_dynamics"), program("mass_matrix", "composite")
pytestmark = pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")


@functools.cache
def written(path: Path) -> Model:
    model = read(path)
    return model.floating() if path.suffix == ".urdf" and "solo" in path.name else model


def again(model: Model) -> Model:
    copy = read_mjcf(mjcf_text(model))
    return coupled(copy) if model.is_coupled or any(b.joint.kind == "helical" for b in model.bodies) else copy


def states(model: Model) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(12)
    own = model.independent
    return manifold.random(own, rng, (SAMPLES,)), *rng.normal(size=(2, SAMPLES, own.nv))


def relative(ours: Array, theirs: Array) -> float:
    return float(np.max(np.abs(ours - theirs)) / max(np.max(np.abs(ours)), 1e-300))


def turn(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """Return T and ω with T·v the velocities of a joint's parts, T·(a + ω × v) their accelerations; ω for linear ones."""
    if joint.kind == "planar":
        return np.array([joint.type.rates(tuple(q), tuple(e)) for e in np.eye(3)]).T, v[2] * np.array(joint.axis)
    if joint.kind == "free":
        columns = [joint.type.rates(tuple(q), tuple(e))[:3] for e in np.eye(6)[:3]]
        return np.block([[np.array(columns).T, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]]), v[3:]
    return np.eye(joint.type.nv), np.zeros(3)


def in_parts(model: Model, q: Array, v: Array, a: Array, free: bool) -> tuple[Array, Array, Array]:
    """Return T, and velocities and accelerations of the joints' parts; `free` joints as MuJoCo has them stay."""
    own, size = model.independent, model.independent.nv
    total, moved, faster = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for body, at, where in zip(own.bodies, own.q_slices, own.v_slices, strict=True):
        joint = body.joint
        if joint.kind == "free" and free:
            total[where, where], moved[where], faster[where] = np.eye(6), v[where], a[where]
            continue
        matrix, omega = turn(joint, q[at], v[where])
        extra = np.zeros(joint.type.nv)
        if joint.kind == "free":
            extra[:3] = np.cross(omega, v[where][:3])
        if joint.kind == "planar":
            extra[:2] = v[where][2] * np.array([-v[where][1], v[where][0]])
        total[where, where], moved[where], faster[where] = matrix, matrix @ v[where], matrix @ (a[where] + extra)
    return total, moved, faster


def check_again(model: Model) -> None:
    """Check that the model read from the file has the dynamics of the model."""
    copy = again(model)
    is_free = all(b.parent == -1 and b.joint.placement == Joint("", "free").placement for b in model.bodies if b.joint.kind == "free")
    bare = replace(model, bodies=tuple(replace(b, joint=replace(b.joint, friction=0.0)) for b in model.bodies))
    other = replace(copy, bodies=tuple(replace(b, joint=replace(b.joint, friction=0.0)) for b in copy.bodies))
    for q, v, a in zip(*states(model), strict=True):
        matrix, moved, faster = in_parts(model, q, v, a, is_free)
        ours, theirs = evaluate(inverse_dynamics, bare, q, v, a), evaluate(inverse_dynamics, other, q, moved, faster)
        assert relative(ours, matrix.T @ theirs) < AGAIN
        mine, yours = (evaluate(mass_matrix, x, q) for x in (bare, other))
        assert relative(mine, matrix.T @ yours @ matrix) < AGAIN


def check_mujoco(model: Model) -> None:
    """Check that MuJoCo's mj_inverse and mj_fullM of the file are appell's of the model."""
    robot = appell.load(replace(model, closures=()))
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(model))
    compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, there = mujoco.MjData(compiled), appell.interop.mujoco(robot, compiled)
    bare = replace(model, bodies=tuple(replace(b, joint=replace(b.joint, friction=0.0)) for b in model.bodies))
    for q, v, a in zip(*states(model), strict=True):
        data.qpos[:], data.qvel[:] = there.q(q), there.v(q, v)
        mujoco.mj_forward(compiled, data)
        data.qacc[:] = there.a(q, v, a)
        mujoco.mj_inverse(compiled, data)
        assert relative(evaluate(inverse_dynamics, bare, q, v, a), there.from_tau(data.qpos, data.qfrc_inverse)) < THEIRS
        full, matrix = np.zeros((compiled.nv, compiled.nv)), there.matrix(q)
        mujoco.mj_fullM(compiled, data, full)
        assert relative(evaluate(mass_matrix, bare, q), matrix.T @ full @ matrix) < THEIRS


FILES = [
    pytest.param(path, id=path.stem, marks=() if path.stem in FEW else pytest.mark.slow) for path in (*URDFS, *MJCFS)
]


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_others_comes_back_and_mujoco_computes_the_same(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its remarks into a file where it runs
    model = written(path)
    if not model.nv:
        pytest.skip("a file without joints")
    try:
        mjcf_text(model)
    except appell.ModelError as error:
        assert "triangle inequality" in str(error)
        pytest.skip(str(error))
    check_again(model)
    check_mujoco(model)
