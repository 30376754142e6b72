"""A lecture note on the double pendulum: its symbolic equations of motion, written as a LaTeX page."""

from __future__ import annotations

from pathlib import Path

import appell
from appell.model.build import Connection, Link, build
from appell.model.model import Joint
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

ROD = Inertia.from_centre(1.0, (0.0, 0.0, -0.5), ((0.083, 0.0, 0.0), (0.0, 0.083, 0.0), (0.0, 0.0, 0.001)))
PAGE = r"""\documentclass{article}
\usepackage{amsmath}
\begin{document}
\section*{The double pendulum}
Two rods swing about parallel axes; the angle of the second is relative to the first. Per rod, $m$ is its mass, $mz$ its
first moment and $Ixx$ its moment of inertia about its joint. The motion follows
$M a + C v + G = \tau = \partial S / \partial a$:

%s
\end{document}
"""


def double_pendulum() -> appell.Robot:
    """Return two rods of one metre each, hanging down at rest."""
    below = Pose(position=(0.0, 0.0, -1.0))
    joints = [
        Connection(Joint("1", "continuous", (1.0, 0.0, 0.0), Pose()), "ceiling", "upper"),
        Connection(Joint("2", "continuous", (1.0, 0.0, 0.0), below), "upper", "lower"),
    ]
    return appell.load(build("double-pendulum", [Link("ceiling"), Link("upper", ROD), Link("lower", ROD)], joints))


def main() -> None:
    """Print the mass matrix, and write the page."""
    made = double_pendulum().equations()
    print("M =", made.M.tolist())
    print("G =", made.G.T.tolist()[0])
    Path("double_pendulum.tex").write_text(PAGE % made.latex(), encoding="utf-8")


if __name__ == "__main__":
    main()
