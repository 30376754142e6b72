"""MuJoCo's numbers for MJCF files: those of gymnasium and dm_control, and one by hand for each thing a file can say.

Coordinates are converted joint by joint and by name. MuJoCo's contacts, constraints, fluids, servos and spatial
tendons are switched off, which appell does not have; damping, rotor inertia, springs of hinges and slides and fixed
tendons stay. Robots of few joints go through native code,
the others take the same recursion on arrays.
"""

from __future__ import annotations

import functools
import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.model import manifold
from appell.model.lean import lean
from appell.model.model import WORLD, Model
from appell.read import read_mjcf
from appell.recursion.kinematics import world_poses
from appell.robot.verbs.formulations import FORMULATIONS
from appell.spatial import quaternion
from appell.spatial.pose import Pose
from tests.support.kinds import program

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")

Array = NDArray[Any]
SAMPLES = 20
WITHIN = 1e-12
WITHIN_SOLVED = 1e-9
"""The same for accelerations, which lose the digits of a matrix's condition in both solvers."""
NATIVE = 4
"""The most velocities a robot may have to be compiled here."""

PACKAGES = Path(sysconfig.get_path("purelib"))
FOLDERS = {"gymnasium": "gymnasium/envs/mujoco/assets", "dm_control": "dm_control/suite"}
COUNTS = {"gymnasium": 14, "dm_control": 19}
FILES = [path for folder in FOLDERS.values() for path in sorted((PACKAGES / folder).glob("*.xml"))]


def world(preamble: str, bodies: str) -> str:
    return f"<mujoco>{preamble}<worldbody>{bodies}</worldbody></mujoco>"


def body(inside: str, name: str = "", place: str = 'pos="0.1 -0.2 0.3" euler="20 -40 70"') -> str:
    """Return a body of no symmetry with something inside it."""
    title = f'name="{name}"' if name else ""
    return (
        f'<body {title} {place}>{inside}<inertial pos="0.05 0.1 -0.15" euler="10 30 -50" mass="1.5" '
        'diaginertia="0.02 0.03 0.04"/></body>'
    )


