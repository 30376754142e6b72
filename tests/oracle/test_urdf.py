"""Every robot of example-robot-data has Pinocchio's numbers, as a tree on a fixed base, in a hundred random states.

Robots of few joints go through native code, and inverse dynamics of every robot does. What would compile for minutes in
sum takes the same recursion on arrays instead, on the model that would be compiled.
"""

from __future__ import annotations

import functools
import sysconfig
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.model.lean import lean
from appell.recursion import inertia_matrix
from appell.recursion.kinematics import jacobian, pose
from appell.robot.verbs.formulations import FORMULATIONS
from appell.robot.verbs.table import VERBS
from tests.support.kinds import program

pin = pytest.importorskip("pinocchio")

Array = NDArray[Any]
FOLDER = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = sorted(FOLDER.rglob("*.urdf"))
SAMPLES = 100
WITHIN = 1e-10
NATIVE = {"inverse_dynamics": 1000, "regressor": 7, "pose": 7, "jacobian": 7}
"""The most velocities a robot may have for a verb to be compiled here."""
NATIVE_OTHERWISE = 13


@dataclass(frozen=True)
class Case:
    """A robot with us and with Pinocchio, and random states in our order and in Pinocchio's."""

    robot: appell.Robot
    model: Any
    data: Any
    order: list[int]
    """Where our velocities stand among Pinocchio's."""
    ours: dict[str, Array]
    theirs: dict[str, Array]

    def peer(self, reference: Callable[..., Array], *names: str) -> Array:
        """Return a function of Pinocchio's at every state."""
        arguments = (self.theirs[name] for name in names)
        return np.array([reference(self.model, self.data, *sample) for sample in zip(*arguments, strict=True)])


@functools.cache
def load(path: Path) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)  # of inertias that no body has: real files do it
        try:
            robot = appell.load(path, friction=False, armature=False)
        except appell.ReadError:
            with pytest.raises(ValueError, match="does not contain a valid URDF"):
                pin.buildModelFromUrdf(str(path))
            pytest.skip("not a robot to Pinocchio either")
    if robot.nv == 0:
        pytest.skip("a robot without moving joints")
    model = pin.buildModelFromUrdf(str(path))
    model.armature[:] = model.friction[:] = model.damping[:] = 0.0
    rng = np.random.default_rng(11)
    q, v, a = robot.random(rng, SAMPLES), rng.normal(size=(SAMPLES, robot.nv)), rng.normal(size=(SAMPLES, robot.nv))
    joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    order = [joint.idx_v for joint in joints]
    their_q = np.zeros((SAMPLES, model.nq))
    for k, joint in enumerate(joints):
        circles = joint.nq == 2  # Pinocchio keeps cosine and sine of a continuous joint
        their_q[:, joint.idx_q : joint.idx_q + joint.nq] = (
            np.stack([np.cos(q[:, k]), np.sin(q[:, k])], axis=-1) if circles else q[:, k : k + 1]
        )
    back = np.argsort(order)
    theirs = {"q": their_q, "v": v[:, back], "a": a[:, back]}
    case = Case(robot, model, model.createData(), order, {"q": q, "v": v, "a": a}, theirs)
    theirs["tau"] = case.peer(pin.rnea, "q", "v", "a")
    case.ours["tau"] = theirs["tau"][:, order]
    return case


@pytest.fixture
def case(request):
    return load(request.param)


@pytest.fixture
def ask(evaluate):
    """Return a function that asks a robot for a verb in all its states: natively, or on arrays where that is dear."""

    def answer(case: Case, verb: str) -> Array:
        arguments = [case.ours[name] for name, _ in VERBS[verb].inputs]
        if case.robot.nv <= NATIVE.get(verb, NATIVE_OTHERWISE):
            native: Array = getattr(case.robot, verb)(*arguments)
            return native
        model = lean(case.robot.model) if VERBS[verb].is_lean else case.robot.model
        name = "composite" if "composite" in FORMULATIONS[verb] else "gibbs"
        on_arrays: Array = evaluate(program(verb, name), model, *arguments)
        return on_arrays

    return answer


@pytest.fixture
def is_singular(evaluate):
    """Return whether some joint of a robot moves no inertia: files have such; nobody has their accelerations."""

    def answer(case: Case) -> bool:
        matrix = evaluate(inertia_matrix.mass_matrix_composite, case.robot.model, case.robot.neutral())
        return bool((np.diagonal(matrix) == 0.0).any())

    return answer


def every_robot(test: Any) -> Any:
    """Mark a test to run on every file: a third of them in make test, the others in make test-full."""
    ids = [f"{path.relative_to(FOLDER).parts[0].removesuffix('_description')}-{path.stem}" for path in FILES]
    later = [() if k % 3 == 0 else (pytest.mark.slow,) for k in range(len(FILES))]
    params = [pytest.param(path, marks=marks, id=name) for path, marks, name in zip(FILES, later, ids, strict=True)]
    return pytest.mark.parametrize("case", params, indirect=True)(test)


def full(upper: Array) -> Array:
    return np.triu(upper) + np.triu(upper, 1).T


@every_robot
def test_inverse_dynamics_is_pinocchios(case, ask, agree):
    agree(ask(case, "inverse_dynamics"), case.ours["tau"], WITHIN)


