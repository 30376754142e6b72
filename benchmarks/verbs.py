"""Every verb of arms, humanoids and a parallel robot, against the strongest peers, in one run.

    python benchmarks/verbs.py [--robots UR5 G1] [--verbs mass_matrix] [--native] [--c] [--json FILE]

appell: plain and with `out=`, 1 and 2 threads, float32, compile times of this process with an empty cache folder (cold)
and of a second kernel from that folder (cached); with ``--c`` exported C by all available compilers, one sample per
call. Peers: the wheel of Pinocchio, each call minus its cost on a model of one joint; with ``--native`` Pinocchio
compiled for this processor; and the strongest peer of docs/benchmarks.md, scaled by the wheel's time here. All
alternate, and the best of many counts [ns per sample]. A row counts only if its results equal Pinocchio's. "results
filled" is the time in which NumPy fills arrays of the size of the results: the part of memory bandwidth.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from loops import peer as closed_peer
from native_peer import EIGEN, PREFIX, ExportedC, NativePinocchio, compilers

FOLDER = PREFIX / "share" / "example-robot-data" / "robots"
ROBOTS: dict[str, tuple[str, bool, int]] = {
    "UR5": (str(FOLDER / "ur_description/urdf/ur5_robot.urdf"), False, 8192),
    "Panda": (str(FOLDER / "panda_description/urdf/panda.urdf"), False, 8192),
    "G1": (str(FOLDER / "g1_description/urdf/g1_29dof_rev_1_0.urdf"), True, 1024),
    "TALOS": (str(FOLDER / "talos_data/robots/talos_reduced.urdf"), True, 1024),
    "Stewart": ("stewart", False, 4096),
}
"""Name → file, whether on a free base, samples."""
VERBS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": pin.rnea,
    "forward_dynamics": pin.aba,
    "mass_matrix": pin.crba,
    "coriolis_matrix": pin.computeCoriolisMatrix,
    "gravity": pin.computeGeneralizedGravity,
    "bias": pin.nonLinearEffects,
    "regressor": pin.computeJointTorqueRegressor,
    "inverse_dynamics_derivatives": pin.computeRNEADerivatives,
    "forward_dynamics_derivatives": pin.computeABADerivatives,
}
"""Verb → Pinocchio's function of the same arguments."""
SHORT = dict(zip(VERBS, ("ID", "FD", "M", "C", "G", "bias", "Y", "dID", "dFD"), strict=True))
STRONGEST = {
    "UR5": {"ID": (836, 159), "FD": (1657, 247), "M": (510, 97), "dID": (3156, 748), "dFD": (4193, 1078)},
    "G1": {"ID": (4481, 1140), "FD": (8547, 2350), "M": (4025, 1015), "dID": (18144, 7120), "dFD": (37615, 20067)},
    "TALOS": {"ID": (6801, 1700), "FD": (12799, 3015), "M": (6576, 1523), "dID": (27883, 12325), "dFD": (74178, 35808)},
}
"""The table of docs/benchmarks.md: the wheel, and the strongest peer, on Zen 4 [ns per sample]."""
_ARMS = {"ID": 12.0, "FD": 12.0, "dID": 12.0, "dFD": 12.0, "M": 8.0}
_HUMANOIDS = {"ID": 8.0, "FD": 8.0, "dID": 6.0, "dFD": 6.0, "M": 4.0}
BARS = {"UR5": _ARMS, "Panda": _ARMS, "G1": _HUMANOIDS, "TALOS": _HUMANOIDS}
"""Times the strongest peer that a batch is to reach with AVX-512; with AVX2 seven tenths of it."""
BAR_OF_C = 1.5
CALLS, SOME, CHECKED = 40, 512, 16
"""Calls of the wheel in a turn, samples of C and C++, samples that are compared with Pinocchio."""


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def timed(call: Callable[[], Any], threads: Callable[[int], int] | None = None, count: int = 1) -> float:
    """Return the seconds of a call, with one thread or as many as given, when its arrays and code are in the caches.

    Without the call before it, whoever comes first in a turn would load what the next one finds there, and calls on
    single samples, as the wheel's, would take up to 1.7 times as long.
    """
    if threads is not None:
        threads(count)
    call()
    return seconds(call)


