"""The Agile Wrist against Pinocchio: inverse dynamics in batches, one thread, times per sample.

    python benchmarks/spherical.py [samples]

Pinocchio has no inverse dynamics of closed chains; its `constraintDynamics` is the forward dynamics of the three chains
with their loop closures. It is called in a loop; two models are built, and the faster one counts: a tree of seven
joints whose other two legs are closed by points (3 rows each), and three complete legs, each with a third of the
platform, connected by frames (6 rows each, of which three are redundant). Both must give the accelerations of appell's
torques.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console

import appell
from appell.loops.spherical.mechanism import Mechanism
from appell.reports.table import Cell, Table

X, Z = np.eye(3)[0], np.eye(3)[2]
ARM = 0.1
"""Distance [m] from the centre of the points that hold legs 2 and 3."""


def chains(robot: Mechanism, *, whole: bool) -> tuple[Any, Any]:
    """Return the model in Pinocchio and its closures; `whole` builds every leg up to a platform of its own."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    nowhere = np.zeros(3)

    def add(parent: int, rotation: Any, name: str, parameters: Any) -> int:
        index = int(model.addJoint(parent, pin.JointModelRZ(), pin.SE3(rotation, nowhere), name))
        if parameters is not None:
            body = pin.Inertia.FromDynamicParameters(np.array(parameters))
            model.appendBodyToJoint(index, body, pin.SE3.Identity())
        return index

    held, platform = [], 0
    for i, leg in enumerate(robot.legs):
        tilts = [pin.AngleAxis(angle, X).toRotationMatrix() for angle in (leg.alpha1, leg.alpha2)]
        one = add(0, np.array(leg.base), f"theta{i}", leg.inertias[0].parameters)
        two = add(one, tilts[0], f"psi{i}", leg.inertias[1].parameters)
        rest = pin.SE3(np.array(leg.platform).T, nowhere)
        if i == 0 or whole:
            third = add(two, tilts[1], f"xi{i}", None)
            body = pin.Inertia.FromDynamicParameters(np.array(robot.platform.parameters) / (3.0 if whole else 1.0))
            model.appendBodyToJoint(third, body, rest)
        if i == 0:
            platform, first = third, rest
        elif whole:
            held.append((third, rest, first))
        else:
            point = pin.SE3(np.eye(3), ARM * (tilts[1] @ Z))
            there = pin.SE3(np.eye(3), ARM * (first.rotation @ np.array(leg.platform_axis)))
            held.append((two, point, there))
    kind = pin.ContactType.CONTACT_6D if whole else pin.ContactType.CONTACT_3D
    closures = pin.StdVec_RigidConstraintModel()  # a list would be converted, and copied, at every call
    closures.extend([pin.RigidConstraintModel(kind, model, a, at, platform, there, pin.LOCAL) for a, at, there in held])
    return model, closures


def pinocchio_call(robot: Any, q: Any, v: Any, tau: Any, *, whole: bool) -> tuple[Callable[..., Any], Any, Any]:
    """Return a call of constraintDynamics on all samples, and the joints that are the tree's."""
    model, closures = chains(robot.kind.mechanism, whole=whole)
    data, closure_data = model.createData(), pin.StdVec_RigidConstraintData()
    closure_data.extend([closure.createData() for closure in closures])
    pin.initConstraintDynamics(model, data, closures, closure_data)
    settings = pin.ProximalSettings(1e-10, 1e-10, 20)
    legs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    kept = [pair for pair in legs if whole or pair[0] == 0 or pair[1] < 2]
    rows, columns = zip(*kept, strict=True)
    angles = np.ascontiguousarray(np.arctan2(*robot.evaluate("leg_angles", q))[:, rows, columns])
    rates = np.ascontiguousarray(robot.evaluate("leg_rates", q, v)[:, rows, columns])
    forces = np.zeros_like(angles)
    forces[:, [k for k, pair in enumerate(kept) if pair[1] == 0]] = tau
    samples = list(zip(angles, rates, forces, strict=True))

    def call(keep: bool = False) -> Any:
        found = []
        for x, u, f in samples:
            a = pin.constraintDynamics(model, data, x, u, f, closures, closure_data, settings)
            if keep:
                found.append(np.array(a))
        return found

    return call, rows, columns


def best(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the least time of each call [s]; they take turns, so that all meet the same machine."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
    appell.threads(1)
    rng = np.random.default_rng(0)
    robot = appell.load("agile-wrist")
    q = robot.random(rng, samples)
    v, a = rng.normal(size=(2, samples, 3))
    tau = robot.inverse_dynamics(q, v, a)
    expected = robot.evaluate("leg_accelerations", q, v, a)
    few = min(samples, 512)
    peers = {}
    errors: dict[str, float] = {}
    for name, whole in (("7 joints, points", False), ("9 joints, frames", True)):
        call, rows, columns = pinocchio_call(robot, q[:few], v[:few], tau[:few], whole=whole)
        theirs = np.array(call(keep=True))
        size = np.abs(expected).max()
        errors[name] = float(np.abs(theirs - expected[:few][:, rows, columns]).max() / size)
        peers[name] = call
    out = np.empty_like(tau)
    ours = {
        "inverse_dynamics": lambda: robot.inverse_dynamics(q, v, a, out=out),
        "forward_dynamics": lambda: robot.forward_dynamics(q, v, tau, out=out),
    }
    least = best({**ours, **peers}, 40)
    times = {name: 1e9 * least[name] / (samples if name in ours else few) for name in least}
    peer = min(times[name] for name in peers)
    table: list[tuple[Cell, ...]] = [(f"appell {name}", times[name], peer / times[name], None) for name in ours]
    table += [(f"pin.constraintDynamics, {name}", times[name], None, errors[name]) for name in peers]
    columns_ = (
        "what",
        "ns per sample",
        "times faster than the faster peer",
        "peer's difference in joint accelerations",
    )
    Console(width=140).print(Table(f"agile-wrist, {samples} samples, one thread", columns_, tuple(table)))


if __name__ == "__main__":
    main()
