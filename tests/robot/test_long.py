"""Long robots: loops over the bodies give what is written out, of every verb and kind of joint."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.loops.closed import kind_of
from appell.model.joints import KINDS
from appell.model.mimic import coupled
from appell.model.model import WORLD, Frame, Mimic, Model
from appell.program.nodes import Program, verify
from appell.program.run import run
from appell.recursion.points import Place, point_accelerations, point_velocities, positions
from appell.robot.calls import compile
from appell.robot.kind import Key
from appell.robot.long import kind, recorder
from appell.robot.long.kind import LONG, LongTree, is_long
from appell.robot.long.recorder import Recorder
from appell.robot.verbs.table import UNIT, VERBS
from appell.simulation.contact.points import Named, Points
from appell.spatial.pose import Pose
from appell.trace.tape import Port
from tests.support.evaluation import written_out
from tests.support.exported import in_python
from tests.support.kinds import about

LOOPED = [verb for verb in VERBS if verb in kind.LOOPED]
WRITTEN = [verb for verb in LOOPED if VERBS[verb].about != "points"]
"""Verbs that are exported: C has no name for points."""
ROBOTS = {
    "chain": [("revolute", 0)] * 6,
    "tree": [(kind, back) for kind in KINDS for back in (0, 2)],
    "balls": [(kind, 1) for kind in ("free", "ball", "prismatic", "ball", "continuous", "revolute")],
}
"""Kinds of joint, each with how far above the last body its parent is."""
MANY = [(kind, k % 3) for k in range(11) for kind in ("revolute", "prismatic", "ball", "continuous")] * 2


@pytest.fixture(scope="module")
def robot(tree: Callable[..., Model]) -> Callable[[str, bool], appell.Robot]:
    """Return a function that makes a robot of a shape, with joint friction or without."""

    @functools.cache
    def made(name: str, has_friction: bool) -> appell.Robot:
        model = tree(np.random.default_rng(5), {**ROBOTS, "long": MANY}[name], has_friction=has_friction)
        joints = [b.joint if b.joint.type.nq == 1 else replace(b.joint, offset=0.0) for b in model.bodies]
        joints = [replace(joint, pitch=0.1) if joint.kind == "helical" else joint for joint in joints]
        bodies = tuple(replace(body, joint=joint) for body, joint in zip(model.bodies, joints, strict=True))
        return appell.load(replace(model, bodies=bodies))

    return made


def arguments(robot: appell.Robot, verb: str, samples: int = 3) -> list[Any]:
    """Return random arguments of a verb."""
    rng = np.random.default_rng(11)
    inputs, _ = VERBS[verb].ports({**robot.facts.sizes, "n": 0})
    return [robot.random(rng, samples), *(rng.normal(size=(samples, *port.shape)) for port in inputs[1:])]


def looped(robot: appell.Robot, verb: str, frame: Any = None, *, is_parametric: bool = False) -> Program:
    """Return the program of a verb as loops, however few the bodies."""
    make = LongTree(robot.model, kind_of).loops(Key(verb, frame, None, is_parametric))
    assert make is not None
    return make()


def compiled(program: Program) -> Kernel:
    """Return the native code of a program."""
    return Kernel(ProgramSpec(program.name, program.inputs, program.outputs, repr(program), lambda: program))


def results(program: Program, *given: Any) -> tuple[Any, ...]:
    """Return what native code gives: results, then lengths of quaternions if there are any."""
    found = compiled(program)(*given)
    return found if isinstance(found, tuple) else (found,)


def joined(found: Any) -> Any:
    """Return all results of every sample side by side."""
    several = found if isinstance(found, tuple) else (found,)
    return np.concatenate([x.reshape(len(x), -1) for x in several], axis=1)


@pytest.mark.parametrize("is_parametric", [False, True], ids=["fixed", "parametric"])
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("verb", LOOPED)
def test_loops_give_what_is_written_out(
    robot: Callable[..., appell.Robot], agree: Any, verb: str, name: str, is_parametric: bool
) -> None:
    """Native code, and the program's plain meaning, against the tape of the same verb."""
    one = robot(name, name != "balls")
    frame = one.link_names[-2] if VERBS[verb].about == "frame" else about(one, verb)
    given = arguments(one, verb)
    if is_parametric:
        given.append(np.tile(one.parameters, (3, 1)))
    (formulation,) = LongTree(one.model, kind_of).formulations(verb)  # whose values of guards are the same
    tape = compile.tape(one.kind, Key(verb, frame, formulation, is_parametric))
    expected = np.array([tape.run(*row) for row in zip(*given, strict=True)])
    program = looped(one, verb, frame, is_parametric=is_parametric)
    # two ways of solving for accelerations lose the digits of the matrix's condition
    within = 1e-10 if "forward" in verb or verb == "motion" else 1e-12
    agree(joined(compiled(program)(*given)), expected, within)
    agree(run(verify(program), *(x[0] for x in given)), expected[0], within)


