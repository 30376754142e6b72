"""Every public callable with every kind of argument that it cannot use: one AppellError, or a valid finite result.

A subject is a callable with arguments that work. Each of its arguments is replaced by each hostile value in turn, the
others stay. Raw exceptions, warnings of NumPy and results that are not finite are defects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import appell
from tests.support.hostile import NAMES, Subject, fault, is_finite, values
from tests.support.kinds import about, arguments, random_states

# Subjects

Q, V = [0.1, 0.2], [0.0, 0.1]
POINTS = np.array([[0.1, 0.2, 0.3]])
SHARED = {"restitution": 0.5, "friction": 0.1, "points": None, "name": "wall"}
LINE = appell.trajectory.JointLine(Q, V, 1.0)


@functools.cache
def robot(name: str) -> Any:
    """Return a robot of the catalogue."""
    return appell.load(name)


def still(t: float) -> Any:
    """Return a trajectory of two joints that stands still."""
    return Q, [0.0, 0.0], [0.0, 0.0]


def gaps(wall: Any) -> Any:
    """Return the gaps, gradients and second derivatives of a wall."""
    return [x for part in wall.parts for x in (part.gap(POINTS), part.gradient(POINTS), part.hessian(POINTS))]


def states(run: Any) -> Any:
    """Return the states of a run, or of a rollout as far as it did not diverge."""
    if isinstance(run, appell.Rollout):
        return [] if (run.diverged >= 0).any() else [run.q, run.v]
    return run.t, run.q, run.v, run.a, run.tau


def moved(**options: Any) -> Any:
    """Return the states of a short simulation."""
    return states(appell.simulate(robot("two-link"), Q, V, 0.001, **options))


def walls() -> dict[str, Subject]:
    """Return the walls."""
    walls = appell.walls
    round_ = {"centre": (0.0, 0.0), "inside": True, "axis": (0.0, 0.0, 1.0)}
    good: dict[Any, dict[str, Any]] = {
        walls.Circle: {"radius": 1.0, **round_},
        walls.Arc: {"radius": 1.0, "start": 0.0, "end": 1.0, **round_},
        walls.Ellipse: {"a": 1.0, "b": 2.0, "angle": 0.1, **round_},
        walls.Sphere: {"radius": 1.0, "centre": (0.0, 0.0, 0.0), "inside": True},
        walls.Plane: {"point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0)},
        walls.Line: {"start": (0.0, 0.0), "end": (0.0, 1.0), "axis": (0.0, 0.0, 1.0)},
        walls.Segment: {"start": (0.0, 0.0), "end": (0.0, 1.0), "axis": (0.0, 0.0, 1.0)},
        walls.Polyline: {"corners": [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)], "closed": False, "axis": (0.0, 0.0, 1.0)},
        walls.SignedDistance: {"function": lambda p: p[..., 2], "slope": None, "curvature": None},
    }
    return {f"walls.{wall.__name__}": Subject(wall, arguments | SHARED, gaps) for wall, arguments in good.items()}


def simulations() -> dict[str, Subject]:
    """Return simulate, rollout, points and events."""
    start = {"robot": robot("two-link"), "q0": Q, "v0": V}
    adaptive = {
        "control": None,
        "walls": [appell.walls.Plane((0.0, -1.0, 0.0), (0.0, 1.0, 0.0))],
        "restitution": 0.5,
        "friction": 0.1,
        "tie_window": 1e-4,
        "rest_speed": 1e-6,
        "impact_law": "newton",
        "points": None,
        "limits": False,
        "rate": None,
        "events": (),
        "method": "dop853",
        "rtol": 1e-8,
        "atol": 1e-9,
        "max_steps": 20,
        "timeout": 60.0,
    }
    rollout = {"tau": None, "dt": 1e-3, "steps": 2, "method": "rk4", "save_every": 1, "control": None}
    return {
        "simulate": Subject(appell.simulate, {**start, "duration": 0.01, **adaptive}, states),
        "simulate, rk4": Subject(
            appell.simulate, {**start, "duration": 0.01, "method": "rk4", "step": 1e-3, "max_steps": 20}, states
        ),
        "rollout": Subject(appell.rollout, {**start, **rollout, "parameters": None}, states),
        "Point": Subject(
            appell.simulation.Point,
            {"frame": "link2", "position": (0.0, 0.0, 0.0), "name": "tip"},
            lambda point: moved(walls=[appell.walls.Circle(3.0)], points=[point]),
        ),
        "Event": Subject(
            appell.simulation.Event,
            {"function": lambda t, q, v: 1.0, "name": "never", "direction": 0, "terminal": False},
            lambda event: moved(events=[event]),
        ),
        "threads": Subject(appell.threads, {"count": appell.threads()}),
    }


def controllers() -> dict[str, Subject]:
    """Return the control laws, made and called, and the control unit."""
    control, arm, puma = appell.control, robot("two-link"), robot("puma560")
    gains, state = {"kp": 1.0, "kd": 1.0, "limit": None}, {"t": 0.0, "q": Q, "v": V}
    hardware = control.Hardware([200] * 2, [62.0] * 2, [10.0] * 2, [-2.0] * 2, [2.0] * 2, [2.0] * 2)
    pose, zero, six = puma.pose(np.zeros(6), "dh6"), np.zeros(6), np.full(6, 0.3)
    frame = {"robot": puma, "frame": "dh6", "path": lambda t: (pose, zero, zero)}
    wiring = {name: [10.0] for name in ("counts", "gear", "torque", "upper", "speed")} | {"lower": [-2.0]}
    adaptive = {"robot": arm, "trajectory": still, "bandwidth": 1.0, "kd": 1.0, "rate": 1.0}
    found = {
        "Tracking": Subject(
            control.Tracking, {"robot": arm, "trajectory": still, **gains, "ki": None}, lambda law: law(**state)
        ),
        "Adaptive": Subject(control.Adaptive, {**adaptive, "start": None, "limit": None}, lambda law: law(**state)),
        "OperationalSpace": Subject(
            control.OperationalSpace,
            {**frame, **gains, "axes": range(6), "posture": None, "posture_gains": (25.0, 10.0)},
            lambda law: law(0.0, six, zero),
        ),
        "PD, called": Subject(control.PD(arm, Q, 1.0, 1.0), state, may_overflow=True),
        "Tracking, called": Subject(
            lambda **given: control.Tracking(arm, still, 1.0, 1.0, 1.0)(**given),  # noqa: PLW0108  # one per call: it has memory
            state,
            may_overflow=True,
        ),
        "Adaptive, called": Subject(
            lambda **given: control.Adaptive(**adaptive)(**given),  # noqa: PLW0108  # one per call: it has memory
            state,
            may_overflow=True,
        ),
        "OperationalSpace, called": Subject(
            control.OperationalSpace(**frame, kp=1.0, kd=1.0), {"t": 0.0, "q": six, "v": zero}, may_overflow=True
        ),
        "gains": Subject(control.gains, {"frequency": 1.0, "damping": 1.0}),
        "integral_gains": Subject(control.integral_gains, {"frequency": 1.0, "damping": 1.0, "integral": None}),
        "perturbed": Subject(
            control.perturbed, {"robot": arm, "masses": 1.0, "friction": None}, lambda other: other.parameters
        ),
        "Safety": Subject(control.Safety, {"disagreement": 0.03, "stall": 0.1, "stall_share": 0.9, "late": 0.5}),
        "Hardware": Subject(
            control.Hardware,
            {**wiring, "volts": 10.0, "bits": 12},
            lambda made: (made.encode([0.1]), made.potentiometer([0.1]), made.convert([1.0])),
        ),
        "SimulatedPlant": Subject(
            control.SimulatedPlant,
            {"robot": arm, "hardware": hardware, "q": Q, "delay": 0.0, "step": 1e-3}
            | dict.fromkeys(("hot", "lost", "jumps")),
            lambda plant: (plant.write(np.zeros(2), (False, False), False), plant.wait(0.002), plant.q),
        ),
        "run_loop": Subject(
            control.run_loop,
            {"plant": control.SimulatedPlant(arm, hardware, q=Q), "duration": 0.02, "rate": 200.0, "homing": 2}
            | dict.fromkeys(("bandwidth", "safety", "tools")),
            lambda run: (run.t, run.q),
        ),
    }
    found["run_loop"] = found["run_loop"]._replace(
        call=functools.partial(control.run_loop, controller=lambda t, q, v: np.zeros(2))
    )
    for name in ("PD", "PDGravity", "PointToPoint"):
        found[name] = Subject(getattr(control, name), {"robot": arm, "goal": Q, **gains}, lambda law: law(**state))
    methods = {"encode": "angle", "angles": "counts", "potentiometer": "angle", "absolute": "volts", "command": "tau"}
    for name, argument in methods.items():
        found[f"Hardware.{name}"] = Subject(getattr(hardware, name), {argument: Q}, may_overflow=True)
    return found


def plans() -> dict[str, Subject]:
    """Return trajectories, timing laws and inverse kinematics."""
    trajectory, arm, puma = appell.trajectory, robot("two-link"), robot("puma600")
    q = np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
    pose = puma.pose(q, "link6")
    good: dict[Any, dict[str, Any]] = {
        trajectory.JointLine: {"start": Q, "end": V, "timing": 1.0},
        trajectory.Ramp: {"start": Q, "end": V, "begin": 0.1, "finish": 0.5, "duration": 1.0},
        trajectory.Spline: {"times": [0.0, 1.0], "points": [Q, V], "degree": 3, "v0": None, "v1": None},
        trajectory.Fourier: {"centre": Q, "sines": [Q], "cosines": [V], "frequency": 1.0, "duration": 2.0},
        trajectory.sinusoid: {"centre": Q, "amplitude": Q, "frequency": 1.0, "phase": 0.0, "duration": 2.0},
        trajectory.ScaledTrajectory: {"trajectory": LINE, "factor": 2.0},
        trajectory.JerkLimited: {"start": Q, "end": V, "velocity": 1.0, "acceleration": 2.0, "jerk": 9.0}
        | dict.fromkeys(("v0", "a0", "v1", "a1")),
        trajectory.CartesianLine: {"robot": puma, "q0": q, "end": pose[:3, 3] + 0.01, "speed": 0.1}
        | {"timing": None, "frame": None},
    }
    timings: dict[Any, dict[str, Any]] = {
        trajectory.ConstantSpeed: {"duration": 1.0},
        trajectory.Quintic: {"duration": 1.0},
        trajectory.Trapezoid: {"duration": 1.0, "ramp": 0.2},
    }
    found = {made.__name__: Subject(made, values, lambda motion: motion(0.01)) for made, values in good.items()}
    found |= {
        made.__name__: Subject(made, values, lambda timing: trajectory.JointLine(Q, V, timing)(0.5))
        for made, values in timings.items()
    }
    limits = {"velocity": 1.0, "acceleration": None, "torque": None, "samples": 10}
    search = {"guess": None, "restarts": 2, "tolerance": 1e-9, "length": 1.0, "seed": 0}
    goal = {"goal": arm.pose(Q, "link2")[:3, 3], "frame": "link2"}
    return found | {
        "trajectory, called": Subject(LINE, {"t": 0.5}),
        "time_scaling": Subject(
            trajectory.time_scaling,
            {"robot": arm, "trajectory": LINE, **limits, "optimal": False},
            lambda best: best.factor,
        ),
        "time_scaling, optimal": Subject(
            functools.partial(trajectory.time_scaling, optimal=True),
            {"robot": arm, "trajectory": LINE, **limits},
            lambda best: best.factor,
        ),
        "OnlineTrajectory": Subject(
            trajectory.OnlineTrajectory,
            {"q": Q, "dt": 0.01, "velocity": 1.0, "acceleration": 2.0, "jerk": 9.0, "v": None, "a": None},
            lambda online: online.step(V),
        ),
        "OnlineTrajectory.step": Subject(
            trajectory.OnlineTrajectory(Q, 0.01, velocity=1.0, acceleration=2.0, jerk=9.0).step, {"goal": V, "v": None}
        ),
        "inverse_kinematics": Subject(
            appell.inverse_kinematics, {"robot": arm, **goal, **search}, lambda found: found.q
        ),
        "inverse_kinematics, tasks": Subject(
            functools.partial(appell.inverse_kinematics, arm), {"tasks": (), **goal}, lambda found: found.q
        ),
        **{
            f"tasks.{made.__name__}": Subject(
                made, values, lambda task: appell.inverse_kinematics(arm, tasks=[task], restarts=1).q
            )
            for made, values in {
                appell.tasks.Position: {"target": goal["goal"], "frame": "link2", "weight": 1.0, "tolerance": None},
                appell.tasks.Orientation: {"target": np.eye(3), "frame": "link2", "weight": 1.0, "tolerance": 1e-6},
                appell.tasks.CentreOfMass: {"target": goal["goal"], "weight": [1.0, 1.0, 0.0], "tolerance": None},
                appell.tasks.Posture: {"target": Q, "weight": 1e-2, "tolerance": 1e-3},
            }.items()
        },
        "analytic_ik": Subject(
            appell.planning.analytic_ik, {"robot": puma, "goal": pose, "frame": "link6"}, lambda found: found.q
        ),
    }


def methods(name: str, folder: str) -> dict[str, Subject]:
    """Return the methods of a robot that are no verbs, and its verbs' options."""
    it = robot(name)
    q, v, a, tau = (x[0] for x in random_states(it, 2))
    frame, options = it.frame_names[-1], {"parameters": None, "formulation": None, "out": None, "wrenches": None}
    c = {"verb": "gravity", "to": "c", "path": f"{folder}/robot.c", "frame": None, "real": "double", "libm": True}
    found: dict[str, tuple[Any, dict[str, Any]]] = {
        "random": (it.random, {"rng": np.random.default_rng(0), "size": 2}),
        "difference": (it.difference, {"q0": q, "q1": q}),
        "assemble": (it.assemble, {"guess": q}),
        "project": (it.project, {"q": q, "v": v}),
        "closure_error": (it.closure_error, {"q": q}),
        "condition": (it.condition, {"q": q}),
        "with_independent": (it.with_independent, {"names": None, "near": None}),
        "coordinates_near": (it.coordinates_near, {"q": q}),
        "tree_configuration": (it.tree_configuration, {"q": q}),
        "actuator_positions": (it.actuator_positions, {"q": q}),
        "from_actuators": (it.from_actuators, {"positions": it.actuator_positions(q), "guess": None}),
        "reorder": (it.reorder, {"names": it.joint_names}),
        "places": (it.places, {"letter": "q"}),
        "pose": (it.pose, {"q": q, "frame": frame}),
        "inverse_dynamics": (it.inverse_dynamics, {"q": q, "v": v, "a": a[: len(it.driven)], **options}),
        "forward_dynamics": (it.forward_dynamics, {"q": q, "v": v, "tau": tau, **options}),
        "wrenches": (
            lambda wrench: it.inverse_dynamics(q, v, a[: len(it.driven)], wrenches={frame: wrench}),
            {"wrench": np.zeros(6)},
        ),
        "evaluate": (lambda verb, about: it.evaluate(verb, q, about=about), {"verb": "gravity", "about": None}),
        "using": (it.using, {"formulation": "gibbs"}),
        "formulations": (it.formulations, {"verb": "gravity"}),
        "operations": (it.operations, {"verb": "gravity", "formulation": None}),
        "export": (it.export, {**c, "prefix": None, "parametric": False, "formulation": None}),
        "save": (it.save, {"path": f"{folder}/robot.toml"}),
    }
    if not it.closure_names:
        found["integrate"] = it.integrate, {"q": q, "dv": v}
    return {method: Subject(call, good, may_overflow=True) for method, (call, good) in found.items()}


