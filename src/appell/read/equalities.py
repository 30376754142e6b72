"""Constraints of an MJCF file: equalities that close loops or make one joint follow another, and fixed tendons.

``<connect>`` makes two points coincide, ``<weld>`` two frames. MuJoCo stores for a connect the point in both bodies'
frames, for a weld the point in the second body's frame and its pose in the first body's, position and quaternion.
Constraints on a mocap body are skipped, since a user moves such a body, and so are those within one link.

A fixed tendon has the length L = Σ cₖqₖ of hinges and slides. Its stiffness and damping are a spring between joints
(:class:`appell.model.model.Spring`). ``<equality><joint>`` and ``<equality><tendon>`` with a linear polynomial keep a
weighted sum of coordinates constant; with two joints in it, one follows the other as a mimic joint does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Body, Coordinates, Frame, Mimic, Spring
from appell.read.compiled import BALL, FREE, Names, fresh, is_off, own, vector, word
from appell.spatial.pose import Pose

Terms = dict[int, float]
"""Coefficients by joint."""


class Tie(NamedTuple):
    """One joint that follows another: q = slope·q of the leader + offset."""

    follower: int
    leader: int
    slope: float
    offset: float


def ties(mujoco: Any, compiled: Any) -> dict[int, Tie]:
    """Return the equality constraints by which one hinge or slide follows another.

    A second one of a joint, or one that would form a cycle, is skipped.
    """
    found: dict[int, Tie] = {}
    leaders: dict[int, int] = {}
    if is_off(mujoco, compiled, "CONSTRAINT", "EQUALITY"):
        return found
    for i in range(compiled.neq):
        for tie in _candidates(mujoco, compiled, i):
            last = tie.leader
            while last in leaders:
                last = leaders[last]
            if tie.follower not in leaders and last != tie.follower:
                found[i], leaders[tie.follower] = tie, tie.leader
                break
    return found


def mimic(names: Names, tie: Tie) -> Mimic:
    """Return the mimic of the follower of a tie."""
    return Mimic(names.joints[tie.leader], tie.slope, tie.offset)


def _candidates(mujoco: Any, compiled: Any, i: int) -> Iterator[Tie]:
    """Yield the possible ties of an equality: one for a joint, two for a tendon, by either of its joints."""
    kinds = {int(mujoco.mjtEq.mjEQ_JOINT): _joint_term, int(mujoco.mjtEq.mjEQ_TENDON): _tendon_term}
    term = kinds.get(int(compiled.eq_type[i]))
    if term is None or not compiled.eq_active0[i] or compiled.eq_data[i, 2:5].any():
        return
    start, slope = compiled.eq_data[i, :2].tolist()
    terms, constant = term(mujoco, compiled, int(compiled.eq_obj1id[i]))
    constant += start  # x₁ − x₁₀ = c₀ + c₁·(x₂ − x₂₀)
    if compiled.eq_obj2id[i] >= 0:
        others, there = term(mujoco, compiled, int(compiled.eq_obj2id[i]))
        constant -= slope * there
        for j, c in others.items():
            terms[j] = terms.get(j, 0.0) - slope * c
    if term is _joint_term and len(terms) == 2:
        follower, leader = terms
        if not {FREE, BALL} & {int(compiled.jnt_type[j]) for j in terms}:
            yield Tie(follower, leader, slope, constant)
        return
    moving = {j: c for j, c in terms.items() if c}
    if len(moving) == 2:
        for follower, leader in (tuple(moving), tuple(reversed(moving))):
            yield Tie(follower, leader, -moving[leader] / moving[follower], constant / moving[follower])


def _joint_term(mujoco: Any, compiled: Any, j: int) -> tuple[Terms, float]:
    """Return the index of a joint's coordinate, and its value in the file's pose."""
    return {j: 1.0}, float(compiled.qpos0[compiled.jnt_qposadr[j]])


def _tendon_term(mujoco: Any, compiled: Any, i: int) -> tuple[Terms, float]:
    """Return the terms of a fixed tendon's length, and that length in the file's pose; none if spatial."""
    return fixed_terms(mujoco, compiled, i), float(compiled.tendon_length0[i])


# Tendons


def fixed_terms(mujoco: Any, compiled: Any, i: int) -> Terms:
    """Return the coefficients of a fixed tendon by joint; none for a spatial tendon."""
    terms: Terms = {}
    first = int(compiled.tendon_adr[i])
    for k in range(first, first + int(compiled.tendon_num[i])):
        if compiled.wrap_type[k] != mujoco.mjtWrap.mjWRAP_JOINT:
            return {}
        j = int(compiled.wrap_objid[k])
        terms[j] = terms.get(j, 0.0) + float(compiled.wrap_prm[k])
    return terms


def tendon_springs(mujoco: Any, compiled: Any, names: Names) -> tuple[Spring, ...]:
    """Return the springs and dampers of fixed tendons."""
    taken, springs = {*names.joints}, []
    for i in range(compiled.ntendon):
        terms = fixed_terms(mujoco, compiled, i)
        stiffness = 0.0 if is_off(mujoco, compiled, "PASSIVE", "SPRING") else float(compiled.tendon_stiffness[i])
        damping = 0.0 if is_off(mujoco, compiled, "PASSIVE", "DAMPER") else float(compiled.tendon_damping[i])
        lower, upper = compiled.tendon_lengthspring[i].tolist()
        stiffness = stiffness if lower == upper else 0.0
        if terms and (stiffness or damping):
            name = fresh(mujoco.mj_id2name(compiled, mujoco.mjtObj.mjOBJ_TENDON, i) or f"tendon{i}", taken)
            taken.add(name)
            by_name = tuple((names.joints[j], c) for j, c in terms.items())
            springs.append(Spring(name, by_name, stiffness, damping, lower if stiffness else 0.0))
    return tuple(springs)


def unread_tendons(mujoco: Any, compiled: Any) -> Iterator[str]:
    """Yield spatial tendons, and the nonlinear features of fixed ones."""
    is_sprung = not is_off(mujoco, compiled, "PASSIVE", "SPRING")
    is_damped = not is_off(mujoco, compiled, "PASSIVE", "DAMPER")
    is_rubbing = not is_off(mujoco, compiled, "CONSTRAINT", "FRICTIONLOSS")
    is_bounded = not is_off(mujoco, compiled, "CONSTRAINT", "LIMIT")
    for i in range(compiled.ntendon):
        armature = bool(own(compiled, "tendon_armature", i))
        if not fixed_terms(mujoco, compiled, i):
            yield f"<tendon><spatial>{' with armature' if armature else ''}"
            continue
        lower, upper = compiled.tendon_lengthspring[i].tolist()
        beyond = {
            "armature": armature,
            "frictionloss": is_rubbing and compiled.tendon_frictionloss[i],
            "a range": is_bounded and compiled.tendon_limited[i],
            "a dead band (springlength)": is_sprung and compiled.tendon_stiffness[i] and lower != upper,
            "stiffness beyond its linear term": is_sprung and np.any(own(compiled, "tendon_stiffnesspoly", i)),
            "damping beyond its linear term": is_damped and np.any(own(compiled, "tendon_dampingpoly", i)),
        }
        yield from (f"<tendon><fixed> with {what}" for what, is_there in beyond.items() if is_there)


Mount = tuple[str, Pose]
"""Where a body of the file is: a link of the tree and a pose in it."""


class Equalities(NamedTuple):
    """The result: closures, the frames they name, and the indices of their constraints."""

    closures: tuple[Closure, ...] = ()
    frames: tuple[Frame, ...] = ()
    held: frozenset[int] = frozenset()


def equalities(
    mujoco: Any, compiled: Any, mounts: Sequence[Mount], bodies: Sequence[Body], pose: Callable[[Any, Any], Pose]
) -> Equalities:
    """Return the closures of a compiled model; `pose` converts a position and a quaternion to a pose."""
    if is_off(mujoco, compiled, "CONSTRAINT", "EQUALITY"):
        return Equalities()
    index = {body.name: i for i, body in enumerate(bodies)}
    closures: list[Closure] = []
    frames: list[Frame] = []
    held: set[int] = set()
    taken: set[str] = set()
    for i in range(compiled.neq):
        kind = word(mujoco.mjtEq, compiled.eq_type[i])
        ends = _ends(mujoco, compiled, i, kind, pose) if kind in ("connect", "weld") else []
        if not compiled.eq_active0[i] or not ends or any(compiled.body_mocapid[body] >= 0 for body, _ in ends):
            continue
        if len({mounts[body][0] for body, _ in ends}) == 1:  # within one link, without effect
            continue
        name = mujoco.mj_id2name(compiled, mujoco.mjtObj.mjOBJ_EQUALITY, i) or fresh(f"{kind}{i}", taken)
        taken.add(name)
        for (body, placement), side in zip(ends, ("first", "second"), strict=True):
            link, mount = mounts[body]
            frames.append(Frame(f"{name}/{side}", index.get(link, WORLD), mount.then(placement)))
        rows = KINDS["point" if kind == "connect" else "frame"]
        closures.append(Closure(name, f"{name}/first", f"{name}/second", rows))
        held.add(i)
    return Equalities(tuple(closures), tuple(frames), frozenset(held))


def _ends(mujoco: Any, compiled: Any, i: int, kind: str, pose: Callable[[Any, Any], Pose]) -> list[tuple[int, Pose]]:
    """Return the two frames that a constraint makes coincide, each as a body and a pose in it."""
    objects = [int(compiled.eq_obj1id[i]), int(compiled.eq_obj2id[i])]
    if compiled.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        return [(int(compiled.site_bodyid[k]), pose(compiled.site_pos[k], compiled.site_quat[k])) for k in objects]
    data = compiled.eq_data[i]
    if kind == "connect":
        return [(body, Pose(position=vector(data[3 * k : 3 * k + 3]))) for k, body in enumerate(objects)]
    return [(objects[0], pose(data[3:6], data[6:10])), (objects[1], Pose(position=vector(data[:3])))]


def driven_joints(mujoco: Any, compiled: Any, names: Names) -> tuple[str, ...]:
    """Return the joints that actuators drive, in the order of the actuators."""
    driven = []
    for i in range(len(compiled.actuator_trntype)):
        if word(mujoco.mjtTrn, compiled.actuator_trntype[i]) in ("joint", "jointinparent"):
            driven.append(names.joints[int(compiled.actuator_trnid[i, 0])])
    return tuple(dict.fromkeys(driven))


def keyframes(mujoco: Any, compiled: Any, names: Names) -> tuple[tuple[str, Coordinates], ...]:
    """Return the configurations of the file's keyframes, by their names."""
    found: dict[str, Coordinates] = {}
    for i in range(compiled.nkey):
        name = mujoco.mj_id2name(compiled, mujoco.mjtObj.mjOBJ_KEY, i) or fresh(f"key{i}", {*found})
        found[name] = coordinates(compiled, names, compiled.key_qpos[i])
    return tuple(found.items())


def coordinates(compiled: Any, names: Names, qpos: Any) -> Coordinates:
    """Return the coordinates of every joint; those of the file's pose are ``compiled.qpos0``."""
    found = []
    for j, name in enumerate(names.joints):
        first = int(compiled.jnt_qposadr[j])
        size = {0: 7, 1: 4}.get(int(compiled.jnt_type[j]), 1)
        values = qpos[first : first + size].tolist()
        if size > 1:
            start = 3 if int(compiled.jnt_type[j]) == FREE else 0
            w, x, y, z = values[start:]
            values = [*values[:start], x, y, z, w]
        found.append((name, tuple(float(value) for value in values)))
    return tuple(found)
