"""The same motion as `mujoco.rollout`: Runge–Kutta of order four, contacts off, torques on every joint."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.simulation.rollout.rollout import rollout

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")
peer = pytest.importorskip("mujoco.rollout")

ARM = """
<mujoco><option integrator="RK4" timestep="0.002"><flag contact="disable" constraint="disable"/></option><worldbody>
  <body pos="0 0 1"><joint name="turn" axis="0 0 1" damping="0.3" armature="0.05"/>
    <inertial pos="0.02 0 0.1" mass="3" fullinertia="0.03 0.02 0.04 0.001 -0.002 0.003"/>
    <body pos="0.1 0 0.3" euler="20 -30 10"><joint name="lift" axis="0 1 0.2" damping="0.2"/>
      <inertial pos="0.2 0.01 0" mass="2" diaginertia="0.01 0.05 0.04" euler="10 20 30"/>
      <body pos="0.4 0 0"><joint name="reach" type="slide" axis="1 0 0" armature="0.1"/>
        <inertial pos="0.1 0 0.02" mass="1" diaginertia="0.002 0.01 0.01"/>
        <body pos="0.2 0 0.1"><joint name="wrist" axis="0.3 0 1" damping="0.05"/>
          <inertial pos="0 0.05 0.03" mass="0.5" diaginertia="0.001 0.002 0.0015"/>
        </body></body></body></body>
</worldbody></mujoco>"""


def test_an_arm_moves_as_in_mujoco(rng, agree, tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    robot, model = appell.load(file), mujoco.MjModel.from_xml_string(ARM)
    n, steps = 6, 100
    q, v, tau = rng.normal(size=(n, 4)), rng.normal(size=(n, 4)), 3.0 * rng.normal(size=(n, steps, 4))
    state = np.concatenate([np.zeros((n, 1)), q, v], axis=-1)
    spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    theirs, _ = peer.rollout(model, mujoco.MjData(model), state, tau, control_spec=spec)
    ours = rollout(robot, q, v, tau, 0.002)
    agree(ours.q[:, 1:], theirs[..., 1:5], 1e-12)
    agree(ours.v[:, 1:], theirs[..., 5:9], 1e-11)