def pinocchio_results(model: Any, data: Any, verb: str, state: Sequence[Any]) -> list[Any]:
    """Return the numbers of one sample, as appell lays them out."""
    found = VERBS[verb](model, data, *state)
    if verb == "mass_matrix":
        return [np.triu(found) + np.triu(found, 1).T]
    if verb == "inverse_dynamics_derivatives":
        return [data.dtau_dq, data.dtau_dv, np.triu(data.M) + np.triu(data.M, 1).T]
    if verb == "forward_dynamics_derivatives":
        return [data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T]
    return [found]


def apart(found: Any, expected: Sequence[Sequence[Any]]) -> float:
    """Return the greatest difference of any result, relative to its greatest entry."""
    results = found if isinstance(found, tuple | list) else (found,)
    pairs = [(x[: len(expected)], np.array([e[k] for e in expected])) for k, x in enumerate(results)]
    return max(float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300)) for x, y in pairs)


def product_apart(robot: Any, verb: str, q: Any, v: Any, tau: Any) -> float:
    """Return how far a verb of a closed robot is from ``pin.constraintDynamics``, through what both must satisfy."""
    model, data, constraints, datas, settings = closed_peer(robot)

    def accelerations(given: Any) -> Any:
        whole, forces = robot.tree_velocity(q, v), np.zeros((len(q), robot.model.nv))
        forces[:, list(robot.facts.actuated)] = given
        rows = (
            pin.constraintDynamics(model, data, *state, constraints, datas, settings)
            for state in zip(q, whole, forces, strict=True)
        )
        return np.array([robot.kind.reduced(x, row.copy()) for x, row in zip(q, rows, strict=True)])

    a, still, call = accelerations(tau), np.zeros_like(v), getattr(robot, verb)
    once = (a, robot.forward_dynamics(q, v, tau))
    pairs = {
        "inverse_dynamics": lambda: (call(q, v, a), tau),
        "forward_dynamics": lambda: once,
        "mass_matrix": lambda: (np.einsum("nij,nj->ni", call(q), a) + robot.bias(q, v), tau),
        "coriolis_matrix": lambda: (np.einsum("nij,nj->ni", call(q, v), v) + robot.gravity(q), robot.bias(q, v)),
        "gravity": lambda: (call(q), robot.bias(q, still)),
        "bias": lambda: (call(q, v), tau - np.einsum("nij,nj->ni", robot.mass_matrix(q), a)),
        "regressor": lambda: (call(q, v, a) @ robot.parameters, tau),
        "inverse_dynamics_derivatives": lambda: (call(q, v, a)[2], robot.mass_matrix(q)),
        "forward_dynamics_derivatives": lambda: (
            np.einsum("nij,nj->ni", call(q, v, tau)[2], tau),
            a - accelerations(np.zeros_like(tau)),
        ),
    }
    x, y = pairs[verb]()
    return float(np.abs(x - y).max() / np.abs(y).max())


class Order:
    """Where Pinocchio, which sorts joints by name, has appell's coordinates, velocities and parameters."""

    def __init__(self, robot: Any, model: Any) -> None:
        joints = [1 if name == "root" else model.getJointId(name) for name in robot.joint_names]
        places = [
            (model.joints[k].idx_q, model.joints[k].nq, model.joints[k].idx_v, model.joints[k].nv) for k in joints
        ]
        self.q = np.concatenate([np.arange(start, start + n) for start, n, _, _ in places])
        self.v = np.concatenate([np.arange(start, start + n) for _, _, start, n in places])
        self.p = np.concatenate([10 * (k - 1) + np.arange(10) for k in joints])

    def given(self, name: str, x: Any) -> Any:
        """Return an argument as Pinocchio takes it."""
        place = self.q if name == "q" else self.v
        return np.ascontiguousarray(x[:, np.argsort(place)])

    def found(self, verb: str, x: Any) -> Any:
        """Return a result as appell lays it out."""
        rows = np.array(x)[self.v]
        return rows if rows.ndim == 1 else rows[:, self.p if verb == "regressor" else self.v]


class Race:
    """What takes turns: calls that return seconds, the samples of each, and the differences found beforehand."""

    def __init__(self) -> None:
        self.calls: dict[str, Callable[[], float]] = {}
        self.samples: dict[str, int] = {}
        self.differences: dict[str, float] = {}

    def enter(self, name: str, samples: int, call: Callable[[], float]) -> None:
        """Add a call."""
        self.calls[name], self.samples[name] = call, samples

    def run(self, seconds: float) -> dict[str, float]:
        """Return the best time of each call [ns per sample]."""
        best = dict.fromkeys(self.calls, np.inf)
        end, left = time.perf_counter() + seconds, 3
        while left > 0 or time.perf_counter() < end:
            left -= 1
            for name, call in self.calls.items():
                best[name] = min(best[name], call())
        return {name: 1e9 * best[name] / self.samples[name] for name in best}


