"""Notebooks: the example runs cell by cell, every object displays itself, and names from files are text."""

from __future__ import annotations

import base64
import html
import io
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.display import Html, element, is_notebook, table
from appell.errors import InputError
from appell.identification import Log, base_parameters, cross_validate, prepare, residuals
from appell.papers.shafei2018 import RADIUS, START
from appell.reports.report import Report
from appell.reports.table import Table

NOTEBOOK = Path(__file__).parent.parent / "examples" / "13_notebook.ipynb"
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""
"""In a process of its own: nbclient leaves event loops open, and the browser's tests one running."""
BAD = "<script>alert('x')</script>"
URDF = f"""<robot name="{html.escape(BAD)}">
  <link name="{html.escape(BAD)}"/>
  <link name="rod {html.escape(BAD)}"><inertial><mass value="1"/><origin xyz="0.1 0.2 0.3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="hinge {html.escape(BAD)}" type="revolute"><parent link="{html.escape(BAD)}"/>
    <child link="rod {html.escape(BAD)}"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/></joint>
</robot>"""


# The example


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: Any) -> dict[str, dict[str, Any]]:
    """Return what the cells of the example display, by the last line of each."""
    for package in ("nbclient", "ipykernel"):
        pytest.importorskip(package)
    nbformat = pytest.importorskip("nbformat")
    executed = tmp_path_factory.mktemp("notebook") / "executed.ipynb"
    command = [sys.executable, "-c", EXECUTE, str(NOTEBOOK), str(executed)]
    done = subprocess.run(command, cwd=executed.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    notebook = nbformat.read(executed, 4)
    found: dict[str, dict[str, Any]] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = found.setdefault(cell.source.splitlines()[-1], {})
            for output in cell.outputs:
                shown |= output.data if "data" in output else {output.name: output.text}
    return found


def test_a_robot_is_a_tree_with_masses_and_limits(outputs):
    shown = outputs["robot"]["text/html"]
    assert shown.startswith('<div style="')
    for text in ("Robot &#x27;puma560&#x27;", "└ link1", "17.4", "revolute", "−2.793 … 2.793 rad"):
        assert text.replace("&#x27;", "'") in html.unescape(shown)
    assert outputs["robot"]["text/plain"] == "<Robot 'puma560': 6 bodies, nq 6, nv 6>"


def test_a_run_is_a_summary_with_its_impacts(outputs):
    shown = html.unescape(outputs["run"]["text/html"])
    assert "Run of 'shafei-tree': 1.5 s" in shown
    assert shown.count("<tr>") == 6
    assert "0.385192" in shown


def test_a_figure_is_a_picture(outputs):
    shown = outputs["run.plot()"]
    image = pytest.importorskip("PIL.Image")
    picture = np.asarray(image.open(io.BytesIO(base64.b64decode(shown["image/png"]))).convert("L"))
    assert picture.shape[0] > 800
    assert (picture < 128).mean() > 0.005
    assert shown["text/plain"].startswith("<Figure 'shafei-tree: 1.5 s, 5 impacts' of ")
    assert " at 0x" not in shown["text/plain"]


def test_a_film_plays_in_its_cell(outputs, browser, tmp_path):
    file = tmp_path / "cell.html"
    file.write_text(outputs["run.animate(speed=0.5)"]["text/html"], encoding="utf-8")
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready]").wait_for(timeout=90_000)
    assert frame.locator("#play").text_content() == "Pause"
    seen = {frame.locator("body").get_attribute("data-time")}
    for _ in range(300):  # it plays; a busy machine draws few frames a second
        page.wait_for_timeout(100)
        seen.add(frame.locator("body").get_attribute("data-time"))
        if len(seen) > 2:
            break
    assert len(seen) > 2
    assert [url for url in requests if url.startswith("http")] == []
    page.close()


def test_logs_fits_and_tables_are_tables(outputs):
    assert outputs["log"]["text/html"].count("<tr>") == 3
    assert outputs["fit"]["text/html"].count("<tr>") == 7
    assert outputs["appell.identification.base_parameters(arm)"]["text/html"].count("<tr>") == 7
    printed = outputs["print(fit.table())"]["stdout"]
    assert re.search(r"^ *mcx2 +10 +0\.00193 +well", printed, re.MULTILINE)
    assert "Table(" not in printed
    assert "\x1b" not in printed


def test_solutions_and_studies_are_tables(outputs):
    solution = outputs['appell.inverse_kinematics(appell.load("rx90"), [[0.5, 0.1, 0.3], [0.0, 0.0, 2.0]])']
    assert "IKSolution: 1 of 2 goals reached" in solution["text/html"]
    study = outputs['appell.sweep(swing, {"length": [0.5, 1.0, 2.0]}, progress=False)']["text/html"]
    assert "2.837" in study