ROD = body('<joint name="tip" axis="0.2 0 1" pos="-0.1 0.1 0"/>', "rod")
BAR = body('<joint name="end" axis="0.2 0 1" pos="-0.1 0.1 0"/>', "bar")
BALL = '<joint type="ball" pos="0.1 0.2 0.3" armature="0.05" damping="0.7"/>'
WRITTEN = {
    "hinge": body('<joint axis="1 2 3"/>'),
    "slide": body('<joint type="slide" axis="1 2 3"/>'),
    "ball": body('<joint type="ball"/>'),
    "free": body("<freejoint/>"),
    "hinge that carries": body('<joint axis="0 1 0"/>' + ROD),
    "slide that carries": body('<joint type="slide" axis="0 1 1"/>' + ROD),
    "ball that carries": body('<joint type="ball"/>' + ROD),
    "free that carries": body("<freejoint/>" + ROD),
    "anchors": body('<joint axis="1 0 1" pos="0.3 0.1 -0.2"/>' + body(BALL + ROD)),
    "several joints on one body": body(
        '<joint type="slide" axis="1 0 0.5" pos="9 9 9"/><joint axis="0 1 0" pos="0.1 0 0"/>'
        '<joint axis="0 0 1" pos="0 0.2 0.3"/><joint type="slide" axis="0 1 0"/><joint axis="1 0 0"/>' + ROD
    ),
    "a ball among slides": body('<joint type="slide"/>' + BALL + '<joint type="slide" axis="1 0 0"/>' + ROD),
    "bodies without joints": body(body(body('<joint axis="0 1 0"/>' + body(body(ROD))), "shelf")),
    "references": body(
        '<joint type="slide" ref="0.4"/><joint ref="35" axis="0 1 0" pos="0.1 0.2 0.3"/>'
        + body('<joint ref="-70" axis="1 1 0"/>')
    ),
    "armature and damping": body(
        '<joint type="slide" armature="0.4" damping="0.2"/><joint axis="0 1 0" armature="0.1" damping="0.3"/>'
        + body(BALL + ROD)
    ),
    "a free body with armature": body('<joint type="free" armature="0.8"/>' + ROD),
    "a free body with damping": body('<joint type="free" damping="0.6"/>' + ROD),
    "two trees and a third": body("<freejoint/>") + body('<joint axis="0 1 0"/>' + ROD) + body("<freejoint/>"),
    "shapes for inertia": (
        '<body euler="0 30 0"><joint axis="0 1 0" pos="0 0 0.2"/><geom type="capsule" fromto="0 0 0 0.3 0.1 0.2" '
        'size="0.04" contype="0" conaffinity="0"/><geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0" contype="0" '
        'conaffinity="0"/></body>'
    ),
    "frames": (
        '<frame pos="0.3 0 0.1" euler="0 50 10">'
        + body('<joint axis="0 1 0"/>' + ROD)
        + '<frame pos="0 1 0" euler="30 0 0">'
        + body("<joint/>" + BAR)
        + "</frame></frame>"
    ),
    "sites": body('<joint axis="0 1 0"/><site name="eye" pos="0.1 0.2 0.3" euler="10 20 30"/>')
    + '<site name="lamp" pos="1 2 3" euler="50 60 70"/>',
}
PREAMBLES = {
    "radians": '<compiler angle="radian" eulerseq="zyx"/>',
    "gravity": '<option gravity="1 -2 3"/>',
    "no gravity": '<option><flag gravity="disable"/></option>',
    "no damping": '<option><flag damper="disable"/></option><default><joint damping="0.3"/></default>',
    "defaults": '<default><joint damping="0.3" armature="0.2" axis="0 1 1"/></default>',
    "classes": (
        '<default><default class="stiff"><joint damping="2" axis="1 0 0" type="slide"/></default></default>'
        '<worldbody><body childclass="stiff">' + body("<joint/>" + BAR) + "</body></worldbody>"
    ),
    "springs": '<default><joint stiffness="7" springref="15"/></default>',
    "no springs": '<option><flag spring="disable"/></option><default><joint stiffness="7"/></default>',
    "fixed tendons": (
        '<tendon><fixed stiffness="20" damping="2"><joint joint="first" coef="1.5"/><joint joint="tip" coef="-0.5"/>'
        '</fixed><fixed stiffness="8" springlength="0.3"><joint joint="tip" coef="2"/></fixed></tendon>'
    ),
    "motors with rotors": (
        '<actuator><motor joint="first" gear="3" armature="0.02" damping="0.03"/>'
        '<motor joint="tip" gear="-2"/></actuator>'
    ),
}
WORLDS = {
    **{name: ("", bodies) for name, bodies in WRITTEN.items()},
    **{name: (text, body('<joint name="first" ref="20"/>' + ROD)) for name, text in PREAMBLES.items()},
}
TEXTS = [world(*parts) for parts in WORLDS.values()]


