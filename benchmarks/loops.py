"""Closed robots, one thread, a batch of 8192 against `pinocchio.constraintDynamics` on the same model, in one run.

Pinocchio has constrained forward dynamics and no inverse dynamics of closed robots (generalized_rbda, RBDL and
toolbox-parallel-robots have); it is called here from Python once per sample (the call itself costs about a
microsecond). Both sides alternate, and the best of many repeats counts.

    .venv/bin/python benchmarks/loops.py [ROBOT ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import appell

BATCH, TURNS, CALLS = 8192, 200, 40


def peer(robot: appell.Robot) -> tuple[Any, ...]:
    model = pin.Model()
    model.gravity.linear = np.array(robot.model.gravity)
    for body in robot.model.bodies:
        joint = body.joint
        kind = pin.JointModelRevoluteUnaligned if joint.type.turns else pin.JointModelPrismaticUnaligned
        axis = np.array(joint.axis)
        aligned = {(0, True): pin.JointModelRX, (1, True): pin.JointModelRY, (2, True): pin.JointModelRZ}
        aligned |= {(0, False): pin.JointModelPX, (1, False): pin.JointModelPY, (2, False): pin.JointModelPZ}
        made = aligned[int(np.argmax(axis)), joint.type.turns]() if axis.max() == 1.0 else kind(axis)
        placement = pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.position))
        added = model.addJoint(body.parent + 1, made, placement, joint.name)
        inertia = pin.Inertia.Zero()
        if body.inertia.mass:
            inertia = pin.Inertia.FromDynamicParameters(np.array(body.inertia.parameters))
        model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for tie in robot.model.closures:
        ends = [robot.model.frame_index[name] for name in (tie.first, tie.second)]
        places = [pin.SE3(np.array(f.placement.rotation), np.array(f.placement.position)) for f in ends]
        first, second = (f.body + 1 for f in ends)
        kind = pin.ContactType.CONTACT_3D if tie.kind == "point" else pin.ContactType.CONTACT_6D
        constraints.append(pin.RigidConstraintModel(kind, model, first, places[0], second, places[1], pin.LOCAL))
    for constraint in constraints:
        datas.append(constraint.createData())
    data = model.createData()
    try:
        pin.initConstraintDynamics(model, data, constraints, datas)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(model, data, constraints)
    # where no row is redundant one step without damping is exact and fastest; else Pinocchio must iterate
    is_redundant = sum(len(tie.rows) for tie in robot.model.closures) > robot.rank.value
    settings = pin.ProximalSettings(1e-12, 1e-8, 20) if is_redundant else pin.ProximalSettings(1e-12, 0.0, 1)
    return model, data, constraints, datas, settings


def seconds(call: Callable[[], Any], samples: int) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) / samples


def measure(name: str) -> None:
    robot = appell.load(name)
    if not robot.closure_names:
        sys.exit(f"'{name}' has no closures")
    rng = np.random.default_rng(0)
    q = np.tile(robot.random(rng, 64), (BATCH // 64, 1))
    v, tau = rng.normal(size=(BATCH, robot.nv)), rng.normal(size=(BATCH, len(robot.actuators)))
    whole, forces = robot.tree_velocity(q, v), np.zeros((BATCH, robot.model.nv))
    forces[:, list(robot.facts.actuated)] = tau
    model, data, constraints, datas, settings = peer(robot)

    def constrained() -> None:
        for i in range(CALLS):
            pin.constraintDynamics(model, data, q[i], whole[i], forces[i], constraints, datas, settings)

    calls = {
        "pin.constraintDynamics": (constrained, CALLS),
        "inverse dynamics": (lambda: robot.inverse_dynamics(q, v, tau), BATCH),
        "forward dynamics": (lambda: robot.forward_dynamics(q, v, tau), BATCH),
        "mass matrix": (lambda: robot.mass_matrix(q), BATCH),
        "projection": (lambda: robot.project(q), BATCH),
    }
    for call, _ in calls.values():
        call()
    a = robot.tree_acceleration(q[0], v[0], robot.forward_dynamics(q[0], v[0], tau[0]))
    theirs = pin.constraintDynamics(model, data, q[0], whole[0], forces[0], constraints, datas, settings)
    best = dict.fromkeys(calls, np.inf)
    for _ in range(TURNS):
        for what, (call, samples) in calls.items():
            best[what] = min(best[what], seconds(call, samples))
    bar = best["pin.constraintDynamics"]
    print(f"{name}: nv {robot.nv} of {robot.model.nv}, apart by {np.abs(a - theirs).max() / np.abs(theirs).max():.1e}")
    for what, took in best.items():
        print(f"  {what:24} {1e9 * took:8.0f} ns per sample   {bar / took:6.1f} ×")


def main() -> None:
    appell.threads(1)
    for name in sys.argv[1:] or ["stewart", "delta", "five-bar"]:
        measure(name)


if __name__ == "__main__":
    main()