@every_robot
def test_mass_matrix_is_pinocchios(case, ask, agree):
    theirs = case.peer(lambda m, d, q: full(pin.crba(m, d, q)), "q")
    agree(ask(case, "mass_matrix"), theirs[:, case.order][:, :, case.order], WITHIN)


@every_robot
def test_forward_dynamics_is_pinocchios_where_the_mass_matrix_is_well_conditioned(case, ask, is_singular, agree):
    if is_singular(case):
        pytest.skip("a robot with joints that move no inertia")
    a, theirs = ask(case, "forward_dynamics"), case.peer(pin.aba, "q", "v", "tau")[:, case.order]
    well = np.linalg.cond(case.peer(lambda m, d, q: full(pin.crba(m, d, q)), "q")) < 1e4
    agree(a[well], theirs[well], WITHIN)


@every_robot
def test_forward_dynamics_solves_pinocchios_equations(case, ask, is_singular, agree):
    if is_singular(case):
        with pytest.raises(appell.ModelError, match="move no inertia"):
            case.robot.kernel("forward_dynamics")
        return
    matrices = case.peer(lambda m, d, q: full(pin.crba(m, d, q)), "q")
    bias = case.peer(pin.nonLinearEffects, "q", "v")
    a = ask(case, "forward_dynamics")[:, np.argsort(case.order)]
    agree(np.einsum("sij,sj->si", matrices, a) + bias, case.theirs["tau"], WITHIN)


@every_robot
def test_c_times_v_is_pinocchios(case, ask, agree):
    theirs = case.peer(lambda m, d, q, v: pin.computeCoriolisMatrix(m, d, q, v) @ v, "q", "v")[:, case.order]
    inertias = case.peer(lambda m, d, q: full(pin.crba(m, d, q)), "q")  # times v²: what cancels on a balanced wheel
    agree(np.einsum("sij,sj->si", ask(case, "coriolis_matrix"), case.ours["v"]), theirs, WITHIN, 1e-5 * inertias.max())


@every_robot
def test_gravity_is_pinocchios(case, ask, agree):
    theirs = case.peer(pin.computeGeneralizedGravity, "q")[:, case.order]
    weight = 9.81 * sum(body.inertia.mass for body in case.robot.model.bodies)
    agree(ask(case, "gravity"), theirs, WITHIN, 1e-5 * weight)


@every_robot
def test_bias_is_pinocchios(case, ask, agree):
    agree(ask(case, "bias"), case.peer(pin.nonLinearEffects, "q", "v")[:, case.order], WITHIN)


@every_robot
def test_regressor_is_pinocchios(case, ask, agree):
    theirs = case.peer(pin.computeJointTorqueRegressor, "q", "v", "a")[:, case.order]
    first = [10 * (case.model.getJointId(name) - 1) for name in case.robot.joint_names]
    agree(ask(case, "regressor"), theirs[:, :, np.add.outer(first, range(10)).ravel()], WITHIN)


@every_robot
def test_regressor_times_parameters_is_pinocchios_torque(case, ask, agree):
    agree(ask(case, "regressor") @ case.robot.parameters, case.ours["tau"], WITHIN)


@every_robot
def test_kinetic_energy_is_pinocchios(case, ask, agree):
    agree(ask(case, "kinetic_energy"), case.peer(pin.computeKineticEnergy, "q", "v"), WITHIN)


@every_robot
def test_potential_energy_is_pinocchios(case, ask, agree):
    agree(ask(case, "potential_energy"), case.peer(pin.computePotentialEnergy, "q"), WITHIN)


def some_frames(case: Case) -> list[tuple[str, int]]:
    """Return the last link, one amid the file and one that a fixed joint carries, with Pinocchio's numbers for them."""
    frames = [frame for frame in case.model.frames if frame.name != "universe"]
    links = [frame for frame in frames if frame.type == pin.FrameType.BODY]
    fixed = [frame for frame in frames if frame.type == pin.FrameType.FIXED_JOINT]
    chosen = [links[-1], links[len(links) // 2], *fixed[-1:]]
    return [(frame.name, case.model.getFrameId(frame.name, frame.type)) for frame in chosen]


@every_robot
def test_poses_of_frames_are_pinocchios(case, evaluate, agree):
    for name, index in some_frames(case):
        theirs = case.peer(lambda m, d, q, i=index: frame_pose(m, d, q, i), "q")
        if case.robot.nv <= NATIVE["pose"]:
            agree(case.robot.pose(case.ours["q"], name), theirs, WITHIN)
        else:
            agree(evaluate(lambda m, q, n=name: pose(m, q, n), case.robot.model, case.ours["q"]), theirs, WITHIN)


def frame_pose(model: Any, data: Any, q: Array, index: int) -> Array:
    pin.framesForwardKinematics(model, data, q)
    homogeneous: Array = data.oMf[index].homogeneous
    return homogeneous.copy()


@every_robot
def test_jacobians_of_frames_are_pinocchios(case, evaluate, agree):
    for name, index in some_frames(case):
        theirs = case.peer(lambda m, d, q, i=index: pin.computeFrameJacobian(m, d, q, i, pin.LOCAL_WORLD_ALIGNED), "q")[
            :, :, case.order
        ]
        if case.robot.nv <= NATIVE["jacobian"]:
            agree(case.robot.jacobian(case.ours["q"], name), theirs, WITHIN)
        else:
            agree(evaluate(lambda m, q, n=name: jacobian(m, q, n), case.robot.model, case.ours["q"]), theirs, WITHIN)
