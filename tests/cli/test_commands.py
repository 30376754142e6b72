"""What all commands have in common: words, completion, exit codes, and the page that describes them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from docs.command_page import commands, text

COMMANDS = commands()
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
MAIN = [sys.executable, "-c", "from appell.cli import main; main()"]


def invoke(*arguments, **environment):
    return CliRunner().invoke(app, list(arguments), prog_name="appell", env=environment)


def completions(line):
    """Return what a shell is told to offer at the end of a line."""
    answer = invoke(_APPELL_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    return answer.output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_short_and_every_option_is_explained(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) < 75
    assert [p.name for p in COMMANDS[command].params if not getattr(p, "help", None)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_written_is_named_alike(command):
    names = {name: option.opts for option in COMMANDS[command].params for name in option.opts}
    if "--out" in names:
        assert "-o" in names["--out"]
    assert not {"--output", "--outfile", "--file", "--as-json"} & set(names)


def test_the_page_of_commands_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == text(), "python docs/command_page.py > docs/commands.md writes it anew"


def test_a_shell_is_offered_the_robots_of_the_catalogue():
    offered = completions("appell info p")
    assert [name in offered for name in appell.catalogue()] == [name.startswith("p") for name in appell.catalogue()]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("appell re", "reproduce"),
        ("appell ops puma560 inv", "inverse_dynamics"),
        ("appell ops puma560 --formulation newt", "newton-euler"),
        ("appell export puma560 --verb mass", "mass_matrix"),
        ("appell export puma560 --to cas", "casadi"),
        ("appell reproduce ma", "mata2002"),
    ],
)
def test_a_shell_is_offered_the_word(line, word):
    assert word in completions(line)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_can_be_had(shell):
    script = invoke(_APPELL_COMPLETE=f"source_{shell}")
    assert script.exit_code == 0
    assert "appell" in script.output


def test_info_without_a_robot_lists_the_catalogue():
    result = invoke("info")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in appell.catalogue())


@pytest.mark.parametrize("name", ["agile-wrist", "sst"])
@pytest.mark.parametrize("command", [["info"], ["ops"], ["id", "-q", "0.1,0.9,0.1"], ["fd", "-q", "0.1,0.9,0.1"]])
def test_a_robot_in_closed_form_is_known_too(command, name):
    result = invoke(command[0], name, *command[1:])
    assert result.exit_code == 0, result.output
    assert name in result.stdout


def test_bench_refuses_closed_loops_in_one_line(tmp_path):
    result = invoke("bench", "four-bar", "--out", str(tmp_path / "b.json"))
    assert result.exit_code == 2
    assert "closed loops" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of other systems")
def test_a_reader_that_hangs_up_is_no_mistake():
    shell = f"{sys.executable} -c 'from appell.cli import main; main()' info puma560 --json | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{shell}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "{"
    assert done.stdout.splitlines()[-1] in ("0", "141")  # it may have been done before the reader was gone


def test_a_reader_that_is_gone_ends_a_command_in_silence(monkeypatch):
    def gone(*things):
        raise BrokenPipeError

    monkeypatch.setattr("appell.cli.cache.show", gone)
    result = invoke("cache")
    assert (result.exit_code, result.output) == (141, "")


def test_ctrl_c_ends_a_command_without_a_traceback(monkeypatch):
    def interrupted(*things):
        raise KeyboardInterrupt

    monkeypatch.setattr("appell.cli.cache.show", interrupted)
    result = invoke("cache")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


@pytest.mark.skipif(os.name == "nt", reason="signals of other systems")
def test_ctrl_c_on_a_running_process_is_130(tmp_path):
    command = [*MAIN, "bench", "two-link", "--seconds", "60", "--out", str(tmp_path / "b.json")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in "".join(rest)