def sprung(model: Model) -> Model:
    """Return a model with two springs between joints."""
    names = [body.joint.name for body in model.bodies if body.joint.type.nq == 1]
    belt = appell.Spring("belt", ((names[0], 1.0), (names[2], -0.7)), stiffness=5.0, damping=0.3, reference=0.2)
    tendon = appell.Spring("tendon", tuple((name, 0.5 + k) for k, name in enumerate(names[1:4])), stiffness=2.0)
    return replace(model, springs=(belt, tendon))


def following(model: Model) -> Model:
    """Return a model in which three joints follow two others."""
    bodies, ones = list(model.bodies), [k for k, body in enumerate(model.bodies) if body.joint.type.nq == 1]
    for follower, source, multiplier, offset in ((3, 1, -0.7, 0.2), (2, 0, 1.3, 0.0), (4, 1, 0.5, -0.1)):
        mimic = Mimic(bodies[ones[source]].joint.name, multiplier, offset)
        body = bodies[ones[follower]]
        bodies[ones[follower]] = replace(body, joint=replace(body.joint, mimic=mimic))
    return coupled(replace(model, bodies=tuple(bodies)))


@pytest.mark.parametrize("is_parametric", [False, True], ids=["fixed", "parametric"])
@pytest.mark.parametrize("edit", [sprung, following])
@pytest.mark.parametrize("verb", LOOPED)
def test_loops_have_springs_between_joints_and_joints_that_follow_others(
    robot: Callable[..., appell.Robot], agree: Any, verb: str, edit: Callable[[Model], Model], is_parametric: bool
) -> None:
    """The program's plain meaning against the tape of the same verb, guards apart: that of M is another one's."""
    one = appell.load(edit(robot("tree", True).model))
    frame = one.link_names[-2] if VERBS[verb].about == "frame" else about(one, verb)
    given = [x[0] for x in arguments(one, verb, 1)]
    if is_parametric:
        given.append(np.array(one.parameters))
    known = one.kind.formulations(verb)
    (formulation,) = (
        name if name in known else "composite" for name in LongTree(one.model, kind_of).formulations(verb)
    )
    key = Key(verb, frame, formulation, is_parametric)
    ports, guards = compile.ports(one.kind, key)[1:]
    size = sum(port.size for port in ports[: len(ports) - len(guards)])
    expected = np.array(compile.tape(one.kind, key).run(*given))[:size]
    found = np.array(run(verify(looped(one, verb, frame, is_parametric=is_parametric)), *given), dtype=float)[:size]
    agree(found, expected, 1e-10 if "forward" in verb or verb in ("motion", "step") else 1e-12)


def test_a_step_sees_of_a_body_what_all_of_its_class_have(robot: Callable[..., appell.Robot]) -> None:
    """What a step may branch on is the same of all members of a class; which body it is, it cannot ask."""
    model = robot("long", True).model
    tree = Recorder(model, (Port("q", (model.nq,)),), is_massless=False, is_parametric=False)
    for (sort, pattern), numbers, i in zip(tree.keys[1:], tree.numbers[1:], tree.bodies, strict=True):
        assert sort == model.bodies[i].joint.kind
        assert all(x is None or x == y for x, y in zip(pattern, numbers, strict=True))
    with pytest.raises(TypeError, match="ClassBody"):
        tree.total(0.0, tree.each(lambda body: model.bodies[body].inertia.mass))


def test_parameters_take_the_place_of_the_models(robot: Callable[..., appell.Robot], agree: Any) -> None:
    """τ = Y·π for parameters that are another robot's, friction included, and another for every sample."""
    one = robot("tree", True)
    program = looped(one, "inverse_dynamics", is_parametric=True)
    given = arguments(one, "inverse_dynamics")
    pi = np.random.default_rng(3).normal(size=(3, len(one.parameters)))
    matrix, *_ = results(looped(one, "regressor"), *given)
    expected = np.einsum("bij,bj->bi", matrix, pi)
    agree(results(program, *given, pi)[0], expected, 1e-12)