def test_the_viewer_is_a_frame_of_this_machine(outputs):
    shown = outputs["viewer"]["text/html"]
    assert re.search(r'<iframe src="http://127\.0\.0\.1:\d+"', shown)
    assert outputs["viewer.stop()"] == {}


def test_the_viewer_draws_in_a_frame_of_another_page(browser, tmp_path):
    """Whose requests are its own server's: the check of Host and Origin lets them pass."""
    pytest.importorskip("viser")
    with appell.view("puma560", browser=False, block=False) as viewer:
        file = tmp_path / "cell.html"
        file.write_text(viewer._repr_html_(), encoding="utf-8")
        page = browser.new_page(viewport={"width": 900, "height": 640})
        page.goto(file.as_uri())
        frame = page.frame_locator("iframe")
        frame.get_by_text("joint1").first.wait_for(timeout=90_000)
        canvas = frame.locator("canvas[style*='opacity: 1']")
        canvas.first.wait_for(timeout=90_000)
        page.wait_for_timeout(500)
        picture = np.asarray(pytest.importorskip("PIL.Image").open(io.BytesIO(page.screenshot())).convert("RGB"))
        page.close()
    scene = picture[100:500, 30:450].reshape(-1, 3).astype(int)
    assert (np.ptp(scene, axis=1) > 60).mean() > 0.003  # the rods' blue, which neither page nor grid has


# All objects


def _log(robot: appell.Robot) -> Log:
    t = np.arange(0.0, 8.0, 0.01)
    q, v, a = appell.trajectory.Fourier([0.0, 0.5], [[0.8, 0.2], [0.3, -0.6]], [[0.1, 0.5], [0.4, 0.2]], 0.2)(t)
    return Log.from_arrays(t, q, v=v, tau=robot.inverse_dynamics(q, v, a))


def _objects() -> dict[str, Callable[[], Any]]:
    two = appell.load("two-link")
    fit = appell.identify(two, _log(two), "qr", friction=False, rotors=False)
    return {
        "fit": lambda: fit,
        "prediction": lambda: fit.training,
        "residuals": lambda: residuals(fit),
        "cross-validation": lambda: cross_validate(fit, 2),
        "prepared": lambda: prepare(_log(two)),
        "base parameters": lambda: base_parameters(two),
        "excitation": lambda: appell.excite(two, {"velocity": 1.0}, harmonics=2, duration=4.0, starts=1),
        "closed robot": lambda: appell.load("stewart"),
        "spherical robot": lambda: appell.load("sst"),
        "report": lambda: Report("demo", "A demonstration", (Table("One", ("n",), ((1,),)),)),
    }


def test_every_object_displays_itself_and_has_a_short_repr():
    for name, made in _objects().items():
        thing = made()
        shown = thing._repr_html_()
        assert shown.startswith("<div"), name
        assert "<table" in shown, name
        assert len(repr(thing)) < 20_000, name
        assert "array(" not in repr(thing), name


def test_names_out_of_files_are_text(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(URDF)
    robot = appell.load(file)
    run = appell.simulate(robot, [0.1], [0.0], 0.1)
    log = Log(np.array([0.0, 0.1]), np.zeros((2, 1)), source=BAD, joint_names=(BAD,))
    shown = [x._repr_html_() for x in (robot, run, log, Table(BAD, (BAD,), ((BAD,),), (BAD,)), base_parameters(robot))]
    for text in shown:
        assert "<script" not in text
        assert BAD in html.unescape(text)
    assert "−1 … 2 rad" in shown[0]
    assert "0.1, 0.2, 0.3" in shown[0]


def test_a_long_table_ends_with_the_number_of_its_other_rows():
    assert "… 50 more" in table(("n",), ([k] for k in range(250)), 250)
    assert "… 50 more" in table(("n",), [[k] for k in range(250)])
    assert element("b", Html("<i>"), "<i>") == "<b><i>&lt;i&gt;</b>"


def test_a_figure_outside_notebooks_has_no_window():
    pytest.importorskip("matplotlib")
    robot = appell.load("shafei-tree")
    run = appell.simulate(robot, START, np.zeros(robot.nv), 0.1, walls=[appell.walls.Circle(RADIUS)])
    drawn = run.plot()
    assert "displays itself in a notebook" in repr(drawn)
    with pytest.raises(InputError, match="have no window"):
        drawn.show()


def test_a_viewer_in_a_notebook_neither_blocks_nor_opens_a_browser(monkeypatch):
    pytest.importorskip("viser")
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail(f"opened {url}"))
    monkeypatch.setenv("DISPLAY", ":0")
    assert is_notebook()
    viewer = appell.view("two-link")
    assert f'src="{viewer.url}"' in viewer._repr_html_()
    viewer.stop()
    assert "stopped" in viewer._repr_html_()
