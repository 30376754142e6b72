"""Packages that are not installed: one line with the command that installs them, for every one and every use."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.errors import AppellError
from appell.extras import PACKAGES, extra
from appell.shapes.meshes import import_trimesh

MJCF = '<mujoco><worldbody><body><joint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'


@pytest.fixture(scope="module")
def run():
    return appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.05)


def log(run):
    return appell.logs.log.Log.from_arrays(run.t, run.q, tau=run.tau)


def looped(folder):
    (folder / "loops.yaml").write_text("closed_loop: []")
    return appell.load("two-link", loops=folder / "loops.yaml")


def compiled(folder):
    (folder / "robot.xml").write_text(MJCF)
    return appell.load(folder / "robot.xml")


def macros(folder):
    (folder / "robot.xacro").write_text('<robot><link name="a"/></robot>')
    return appell.load(folder / "robot.xacro")


def fitted(run):
    noise = np.random.default_rng(7).normal(size=(200, 2))
    t = np.arange(200) * 0.01
    q = np.cumsum(noise, axis=0) * 1e-3
    return appell.identify(run.robot, appell.logs.log.Log.from_arrays(t, q, tau=noise), method="physical")


USES = {
    "PIL": [lambda run, folder: run.animate(folder / "a.gif")],
    "casadi": [lambda run, folder: run.robot.export("gravity", to="casadi")],
    "clarabel": [lambda run, folder: fitted(run)],
    "jax": [lambda run, folder: run.robot.export("gravity", to="jax")],
    "distributed": [lambda run, folder: appell.sweep(lambda x: {"x": x}, {"x": [1]}, engine="dask")],
    "matplotlib": [
        lambda run, folder: run.plot(),
        lambda run, folder: run.animate(folder / "a.gif"),
    ],
    "mcap": [lambda run, folder: log(run).save(folder / "a.mcap")],
    "mujoco": [lambda run, folder: compiled(folder)],
    "pyarrow": [lambda run, folder: log(run).save(folder / "a.parquet")],
    "ruckig": [
        lambda run, folder: appell.trajectory.JerkLimited([0.0], [1.0], velocity=1.0, acceleration=1.0, jerk=1.0)
    ],
    "sympy": [lambda run, folder: run.robot.equations().M],
    "trimesh": [lambda run, folder: import_trimesh()],
    "xacro": [lambda run, folder: macros(folder)],
    "viser": [lambda run, folder: appell.view(run, browser=False, block=False)],
    "yaml": [lambda run, folder: looped(folder)],
}


@pytest.mark.parametrize(("package", "use"), [(name, use) for name, uses in USES.items() for use in uses])
def test_a_missing_package_is_one_line_with_the_command_that_installs_it(package, use, run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AppellError) as raised:
        use(run, tmp_path)
    assert f"{package}, which is not installed; pip install " in str(raised.value)
    assert PACKAGES[package] in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("a.")] == []


def test_every_package_has_a_use_here_or_is_reported_by_a_command():
    assert set(PACKAGES) - set(USES) == {
        "cloudpickle",  # used where it is installed
        "collada",  # a remark of the viewer's
        "gymnasium",  # asked for as its module is imported
        "contourpy",  # for walls in space, after PIL
        "lz4",  # of compressed logs, which mcap brings
        "pinocchio",  # a line of compare's
        "robot_descriptions",  # asked only where it is installed
        "torch",  # not installed everywhere
        "websockets",  # which viser brings
        "zstandard",  # of compressed logs, which mcap brings
    }


def test_a_peer_that_is_missing_is_one_line_of_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    result = CliRunner().invoke(app, ["compare"])
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("pip install pin")


def test_a_package_that_is_broken_is_not_taken_for_absent(tmp_path, monkeypatch):
    (tmp_path / "viser.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "viser", raising=False)
    with pytest.raises(AppellError, match=r"viser, which cannot be imported \(No module named 'no_such_dependency'\)"):
        extra("viser", "the viewer needs")