def test_a_long_program_unrolls_to_a_tape(robot: Callable[..., appell.Robot], agree: Any) -> None:
    """What CasADi and JAX are given."""
    one = robot("tree", True)
    given = [x[0] for x in arguments(one, "coriolis_matrix")]
    program = looped(one, "coriolis_matrix")
    agree(written_out(program).run(*given), run(program, *given), 1e-13)


# Long robots, by the public verbs


def test_every_kind_of_joint_is_looped(robot: Callable[..., appell.Robot], tree: Callable[..., Model]) -> None:
    """More than 80 bodies of any kind, with followers or without."""
    assert is_long(robot("long", True).model)
    assert is_long(tree(np.random.default_rng(0), [(kind, 0) for kind in KINDS] * 11))
    assert is_long(replace(robot("long", True).model, is_coupled=True))


def test_verbs_of_a_long_tree_agree_with_each_other(robot: Callable[..., appell.Robot], agree: Any) -> None:
    """Each verb through another one: torques, energies, momentum, frames."""
    one = robot("long", True)
    q, v, a = arguments(one, "inverse_dynamics")
    tip = one.link_names[-1]
    mass, tau = one.mass_matrix(q), one.inverse_dynamics(q, v, a)
    agree(np.swapaxes(mass, 1, 2), mass, 0.0)
    agree(np.einsum("bij,bj->bi", mass, a) + one.bias(q, v), tau, 1e-11)
    agree(np.einsum("bij,j->bi", one.regressor(q, v, a), one.parameters), tau, 1e-11)
    agree(0.5 * np.einsum("bi,bij,bj->b", v, mass, v), one.kinetic_energy(q, v), 1e-12)
    agree(one.forward_dynamics(q, v, tau), a, 1e-7)
    agree(np.einsum("bij,bj->bi", one.jacobian(q, tip), v), one.velocity(q, v, tip), 1e-12)
    agree(np.einsum("bij,bj->bi", one.momentum_matrix(q), v), one.momentum(q, v), 1e-12)
    weight = -one.total_mass * one.centre_of_mass(q) @ np.array(one.model.gravity)
    joints = [(where.start, b.joint) for b, where in zip(one.model.bodies, one.model.q_slices, strict=True)]
    springs = sum(0.5 * j.stiffness * (q[:, k] - j.spring_reference) ** 2 for k, j in joints if j.stiffness)
    agree(one.potential_energy(q), weight + springs, 1e-12)
    smooth = appell.load(one.model.without_friction())
    drift = np.einsum("bij,bj->bi", smooth.coriolis_matrix(q, v), v)
    agree(drift, smooth.bias(q, v) - smooth.gravity(q), 1e-11, np.abs(smooth.bias(q, v)).max())


def test_mass_rate_less_twice_coriolis_is_skew(robot: Callable[..., appell.Robot], agree: Any) -> None:
    """Ṁ = C + Cᵀ on a long tree, Ṁ by central differences."""
    one, step = robot("long", False), 1e-6
    q, v = (x[0] for x in arguments(one, "coriolis_matrix"))
    there, back = (one.mass_matrix(one.integrate(q, side * step * v)) for side in (1.0, -1.0))
    coriolis = one.coriolis_matrix(q, v)
    agree((there - back) / (2.0 * step), coriolis + coriolis.T, 1e-7)


def test_what_no_path_reaches_is_zero(robot: Callable[..., appell.Robot]) -> None:
    """Into arrays that hold something else before."""
    one = robot("long", True)
    q, v, a = arguments(one, "inverse_dynamics")
    path = set(one.model.ancestors(len(one.model.bodies) - 1))
    reached = np.zeros(one.nv, dtype=bool)
    for i in path:
        reached[one.model.v_slices[i]] = True
    out = np.full((3, 6, one.nv), np.nan)
    one.jacobian(q, one.link_names[-1], out=out)
    assert not out[..., ~reached].any()
    assert np.abs(out[..., reached]).max(axis=1).all()
    out = np.full((3, *one.regressor(q[0], v[0], a[0]).shape), np.nan)
    one.regressor(q, v, a, out=out)
    assert not out[:, ~reached, 10 * (len(one.model.bodies) - 1) : 10 * len(one.model.bodies)].any()
    assert np.isfinite(out).all()


def test_frames_of_the_world_stand_still(robot: Callable[..., appell.Robot]) -> None:
    """A frame that no joint moves."""
    one = robot("long", True)
    base = Frame("base", WORLD, Pose(position=(1.0, 2.0, 3.0)))
    still = appell.load(replace(one.model, frames=(*one.model.frames, base)))
    q, v, a = arguments(still, "inverse_dynamics")
    np.testing.assert_array_equal(still.pose(q, "base")[:, :3, 3], [[1.0, 2.0, 3.0]] * 3)
    assert not still.jacobian(q, "base").any()
    assert not still.velocity(q, v, "base").any()
    np.testing.assert_allclose(still.acceleration(q, v, a, "base"), 0.0, atol=1e-14)


