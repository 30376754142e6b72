"""The spherical star-triangle (SST) robot of enferadi2010: a star of three arcs that slide through three carriages.

Each carriage turns about its motor's axis w, normal to an edge of the base's spherical triangle, and about the radius
r through it; the star's arc slides through it, which is to turn about t, normal to the arc. So a leg is three axes
through the centre, w γ̇ − r μ̇ − t β̇ = ω (26), with w ⟂ r ⟂ t: the leg of :mod:`appell.loops.spherical.mechanism` with
both arcs a quarter turn, e₁ = w, e₂ = −r, e₃ = −t. With P = R_z(−90°)·R_x(90°), which takes z to −x:

    {1k} = {0k}·R_z(γ)              = link 1·R_z(90°)   for B = {0k}·R_z(−90°) and θ = γ,
    {2k} = {0k}·R_z(γ)·R_x(−μ)      = link 2·Pᵀ         for ψ = μ,

and ξ is the paper's β with F = [s × t, −s, −t] on the star. The Euler angles are those of (3),
R = R_z(θ)·R_y(φ)·R_z(ψ), with s along the star's z and t₁ along its y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from appell.errors import ModelError
from appell.loops.spherical.mechanism import WEIGHTLESS, Bodies, Leg, Mechanism
from appell.read.values import cos_sin, direction, tidy
from appell.spatial.inertia import Inertia
from appell.spatial.rotation import about, normalized
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, ZERO, cross, dot, matmul, negate, transpose

QUARTER = 0.5 * math.pi
_BACK = about(IDENTITY[2], 0.0, -1.0)
_FORTH = about(IDENTITY[2], 0.0, 1.0)
_P = matmul(_BACK, about(IDENTITY[0], 0.0, 1.0))
SMALLEST_EDGE = 1e-6


@dataclass(frozen=True)
class StarTriangle:
    """The parameters of an SST robot as enferadi2010 names them.

    `corners` are v₁, v₂, v₃ of the base's triangle, in the base's axes; `star` the angles α₁, α₂, α₃ between the
    planes of the star's arcs [rad], of which α₂ lies between arcs 3 and 1 and α₃ between arcs 1 and 2. Inertias are
    about the common centre: of the carriages' parts in the frames {1k} and {2k}, of the star in its own.
    A branch +1 has the carriage where (18) has it, −1 on the far side of the sphere.

    >>> from appell import Robot
    >>> from appell.loops.spherical.kind import Spherical
    >>> robot = Robot(Spherical(StarTriangle().mechanism()))
    >>> robot.actuator_positions(robot.neutral()).round(3)
    array([0.785, 0.785, 0.785])
    """

    corners: tuple[Vector, Vector, Vector] = IDENTITY
    star: tuple[float, float, float] = (2.0 * math.pi / 3.0,) * 3
    actuated: Bodies = WEIGHTLESS
    passive: Bodies = WEIGHTLESS
    platform: Inertia = WEIGHTLESS[0]
    branches: tuple[int, int, int] = (1, 1, 1)

    def mechanism(
        self, name: str = "sst", gravity: Vector = ZERO, home: Vector | None = None, spread: float = 0.4
    ) -> Mechanism:
        """Return the robot that these parameters describe; at home the star's pole is over the triangle's middle."""
        if abs(math.remainder(sum(self.star) - 2.0 * math.pi, 2.0 * math.pi)) > 1e-9:
            shown = ", ".join(f"{angle:g}" for angle in self.star)
            raise ModelError(f"spherical robot '{name}': the star's angles {shown} rad must add up to a full turn")
        for k, corner in enumerate(self.corners):
            if not math.hypot(*corner) > SMALLEST_EDGE:
                raise ModelError(f"spherical robot '{name}': corner {k + 1} of its base has zero length")
        first, second, third = (self._leg(name, k) for k in range(3))
        return Mechanism(
            name,
            "zyz",
            (first, second, third),
            self.platform,
            gravity,
            coordinates=("theta", "phi", "psi"),
            joints=("gamma", "mu", "beta"),
            home=self._middle() if home is None else home,
            spread=spread,
        )

    def _leg(self, name: str, k: int) -> Leg:
        if not 0.0 < dot(self.corners[k], self.corners[k]) < math.inf:
            raise ModelError(
                f"spherical robot '{name}': corner {k + 1} of its base is not a direction: {self.corners[k]}"
            )
        corner, other = normalized(self.corners[k]), normalized(self.corners[(k + 1) % 3])
        edge = cross(corner, other)
        if not dot(edge, edge) > SMALLEST_EDGE**2:
            raise ModelError(
                f"spherical robot '{name}': corners {k + 1} and {(k + 1) % 3 + 1} of its base coincide or are opposite"
            )
        x, z = direction(corner), direction(normalized(edge))
        # (12), (13): t₁ along y, t₂ = Q(s, α₃) t₁, t₃ = Q(s, −α₂) t₁
        cosine, sine = cos_sin((0.0, self.star[2], -self.star[1])[k])
        t, s = (-sine, cosine, 0.0), IDENTITY[2]
        return Leg(
            base=tidy(matmul(transpose((x, cross(z, x), z)), _BACK)),
            platform=tidy(transpose((cross(s, t), negate(s), negate(t)))),
            alpha1=QUARTER,
            alpha2=QUARTER,
            branch=-self.branches[k],  # (e₃ × e₂)·e₁ = (t × r)·w = −c of (30), which (18) makes positive
            inertias=(self.actuated[k], self.passive[k]),
            frames=(_FORTH, transpose(_P)),
        )

    def _middle(self) -> Vector:
        x, y, z = (sum(normalized(corner)[i] for corner in self.corners) for i in range(3))
        return (math.atan2(y, x), math.atan2(math.hypot(x, y), z), 0.0)
