"""Move a Stewart platform with least force: multiple shooting over the exported `step` of a closed robot, and IPOPT.

    python examples/optimal/stewart.py       # a plot: stewart.png

q is the configuration of the whole spanning tree, 24 numbers; v has one entry per leg. `step` closes the loops, so the
plan needs no loop equations: if the start is closed, so are the states after it.
"""

from time import perf_counter

import casadi
import matplotlib.pyplot as plt
import numpy as np

import appell

STEPS, DT, LIMIT = 16, 0.025, 150.0
RAISED = {
    "px": 0.05,
    "pz": 0.08,
    "yaw": 0.15,
    "pitch": -0.1,
}  # from neutral; loops are then closed


def main() -> None:
    robot = appell.load("stewart")
    start = np.asarray(robot.neutral())
    names = list(robot.joint_names)
    guess = start.copy()
    for name, value in RAISED.items():
        guess[names.index(name)] += value
    goal = np.asarray(robot.assemble(guess))
    legs = [names.index(name) for name in robot.independent]
    rest = robot.inverse_dynamics(start, np.zeros(6), np.zeros(6))
    step = robot.export("step", to="casadi")

    opti = casadi.Opti()
    q, v, tau = opti.variable(robot.nq, STEPS + 1), opti.variable(6, STEPS + 1), opti.variable(6, STEPS)
    for k in range(STEPS):
        after, faster, *_ = step(q[:, k], v[:, k], tau[:, k], DT)
        opti.subject_to(q[:, k + 1] == after)
        opti.subject_to(v[:, k + 1] == faster)
    opti.subject_to(opti.bounded(-LIMIT, casadi.vec(tau), LIMIT))
    opti.subject_to(q[:, 0] == start)
    opti.subject_to(q[legs, -1] == goal[legs])
    opti.subject_to(casadi.vec(v[:, [0, STEPS]]) == 0.0)
    opti.minimize(1e-4 * casadi.sumsqr(tau))
    opti.set_initial(q, np.linspace(start, goal, STEPS + 1).T)
    opti.set_initial(v, np.repeat((goal - start)[legs, None] / (STEPS * DT), STEPS + 1, axis=1))
    opti.set_initial(tau, np.repeat(rest[:, None], STEPS, axis=1))
    quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "tol": 1e-6}
    opti.solver("ipopt", {"print_time": False}, quiet)
    begin = perf_counter()
    plan = opti.solve()
    seconds = perf_counter() - begin

    states, torques = plan.value(q).T, plan.value(tau).T
    run = appell.rollout(robot, start, np.zeros(6), torques, DT, method="euler")
    print(f"{plan.stats()['iter_count']} iterations, {seconds:.1f} s; forces", end=" ")
    print(f"{torques.min():.1f} to {torques.max():.1f} N, at rest {rest.mean():.1f} N")
    print(f"loops open by {robot.closure_error(states).max():.0e} m at most; in a rollout the platform ends", end=" ")
    print(f"{np.abs(run.q[-1] - goal)[:3].max():.0e} m from the goal")

    t = DT * np.arange(STEPS + 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for name in ("px", "py", "pz"):
        left.plot(t, 100.0 * (states - start)[:, names.index(name)], label=f"{name} [cm]")
    for name in ("yaw", "pitch", "roll"):
        left.plot(t, np.degrees(states[:, names.index(name)]), "--", label=f"{name} [°]")
    left.set(xlabel="time [s]", ylabel="platform, from neutral")
    left.legend(fontsize="small")
    for k, name in enumerate(robot.actuators):
        right.stairs(torques[:, k], t, baseline=None, label=name)
    right.set(xlabel="time [s]", ylabel="force [N]")
    right.legend(fontsize="small", ncols=2)
    figure.savefig("stewart.png", dpi=120)


if __name__ == "__main__":
    main()
