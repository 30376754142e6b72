"""A spherical robot as chains tied to its platform, for legs of any number of links.

The closed form of :mod:`appell.loops.spherical.programs` is for legs with two links each. Other robots have their loops
closed by :mod:`appell.loops.closed`, as any mechanism: with arcs α₁ … αₘ leg i is

    link 1 = B·R_z(θ₁),   link j+1 = link j·R_x(αⱼ)·R_z(θⱼ₊₁),   platform = link m·R_x(αₘ)·R_z(ξ)·Fᵀ.

The first leg carries the platform. Each other leg ends in a hinge about its axis on the platform. All axes meet in one
point, so a hinge is defined by that axis: it blocks two rotations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from appell.errors import ModelError
from appell.loops.spherical.mechanism import SMALLEST_ARC, Leg, Mechanism
from appell.model.closure import Closure
from appell.model.model import GRAVITY, WORLD, Body, Frame, Joint, Model
from appell.read.values import cos_sin, tidy
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, matmul, transpose

HINGE = ("rx", "ry")


@dataclass(frozen=True)
class ChainLeg:
    """A leg of any number of links: frames on base and platform, and one arc [rad] and one inertia per link.

    Inertias are about the common centre, in the links' axes. `motors` counts the joints with a motor from 0; `angles`
    are those of the joints where closing the loops begins, zero where absent.
    """

    base: Matrix
    platform: Matrix
    arcs: tuple[float, ...]
    inertias: tuple[Inertia, ...]
    motors: tuple[int, ...] = (0,)
    angles: tuple[float, ...] = ()


def chain_leg(leg: Leg) -> ChainLeg:
    """Return a leg of two links as a chain."""
    inertias = [x.moved(Pose(frame)) for x, frame in zip(leg.inertias, leg.frames, strict=True)]
    return ChainLeg(leg.base, leg.platform, (leg.alpha1, leg.alpha2), tuple(inertias), leg.motors)


def chains_of(robot: Mechanism) -> Model:
    """Return a robot of the closed form as chains, of which no closed form is used.

    >>> import appell
    >>> from appell.papers.multipliers import mechanism
    >>> appell.load(chains_of(mechanism("agile-wrist")))
    <Robot 'agile-wrist-chains': 7 bodies, 2 closures, nq 7, nv 3>
    """
    return chains(f"{robot.name}-chains", [chain_leg(leg) for leg in robot.legs], robot.platform, robot.gravity)


def chains(name: str, legs: Sequence[ChainLeg], platform: Inertia, gravity: Vector = GRAVITY) -> Model:
    """Return the model of legs and platform, its loops closed by hinges.

    Joint j of leg i is "leg{i}_joint{j}", its link "leg{i}_link{j}"; the last joint of the first leg carries the
    platform.

    Raises
    ------
    ModelError
        When there is no leg, a leg has no link, an arc joins two axes into one, or a motor has no joint.
    """
    if not legs:
        raise ModelError(f"spherical robot '{name}' has no legs; add some")
    bodies: list[Body] = []
    frames: list[Frame] = []
    ends: list[tuple[int, Matrix]] = []
    for i, leg in enumerate(legs, 1):
        _check(name, i, leg)
        placement = leg.base
        for j, (arc, inertia) in enumerate(zip(leg.arcs, leg.inertias, strict=True), 1):
            parent = WORLD if j == 1 else len(bodies) - 1
            bodies.append(Body(f"leg{i}_link{j}", parent, _joint(f"leg{i}_joint{j}", placement), inertia))
            placement = about(IDENTITY[0], *cos_sin(arc))
        ends.append((len(bodies) - 1, placement))
    last = len(legs[0].arcs) + 1
    body, placement = ends[0]
    last_joint = _joint(f"leg1_joint{last}", placement)
    bodies.append(Body("platform", body, last_joint, platform.moved(Pose(transpose(legs[0].platform)))))
    frames = [Frame(name, k, Pose()) for k, body in enumerate(bodies) for name in (body.joint.name, body.name)]
    closures = []
    for i, (leg, (body, placement)) in enumerate(zip(legs[1:], ends[1:], strict=True), 2):
        first, second = f"leg{i}_tip", f"platform_axis{i}"
        onto = tidy(matmul(transpose(legs[0].platform), leg.platform))
        frames += [Frame(first, body, Pose(placement)), Frame(second, len(bodies) - 1, Pose(onto))]
        closures.append(Closure(f"leg{i}_hinge", first, second, HINGE))
    motors = [f"leg{i}_joint{k + 1}" for i, leg in enumerate(legs, 1) for k in leg.motors]
    home = [(f"leg{i}_joint{j}", (angle,)) for i, leg in enumerate(legs, 1) for j, angle in enumerate(leg.angles, 1)]
    return Model(
        name, tuple(bodies), tuple(frames), gravity, closures=tuple(closures), actuators=tuple(motors), home=tuple(home)
    )


def _joint(name: str, placement: Matrix) -> Joint:
    return Joint(name, "revolute", IDENTITY[2], Pose(tidy(placement), ZERO))


def _check(name: str, i: int, leg: ChainLeg) -> None:
    """Raise where a leg is no chain of distinct axes."""
    here = f"spherical robot '{name}': leg {i}"
    if not leg.arcs:
        raise ModelError(f"{here} has no links; give the arcs of one or more")
    for j, arc in enumerate(leg.arcs, 1):
        if not abs(math.sin(arc)) > SMALLEST_ARC:
            raise ModelError(f"{here}: arc {j} of {arc:g} rad makes its two axes coincide; use an arc between 0 and π")
    joints = len(leg.arcs) + (i == 1)
    if any(not 0 <= k < joints for k in leg.motors):
        raise ModelError(f"{here} has joints 1 to {joints}; motors at {sorted(k + 1 for k in leg.motors)} have none")
    if len(leg.angles) > joints:
        raise ModelError(f"{here} has {joints} joints, got {len(leg.angles)} angles")