class Bridge:
    """A model in MuJoCo with everything off that appell leaves out, and the way between the two conventions."""

    def __init__(self, compiled: Any, model: Model) -> None:
        self.compiled, self.data, self.model = compiled, mujoco.MjData(compiled), model
        flags = mujoco.mjtDisableBit
        off = (flags.mjDSBL_CONSTRAINT, flags.mjDSBL_CONTACT, flags.mjDSBL_ACTUATION)
        for flag in off:
            compiled.opt.disableflags |= int(flag)
        compiled.opt.density = compiled.opt.viscosity = 0.0
        compiled.jnt_stiffness[compiled.jnt_type < int(mujoco.mjtJoint.mjJNT_SLIDE)] = 0.0  # of free and ball joints
        is_spatial = compiled.wrap_type[compiled.tendon_adr] != int(mujoco.mjtWrap.mjWRAP_JOINT)
        compiled.tendon_damping[is_spatial] = compiled.tendon_stiffness[is_spatial] = 0.0
        has_band = compiled.tendon_lengthspring[:, 0] != compiled.tendon_lengthspring[:, 1]
        compiled.tendon_stiffness[has_band] = 0.0
        names = [compiled.joint(j).name for j in range(compiled.njnt)]
        here = {body.joint.name: i for i, body in enumerate(model.bodies)}
        # a joint without a name has one of our making; its place among the others is the same
        self.order = [here[name] if name else j for j, name in enumerate(names)]
        assert sorted(self.order) == list(range(len(model.bodies)))

    def joints(self) -> Any:
        """Yield kind, our coordinates and velocities, and MuJoCo's, joint by joint."""
        for j, i in enumerate(self.order):
            kind = self.model.bodies[i].joint.type
            start, dof = self.compiled.jnt_qposadr[j], self.compiled.jnt_dofadr[j]
            yield (
                self.model.bodies[i].joint.kind,
                (self.model.q_slices[i], slice(start, start + kind.nq)),
                (self.model.v_slices[i], slice(dof, dof + kind.nv)),
            )

    def position(self, q: Array) -> Array:
        """Return qpos: quaternions with w first."""
        result = np.zeros(self.compiled.nq)
        for kind, (ours, theirs), _ in self.joints():
            x = q[ours]
            whole = x if kind not in ("free", "ball") else np.r_[x[:-4], x[-1], x[-4:-1]]
            result[theirs] = whole
        return result

    def velocity(self, q: Array, v: Array, a: Array | None = None) -> Array:
        """Return qvel, or qacc where a is given: a free body's linear part in world axes."""
        result = np.zeros(self.compiled.nv)
        for kind, (where, _), (ours, theirs) in self.joints():
            x = v[ours] if a is None else a[ours]
            if kind == "free":
                # d/dt (R v) = R (v̇ + ω × v)
                linear = x[:3] if a is None else x[:3] + np.cross(v[ours][3:], v[ours][:3])
                x = np.r_[quaternion.rotate(q[where][3:], linear), x[3:]]
            result[theirs] = x
        return result

    def turn(self, q: Array) -> Array:
        """Return T with qvel = T·v, so that τ = Tᵀ·qfrc and M = Tᵀ·M_mujoco·T."""
        result = np.zeros((self.compiled.nv, self.model.nv))
        for kind, (where, _), (ours, theirs) in self.joints():
            result[theirs, ours] = np.eye(ours.stop - ours.start)
            if kind == "free":
                result[theirs, ours][:3, :3] = quaternion.rotate(q[where][3:], np.eye(3)).T
        return result

    def place(self, q: Array, v: Array, a: Array) -> None:
        """Set the state in MuJoCo."""
        self.data.qpos[:], self.data.qvel[:] = self.position(q), self.velocity(q, v)
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(self.compiled, self.data)
        self.data.qacc[:] = self.velocity(q, v, a)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return MuJoCo's mj_rne: rotors, damping and springs left out."""
        self.place(q, v, a)
        force = np.zeros(self.compiled.nv)
        mujoco.mj_rne(self.compiled, self.data, 1, force)
        return self.turn(q).T @ force

    def mass_matrix(self, q: Array) -> Array:
        """Return MuJoCo's mj_fullM, rotors included."""
        still = np.zeros(self.model.nv)
        self.place(q, still, still)
        full = np.zeros((self.compiled.nv, self.compiled.nv))
        mujoco.mj_fullM(self.compiled, self.data, full)
        turn = self.turn(q)
        return turn.T @ full @ turn

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """Return MuJoCo's mj_forward under joint forces; damping, rotors and springs included."""
        turn = self.turn(q)
        self.place(q, v, 0.0 * v)
        self.data.qfrc_applied[:] = turn @ tau  # T is orthogonal
        mujoco.mj_forward(self.compiled, self.data)
        # v̇ = Tᵀ q̈ − (ω × v for the linear part of free bodies): what a = 0 would give
        result: Array = turn.T @ (self.data.qacc - self.velocity(q, v, 0.0 * v))
        return result


@functools.cache
def load(source: Path | str) -> Bridge:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)  # of what is left out: test_mjcf.py reads it
        model = read_mjcf(source)
    is_text = isinstance(source, str)
    compiled = mujoco.MjModel.from_xml_string(source) if is_text else mujoco.MjModel.from_xml_path(str(source))
    if model.nv == 0:
        assert compiled.nv == 0
        pytest.skip("a file without joints, to MuJoCo too")
    return Bridge(compiled, model)