def enter_wheel(race: Race, model: Any, order: Order, verb: str, given: Sequence[Any], out: Any) -> list[list[Any]]:
    """Enter the wheel of Pinocchio, and its cost on a model of one joint; return its numbers of some samples."""
    data, tiny = model.createData(), pin.Model()
    tiny.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "j")
    tiny_data, zeros, theirs = tiny.createData(), [np.zeros(1)] * len(given), VERBS[verb]
    states = list(zip(*(x[:CALLS] for x in given), strict=True))
    expected = [[np.array(x) for x in pinocchio_results(model, data, verb, state)] for state in states[:CHECKED]]
    race.differences["difference"] = apart(out, [[order.found(verb, x) for x in row] for row in expected])
    race.enter("wheel", CALLS, partial(timed, lambda: [theirs(model, data, *state) for state in states]))
    race.enter("of_calls", CALLS, partial(timed, lambda: [theirs(tiny, tiny_data, *zeros) for _ in states]))
    return expected


def enter_native(race: Race, model: Any, verb: str, motion: dict[str, Any], expected: list[list[Any]]) -> None:
    """Enter Pinocchio compiled for this processor by each compiler."""
    given = [motion[x][:SOME] for x in ("q", "v", "tau" if verb.startswith("forward") else "a")]
    sizes = [x.size for x in expected[0]]
    for compiler in (x for x in ("g++", "clang++") if x in compilers()):
        native = NativePinocchio(model, verb, compiler)
        parts = np.split(native([x[:CHECKED] for x in given], sum(sizes))[1], np.cumsum(sizes)[:-1], axis=1)
        shaped = [x.reshape(CHECKED, *e.shape) for x, e in zip(parts, expected[0], strict=True)]
        race.differences[f"difference_{compiler}"] = apart(shaped, expected)
        race.enter(f"native {compiler}", SOME, lambda native=native: native(given)[0])


def enter_c(race: Race, robot: Any, verb: str, given: Sequence[Any], out: Any) -> None:
    """Enter exported C, compiled by each compiler."""
    some = [np.ascontiguousarray(x[:SOME]) for x in given]
    wanted = list(zip(*(x[:SOME] for x in (out if isinstance(out, tuple) else (out,))), strict=True))
    for compiler in (x for x in ("gcc", "clang") if x in compilers()):
        with tempfile.TemporaryDirectory() as folder:
            exported = ExportedC(robot, verb, compiler, Path(folder))
        race.differences[f"difference_c_{compiler}"] = apart(exported.results(some), wanted)
        race.enter(f"c {compiler}", SOME, partial(exported, some))


def measured(name: str, verb: str, options: argparse.Namespace, appell: Any) -> dict[str, Any]:
    """Return one row: times [ns per sample], compile times [s], differences and ratios."""
    file, floating, batch = ROBOTS[name]
    chosen = {"floating": True} if floating else {}
    load = partial(appell.load, file, **chosen, **({} if name == "Stewart" else {"friction": False}))
    robot, again, rng, race = load(), load(), np.random.default_rng(0), Race()
    motion = {"q": robot.random(rng, batch)}
    motion |= {x: rng.normal(size=(batch, n)) for x, n in (("v", robot.nv), ("a", robot.nv), ("tau", robot.nu))}
    given = [motion[port.name] for port in robot.verbs[verb].ports(robot.facts.sizes)[0]]
    narrow, call = [x.astype(np.float32) for x in given], getattr(robot, verb)
    cold, cached = (seconds(partial(one.kernel, verb)) for one in (robot, again))
    out, small = call(*given), call(*narrow)
    plain, into = partial(call, *given), partial(call, *given, out=out)
    one, two = partial(timed, threads=appell.threads), partial(timed, threads=appell.threads, count=2)
    race.enter("plain", batch, partial(one, plain))
    race.enter("out", batch, partial(one, into))
    race.enter("plain, 2 threads", batch, partial(two, plain))
    race.enter("out, 2 threads", batch, partial(two, into))
    places = [np.empty_like(x) for x in (out if isinstance(out, tuple) else (out,))]
    race.enter("results filled", batch, partial(timed, lambda: [x.fill(1.0) for x in places]))
    race.enter("out, float32", batch, partial(one, partial(call, *narrow, out=small)))
    if name == "Stewart":
        race.differences["difference"] = product_apart(robot, verb, *(motion[x][:CHECKED] for x in ("q", "v", "tau")))
    else:
        model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(file)
        order = Order(robot, model)
        theirs = {x: order.given(x, motion[x]) for x in motion}
        ports = robot.verbs[verb].ports(robot.facts.sizes)[0]
        expected = enter_wheel(race, model, order, verb, [theirs[port.name] for port in ports], out)
        if options.native and EIGEN.exists():
            enter_native(race, model, verb, theirs, expected)
    if options.c:
        enter_c(race, robot, verb, given, out)
    ns = race.run(options.seconds)
    if "wheel" in ns:
        ns["wheel"] -= ns.pop("of_calls")
    row = {"robot": name, "verb": verb, "samples": batch, "cold_s": cold, "cached_s": cached, "ns": ns}
    row |= race.differences
    return {**row, **judged(name, SHORT[verb], row)}