@pytest.mark.parametrize("verb", [verb for verb in LOOPED if UNIT in VERBS[verb].guards])
def test_quaternions_of_a_long_robot_must_be_of_unit_length(robot: Callable[..., appell.Robot], verb: str) -> None:
    """Those too that have no part in the result."""
    one = robot("long", True)
    frame = one.link_names[0] if VERBS[verb].about else None
    given = arguments(one, verb)
    last = max(i for i, body in enumerate(one.model.bodies) if body.joint.kind == "ball")
    one.evaluate(verb, *given, about=frame)
    given[0][1, one.model.q_slices[last].start] += 0.01
    with pytest.raises(appell.InputError, match=rf"'joint{last}' of sample \(1,\) has norm"):
        one.evaluate(verb, *given, about=frame)


def test_a_sample_that_is_not_a_number_keeps_to_itself(robot: Callable[..., appell.Robot]) -> None:
    """Sums at the root begin anew for every sample."""
    one = robot("long", True)
    q, v, a = arguments(one, "gibbs", 40)
    expected = one.gibbs(q, v, a)
    v[7, 3] = np.nan
    found = one.gibbs(q, v, a)
    assert np.isnan(found[7])
    np.testing.assert_array_equal(np.delete(found, 7), np.delete(expected, 7))


