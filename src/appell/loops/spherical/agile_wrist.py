"""The Agile Wrist of abedloo2014: three legs of two arcs each between a base and a platform.

Its Euler angles are those of (25), R = R_z(q₁)·R_y(q₂)·R_x(q₃). The legs' frames are the paper's own:
B = R_z(λ)·R_x(γ − π) of (27) and F = R_z(η)·R_x(−β) of (28).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from appell.loops.spherical.mechanism import WEIGHTLESS, Bodies, Leg, Mechanism
from appell.model.model import GRAVITY
from appell.read.values import cos_sin, tidy
from appell.spatial.inertia import Inertia
from appell.spatial.rotation import about
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, matmul

THIRDS = (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0)
Three = tuple[float, float, float]


@dataclass(frozen=True)
class AgileWrist:
    """The parameters of a spherical 3-RRR robot as abedloo2014 names them; one number per leg.

    Angles are in radians. λ and γ place the motors' axes, η and β the axes on the platform, α₁ and α₂ are the arcs
    of the links. `links1` and `links2` are the links' inertias about the common centre, in the frames of (27);
    `branches` the signs in (34).

    >>> from appell import Robot
    >>> from appell.loops.spherical.kind import Spherical
    >>> wrist = AgileWrist(alpha1=(1.5, 1.5, 1.5), alpha2=(1.4, 1.4, 1.4), platform=Inertia.from_centre(
    ...     1.0, (0.0, 0.0, 0.0), IDENTITY))
    >>> Robot(Spherical(wrist.mechanism())).inverse_dynamics([0.0] * 3, [0.0] * 3, [0.0, 0.0, 1.0]).shape
    (3,)
    """

    alpha1: Three
    alpha2: Three
    lambda_: Three = THIRDS
    eta: Three = THIRDS
    gamma: Three = (math.acos(math.sqrt(1.0 / 3.0)),) * 3
    beta: Three = (math.asin(math.sqrt(1.0 / 3.0)),) * 3
    links1: Bodies = WEIGHTLESS
    links2: Bodies = WEIGHTLESS
    platform: Inertia = WEIGHTLESS[0]
    branches: tuple[int, int, int] = (1, 1, 1)

    def mechanism(
        self, name: str = "agile-wrist", gravity: Vector = GRAVITY, home: Vector = (0.0, 0.0, 0.0), spread: float = 0.5
    ) -> Mechanism:
        """Return the robot that these parameters describe."""
        first, second, third = (self._leg(i) for i in range(3))
        return Mechanism(
            name,
            "zyx",
            (first, second, third),
            self.platform,
            gravity,
            coordinates=("yaw", "pitch", "roll"),
            joints=("theta", "psi", "xi"),
            home=home,
            spread=spread,
        )

    def _leg(self, i: int) -> Leg:
        return Leg(
            base=_turned(self.lambda_[i], self.gamma[i] - math.pi),
            platform=_turned(self.eta[i], -self.beta[i]),
            alpha1=self.alpha1[i],
            alpha2=self.alpha2[i],
            branch=self.branches[i],
            inertias=(self.links1[i], self.links2[i]),
        )


def _turned(about_z: float, about_x: float) -> Matrix:
    return tidy(matmul(about(IDENTITY[2], *cos_sin(about_z)), about(IDENTITY[0], *cos_sin(about_x))))


def arc(radius: float, density: float, angle: float) -> Inertia:
    """Return the inertia about its centre of a thin uniform arc r·(0, −sin s, cos s), 0 ≤ s ≤ angle, density in kg/m.

    >>> arc(0.1, 1.378, math.radians(80.0)).mass
    0.1924050967398549
    """
    c, s = math.cos(angle), math.sin(angle)
    mass = density * radius * angle
    first = density * radius**2
    second = density * radius**3
    yy, zz, yz = 0.5 * (angle - s * c), 0.5 * (angle + s * c), -0.5 * s * s  # ∫ sin², ∫ cos², −∫ sin cos
    spread: Matrix = ((0.0, 0.0, 0.0), (0.0, second * yy, second * yz), (0.0, second * yz, second * zz))
    return Inertia(mass, (0.0, first * (c - 1.0), first * s), spread)
