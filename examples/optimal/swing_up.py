"""Swing up a two-link arm whose motors cannot lift it straight: multiple shooting over `step_rk4`, solved by IPOPT.

    python examples/optimal/swing_up.py       # a plot: swing_up.png

The unknowns are the states at the ends of the steps and the torques between them; the exported step ties them together.
The plan is then run through the native integrator of :func:`appell.rollout`.
"""

from time import perf_counter

import casadi
import matplotlib.pyplot as plt
import numpy as np

import appell

STEPS, DT, LIMIT = 50, 0.05, 6.0  # 19.6 N·m would hold the arm level
ROD = {"mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.001, 0.083, 0.083]}


def main() -> None:
    arm = appell.from_dh([{"a": 0.0, **ROD}, {"a": 1.0, **ROD}], gravity=(0.0, -9.81, 0.0))
    low, high = [-np.pi / 2, 0.0], [np.pi / 2, 0.0]
    step = arm.export("step_rk4", to="casadi")

    opti = casadi.Opti()
    q, v, tau = opti.variable(2, STEPS + 1), opti.variable(2, STEPS + 1), opti.variable(2, STEPS)
    after, faster = step.map(STEPS)(q[:, :-1], v[:, :-1], tau, DT)
    opti.subject_to(q[:, 1:] == after)
    opti.subject_to(v[:, 1:] == faster)
    opti.subject_to(opti.bounded(-LIMIT, casadi.vec(tau), LIMIT))
    opti.subject_to(q[:, 0] == low)
    opti.subject_to(q[:, -1] == high)
    opti.subject_to(casadi.vec(v[:, [0, STEPS]]) == 0.0)
    opti.minimize(DT * casadi.sumsqr(tau))
    opti.set_initial(q, np.linspace(low, high, STEPS + 1).T)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    begin = perf_counter()
    plan = opti.solve()
    seconds = perf_counter() - begin

    states, torques = plan.value(q).T, plan.value(tau).T
    run = appell.rollout(arm, low, [0.0, 0.0], torques, DT, method="rk4")
    print(f"{plan.stats()['iter_count']} iterations, {seconds:.1f} s; largest torque", end=" ")
    print(f"{np.abs(torques).max():.2f} N·m, {np.abs(run.q[-1] - high).max():.1e} rad from upright in a rollout")

    t = DT * np.arange(STEPS + 1)
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.8), layout="constrained")
    for k, name in enumerate(("shoulder", "elbow")):
        above.plot(t, np.degrees(states[:, k]), label=name)
        below.stairs(torques[:, k], t, baseline=None, label=name)
    above.set(ylabel="angle [°]", yticks=[-180, -90, 0, 90, 180])
    below.axhline(LIMIT, color="0.6", linewidth=0.8)
    below.axhline(-LIMIT, color="0.6", linewidth=0.8)
    below.set(xlabel="time [s]", ylabel="torque [N·m]", xlim=(0.0, t[-1]))
    above.legend()
    figure.savefig("swing_up.png", dpi=120)


if __name__ == "__main__":
    main()
