"""Ten million states of the UR5 with ten thousand different inertias in one call, against Pinocchio; one thread each.

    python benchmarks/many_inertias.py

appell takes the inertias as ``parameters=``: one compiled program, without recompilation. Pinocchio changes the
inertias of its model and calls ``rneaInParallel`` on the states of one set after the other; it is timed on some of the
sets, and the numbers of these are compared.
"""

import sysconfig
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

import appell

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
URDF = ROBOTS / "ur_description/urdf/ur5_robot.urdf"
SETS, STATES, COMPARED = 10_000, 1_000, 100


def main():
    appell.threads(1)
    robot, model = appell.load(URDF, friction=False, armature=False), pin.buildModelFromUrdf(str(URDF))
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.5, 1.5, size=(SETS, len(robot.link_names), 1))
    bodies = len(robot.parameters) // 10
    pi = (np.asarray(robot.parameters).reshape(bodies, 10) * scale[:, :bodies]).reshape(SETS, 1, -1)
    q, v, a = (rng.normal(size=(SETS, STATES, 6)) for _ in range(3))
    tau = robot.inverse_dynamics(q[:2], v[:2], a[:2], parameters=pi[:2])  # compiles
    tau = np.empty_like(q)
    ours = []
    for _ in range(3):
        start = time.perf_counter()
        robot.inverse_dynamics(q, v, a, parameters=pi, out=tau)
        ours.append(time.perf_counter() - start)
    theirs, apart = [], 0.0
    nominal = [inertia.copy() for inertia in model.inertias]
    for k in range(COMPARED):
        other = model.copy()
        for body in range(bodies):
            inertia = nominal[body + 1]
            size = float(scale[k, body, 0])
            other.inertias[body + 1] = pin.Inertia(size * inertia.mass, inertia.lever, size * inertia.inertia)
        states = [np.asfortranarray(x[k].T) for x in (q, v, a)]
        pool = pin.ModelPool(other, 1)
        start = time.perf_counter()
        found = pin.rneaInParallel(1, pool, *states)
        theirs.append(time.perf_counter() - start)
        apart = max(apart, float(np.abs(found.T - tau[k]).max() / np.abs(tau[k]).max()))
    assert apart < 1e-10, apart
    count = SETS * STATES
    per_state = min(theirs) / STATES
    print(f"appell     {min(ours):8.2f} s for {count} states, {1e9 * min(ours) / count:7.1f} ns per state")
    print(f"Pinocchio  {per_state * count:8.2f} s (from {COMPARED} sets), {1e9 * per_state:7.1f} ns per state")
    print(f"ratio {per_state * count / min(ours):.1f}; numbers differ by {apart:.1e}")


if __name__ == "__main__":
    main()
