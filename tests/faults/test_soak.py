"""A short run of make soak, and proof that it would find a leak."""

from __future__ import annotations

import sys

import pytest

import appell
from tests import soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
HELD: list[appell.Robot] = []


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path / "cache"))  # which the soak sets, and this resets


@pytest.mark.slow
def test_memory_and_mappings_stay_constant(capsys):
    assert soak.main(["--seconds", "0"]) == 0, capsys.readouterr().out


def kernels(number, folder):
    for k in range(4):  # the code of one may fit into memory that is mapped already
        HELD.append(soak.fresh(4 * number + k))
        HELD[-1].gravity([0.0, 0.0])


def memory(number, folder):
    HELD.append(bytearray(64 << 20))  # type: ignore[arg-type]  # held all the same


def files(number, folder):
    HELD.append((folder / "leak").open("w"))


@pytest.mark.parametrize("leak", [kernels, memory, files])
def test_a_leak_is_found(leak, capsys):
    try:
        assert soak.main(["--seconds", "0"], {"leak": leak}) == 1, capsys.readouterr().out
    finally:
        for held in HELD:
            getattr(held, "close", lambda: None)()
        HELD.clear()
