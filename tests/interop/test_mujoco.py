"""Robots made of MuJoCo's compiled models have MuJoCo's numbers, in MuJoCo's own coordinates."""

from __future__ import annotations

import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest

import appell
from appell import interop
from appell.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")

SAMPLES = 4
WITHIN = 1e-11
FOLDER = Path(sysconfig.get_path("purelib"), "gymnasium", "envs", "mujoco", "assets")
FILES = [
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "inverted_double_pendulum",
    "pusher",
    "reacher",
    "swimmer",
    "walker2d",
]
BODY = '<inertial pos="0.05 0.1 -0.15" mass="1.5" diaginertia="0.02 0.03 0.04"/>'
WRITTEN = f"""<mujoco><option gravity="1 2 -9"/><worldbody>
<body name="crate" pos="1 2 3"><joint name="float" type="free" damping="0.3" armature="0.6"/>{BODY}
  <body pos="0.1 0.2 0.3" euler="10 20 30"><joint type="ball" pos="0.1 0 0" damping="0.2" armature="0.1"/>{BODY}
    <body name="tip" pos="0 0 0.4"><joint name="slide" type="slide" axis="1 2 3" ref="0.3"/>{BODY}</body></body></body>
<body name="other"><joint name="hinge" axis="0 1 0" armature="0.2"/>{BODY}</body>
</worldbody></mujoco>"""


def bare(compiled):
    """Switch everything off that appell leaves out; damping and rotors stay."""
    for flag in ("CONSTRAINT", "CONTACT", "SPRING", "ACTUATION"):
        compiled.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    compiled.opt.density = compiled.opt.viscosity = 0.0
    return compiled


@pytest.fixture(params=["written", *FILES])
def compiled(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its remarks into a file where it runs
    if request.param == "written":
        return bare(mujoco.MjModel.from_xml_string(WRITTEN))
    if not (FOLDER / f"{request.param}.xml").is_file():
        pytest.skip("gymnasium is not installed; run make install")
    return bare(mujoco.MjModel.from_xml_path(str(FOLDER / f"{request.param}.xml")))


def robot_of(compiled):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)  # of what is left out: tests/read/test_mjcf.py reads it
        return interop.from_mujoco(compiled)


def states(compiled):
    """Return random states in MuJoCo's coordinates."""
    rng = np.random.default_rng(4)
    qpos = rng.normal(size=(SAMPLES, compiled.nq))
    for j in range(compiled.njnt):
        first = {0: 3, 1: 0}.get(int(compiled.jnt_type[j]))
        if first is not None:
            part = qpos[:, compiled.jnt_qposadr[j] + first :][:, :4]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
    return qpos, *rng.normal(size=(2, SAMPLES, compiled.nv))


def test_inverse_dynamics_is_qfrc_inverse(compiled, ask, agree):
    robot, (qpos, qvel, qacc) = robot_of(compiled), states(compiled)
    there, data, theirs = interop.mujoco(robot, compiled), mujoco.MjData(compiled), []
    for sample in zip(qpos, qvel, qacc, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = sample
        mujoco.mj_inverse(compiled, data)
        theirs.append(data.qfrc_inverse.copy())
    ours = there.from_q(qpos), there.from_v(qpos, qvel), there.from_a(qpos, qvel, qacc)
    tau = ask(robot, "inverse_dynamics", *ours)
    agree(there.tau(ours[0], tau), theirs, WITHIN)
    agree(tau, there.from_tau(qpos, np.array(theirs)), WITHIN)


def test_mass_matrix_is_fullm(compiled, ask, agree):
    robot, (qpos, _, _) = robot_of(compiled), states(compiled)
    there, data, theirs = interop.mujoco(robot, compiled), mujoco.MjData(compiled), []
    for sample in qpos:
        data.qpos[:] = sample
        mujoco.mj_forward(compiled, data)
        full = np.zeros((compiled.nv, compiled.nv))
        mujoco.mj_fullM(compiled, data, full)
        theirs.append(full)
    q = there.from_q(qpos)
    T, M = there.matrix(q), ask(robot, "mass_matrix", q)
    agree(T @ M @ T.swapaxes(1, 2), theirs, WITHIN)


def test_a_robot_of_the_file_is_the_robot_of_the_model(tmp_path):
    file = tmp_path / "written.xml"
    file.write_text(WRITTEN)
    compiled = mujoco.MjModel.from_xml_path(str(file))
    loaded, made = appell.load(file), interop.from_mujoco(compiled)
    assert made.model.bodies == loaded.model.bodies
    assert made.model.gravity == loaded.model.gravity


def test_there_and_back_is_where_one_was(compiled, agree):
    robot, (qpos, qvel, qacc) = robot_of(compiled), states(compiled)
    there = interop.mujoco(robot, compiled)
    q, v, a = there.from_q(qpos), there.from_v(qpos, qvel), there.from_a(qpos, qvel, qacc)
    agree(there.q(q), qpos, 1e-15)
    agree(there.v(q, v), qvel, 1e-14)
    agree(there.a(q, v, a), qacc, 1e-14)


def test_a_model_that_ties_bodies_is_a_closed_robot():
    text = """<mujoco><worldbody>
      <body name="a"><joint name="one" axis="0 1 0"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>
        <body name="b" pos="0 0 1"><joint name="two" axis="0 1 0"/>
        <inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/></body></body>
      <body name="c" pos="1 0 0"><joint name="three" axis="0 1 0"/>
        <inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body>
    </worldbody><equality><connect body1="b" body2="c" anchor="1 0 0"/></equality>
    <actuator><motor joint="one"/></actuator></mujoco>"""
    compiled = mujoco.MjModel.from_xml_string(text)
    assert interop.from_mujoco(compiled).nv == 1
    assert interop.from_mujoco(compiled, loops=False).nv == 3


def test_what_is_no_compiled_model_is_told():
    with pytest.raises(InputError, match=r"expected a compiled mujoco\.MjModel, got str"):
        interop.from_mujoco("robot.xml")


def test_another_robots_model_is_told():
    with pytest.raises(InputError, match="mujoco: the given joints lack 'joint1', 'joint2'"):
        interop.mujoco(appell.load("two-link"), mujoco.MjModel.from_xml_string(WRITTEN))


def test_rotors_that_differ_per_velocity_of_a_joint_are_told():
    compiled = mujoco.MjModel.from_xml_string(WRITTEN)
    compiled.dof_armature[:6] = np.arange(6.0)
    with pytest.warns(appell.AppellWarning, match='1 × <joint type="free"> with another armature per velocity'):
        interop.from_mujoco(compiled)
