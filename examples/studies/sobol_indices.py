"""Which uncertain mass matters to which joint torque: Sobol indices of an arm with a payload.

Every sample has inertias of its own; all samples of all motions are one call with ``parameters=``, nothing is compiled
again. Indices by :func:`scipy.stats.sobol_indices`.

    python examples/studies/sobol_indices.py                      # the PUMA 560 of the catalogue, a plot: indices.png
    python examples/studies/sobol_indices.py ur10e.urdf 4096
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

import appell

STATES = 20
"""Random states that torques are averaged over."""
OFFSET = 0.15
"""From the last joint to the payload [m]."""
SPREAD = 0.1
"""Standard deviation of a mass, of its nominal value."""


def main(source: str = "puma560", samples: int = 512) -> None:
    robot = appell.load(source, friction=False, armature=False)
    nominal, n = np.asarray(robot.parameters, dtype=float), len(robot.joint_names)
    rng = np.random.default_rng(0)
    q = robot.random(rng, STATES)[:, None]
    v, a = rng.normal(size=(2, STATES, 1, robot.nv))

    def torques(x):
        """Return the root mean square torque per joint, (nv, samples), for factors of the links and a payload [kg]."""
        pi = np.tile(nominal, (x.shape[1], 1))
        for k in range(n):  # a link's ten parameters scale with its density
            pi[:, 10 * k : 10 * k + 10] *= x[k][:, None]
        last = pi[:, 10 * (n - 1) :]  # a point mass on the last axis: m, m·z, Ixx and Iyy
        for k, share in ((0, 1.0), (3, OFFSET), (4, OFFSET**2), (6, OFFSET**2)):
            last[:, k] += x[n] * share
        tau = robot.inverse_dynamics(q, v, a, parameters=pi)
        return np.sqrt((tau**2).mean(axis=0)).T

    dists = [stats.norm(1.0, SPREAD)] * n + [stats.uniform(0.0, 3.0)]
    indices = stats.sobol_indices(func=torques, n=samples, dists=dists, rng=rng)
    names = [*robot.joint_names, "payload"]
    for joint, row in zip(robot.joint_names, indices.total_order, strict=True):
        print(f"{joint:8s}", "  ".join(f"{name} {x:.2f}" for name, x in zip(names, row, strict=True) if x > 0.05))
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    image = axis.imshow(indices.total_order, cmap="viridis", vmin=0.0, vmax=1.0)
    axis.set_xticks(range(n + 1), [f"mass {k + 1}" for k in range(n)] + ["payload"], rotation=45)
    axis.set_yticks(range(robot.nv), robot.joint_names)
    axis.set(title=f"{robot.name}: total Sobol indices of the torques")
    figure.colorbar(image)
    figure.savefig("indices.png", dpi=120)


if __name__ == "__main__":
    main(*(int(x) if x.isdigit() else x for x in sys.argv[1:]))
