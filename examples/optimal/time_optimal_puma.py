"""The fastest motion of a PUMA 560 between two postures under torque limits, by direct collocation and IPOPT.

    python examples/optimal/time_optimal_puma.py       # a plot: time_optimal_puma.png

Accelerations are constant in an interval and the torques are bounded at both of its ends. The time between the
postures is an unknown like the others. It is compared with a quintic along the straight line in joint space.
"""

from dataclasses import replace
from time import perf_counter

import casadi
import matplotlib.pyplot as plt
import numpy as np

import appell

N = 40
ENDS = slice(None, -1), slice(1, None)
LIMIT = np.array([97.0, 186.0, 89.0, 24.0, 20.0, 21.0])
START = np.radians([-60.0, 90.0, -90.0, 0.0, 0.0, 0.0])
GOAL = np.radians([60.0, 20.0, 20.0, 40.0, 60.0, 90.0])


def straight(robot: appell.Robot) -> float:
    """Return the time [s] of a quintic along the straight line in joint space, as fast as the torques allow."""
    line = appell.trajectory.JointLine(START, GOAL, appell.trajectory.Quintic(1.0))
    return float(appell.trajectory.time_scaling(robot, line, torque=LIMIT).trajectory.duration)


def main() -> None:
    model = appell.load("puma560").model
    # Coulomb friction has no derivative where a joint turns round; rotor inertia and damping of the motors stay
    bodies = tuple(replace(body, joint=replace(body.joint, friction=0.0)) for body in model.bodies)
    robot = appell.load(replace(model, bodies=bodies))
    torque = robot.export("inverse_dynamics", to="casadi").map(N)
    n, scale = robot.nv, LIMIT[:, None]

    opti = casadi.Opti()
    time = opti.variable()
    q, v, a = opti.variable(n, N + 1), opti.variable(n, N + 1), opti.variable(n, N)
    h = time / N
    opti.subject_to(q[:, 1:] == q[:, :-1] + h * v[:, :-1] + 0.5 * h**2 * a)
    opti.subject_to(v[:, 1:] == v[:, :-1] + h * a)
    ends = [torque(q[:, :-1], v[:, :-1], a), torque(q[:, 1:], v[:, 1:], a)]
    for tau in ends:
        opti.subject_to(opti.bounded(-1.0, casadi.vec(tau / casadi.repmat(scale, 1, N)), 1.0))
    for k in range(n):
        opti.subject_to(opti.bounded(robot.limits.lower[k], q[k, :], robot.limits.upper[k]))
    opti.subject_to(q[:, 0] == START)
    opti.subject_to(q[:, -1] == GOAL)
    opti.subject_to(casadi.vec(v[:, [0, N]]) == 0.0)
    opti.subject_to(time >= 0.1)
    # joints that could be slower have many fastest motions; a little effort in the cost picks one
    opti.minimize(time + 1e-3 * casadi.sumsqr(ends[0] / casadi.repmat(scale, 1, N)) / N)
    opti.set_initial(q, np.linspace(START, GOAL, N + 1).T)
    opti.set_initial(v, np.repeat((GOAL - START)[:, None], N + 1, axis=1))
    opti.set_initial(time, 1.0)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    begin = perf_counter()
    plan = opti.solve()
    seconds = perf_counter() - begin

    fastest = plan.value(time)
    positions, velocities, accelerations = (plan.value(x).T for x in (q, v, a))
    both = [robot.inverse_dynamics(positions[end], velocities[end], accelerations) / LIMIT for end in ENDS]
    used = np.where(np.abs(both[0]) > np.abs(both[1]), *both)  # the larger of both ends
    print(f"{plan.stats()['iter_count']} iterations, {seconds:.1f} s")
    print(f"fastest motion {fastest:.3f} s, quintic along the straight line {straight(robot):.3f} s")
    print(f"in {(np.abs(used).max(axis=1) > 0.99).mean():.0%} of the intervals a motor is at its limit")

    t = np.linspace(0.0, fastest, N + 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for k, name in enumerate(robot.joint_names):
        left.plot(t, np.degrees(positions[:, k]), label=name)
        right.stairs(used[:, k], t, baseline=None)
    left.set(xlabel="time [s]", ylabel="angle [°]")
    right.set(xlabel="time [s]", ylabel="torque / limit", ylim=(-1.05, 1.05))
    left.legend(fontsize="small")
    figure.savefig("time_optimal_puma.png", dpi=120)


if __name__ == "__main__":
    main()