@pytest.fixture(
    params=[*FILES, *TEXTS],
    ids=[*(f"{path.parts[len(PACKAGES.parts)]}-{path.stem}" for path in FILES), *WORLDS],
)
def bridge(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its remarks into a file where it runs
    return load(request.param)


@pytest.fixture
def states(bridge):
    model, rng = bridge.model, np.random.default_rng(33)
    q = manifold.random(model, rng, (SAMPLES,))
    return q, *(rng.normal(size=(2, SAMPLES, model.nv)))


@pytest.fixture
def ask(evaluate):
    """Return a function that gives a verb of a model: natively, or on arrays where compiling would be dear."""

    def answer(model: Model, verb: str, *arguments: Array) -> Array:
        if model.nv <= NATIVE:
            native: Array = getattr(appell.load(model), verb)(*arguments)
            return native
        name = "composite" if "composite" in FORMULATIONS[verb] else "gibbs"
        on_arrays: Array = evaluate(program(verb, name), lean(model), *arguments)
        return on_arrays

    return answer


def without_coulomb(model: Model) -> Model:
    """Return the model without dry friction, which is a constraint to MuJoCo; damping and rotors stay."""
    return replace(model, bodies=tuple(replace(b, joint=replace(b.joint, friction=0.0)) for b in model.bodies))


@pytest.mark.parametrize("package", FOLDERS)
def test_every_file_of_the_package_is_compared(package):
    if not (PACKAGES / FOLDERS[package]).is_dir():
        pytest.skip(f"{package} is not installed; run make install")
    assert sum(path.is_relative_to(PACKAGES / FOLDERS[package]) for path in FILES) >= COUNTS[package]


def test_inverse_dynamics_is_mj_rne(bridge, states, ask, agree):
    q, v, a = states
    theirs = [bridge.inverse_dynamics(*sample) for sample in zip(q, v, a, strict=True)]
    agree(ask(bridge.model.without_joint_parameters(), "inverse_dynamics", q, v, a), theirs, WITHIN)


def test_mass_matrix_is_mj_fullM(bridge, states, ask, agree):  # noqa: N802 (MuJoCo's own name)
    q, _, _ = states
    agree(ask(without_coulomb(bridge.model), "mass_matrix", q), [bridge.mass_matrix(x) for x in q], WITHIN)


def test_forward_dynamics_is_mj_forward(bridge, states, ask, agree):
    q, v, tau = states
    theirs = [bridge.forward_dynamics(*sample) for sample in zip(q, v, tau, strict=True)]
    agree(ask(without_coulomb(bridge.model), "forward_dynamics", q, v, tau), theirs, WITHIN_SOLVED)


def test_bodies_and_sites_are_where_mujoco_has_them(bridge, states, agree):
    compiled, data, model = bridge.compiled, bridge.data, bridge.model
    bodies = [compiled.body(i).name or f"body{i}" for i in range(compiled.nbody)]
    sites = [compiled.site(k).name or f"site{k}" for k in range(compiled.nsite)]
    taken = {*bodies, *(name for body in model.bodies for name in (body.name, body.joint.name))}
    sites = [f"{name}_site" if name in taken else name for name in sites]
    for q, v, a in zip(*(x[:3] for x in states), strict=True):
        bridge.place(q, v, a)
        links = world_poses(model, tuple(q))
        ours = {f.name: links[f.body].then(f.placement) if f.body != WORLD else f.placement for f in model.frames}
        _agree_poses(agree, [ours[name] for name in bodies], data.xpos, data.xmat)
        _agree_poses(agree, [ours[name] for name in sites], data.site_xpos, data.site_xmat)


def _agree_poses(agree: Any, ours: list[Pose], positions: Array, rotations: Array) -> None:
    agree(np.array([pose.position for pose in ours]).reshape(-1, 3), positions, WITHIN, size=1.0)
    agree(np.array([pose.rotation for pose in ours]).reshape(-1, 9), rotations, WITHIN)
