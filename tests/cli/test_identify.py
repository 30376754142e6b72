"""``appell identify``: tables for people, JSON for programs, a model and a page; mistakes are one line."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.planning.trajectory.curves import Fourier

MAP = "t=0,q=1:3,v=3:5,current=5:7"
MOTION = Fourier([0.2, -0.8], [[0.9, 0.2], [0.3, -0.6], [0.2, 0.2]], [[0.1, 0.7], [0.4, 0.2], [-0.3, 0.1]], 0.2)
QUICK = ("--gains", "12,9", "--method", "qr", "--friction", "coulomb", "--no-rotors")


def run(*arguments):
    return CliRunner().invoke(app, ["identify", *map(str, arguments)], prog_name="appell")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with logs of currents: one to fit, one to predict, one with a load of 4 kg at (1.5, 0, 0)."""
    place, robot = tmp_path_factory.mktemp("logs"), appell.load("two-link")
    t = np.arange(1200) / 100.0
    load = np.zeros(20)
    load[10:] = [4.0, 6.0, 0.0, 0.0, 0.0, 0.0, 9.1, 0.0, 0.0, 9.1]
    for seed, (name, at) in enumerate({"log": 0.0, "other": 3.3, "loaded": 0.0}.items()):
        q, v, a = MOTION(t + at)
        pi = robot.parameters[:20] + load * (name == "loaded")
        tau = robot.regressor(q, v, a)[..., :20] @ pi + [8.0, 5.0] * np.sign(v) + [6.0, 3.0] * v
        current = (tau + np.random.default_rng(seed).normal(size=tau.shape)) / [12.0, 9.0]
        np.savetxt(place / f"{name}.csv", np.column_stack([t, q, v, current]), delimiter=",")
    return place


def test_help_has_an_example():
    assert "Example: appell identify" in run("--help").stdout


def test_values_friction_scores_and_repairs_are_printed(folder):
    result = run("two-link", folder / "log.csv", "--map", MAP, *QUICK, "--validate", folder / "other.csv")
    assert result.exit_code == 0, result.output
    for text in ("identified parameters", "definition", "friction", "coulomb [N·m]", "other.csv: predicted torques"):
        assert text in result.stdout
    for text in ("Repairs of the logs:", "residuals", "mean"):
        assert text in result.stdout