def verbs(name: str) -> dict[str, Subject]:
    """Return the verbs of a robot."""
    it, found = robot(name), {}
    samples = random_states(it, 2)
    for verb, row in it.verbs.items():
        names = [port for port, _ in row.inputs]

        def call(verb: str = verb, names: Any = tuple(names), **given: Any) -> Any:
            return it.evaluate(verb, *(given[port] for port in names), about=about(it, verb))

        good = {port: x[0] for port, x in zip(names, arguments(it, verb, samples), strict=True)}
        found[verb] = Subject(call, good, may_overflow=True)
    return found


MAKERS: dict[str, Callable[[], dict[str, Subject]]] = {
    "walls": walls,
    "simulations": simulations,
    "controllers": controllers,
    "plans": plans,
}
ROBOTS = ("two-link", "five-bar", "agile-wrist")


def faults(subjects: Mapping[str, Subject], every: int) -> list[str]:
    """Return all faults, of every so many-th hostile value; which ones differs from argument to argument."""
    found, count = [], 0
    for label, subject in subjects.items():
        assert is_finite(subject.use(subject.call(**subject.good))), f"{label} does not work"
        for argument in subject.good:
            count += 1
            for name in NAMES[count % every :: every]:
                fault_ = fault(subject, argument, values()[name])
                if fault_:
                    found.append(f"{label}({argument}={name}): {fault_}")
    return found


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("subjects", MAKERS)
def test_invalid_arguments_are_appell_errors(subjects, every):
    assert not faults(MAKERS[subjects](), every)


@pytest.mark.parametrize(
    ("name", "every"), [("two-link", 5), *(pytest.param(name, 1, marks=pytest.mark.slow) for name in ROBOTS)]
)
def test_invalid_arguments_of_verbs_are_appell_errors(name, every):
    assert not faults(verbs(name), every)


@pytest.mark.parametrize(
    ("name", "every"), [("five-bar", 5), *(pytest.param(name, 1, marks=pytest.mark.slow) for name in ROBOTS)]
)
def test_invalid_arguments_of_methods_are_appell_errors(name, every, tmp_path):
    assert not faults(methods(name, str(tmp_path)), every)
