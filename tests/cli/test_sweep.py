import json

import pytest
from typer.testing import CliRunner

from appell.cli import app

STUDY = """
function = "work.py:area"
[fixed]
unit = 2.0
[space.values]
a = [1.0, 2.0]
b = [3.0, 4.0, 0.0]
"""
WORK = """
def area(a, b, unit):
    if b == 0.0:
        raise ValueError("b is zero")
    return {"area": a * b * unit}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "work.py").write_text(WORK)
    return tmp_path


def test_a_study_prints_ranges_and_failed_cases(folder):
    found = CliRunner().invoke(app, ["sweep", str(folder / "study.toml"), "--out", str(folder / "s.csv"), "--json"])
    assert found.exit_code == 1
    values = json.loads(found.stdout)
    assert (values["cases"], values["failed"]) == (6, 2)
    assert values["values"]["area"]["max"] == 16.0
    assert "b is zero" in found.stderr
    assert (folder / "s.csv").read_text().splitlines()[1] == "1.0,3.0,6.0,"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("work.py:area", "work.py", "expected 'file.py:function'"),
        ("work.py:area", "none.py:area", "file not found"),
        ("work.py:area", "work.py:volume", "cannot be imported"),
        ("[fixed]", "[fixt]", "unknown key 'fixt'"),
        ("[space.values]", "[space]\nkind = 'cube'\n[space.values]", "unknown kind of space 'cube'"),
        ("[space.values]", "[space]\nkind = 'sobol'\n[space.values]", "expected an integer"),
    ],
)
def test_wrong_files_are_one_line(folder, old, new, words):
    (folder / "study.toml").write_text(STUDY.replace(old, new))
    found = CliRunner().invoke(app, ["sweep", str(folder / "study.toml")])
    assert found.exit_code == 2
    assert words in found.stderr
    assert len(found.stderr.splitlines()) == 1
