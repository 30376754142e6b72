"""Machine description of a measurement: processor, system and versions, without names of the machine or user."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from appell.kernels.runtime.native import processor


def machine() -> dict[str, str | int | None]:
    """Return the description of the machine, without its name.

    >>> sorted(machine())[:3]
    ['appell', 'cores', 'cpu']
    """

    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    versions = {name: installed(name) for name in ("appell", "numpy", "llvmlite", "pin")}
    return {
        "cpu": _cpu(),
        "target": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **versions,
    }


def described(facts: dict[str, str | int | None]) -> str:
    """Return the description of a machine as one line.

    >>> described({"cores": 2, "system": "Linux", "pin": None})
    'cores 2, system Linux'
    """
    return ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
