"""Warnings name the line of the caller, and are silenced in one thread alone."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, quiet, warn

CUBE = """<robot name="cube">
<link name="base"><inertial><mass value="1"/></inertial></link>
</robot>"""


def test_a_warning_names_the_line_that_called_appell(tmp_path):
    (tmp_path / "cube.urdf").write_text(CUBE)
    with pytest.warns(AppellWarning, match=r"cube\.urdf:2: link 'base'.* no <inertia>") as caught:
        appell.load(tmp_path / "cube.urdf")
    assert [one.filename for one in caught] == [__file__]


def test_quiet_is_for_the_thread_that_asks_for_it():
    both = threading.Barrier(2, timeout=10.0)

    def silent():
        with quiet():
            both.wait()
            warn("unheard")
            both.wait()
        warn("later")

    def loud():
        both.wait()
        warn("heard")
        both.wait()

    with ThreadPoolExecutor(2) as pool, pytest.warns(AppellWarning) as caught:
        list(pool.map(lambda job: job(), (silent, loud)))
    assert sorted(str(one.message) for one in caught) == ["heard", "later"]


def test_threads_that_load_from_the_catalogue_leave_the_filters_as_they_are():
    # the catalogue's files may be irregular, silently; the file of the user is not
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: appell.load("shafei-tree", gravity=(0.0, 0.0, -float(k))), np.arange(1, 40)))
    assert warnings.filters == before