@pytest.mark.parametrize("verb", ["mass_matrix", "coriolis_matrix", "regressor", "momentum"])
def test_single_precision_of_walks_and_sums(robot: Callable[..., appell.Robot], verb: str) -> None:
    """float32 in, float32 out, equal to its precision."""
    one = robot("tree", True)
    program = looped(one, verb)
    given = arguments(one, verb)
    exact, single = (results(program, *(x.astype(kind) for x in given))[0] for kind in (np.float64, np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - exact).max() <= 2e-5 * np.abs(exact).max()


def test_points_of_a_long_robot_move_as_the_recursion_says(robot: Callable[..., appell.Robot], agree: Any) -> None:
    """Positions, velocities and biases of points of several bodies and of the world."""
    one = robot("long", False)
    q, v = arguments(one, "bias", 1)
    places = [Place(k, (0.1, 0.2, 0.3)) for k in (0, 40, 87, WORLD)]
    points = Points(one, [Named(f"point {k}", place) for k, place in enumerate(places)])
    at, moving = (tuple(map(float, x[0])) for x in (q, v))
    agree(points.positions(q[0]), np.array(positions(one.model, at, places)), 1e-12)
    agree(points.velocities(q[0], v[0]), np.array(point_velocities(one.model, at, moving, places)), 1e-12)
    agree(
        points.biases(q[0], v[0]), np.array(point_accelerations(one.model, at, moving, (0.0,) * one.nv, places)), 1e-11
    )


# Exports


def place(array: Any) -> Any:
    """Return the address of an array's numbers."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@pytest.mark.parametrize("libm", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["libm", "alone"])
def test_every_verb_of_a_long_robot_is_c_with_loops(
    robot: Callable[..., appell.Robot], agree: Any, compiler: Any, libm: bool, tmp_path: Path
) -> None:
    """Compiled with every warning an error, it gives what Python gives."""
    one = robot("long", True)
    frame = one.link_names[50]
    file = one.export(WRITTEN, path=tmp_path / "long.c", frame=frame, prefix="arm", libm=libm)
    library = file.with_suffix(".so")
    compiler.build("-O1", "-fPIC", "-shared", file, "-o", library, *(["-lm"] if libm else ["-nostdlib"]))
    c = ctypes.CDLL(str(library))
    for verb in WRITTEN:
        place_of = frame if VERBS[verb].about else None
        given = [x[0] for x in arguments(one, verb, 1)]
        expected = one.evaluate(verb, *(x[None] for x in given), about=place_of)
        program = one.program(verb, place_of)
        ports = program.spec.outputs[: len(program.spec.outputs) - len(program.guards)]
        found = [np.full(port.shape, np.nan) for port in ports]
        function = getattr(c, f"arm_{verb}" + (f"_{frame}" if place_of else ""))
        code = function(*map(place, (*given, *found)))
        assert UNIT not in VERBS[verb].guards or code == 0
        agree(joined(tuple(x[None] for x in found)), joined(expected), 1e-9 if "forward" in verb else 1e-11)


def test_c_of_a_long_robot_watches_its_quaternions_and_lets_arrays_overlap(
    robot: Callable[..., appell.Robot], any_compiler: Any, tmp_path: Path
) -> None:
    """A code where one is not of unit length; all of q is read before a torque is written."""
    one = robot("long", True)
    file = one.export("inverse_dynamics", path=tmp_path / "long.c", prefix="arm")
    assert "numbers on the stack" in file.with_suffix(".h").read_text()
    any_compiler.build("-O2", "-fPIC", "-shared", file, "-o", file.with_suffix(".so"), "-lm")
    inverse_dynamics = ctypes.CDLL(str(file.with_suffix(".so"))).arm_inverse_dynamics
    q, v, a = (x[0] for x in arguments(one, "inverse_dynamics", 1))
    expected = one.inverse_dynamics(q, v, a)
    assert inverse_dynamics(*map(place, (q, v, a, v))) == 0
    np.testing.assert_allclose(v, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    ball = next(i for i, body in enumerate(one.model.bodies) if body.joint.kind == "ball")
    q[one.model.q_slices[ball].start] += 0.01
    assert inverse_dynamics(*map(place, (q, v, a, v))) == 1


SLOW = [("tree", verb) for verb in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix")]


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("balls", "inverse_dynamics"),
        ("balls", "mass_matrix"),
        *(pytest.param(*x, marks=pytest.mark.slow) for x in SLOW),
    ],
)
def test_jax_of_loops_gives_what_is_meant(robot: Callable[..., appell.Robot], agree: Any, name: str, verb: str) -> None:
    """A batch in one scan over joints of many sizes, and the gradient along a direction."""
    jax = pytest.importorskip("jax")
    one = robot(name, name != "balls")
    program, given = looped(one, verb), arguments(one, verb)
    rng = np.random.default_rng(4)
    along = [rng.normal(size=x.shape[-1]) for x in given]
    expected = np.array([run(program, *row) for row in zip(*given, strict=True)])
    moved = run(program, *(x[0] + 1e-30j * d for x, d in zip(given, along, strict=True)))
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        f = in_python(program)
        found = jax.jit(f)(*given)
        slopes = jax.jit(jax.grad(lambda *x: sum(y.sum() for y in f(*x)), argnums=tuple(range(len(given)))))(
            *(x[0] for x in given)
        )
    agree(joined(found), expected, 1e-10 if "forward" in verb else 1e-12)
    slope = sum(float(np.dot(a, b)) for a, b in zip(slopes, along, strict=True))
    agree(np.array(slope), np.sum(moved).imag / 1e-30, 1e-9, np.abs(np.imag(moved)).max() / 1e-30)


def test_a_long_robot_is_a_loop_in_jax_and_written_out_for_casadi(tmp_path: Path, agree: Any) -> None:
    """With the verb's results alone, for its guards are not checked there."""
    jax = pytest.importorskip("jax")
    chain = appell.random_chain(LONG + 1, np.random.default_rng(0))
    q = chain.random(np.random.default_rng(1))
    assert "lax.scan" in chain.export("gravity", to="jax", path=tmp_path / "chain.py").read_text()
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        agree(jax.jit(chain.export("gravity", to="jax"))(q), chain.gravity(q), 1e-12)
    pytest.importorskip("casadi")
    agree(np.array(chain.export("gravity", to="casadi")(q))[:, 0], chain.gravity(q), 1e-12)


def test_a_law_around_a_long_robot_is_exported(any_compiler: Any, tmp_path: Path) -> None:
    """A controller's C, with the dynamics of a long chain written out in it."""
    chain = appell.random_chain(LONG + 1, np.random.default_rng(0))
    law = appell.control.PointToPoint(chain, chain.neutral(), kp=1.0, kd=1.0)
    file = law.export(path=tmp_path / "law.c")
    any_compiler.build("-O0", "-c", file, "-o", file.with_suffix(".o"))


def test_bodies_of_many_patterns_share_what_they_have_alike(
    robot: Callable[..., appell.Robot], agree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond so many classes there is one per kind of joint, with the zeros that all its bodies have."""
    one = robot("tree", True)
    monkeypatch.setattr(recorder, "CLASSES", 3)
    program = looped(one, "kinetic_energy")
    assert len({item.kind for item in program.tables[0].rows}) == 1 + len(KINDS)  # the world, too
    given = [x[0] for x in arguments(one, "kinetic_energy")]
    agree(run(program, *given), one.tape("kinetic_energy").run(*given), 1e-13)
