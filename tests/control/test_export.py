"""Laws as C99: compiled with every warning an error and run under sanitizers, they give what Python's give."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest

import appell
from appell.control import PD, PUMA600, PDGravity, PointToPoint, Tracking, gains, integral_gains, perturbed
from appell.errors import InputError

GOAL = np.array([0.5, -0.6, 2.2, 0.1, 0.6, 0.3])
MAIN = """
#include "law.h"
#include <stdio.h>

static int given(double *x, int n)
{{
    for (int i = 0; i < n; i++)
        if (scanf("%la", x + i) != 1)
            return 0;
    return 1;
}}

int main(void)
{{
    double {declared};
    while ({reads}) {{
        {code}arm_{verb}({arguments});
        for (int i = 0; i < {n}; i++)
            printf("%a ", tau[i]);{told}
    }}
    return 0;
}}
"""


def run_c(law, verb, sizes, rows, compiler, folder, *, has_code=False, libm=True):
    """Return the forces that a law's C gives of rows of arguments, and its codes; memory goes from call to call."""
    file = law.export(folder / "law.c", prefix="arm", libm=libm)
    names, n = list(sizes), rows["tau"]
    extra = {"memory": 2 * n} if "dt" in sizes else {}
    rough = {"roughness": 1} if rows.get("roughness") else {}
    arrays = {**sizes, "tau": n, **rough, **extra}
    declared = ", ".join(f"{x}[{size}] = {{0}}" for x, size in arrays.items())
    called = [f"{x}[0]" if x == "dt" else x for x in names] + [*extra, "tau", *rough, *extra]
    text = MAIN.format(
        declared=declared,
        reads=" && ".join(f"given({x}, {size})" for x, size in sizes.items()),
        code="const int code = " if has_code else "",
        verb=verb,
        arguments=", ".join(called),
        n=n,
        told='\n        printf("%d ", code);' if has_code else "",
    )
    (folder / "main.c").write_text(text)
    program = folder / "program"
    watch = (compiler.sanitizers, "-fno-sanitize-recover=all")
    compiler.build("-O1", *watch, file, folder / "main.c", "-o", program, "-lm")
    lines = np.hstack([np.reshape(rows[x], (len(rows["q"]), -1)) for x in names])
    text = " ".join(float(x).hex() for row in lines for x in row)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = np.array([float.fromhex(x) for x in done.stdout.split()]).reshape(len(lines), -1)
    return found[:, :n], found[:, n:].astype(int).ravel()


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def states(count=40):
    rng = np.random.default_rng(8)
    return GOAL + 0.4 * rng.normal(size=(count, 6)), rng.normal(size=(count, 6))


@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
@pytest.mark.parametrize("kind", [PointToPoint, PDGravity])
def test_a_law_to_a_goal_is_the_same_in_c(puma, compiler, kind, libm, tmp_path):
    law = kind(puma, GOAL, 90.0, [15, 16, 17, 18, 19, 20], limit=[60, 90, np.inf, 9, 9, 4])
    q, v = states()
    expected = law(0.0, q, v)
    at_limit = np.abs(expected) == law.limit
    assert at_limit.any()
    assert not at_limit.all()
    rows = {"q": q, "v": v, "goal": np.tile(GOAL, (len(q), 1)), "tau": 6}
    found, _ = run_c(law, law.verb, {"q": 6, "v": 6, "goal": 6}, rows, compiler, tmp_path, libm=libm)
    assert relative(found, expected) < 1e-12
    assert (np.abs(found) <= law.limit).all()


def test_tracking_is_the_same_in_c(puma, motion, compiler, tmp_path):
    law = Tracking(puma, motion, *gains(12.0), limit=PUMA600.limit)
    q, v = states()
    moments = np.linspace(0.0, 3.0, len(q))
    expected = np.array([law(t, *state) for t, *state in zip(moments, q, v, strict=True)])
    goals = [np.array(rows) for rows in zip(*(motion(t) for t in moments), strict=True)]
    rows = {"q": q, "v": v, "goal_q": goals[0], "goal_v": goals[1], "goal_a": goals[2], "tau": 6}
    found, _ = run_c(law, "tracking", dict.fromkeys(list(rows)[:-1], 6), rows, compiler, tmp_path)
    assert relative(found, expected) < 1e-12


