"""Closed robots against reference numbers of others' robots, and against Pinocchio's constrained dynamics."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.errors import ModelError, ReadError
from appell.loops.reduction import Loops
from appell.robot.robot import Robot
from appell.robot.verbs.formulations import FORMULATIONS
from tests.support.kinds import results

Array = NDArray[Any]

FILED = ("5bar_linkage", "5bar_linkage_iso3d", "5bar_linkage_iso6d", "robot_delta", "talos_like")
LARGE = ("digit_like", "digit_like_2legs_6D")
"""Robots that take seconds to compile; their programs run as they are, which elsewhere is shown to be the same."""
CLASSICS = {"classic_fivebar": "five-bar", "classic_stewart_6ups": "stewart", "classic_delta_3ruu": "delta"}
WELL = 1e-10
"""How near numbers are whose conditioning allows it."""
FORWARD = {"robot_delta": 1e-8, "talos_like": 1e-9, "digit_like": 1e-9}
"""How near the reference's own accelerations are where passive modes weigh next to nothing: stubs of 6.5e-6 kg …"""


@pytest.fixture(scope="session")
def folder(shared: Path) -> Path:
    return shared / "data" / "parallel-robots"


@functools.cache
def reference(folder: Path) -> dict[str, Any]:
    told = json.loads((folder / "reference.json").read_text())
    return {**told["robots"], **told["classics"]}


def plain(robot: Robot, verb: str, scalar: Any, *arguments: Array) -> Array:
    """Return what a verb's program gives on scalars of some type, without compiling it."""
    kind: Any = robot.kind  # one with loops
    loops = Loops(robot.model, robot.model, kind.structure)
    return np.array(results(FORMULATIONS[verb]["gibbs"].program(loops, *(tuple(map(scalar, x)) for x in arguments))))


class Case(NamedTuple):
    """Reference numbers in a robot's own order."""

    q: Array
    v: Array
    a: Array
    tau: Array
    fd_tau: Array
    fd_a: Array


def case(robot: Robot, told: dict[str, Any]) -> Case:
    def of(names: str, values: Any, wanted: list[str]) -> Array:
        table = dict(zip(told[names] if isinstance(names, str) else names, values, strict=True))
        return np.array([table[name] for name in wanted])

    forward = told["fd"]
    return Case(
        of("v_names", told["q"], robot.joint_names),
        of("v_names", told["v"], robot.independent),
        of("v_names", told["a"], robot.actuators),
        of("tau_names", told["tau"], robot.actuators),
        of(forward["tau_names"], forward["tau"], robot.actuators),
        of("v_names", forward["a"], robot.independent),
    )


@pytest.mark.parametrize("name", FILED)
def test_a_robot_of_a_yaml_file_moves_as_the_reference_says(name, folder, agree):
    told = reference(folder)[name]
    robot = appell.load(folder / name / "robot.urdf", loops=folder / name / "robot.yaml")
    assert (robot.nv, robot.rank.value) == (told["mobility"], told["rank"])
    assert set(robot.actuators) == set(told["motors"])
    x = case(robot, told["ref"])
    agree(robot.inverse_dynamics(x.q, x.v, x.a), x.tau, within=WELL)
    agree(robot.forward_dynamics(x.q, x.v, x.fd_tau), x.fd_a, within=FORWARD.get(name, WELL))


@pytest.mark.parametrize("name", LARGE)
def test_a_large_robot_of_a_yaml_file_moves_as_the_reference_says(name, folder, agree):
    told = reference(folder)[name]
    robot = appell.load(folder / name / "robot.urdf", loops=folder / name / "robot.yaml")
    assert (robot.nv, robot.rank.value) == (told["mobility"], told["rank"])
    x = case(robot, told["ref"])
    agree(plain(robot, "inverse_dynamics", float, x.q, x.v, x.a), x.tau, within=WELL)
    agree(plain(robot, "forward_dynamics", float, x.q, x.v, x.fd_tau), x.fd_a, within=FORWARD.get(name, WELL))


@pytest.mark.parametrize("name", ["robot_delta", "talos_like"])
def test_light_passive_modes_cost_no_digits(name, folder, agree):
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no floats longer than double")
    robot = appell.load(folder / name / "robot.urdf", loops=folder / name / "robot.yaml")
    x = case(robot, reference(folder)[name]["ref"])
    longer = plain(robot, "forward_dynamics", np.longdouble, x.q, x.v, x.fd_tau)
    agree(robot.forward_dynamics(x.q, x.v, x.fd_tau), longer.astype(float), within=1e-11)


@pytest.mark.parametrize("classic", CLASSICS)
def test_a_classic_of_the_catalogue_meets_its_analytic_torques(classic, folder, agree):
    robot = appell.load(CLASSICS[classic])
    assert robot.closure_names
    for state in ("ref", "ref_analytic"):
        x = case(robot, reference(folder)[classic][state])
        agree(robot.inverse_dynamics(x.q, x.v, x.a), x.tau, within=1e-12)
        agree(robot.forward_dynamics(x.q, x.v, x.fd_tau), x.fd_a, within=1e-12)