def test_json_has_numbers(folder):
    result = run(
        "two-link", folder / "log.csv", "--map", MAP, *QUICK, "--folds", 3, "--validate", folder / "other.csv", "--json"
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert found["method"] == "qr"
    assert isinstance(found["parameters"][0]["value"], float)
    assert found["validation"][0]["mean error"] < 0.05
    assert len(found["cross-validation"]) == 5
    assert found["training"]["error"].keys() == {"joint1", "joint2"}


def test_several_logs_are_fitted_together(folder):
    one, both = (
        json.loads(run("two-link", *(folder / f"{x}.csv" for x in names), "--map", MAP, *QUICK, "--json").stdout)
        for names in (["log"], ["log", "other"])
    )
    assert both["training"]["log"] == "log.csv, other.csv"
    assert sum(x["standard error"] for x in both["parameters"]) < sum(x["standard error"] for x in one["parameters"])


def test_a_payload_is_found(folder):
    found = json.loads(
        run("two-link", folder / "log.csv", "--map", MAP, *QUICK, "--payload", folder / "loaded.csv", "--json").stdout
    )["payload"]
    assert found["link"] == "link2"
    assert found["parameters"][1] == pytest.approx(6.0, abs=0.1)


def test_the_fitted_robot_and_a_page_are_written(folder, tmp_path):
    model, page = tmp_path / "fitted.urdf", tmp_path / "out" / "identify.html"
    result = run(
        "two-link", folder / "log.csv", "--map", MAP, "--gains", "12,9", "--friction", "coulomb", "--folds", 2,
        "--validate", folder / "other.csv", "-o", model, "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    text = page.read_text()
    for part in ("Torques of log.csv", "Torques of other.csv", "Friction against speed", "cross-validation in 2 folds"):
        assert part in text
    assert text.count("data:image/png;base64,") == 4
    assert "<img src" not in text
    robot = appell.load(model, gravity=(0.0, -9.81, 0.0))
    assert "URDF has no gravity" in result.stderr
    assert robot.model.bodies[0].joint.friction == pytest.approx(8.0, abs=1.0)


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")  # a fit without bounds
def test_the_fitted_robot_is_written_over_a_copy_of_its_own_file(folder, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        own = appell.load("two-link").save(tmp_path / "own.urdf")
    own.write_text(own.read_text().replace("<robot", "<!-- measured -->\n<robot"))
    result = run(
        own, folder / "log.csv", "--map", MAP, *QUICK, "--gravity", "0,-9.81,0", "-o", tmp_path / "new.urdf",
        "--template", own,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    text = (tmp_path / "new.urdf").read_text()
    assert "<!-- measured -->" in text
    assert appell.load(tmp_path / "new.urdf").model.bodies[0].joint.friction == pytest.approx(8.0, abs=1.0)


def test_progress_goes_to_stderr(folder):
    result = run("two-link", folder / "log.csv", "--map", MAP, *QUICK, "--folds", 2)
    assert "[1/3] fitting two-link to log.csv" in result.stderr
    assert "[2/3] cross-validating in 2 folds" in result.stderr


def test_a_log_that_is_predicted_badly_is_warned_of(folder):
    result = run("two-link", folder / "log.csv", "--map", MAP, *QUICK, "--validate", folder / "loaded.csv")
    assert "warning: loaded.csv: prediction error" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two-link", "missing.csv", "--map", MAP), "file not found"),
        (("two-link", "{log}", "--map", "t=0,q=1:3,v=3:5,current=5:9"), "log.csv"),
        (("two-link", "{log}", "--map", "t=0,q=1:3,speed"), "speed"),
        (("puma560", "{log}", "--map", MAP), "puma560"),
        (("two-link", "{log}", "--map", MAP), "give gains"),
        (("two-link", "{log}", "--map", MAP, "--gains", "12"), "--gains: expected 2 numbers"),
        (("two-link", "{log}", "--map", MAP, "--gains", "12,x"), "--gains: expected numbers"),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--method", "magic"), "unknown method 'magic'"),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--friction", "sticky"), "unknown model 'sticky'"),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--folds", 1), "--folds: expected 2 or more"),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--validate", "missing.csv"), "file not found"),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--payload", "{log}", "--link", "hand"), "unknown link 'hand'"),
        (
            ("two-link", "{log}", "--map", MAP, *QUICK, "-o", "model.step"),
            "--out: unknown extension of 'model.step'; known:",
        ),
        (("two-link", "{log}", "--map", MAP, *QUICK, "--template", "arm.urdf"), "--template: --out is required"),
        (
            ("two-link", "{log}", "--map", MAP, *QUICK, "--template", "arm.urdf", "-o", "model.toml"),
            "--out: unknown extension of 'model.toml'; known: '.urdf'",
        ),
        (
            ("two-link", "{log}", "--map", MAP, *QUICK, "--report", "page.pdf"),
            "--report: unknown extension",
        ),
        (("no-robot", "{log}", "--map", MAP), "no-robot"),
        (("two-link",), "LOG"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(folder, arguments, message):
    result = run(*(str(x).format(log=folder / "log.csv") for x in arguments))
    assert result.exit_code == 2
    last = [line for line in result.stderr.splitlines() if not line.startswith("[")]
    assert len(last) == 1, result.stderr
    assert last[0].startswith("appell: ")
    assert message in last[0]


def test_a_ur10e_is_identified_from_its_logs(shared, tmp_path):
    folder = shared / "data" / "ur10e"
    result = run(
        folder / "ur10e.urdf", folder / "ur-20_02_19_14harm50sec.csv", "--map", "t=0,q=1:7,v=7:13,current=13:19",
        "--gains", "11.976,11.976,9.8386,10.763,10.763,10.763", "--payload", folder / "ur-20_02_19_14harm50secLoad.csv",
        "--validate", folder / "ur-20_02_10-30sec_12harm.csv", "-o", tmp_path / "fitted.urdf", "--json",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert found["physical"]
    assert found["validation"][0]["mean error"] < 0.041  # what the best of the existing tools reaches
    assert found["payload"]["mass [kg]"] == pytest.approx(2.8, abs=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        assert appell.load(tmp_path / "fitted.urdf").nv == 6
