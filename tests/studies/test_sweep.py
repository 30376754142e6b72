import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import appell
from appell.studies.engines import Outcome
from appell.studies.store import Checkpoint
from tests.support import study as support


def square(x, y=0.0):
    if x == 2:
        raise ValueError("two is refused")
    return {"sum": x + y, "pair": np.array([x, y])}


def test_values_are_in_the_order_of_cases_and_failures_are_recorded():
    study = appell.sweep(square, {"x": [0, 1, 2, 3], "y": [0.5, 1.5]})
    assert study.values["pair"].shape == (8, 2)
    good = [k for k, case in enumerate(study.cases) if case["x"] != 2]
    expected = [[case["x"], case["y"]] for case in study.cases]
    assert np.array_equal(study.values["pair"][good], np.array(expected)[good])
    assert np.isnan(study.values["sum"][[4, 5]]).all()
    assert [case for case, _ in study.failed] == [{"x": 2, "y": 0.5}, {"x": 2, "y": 1.5}]
    assert study.failed[0][1].startswith("ValueError: two is refused")


def test_random_numbers_depend_on_seed_and_case_alone():
    def draw(k, rng):
        return {"x": rng.normal()}

    space = {"k": range(50)}
    first, second = (appell.sweep(draw, space, workers=n).values["x"] for n in (1, 3))
    assert np.array_equal(first, second)
    assert len(set(first)) == 50
    assert not np.array_equal(first, appell.sweep(draw, space, seed=1).values["x"])


def test_a_value_of_another_shape_fails_its_case_alone():
    study = appell.sweep(lambda n: {"x": np.zeros(n)}, {"n": [2, 2, 3]}, workers=1)
    assert study.values["x"].shape == (3, 2)
    assert [case for case, _ in study.failed] == [{"n": 3}]


@pytest.mark.parametrize("bad", [3.0, {}, {"x": "text"}, {"x": 1j}, {1: 2.0}])
def test_values_that_are_no_numbers_by_name_are_errors_of_the_case(bad):
    study = appell.sweep(lambda k: bad, {"k": [1]})
    assert len(study.failed) == 1
    assert study.failed[0][1].startswith("InputError: the ")


def test_a_killed_driver_loses_and_repeats_nothing_that_was_recorded(tmp_path):
    (tmp_path / "trap").touch()
    driver = subprocess.run([sys.executable, "-m", "tests.support.study", str(tmp_path)], check=False, timeout=300)
    assert driver.returncode == -signal.SIGKILL
    recorded = Checkpoint(tmp_path / "checkpoint").outcomes()
    assert 0 < len(recorded) < support.CASES
    assert len(appell.Study.load(tmp_path / "checkpoint").outcomes) == len(recorded)
    before = len(support.calls(tmp_path))
    study = support.study(tmp_path)
    assert study.done.all()
    assert not {x.case for x in recorded} & set(support.calls(tmp_path)[before:])
    alone = support.study(_made(tmp_path / "whole"), workers=1)
    assert np.array_equal(study.values["draw"], alone.values["draw"])


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for processes in /proc")
def test_workers_end_with_a_driver_that_is_killed(tmp_path):
    """A driver whose workers are each in the middle of a long case."""
    script = (
        "import appell\nfrom tests.support.study import asleep\n"
        "if __name__ == '__main__':\n"
        f"    appell.sweep(asleep, {{'k': [0, 1], 'folder': [{str(tmp_path)!r}]}}, engine='processes', workers=2)\n"
    )
    file = tmp_path / "drive.py"
    file.write_text(script)
    path = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen([sys.executable, str(file)], env={**os.environ, "PYTHONPATH": path}) as driver:
        workers = support.within(120.0, lambda: [int(x.name) for x in tmp_path.glob("[0-9]*")], lambda x: len(x) == 2)
        assert len(workers) == 2
        driver.kill()
    assert support.within(20.0, lambda: [x for x in workers if support.is_running(x)], lambda x: not x) == []


def _made(folder):
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_a_worker_that_dies_costs_only_the_case_that_kills_it(tmp_path):
    space = appell.space.grid(k=range(8), folder=[str(tmp_path)])
    study = appell.sweep(support.deadly, space, engine="processes", workers=2)
    assert [case["k"] for case, _ in study.failed] == [3]
    assert "died" in study.failed[0][1]
    assert study.done.all()