def judged(name: str, short: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the strongest peer, where its figure is from, and the ratios to it with their bars."""
    ns = row["ns"]
    peers = {key: ns[key] for key in ns if key.startswith("native")}
    if short in STRONGEST.get(name, {}):
        wheel, strongest = STRONGEST[name][short]
        peers["table, scaled by the wheel"] = ns["wheel"] * strongest / wheel
    is_good = all(x < 1e-7 for key, x in row.items() if key.startswith("difference"))
    if not is_good:
        return {"note": "numbers differ from Pinocchio's: not counted"}
    if not peers:
        return {"note": "no native peer"}
    source = min(peers, key=lambda key: peers[key])
    has_wide = "avx512f" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else True
    found: dict[str, Any] = {"strongest": source, "x_strongest": peers[source] / ns["out"]}
    if short in BARS.get(name, {}):
        found["bar"] = BARS[name][short] * (1.0 if has_wide else 0.7)
        found["missed"] = found["x_strongest"] < found["bar"]
    exported = [ns[key] for key in ns if key.startswith("c ")]
    if exported:
        found |= {"c_x_strongest": peers[source] / min(exported), "c_bar": BAR_OF_C}
        found["c_missed"] = found["c_x_strongest"] < BAR_OF_C
    return found


def line(row: dict[str, Any]) -> str:
    """Return a row as text."""
    times = "  ".join(f"{key} {value:.0f}" for key, value in row["ns"].items())
    text = f"{row['robot']:8}{SHORT[row['verb']]:5} {times}  [{row['difference']:.0e}]"
    text += f"  plain/out {row['ns']['plain'] / row['ns']['out']:.2f}"
    text += f"  memory {row['ns']['results filled'] / row['ns']['out']:.0%}"
    text += f"  cold {row['cold_s']:.2f} s, cached {1e3 * row['cached_s']:.0f} ms"
    if "x_strongest" in row:
        text += f"  x strongest {row['x_strongest']:.1f} ({row['strongest']})"
        text += f" of {row['bar']:.1f}{', missed' if row['missed'] else ''}" if "bar" in row else ""
    if "c_x_strongest" in row:
        text += f"  C x strongest {row['c_x_strongest']:.1f} of {BAR_OF_C}{', missed' if row['c_missed'] else ''}"
    return text + (f"  {row['note']}" if "note" in row else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--verbs", nargs="*", choices=VERBS, default=list(VERBS))
    parser.add_argument("--native", action="store_true", help="compile Pinocchio for this processor; minutes per verb")
    parser.add_argument("--c", action="store_true", help="export C and compile it; minutes for large robots")
    parser.add_argument("--seconds", type=float, default=1.0, help="of turns per row")
    parser.add_argument("--json", help="file for all figures")
    options = parser.parse_args()
    if options.json:
        Path(options.json).parent.mkdir(parents=True, exist_ok=True)
    os.environ["APPELL_CACHE"] = tempfile.mkdtemp(prefix="appell-bench-")
    import appell  # noqa: PLC0415  # after the cache is set

    rows = []
    for name in options.robots:
        for verb in options.verbs:
            rows.append(measured(name, verb, options, appell))
            print(line(rows[-1]), flush=True)
    missed = [f"{r['robot']} {SHORT[r['verb']]}" for r in rows if r.get("missed") or r.get("c_missed")]
    print(f"bars missed: {', '.join(missed) or 'none'}")
    if options.json:
        about = {"processor": processor(), "pinocchio": pin.__version__, "appell": appell.__version__}
        Path(options.json).write_text(json.dumps({**about, "rows": rows}, indent=2))


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
