"""Every robot of example-robot-data has Pinocchio's numbers, as a tree on a fixed base.

Robots of up to `NATIVE` velocities go through native code, and inverse dynamics of every robot does. Larger ones would
compile for minutes in sum, and take the same recursions on arrays, on the same model that would be compiled.
"""

from __future__ import annotations

import functools
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, ReadError
from appell.model.lean import lean
from appell.robot.verbs import VERBS

pin = pytest.importorskip("pinocchio")

FOLDER = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = {path.stem: path for path in sorted(FOLDER.rglob("*.urdf"))}
assert len(FILES) == len(list(FOLDER.rglob("*.urdf"))) or "anymal" in FILES
SAMPLES = 100
NATIVE = 13
LARGEST = {"regressor": 7, "inverse_dynamics_derivatives": 7, "forward_dynamics_derivatives": 7}
