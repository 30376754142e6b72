"""Unknown names: every look-up suggests the names that it might have meant."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.messages import alternatives, resembling


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("shoulder-pan", ["shoulder_pan_joint", "elbow_joint"], ["shoulder_pan_joint"]),
        ("Tool_0", ["tool0", "flange"], ["tool0"]),
        ("inverse_dynamcis", appell.load("two-link").verbs, ["inverse_dynamics"]),
        ("xyz", ["abc"], []),
        ("", ["abc"], []),
        ("a", ["abc", "bac"], []),
    ],
)
def test_names_resemble_by_spelling(name, known, expected):
    assert resembling(name, known)[:1] == expected


def test_a_short_list_is_given_in_full_and_a_long_one_is_not():
    assert alternatives("wrst", ["wrist", "elbow"]) == "did you mean 'wrist'? known: 'wrist', 'elbow'"
    many = [f"link{k}_of_arm" for k in range(50)]
    assert alternatives("link7_of_arn", many).startswith("did you mean 'link7_of_arm' or")
    assert "known" not in alternatives("link7_of_arn", many)
    assert alternatives(3, many, 2) == "known: 'link0_of_arm', 'link1_of_arm' and 48 more"


def test_a_damaged_file_with_many_long_names_is_no_burden():
    assert len(resembling("x" * 10**6, [f"{k}" + "x" * 1000 for k in range(20_000)])) == 3


def puma():
    return appell.load("puma560")


ZERO = np.zeros(6)
CALLS = {
    "catalogue": (lambda: appell.load("puma56"), "puma560"),
    "verb": (lambda: puma().operations("inverse_dynamic"), "inverse_dynamics"),
    "formulation": (lambda: puma().mass_matrix(ZERO, formulation="gibs"), "gibbs"),
    "formulation of the robot": (lambda: puma().using("newton_euler"), "newton-euler"),
    "joint": (lambda: puma().locked(["Joint_3"]), "joint3"),
    "frame": (lambda: puma().pose(ZERO, "lnk6"), "link6"),
    "link": (lambda: puma().with_link("lnk6", mass=1.0), "link6"),
    "record": (lambda: puma().joints["join1"], "joint1"),
    "option": (lambda: puma().gravity(ZERO, ot=ZERO), "out"),
    "target": (lambda: puma().export("gravity", to="casdi"), "casadi"),
    "paper": (lambda: appell.reproduce("mata2020"), "mata2002"),
}


@pytest.mark.parametrize("name", CALLS)
def test_look_ups_suggest_names(name):
    call, meant = CALLS[name]
    with pytest.raises(appell.AppellError, match=f"did you mean .*'{meant}'"):
        call()


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("inf puma560", "info"),
        ("info puma650", "puma600"),
        ("info puma560 --flaoting", "--floating"),
        ("ops puma560 inverse_dynamic", "inverse_dynamics"),
        ("ops puma560 --formulation newton_euler", "newton-euler"),
        ("export puma560 --verb gravty --out a.c", "gravity"),
        ("export puma560 --verb pose --frame lnk6 --out a.c", "link6"),
        ("export puma560 --controller traking --frequency 1 --out a.c", "tracking"),
        ("reproduce mata2020", "mata2002"),
    ],
)
def test_commands_suggest_names(line, meant):
    result = CliRunner().invoke(app, line.split(), prog_name="appell")
    assert result.exit_code == 2
    assert f"'{meant}'" in result.stderr.partition("did you mean")[2].partition("?")[0], result.stderr
