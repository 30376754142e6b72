"""The ROS 2 package: the plugin compiles against stub headers and computes what the robot's verbs do."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import appell
from appell import InputError

STUBS = Path(__file__).with_name("ros2_stubs")
EIGEN = [*(Path(folder, "cmeel.prefix", "include", "eigen3") for folder in sys.path), Path("/usr/include/eigen3")]
METHODS = ("getTorques", "getInertiaMatrix", "getCoriolisVector", "getGravityVector", "getFrictionVector")
FLAGS = ("-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def cpp_compiler():
    if shutil.which("g++"):
        return ["g++"]
    return [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else None


def built(folder):
    """Return the plugin of a package, compiled and loaded."""
    compiler, eigen = cpp_compiler(), next((place for place in EIGEN if place.is_dir()), None)
    if compiler is None or eigen is None:
        pytest.skip("there is no C++ compiler, or no Eigen")
    sources = folder / "src" / "solver.cpp", STUBS / "driver.cpp"
    includes = (f"-I{STUBS}", f"-isystem{eigen}", f"-I{folder / 'src'}")
    c, library = folder / "dynamics.o", folder / "plugin.so"
    run(*compiler, "-xc", "-std=c99", "-O1", "-fPIC", "-c", folder / "src" / "dynamics.c", "-o", c)
    run(*compiler, *FLAGS, *includes, "-shared", *sources, c, "-o", library)
    return ctypes.CDLL(str(library))


class Plugin:
    """A solver of a compiled plugin."""

    def __init__(self, library):
        self.library = library
        self.library.make.restype = ctypes.c_void_p
        self.solver = ctypes.c_void_p(self.library.make())

    def initialize(self, joints=(), description=""):
        error = ctypes.create_string_buffer(500)
        text = " ".join(joints).encode()
        if self.library.initialize(self.solver, text, description.encode(), error, 500):
            raise RuntimeError(error.value.decode())

    def __call__(self, method, q, v, a):
        n = len(q)
        number = METHODS.index(method) if method in METHODS else len(METHODS)
        shape = (n, n) if method == "getInertiaMatrix" else (n,)
        result, error = np.full(shape, np.nan), ctypes.create_string_buffer(500)
        places = [np.ascontiguousarray(x, dtype=float).ctypes.data_as(ctypes.c_void_p) for x in (q, v, a)]
        place = result.ctypes.data_as(ctypes.c_void_p)
        if self.library.call(self.solver, number, n, *places, place, error, 500):
            raise RuntimeError(error.value.decode())
        return result


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def puma(tmp_path_factory):
    robot = appell.load("puma560")
    folder = robot.export(to="ros2", path=tmp_path_factory.mktemp("ros2") / "puma560_dynamics")
    return robot, folder, built(folder)


def check(robot, plugin, rng, order=None):
    """Compare every method with the verbs of the robot; `order` are the plugin's joints among the robot's."""
    order = list(range(robot.nv)) if order is None else order
    free = appell.load(robot.model.without_friction())
    for _ in range(10):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
        given = [x[order] for x in (q, v, a)]
        expected = {
            "getTorques": free.inverse_dynamics(q, v, a),
            "getInertiaMatrix": robot.mass_matrix(q)[:, order],
            "getCoriolisVector": robot.coriolis_matrix(q, v) @ v,
            "getGravityVector": robot.gravity(q),
            "getFrictionVector": robot.inverse_dynamics(q, v, a) - free.inverse_dynamics(q, v, a),
            "getDynamicParameters": robot.mass_matrix(q) @ a,
        }
        size = np.abs(robot.inverse_dynamics(q, v, a)).max()
        for method, value in expected.items():
            np.testing.assert_allclose(plugin(method, *given), value[order], rtol=1e-12, atol=1e-12 * size)
        whole = plugin("getTorques", *given) + plugin("getFrictionVector", *given)
        np.testing.assert_allclose(whole, robot.inverse_dynamics(q, v, a)[order], rtol=1e-12, atol=1e-12 * size)


def test_the_plugin_computes_what_the_robot_does(puma, rng):
    robot, _, library = puma
    plugin = Plugin(library)
    plugin.initialize()
    check(robot, plugin, rng)


def test_joints_may_stand_in_another_order(puma, rng):
    robot, _, library = puma
    plugin = Plugin(library)
    order = [3, 0, 5, 1, 4, 2]
    plugin.initialize([robot.joint_names[k] for k in order])
    check(robot, plugin, rng, order)


def test_springs_count_as_gravity_and_friction_is_apart(tmp_path, rng):
    arm = appell.load("two-link").with_joint("joint1", damping=0.3, friction=0.2, armature=0.1)
    robot = arm.with_joint("joint2", damping=0.1, stiffness=2.0)
    plugin = Plugin(built(robot.export(to="ros2", path=tmp_path / "arm")))
    plugin.initialize()
    check(robot, plugin, rng)


def test_errors_of_the_plugin_are_exceptions_with_a_remedy(puma):
    robot, _, library = puma
    plugin = Plugin(library)
    six = np.zeros(6)
    with pytest.raises(RuntimeError, match="not initialized"):
        plugin("getTorques", six, six, six)
    with pytest.raises(RuntimeError, match="expected these joints in any order: joint1, joint2"):
        plugin.initialize(["joint1", "joint2"])
    with pytest.raises(RuntimeError, match="no joint 'joint1'; export the plugin from it"):
        plugin.initialize(description='<robot><joint name="elbow"/></robot>')
    plugin.initialize(description="".join(f'<joint name="{name}"/>' for name in robot.joint_names))
    with pytest.raises(RuntimeError, match="joint_positions: expected 6 numbers, got 5"):
        plugin("getGravityVector", six[:5], six[:5], six[:5])


def test_the_package_names_itself_and_its_interface(puma):
    _, folder, _ = puma
    package, plugin = (ET.parse(folder / name).getroot() for name in ("package.xml", "plugin.xml"))
    assert package.findtext("name") == folder.name
    assert {"inverse_dynamics_solver", "pluginlib", "rclcpp"} <= {x.text for x in package.findall("depend")}
    (only,) = plugin.findall("class")
    assert plugin.get("path") == folder.name
    assert only.get("type") == f"{folder.name}::Solver"
    assert only.get("base_class_type") == "inverse_dynamics_solver::InverseDynamicsSolver"
    assert f"project({folder.name} LANGUAGES C CXX)" in (folder / "CMakeLists.txt").read_text()
    assert "stub headers" in (folder / "README.md").read_text()


@pytest.mark.parametrize("name", ["four-bar", "agile-wrist"])
def test_robots_with_loops_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="'ros2' is for open robots on a fixed base"):
        appell.load(name).export(to="ros2", path=tmp_path / "arm")


def test_floating_bases_names_and_options_are_refused(tmp_path):
    robot = appell.load("two-link")
    with pytest.raises(InputError, match="'ros2' is for open robots on a fixed base"):
        appell.load("two-link", floating=True).export(to="ros2", path=tmp_path / "arm")
    with pytest.raises(InputError, match="'My-Arm' cannot be the name of a ROS 2 package"):
        robot.export(to="ros2", path=tmp_path / "My-Arm")
    with pytest.raises(InputError, match="leave out all but its folder"):
        robot.export("gravity", to="ros2", path=tmp_path / "arm")
    with pytest.raises(InputError, match="'ros2' is a folder; name it"):
        robot.export(to="ros2")
    assert not list(tmp_path.iterdir())
