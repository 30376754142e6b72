"""The line of a long compile: on a terminal only, erased at the end, silent on request."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from appell.kernels.runtime import native


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(native, "sys", SimpleNamespace(stderr=stream))  # pytest sets its own before every phase
    monkeypatch.setattr(native, "AFTER", 0.02)
    monkeypatch.setattr(native, "EVERY", 0.02)
    monkeypatch.setattr(native, "_silences", [])
    monkeypatch.delenv(native.VARIABLE, raising=False)
    return stream


def wait_for(stream, text):
    end = time.monotonic() + 10.0
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_long_compile_shows_a_line_and_erases_it(terminal):
    with native.compiling("inverse_dynamics"):
        wait_for(terminal, "compiling inverse_dynamics")
    *_, shown, blank, rest = terminal.getvalue().split("\r")
    assert shown.startswith("appell: compiling inverse_dynamics ... ")
    assert (blank.strip(), rest) == ("", "")
    assert len(blank) >= len(shown)


def test_an_error_passes_and_the_line_goes(terminal):
    def fail():
        with native.compiling("gravity"):
            wait_for(terminal, "compiling gravity")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert terminal.getvalue().endswith("\r")
    with native.compiling("bias"):  # the next one is shown again
        wait_for(terminal, "compiling bias")
    assert "compiling bias" in terminal.getvalue()


def test_a_short_compile_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(native, "AFTER", 60.0)
    with native.compiling("gravity"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("reason", ["variable", "silent", "json", "another", "file", "closed"])
def test_nothing_is_shown(terminal, monkeypatch, reason):
    stream = terminal
    if reason == "variable":
        monkeypatch.setenv(native.VARIABLE, "off")
    elif reason == "json":
        native.switch_off()
    elif reason == "file":
        stream = io.StringIO()
        monkeypatch.setattr(native, "sys", SimpleNamespace(stderr=stream))
    elif reason == "closed":
        monkeypatch.setattr(native, "sys", SimpleNamespace(stderr=None))
    if reason == "silent":
        with native.silent(), native.compiling("gravity"):
            time.sleep(0.1)
    elif reason == "another":
        with native._one_line, native.compiling("gravity"):
            time.sleep(0.1)
    else:
        with native.compiling("gravity"):
            time.sleep(0.1)
    assert stream.getvalue() == ""
