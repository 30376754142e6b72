"""The model of a spherical parallel robot: a platform on legs of three axes each, all through one point.

Leg i has axes e₁ (the motor's, fixed in the base), e₂ (between its two links) and e₃ (fixed in the platform). With B
the base frame of the leg, F its frame on the platform, and α₁, α₂ the arcs of its links,

    link 1 = B·R_z(θ),   link 2 = link 1·R_x(α₁)·R_z(ψ),   platform = link 2·R_x(α₂)·R_z(ξ)·Fᵀ,

so that e₁ = B z, e₂ = link 2·z and e₃ = platform·F z. The Agile Wrist is written so in abedloo2014; the spherical
star-triangle of enferadi2010 is the same with arcs of a quarter turn (:mod:`appell.loops.spherical.sst`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from appell.errors import ModelError
from appell.model.model import GRAVITY
from appell.read.values import cos_sin
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, transpose

MOBILITY = 3
"""Velocities of the platform, which as many motors or more must drive."""
Bodies = tuple[Inertia, Inertia, Inertia]
WEIGHTLESS: Bodies = (Inertia(), Inertia(), Inertia())
SMALLEST_ARC = 1e-6
"""Sine of an arc [1] below which two axes of a leg are one."""


@dataclass(frozen=True)
class Leg:
    """One leg: its frames on base and platform, arcs [rad], branch, and its two links.

    `branch` +1 or −1 is the side of the plane of e₁ and e₃ on which the axis e₂ is: (e₃ × e₂)·e₁ has its sign, which
    is that of the root in abedloo2014 (34). `frames` are the axes in which the links' inertias are given, seen from the
    frames above; the inertias are about the common centre. `motors` are the joints with a motor: 0 about e₁, 1 about
    e₂.
    """

    base: Matrix
    platform: Matrix
    alpha1: float
    alpha2: float
    branch: int = 1
    inertias: tuple[Inertia, Inertia] = (Inertia(), Inertia())
    frames: tuple[Matrix, Matrix] = (IDENTITY, IDENTITY)
    motors: tuple[int, ...] = (0,)

    @cached_property
    def arcs(self) -> tuple[float, float, float, float]:
        """Return cos α₁, sin α₁, cos α₂, sin α₂."""
        return (*cos_sin(self.alpha1), *cos_sin(self.alpha2))

    @cached_property
    def motor_axis(self) -> Vector:
        """Return e₁ in the base."""
        return transpose(self.base)[2]

    @cached_property
    def platform_axis(self) -> Vector:
        """Return e₃ in the platform."""
        return transpose(self.platform)[2]


@dataclass(frozen=True)
class Mechanism:
    """A spherical parallel robot.

    `sequence` names the axes of the Euler angles q, `coordinates` the angles themselves, `joints` the three joints of a
    leg, which get the leg's number. `home` is the default posture, `spread` the range of random angles around it.
    `frames` are those besides its links and joints: a name, the link that carries it, and its pose in the link's frame.
    """

    name: str
    sequence: str
    legs: tuple[Leg, ...]
    platform: Inertia
    gravity: Vector = GRAVITY
    coordinates: tuple[str, str, str] = ("q1", "q2", "q3")
    joints: tuple[str, str, str] = ("theta", "psi", "xi")
    home: Vector = (0.0, 0.0, 0.0)
    spread: float = 0.5
    frames: tuple[tuple[str, str, Pose], ...] = ()

    def __post_init__(self) -> None:
        if len(self.motors) < MOBILITY:
            raise ModelError(
                f"spherical robot '{self.name}': {len(self.motors)} motors on {len(self.legs)} legs cannot drive three "
                "rotations; add legs, or motors on the second joints of legs"
            )
        for i, leg in enumerate(self.legs, 1):
            if leg.branch not in (1, -1):
                raise ModelError(f"spherical robot '{self.name}': leg {i}: expected branch 1 or -1, got {leg.branch}")
            for name, angle in (("alpha1", leg.alpha1), ("alpha2", leg.alpha2)):
                if not abs(math.sin(angle)) > SMALLEST_ARC:
                    raise ModelError(
                        f"spherical robot '{self.name}': leg {i}: {name} of {angle:g} rad makes its two axes coincide; "
                        "use an arc between 0 and π"
                    )

    @cached_property
    def motors(self) -> tuple[tuple[int, int], ...]:
        """Return the leg and the joint of every motor, leg by leg."""
        return tuple((k, joint) for k, leg in enumerate(self.legs) for joint in sorted(set(leg.motors)))

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """Return the inertias of all bodies: two links per leg, leg by leg, then the platform."""
        return (*(inertia for leg in self.legs for inertia in leg.inertias), self.platform)