def test_a_killed_dask_worker_loses_no_case(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        task = partial(_killing, victim=victim, mark=str(tmp_path / "mark"))
        study = appell.sweep(task, {"k": range(30)}, engine=client)
    assert (tmp_path / "mark").exists()
    assert study.failed == []
    assert np.array_equal(study.values["k"], np.arange(30))


def _killing(k, victim, mark):
    if k == 10 and not os.path.exists(mark):  # noqa: PTH110
        open(mark, "w").close()  # noqa: PTH123
        os.kill(victim, signal.SIGKILL)
    return {"k": k}


@pytest.mark.slow
def test_engines_give_the_same_bits(tmp_path):
    robot = appell.load("puma560")
    found = [
        appell.sweep(partial(_torque, robot=robot), {"k": range(20)}, engine=engine, workers=2).values["tau"]
        for engine in ("threads", "processes", "dask")
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def _torque(k, robot, rng):
    return {"tau": robot.inverse_dynamics(*rng.normal(size=(3, 6)))}


@pytest.mark.parametrize("what", ["function", "robot", "space", "seed"])
def test_a_checkpoint_of_another_study_is_refused(tmp_path, what):
    robots = {name: appell.load("two-link").using(name) for name in ("gibbs", "vector")}

    def study(factor=1.0, robot="gibbs", space=(1.0, 2.0), seed=0):
        def function(x, robot=robots[robot]):
            return {"y": factor * x * robot.nv}

        return appell.sweep(function, {"x": list(space)}, checkpoint=tmp_path / "c", seed=seed)

    study()
    study()
    others = {
        "function": {"factor": 2.0},
        "robot": {"robot": "vector"},
        "space": {"space": (1.0,)},
        "seed": {"seed": 1},
    }
    with pytest.raises(appell.InputError, match=f"a different .*{what}"):
        study(**others[what])  # type: ignore[arg-type]


def test_a_folder_of_something_else_is_no_checkpoint(tmp_path):
    (tmp_path / "thesis.txt").write_text("do not touch")
    with pytest.raises(appell.InputError, match="not empty"):
        appell.sweep(square, {"x": [1]}, checkpoint=tmp_path)
    with pytest.raises(appell.InputError, match="not a checkpoint"):
        appell.Study.load(tmp_path)


def test_parts_are_merged_and_a_case_in_two_parts_counts_once(tmp_path):
    store = Checkpoint(tmp_path)
    store.begin({"function": "", "robot": "", "space": "", "seed": 0, "cases": 101}, appell.space.grid(k=range(101)))
    outcomes = [Outcome(k, {"x": np.array(float(k)), "y": np.full((2, 2), k)}) for k in range(100)]
    for outcome in outcomes:
        store.add([outcome])
    store.add(outcomes[:3])
    store.add([Outcome(100, None, "an error")])
    store.merge()
    assert len(list(tmp_path.glob("part-*"))) == 2
    found = store.outcomes()
    assert [x.case for x in found] == list(range(101))
    assert np.array_equal((found[7].values or {})["y"], np.full((2, 2), 7))
    assert found[100].error == "an error"


def test_values_of_several_types_lose_no_digit():
    study = appell.sweep(lambda k: {"x": k if k == 0 else k / 2}, {"k": [0, 1]}, workers=1)
    assert study.values["x"].tolist() == [0.0, 0.5]


def test_interrupted_studies_return_what_they_have():
    def stopping(k):
        if k == 5:
            raise KeyboardInterrupt
        return {"k": k}

    study = appell.sweep(stopping, {"k": range(10)}, workers=1)
    assert study.ended_early
    assert not study.done.all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"z": [1]},), "do not match"),
        (({"x": []},), "at least one value"),
        (([],), "at least one case"),
        (([{"x": 1}, {"y": 1}],), "case 1 has"),
        ((3,), "expected a space"),
    ],
)
def test_wrong_spaces_are_one_error(arguments, words):
    with pytest.raises(appell.InputError, match=words):
        appell.sweep(square, *arguments)


def test_wrong_engines_are_one_error():
    for options, words in (({"engine": "gpu"}, "unknown engine"), ({"workers": 0}, "workers"), ({"seed": -1}, "seed")):
        with pytest.raises(appell.InputError, match=words):
            appell.sweep(square, {"x": [1]}, **options)


def test_a_study_is_saved_as_a_table(tmp_path):
    study = appell.sweep(square, {"x": [1, 2], "y": [0.25]})
    lines = study.save(tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "x,y,sum,pair[0],pair[1],error"
    assert lines[1] == "1,0.25,1.25,1.0,0.25,"
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(study.save(tmp_path / "s.parquet"))
    assert table.column("sum").to_pylist()[0] == 1.25


def test_streaming_gives_the_same_as_one_call(tmp_path, rng):
    robot = appell.load("two-link")
    arrays = [np.memmap(tmp_path / f"{k}.bin", dtype=float, mode="w+", shape=(1000, 2)) for k in range(3)]
    for array in arrays:
        array[:] = rng.normal(size=array.shape)
    tau = np.empty((1000, 2))
    for rows, block in appell.stream(robot.inverse_dynamics, *arrays, block=300):
        tau[rows] = block
    assert np.array_equal(tau, robot.inverse_dynamics(*map(np.asarray, arrays)))
    with pytest.raises(appell.InputError, match="one length"):
        next(appell.stream(robot.inverse_dynamics, arrays[0], arrays[1][:5], arrays[2]))