def led(robot, law, q, v, moments):
    """Return states and forces of a robot that a law leads, v moved first at every sample, and the goals."""
    rows = []
    for t, elapsed in zip(moments, np.append(np.diff(moments), 0.0), strict=True):
        tau = law(t, q, v)
        rows.append((q, v, *law.reference(t), tau))
        v = v + elapsed * robot.forward_dynamics(q, v, tau)
        q = q + elapsed * v
    return [np.array(x) for x in zip(*rows, strict=True)]


def still(t):
    return GOAL, np.zeros(6), np.zeros(6)


def test_pd_with_integral_action_is_the_same_in_c(puma, compiler, tmp_path):
    law = PD(puma, still, 100.0, 20.0, 30.0, limit=PUMA600.limit)
    moments = np.cumsum(np.full(20, 1e-3))
    q, v, goal_q, goal_v, goal_a, expected = led(puma, law, GOAL + 0.1, np.zeros(6), moments)
    rows = {"q": q, "v": v, "goal_q": goal_q, "goal_v": goal_v, "goal_a": goal_a}
    rows |= {"dt": np.append(0.0, np.diff(moments)), "tau": 6}
    sizes = {**dict.fromkeys(list(rows)[:5], 6), "dt": 1}
    found, _ = run_c(law, "tracking_with_integral", sizes, rows, compiler, tmp_path)
    assert relative(found, expected) < 1e-12


def test_integral_action_is_the_same_in_c_over_many_steps_at_uneven_periods_and_at_the_limit(puma, compiler, tmp_path):
    law = Tracking(puma, still, *integral_gains(9.0, 1.0, 5.0), limit=0.5 * PUMA600.limit)
    moments = np.cumsum(np.random.default_rng(9).uniform(0.5e-3, 1.5e-3, 1500))
    heavy = perturbed(puma, masses=1.2)
    q, v, goal_q, goal_v, goal_a, expected = led(heavy, law, GOAL + 0.6, np.zeros(6), moments)
    at_limit = np.abs(expected) == law.limit
    assert at_limit.any(axis=0).sum() >= 3
    assert at_limit.mean() < 0.5
    assert np.abs(law.integral).max() > 1e-3
    rows = {"q": q, "v": v, "goal_q": goal_q, "goal_v": goal_v, "goal_a": goal_a}
    rows |= {"dt": np.append(0.0, np.diff(moments)), "tau": 6}
    sizes = {**dict.fromkeys(list(rows)[:5], 6), "dt": 1}
    found, _ = run_c(law, "tracking_with_integral", sizes, rows, compiler, tmp_path)
    assert relative(found, expected) < 1e-12


def test_a_quaternion_that_is_none_is_told_by_the_code_of_a_law(compiler, tmp_path):
    robot = appell.load("two-link", floating=True)
    rng = np.random.default_rng(2)
    goal, q, v = robot.random(rng), robot.random(rng, 4), rng.normal(size=(4, robot.nv))
    law = PointToPoint(robot, goal, 30.0, 8.0, limit=50.0)
    expected = law(0.0, q, v)
    q[3, 3:7] *= 1.1
    rows = {"q": q, "v": v, "goal": np.tile(goal, (4, 1)), "tau": robot.nv}
    sizes = {"q": robot.nq, "v": robot.nv, "goal": robot.nq}
    found, codes = run_c(law, "point_to_point", sizes, rows, compiler, tmp_path, has_code=True)
    assert codes.tolist() == [0, 0, 0, 1]
    assert relative(found[:3], expected[:3]) < 1e-12