@pytest.mark.parametrize("classic", CLASSICS)
def test_a_classic_of_the_catalogue_is_the_one_of_its_files(classic, folder, agree):
    # gravity is not in the files
    own = appell.load(CLASSICS[classic])
    assert own.closure_names
    told = reference(folder)[classic]["ref"]
    path = folder / classic
    filed = appell.load(path / "robot.urdf", loops=path / "robot.yaml", gravity=told["gravity"])
    assert (filed.independent, filed.rank.value) == (own.independent, own.rank.value)
    assert len(filed.model.bodies) == len(own.model.bodies)
    order = own.reorder(filed.joint_names)
    assert own.closure_error(filed.neutral()[order]) < 1e-12
    nine = [body.inertia.parameters for body in (filed.model.bodies[i] for i in order)]
    agree([body.inertia.parameters for body in own.model.bodies], nine, within=1e-14)


def test_a_robot_that_cannot_be_closed_is_refused_with_the_loops_that_stay_open(folder):
    path = folder / "kangaroo_like"
    with pytest.raises(
        ModelError, match=r"kangaroo_like.* cannot be closed: of 11 loops .*'closedloop7_B\|closedloop7_A'"
    ):
        appell.load(path / "robot.urdf", loops=path / "robot.yaml")


def test_a_joint_that_the_yaml_names_and_the_robot_lacks_is_reported_with_the_one_meant(folder):
    path = folder / "disney_robot"
    with pytest.raises(
        ReadError, match=r"robot\.yaml:4: joint_name: .*'left_spherical_free_foot' .*'left_sĥerical_free_foot'"
    ):
        appell.load(path / "robot.urdf", loops=path / "robot.yaml")


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_ball_joints_substituted_by_a_yaml_are_those_of_the_reference(folder, tmp_path, agree):
    told = reference(folder)["disney_robot@fixname"]
    yaml = (folder / "disney_robot" / "robot.yaml").read_text()
    fixed = tmp_path / "robot.yaml"
    fixed.write_text(yaml.replace("'left_spherical_free_foot'", "'left_sĥerical_free_foot'"), encoding="utf-8")
    robot = appell.load(folder / "disney_robot" / "robot.urdf", loops=fixed)
    assert (robot.nq, robot.nv, robot.rank.value) == (told["nq"], told["mobility"], told["rank"])
    ref = told["ref"]
    # the reference names velocities, of which a ball has three, and gives q by joints in the order of v
    joints = list(dict.fromkeys(name.partition("[")[0] for name in ref["v_names"]))
    sizes = {body.joint.name: body.joint.type.nq for body in robot.model.bodies}
    starts = dict(zip(joints, np.cumsum([0, *(sizes[name] for name in joints)]), strict=False))
    q = np.concatenate([ref["q"][starts[name] : starts[name] + sizes[name]] for name in robot.joint_names])
    speeds = dict(zip(ref["v_names"], ref["v"], strict=True))
    rates = dict(zip(ref["v_names"], ref["a"], strict=True))
    v, a = np.array([speeds[name] for name in robot.independent]), np.array([rates[name] for name in robot.actuators])
    wanted = dict(zip(ref["tau_names"], ref["tau"], strict=True))
    tau = plain(robot, "inverse_dynamics", float, q, v, a)
    agree(tau, [wanted[name] for name in robot.actuators], within=WELL)


# Pinocchio


def constrained(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
    """Return the accelerations of the tree by Pinocchio's constrained dynamics."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    model.gravity.linear = np.array(robot.model.gravity)
    kinds = {"prismatic": pin.JointModelPrismaticUnaligned, "revolute": pin.JointModelRevoluteUnaligned}
    for body in robot.model.bodies:
        joint = body.joint
        made = kinds["revolute" if joint.type.turns else joint.kind](np.array(joint.axis))
        placement = pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.position))
        added = model.addJoint(body.parent + 1, made, placement, joint.name)
        mass = body.inertia.mass
        inertia = pin.Inertia(mass, np.array(body.inertia.centre), np.zeros((3, 3)))
        if mass:
            inertia = pin.Inertia.FromDynamicParameters(np.array(body.inertia.parameters))
        model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for tie in robot.model.closures:
        ends = [robot.model.frame_index[name] for name in (tie.first, tie.second)]
        places = [pin.SE3(np.array(f.placement.rotation), np.array(f.placement.position)) for f in ends]
        kind = pin.ContactType.CONTACT_3D if tie.kind == "point" else pin.ContactType.CONTACT_6D
        first, second = (f.body + 1 for f in ends)
        constraint = pin.RigidConstraintModel(kind, model, first, places[0], second, places[1], pin.LOCAL)
        constraints.append(constraint)
    for constraint in constraints:
        datas.append(constraint.createData())
    data = model.createData()
    try:
        pin.initConstraintDynamics(model, data, constraints, datas)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(model, data, constraints)
    settings = pin.ProximalSettings(1e-12, 1e-10, 50)
    a: Array = pin.constraintDynamics(model, data, q, v, tau, constraints, datas, settings)
    return a.copy()


@pytest.mark.parametrize("name", ["five-bar", "stewart", "delta"])
def test_forward_dynamics_is_pinocchios(name, rng, agree):
    robot = appell.load(name)
    assert robot.closure_names
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators))
    forces = np.zeros(robot.model.nv)
    forces[list(robot.facts.actuated)] = tau
    theirs = constrained(robot, q, robot.tree_velocity(q, v), forces)
    ours = robot.tree_acceleration(q, v, robot.forward_dynamics(q, v, tau))
    agree(ours, theirs, within=1e-8)
