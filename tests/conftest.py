"""What every test shares: a cache of its own, random numbers, robots and numbers of peers.

Functions and classes are in tests/support, by subject; those that most tests use are fixtures here, of session scope,
which hypothesis accepts.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from appell.model.model import Model
from appell.robot.robot import Robot
from tests.support import closed as closed_robots
from tests.support import evaluation
from tests.support import robots as random_robots
from tests.support.compilers import Compiler, compilers
from tests.support.peer import Peer
from tests.support.robots import Drawing

Array = NDArray[Any]

# Every run draws the same examples, and a slow machine is no failure.
settings.register_profile("appell", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("appell")

# A shell's background processes ignore Ctrl-C, and so do their children: the tests of it would wait forever.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Give this run a cache of compiled code of its own; its workers inherit the name of the folder.

    There is a worker for each core, so that linear algebra in many threads would only be in the way.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ["APPELL_CACHE"] = tempfile.mkdtemp(prefix="appell-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ["APPELL_CACHE"], ignore_errors=True))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a compiler with each one."""
    if "compiler" in metafunc.fixturenames:
        metafunc.parametrize("compiler", compilers(), ids=lambda one: one.name, scope="session")


@pytest.fixture(scope="session")
def any_compiler() -> Compiler:
    """Return one C compiler."""
    found = compilers()
    if not found:
        pytest.skip("there is no C compiler: neither gcc, nor clang, nor the wheel ziglang")
    return found[0]


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator of random numbers, the same in every test."""
    return np.random.default_rng(2002)


@pytest.fixture(scope="session")
def robots() -> Path:
    """Return the folder of example-robot-data's robots, each a folder of URDF files."""
    folder = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed; run make install")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of papers and data that stands beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("there is no folder 'shared' beside the repository")
    return folder


@pytest.fixture(scope="session")
def references() -> Callable[[str], Any]:
    """Return a reader of the papers' reference numbers, by the name of their file."""
    folder = Path(__file__).parent / "papers" / "reference"
    return lambda name: json.loads((folder / f"{name}.json").read_text())


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL = "apt-get -o DPkg::Lock::Timeout=300"


@pytest.fixture(scope="session")
def ur_columns() -> str:
    """Return the columns of the UR10e's logs, which have no header."""
    return "t=0,q=1:7,v=7:13,current=13:19,i_des=19:25,tau_des=25:31"


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the place of this machine's Chromium, installed now where it is missing and we may."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        for job in ("update", "install -y --no-install-recommends chromium"):
            subprocess.run([*_INSTALL.split(), *job.split()], capture_output=True, check=False, timeout=600)
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("there is no Chromium, and it cannot be installed here: apt-get install chromium")
    return found


FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Return a running Chromium, one for all tests; it draws without a graphics card, in software."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


# Robots and evaluation


@pytest.fixture(scope="session")
def tree() -> Callable[..., Model]:
    """Return the function that draws random trees."""
    return random_robots.random_tree


@pytest.fixture(scope="session")
def state() -> Callable[..., tuple[Array, Array, Array]]:
    """Return a function of a model or robot, and of a number of samples if any, that draws q, v, a."""
    return random_robots.random_state


@pytest.fixture(scope="session")
def evaluate() -> Callable[..., Array]:
    """Return a function that runs a recursion on arrays (…, n), real or complex; its scalars are arrays."""
    return evaluation.evaluate


@pytest.fixture(scope="session")
def differentiate() -> Callable[..., Array]:
    """Return a function of a recursion, a model and its arguments that gives ∂result/∂argument by complex step."""
    return evaluation.differentiate


@pytest.fixture(scope="session")
def agree() -> Callable[..., None]:
    """Return a check that two arrays of one shape differ by less than `within` of the largest number of the second."""
    return evaluation.agree


@pytest.fixture(scope="session")
def peer() -> Callable[[Drawing | Model], Peer]:
    """Return a function that builds a tree in Pinocchio; tests that use it are skipped without Pinocchio."""
    return Peer


@pytest.fixture(scope="session")
def closed() -> Callable[[str], Robot]:
    """Return a function from a name to a closed robot, made once."""
    return closed_robots.closed