def test_a_law_of_a_robot_with_loops_is_the_same_in_c(compiler, tmp_path):
    robot = appell.load("five-bar")
    q = robot.random(np.random.default_rng(3), 10)
    v = np.random.default_rng(4).normal(size=(10, 2))
    law = PointToPoint(robot, robot.neutral(), 80.0, 12.0, limit=5.0)
    expected = law(0.0, q, v)
    q[-1] += 0.1  # open
    rows = {"q": q, "v": v, "goal": np.tile(robot.neutral(), (10, 1)), "tau": 2, "roughness": True}
    sizes = {"q": 4, "v": 2, "goal": 4}
    found, codes = run_c(law, "point_to_point", sizes, rows, compiler, tmp_path, has_code=True)
    assert codes.tolist() == [0] * 9 + [2]
    assert relative(found[:-1], expected[:-1]) < 1e-12


def test_a_law_in_single_precision_is_good_to_it(puma, motion, compiler, tmp_path):
    law = Tracking(puma, motion, *integral_gains(9.0, 1.0, 5.0), limit=PUMA600.limit)
    file = law.export(tmp_path / "law.c", prefix="arm", real="float", libm=False)
    library = file.with_suffix(".so")
    compiler.build("-fPIC", "-shared", "-nostdlib", file, "-o", library)
    function = ctypes.CDLL(str(library)).arm_tracking_with_integral
    memory, tau = np.zeros(12, np.float32), np.empty(6, np.float32)
    (q, v), found, expected = states(10), [], []
    for k in range(10):
        rows = [np.asarray(x, np.float32) for x in (q[k], v[k], *motion(0.1 * k))]
        given = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for x in (*rows, memory, tau)]
        function(*given[:5], ctypes.c_float(0.1 if k else 0.0), given[5], given[6], given[5])
        found.append(tau.copy())
        expected.append(law(0.1 * k, q[k], v[k]))
    assert relative(np.array(found), np.array(expected)) < 1e-5


def test_the_same_law_gives_the_same_bytes(motion, tmp_path):
    texts = []
    for folder in ("one", "two"):
        law = Tracking(appell.load("puma600"), motion, *integral_gains(9.0), limit=PUMA600.limit)
        file = law.export(tmp_path / folder / "law.c", real="float", libm=False)
        texts.append(file.read_bytes() + file.with_suffix(".h").read_bytes())
        assert str(tmp_path).encode() not in texts[-1]
    assert texts[0] == texts[1]


def test_the_header_tells_gains_limits_and_sizes(puma, motion, tmp_path):
    law = Tracking(puma, motion, 100.0, 20.0, 50.0, limit=[97.6, np.inf, 89.4, 24.2, 20.1, 21.3])
    text = law.export(tmp_path / "law.c", prefix="arm").with_suffix(".h").read_text()
    for said in (
        "kd         20, 20, 20, 20, 20, 20\n",
        "ki         50, 50, 50, 50, 50, 50\n",
        "limit      97.6, inf, 89.4, 24.2, 20.1, 21.3\n",
        "#define ARM_NM 12 ",
        "const double dt,\n    const double memory[ARM_NM],\n    double tau[ARM_NU],\n    double memory_out[ARM_NM]);",
    ):
        assert said in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_law_without_limits_chooses_nothing(puma, motion, tmp_path):
    law = Tracking(puma, motion, 100.0, 20.0, 50.0)
    assert "?" not in law.export(tmp_path / "law.c").read_text()


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (lambda r: PointToPoint(r, GOAL, np.ones((3, 6)), 1.0), {}, r"kp has shape \(3, 6\)"),
        (lambda r: PDGravity(r, GOAL, 1.0, 1.0), {"to": "fortran"}, "no target 'fortran'"),
        (lambda r: PDGravity(r, GOAL, 1.0, 1.0), {"path": "law.cpp"}, "unknown extension of 'law.cpp'; known: '.c'"),
        (lambda r: PDGravity(r, GOAL, 1.0, 1.0), {"real": "half"}, "expected 'double', 'float'"),
    ],
)
def test_what_cannot_be_exported_is_said(puma, make, options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        make(puma).export(**{"path": "law.c", **options})
    assert not list(tmp_path.iterdir())
