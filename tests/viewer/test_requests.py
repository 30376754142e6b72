"""Requests to the server over raw sockets: whose they are, malformed ones, many at once, and pages that go away."""

from __future__ import annotations

import base64
import gc
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import appell
from appell.viewer.view import DrawingLoop, Viewer

viser = pytest.importorskip("viser")

PATIENCE = 20.0
PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    robot = appell.load("two-link")
    run = appell.simulate(robot, [0.5, 0.0], [0.0, 0.0], 0.2)
    with appell.view(run, browser=False, block=False) as opened:
        yield opened


@pytest.fixture
def silent(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Assert that a test prints nothing, warnings and errors of loggers among it."""
    yield
    assert capfd.readouterr() == ("", "")
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def sent(port: int, request: bytes) -> bytes:
    """Return the first line of what the server answers; nothing where it closes the connection."""
    with connected(port) as line:
        line.sendall(request)
        if not request.endswith(b"\r\n\r\n"):
            line.shutdown(socket.SHUT_WR)
        return _received(line).split(b"\r\n")[0]


def handshake(*headers: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    fixed = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13")
    return "\r\n".join(["GET / HTTP/1.1", *fixed, *headers, "", ""]).encode("latin-1")


def opened(port: int) -> socket.socket:
    """Return a WebSocket of a page."""
    line = connected(port)
    line.sendall(handshake(f"Host: 127.0.0.1:{port}", f"Sec-WebSocket-Protocol: {PROTOCOL}"))
    assert b" 101 " in line.recv(65536).split(b"\r\n")[0]
    return line


def framed(opcode: int, payload: bytes) -> bytes:
    """Return one masked frame of a client, its mask zero."""
    return struct.pack("!BB", 0x80 | opcode, 0x80 | len(payload)) + bytes(4) + payload


def is_served(port: int) -> bool:
    return b" 200 " in sent(port, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())


def own(port: int, *headers: str) -> tuple[str, ...]:
    filled = (header.format(port=port, other=port % 65535 + 1) for header in headers)
    return (*filled, f"Sec-WebSocket-Protocol: {PROTOCOL}")


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: 127.0.0.1:{port}"],
        ["Host: localhost:{port}", "Origin: http://localhost:{port}"],
        ["Host: LOCALHOST:{port}", "Origin: http://127.0.0.1:{port}"],
    ],
)
def test_the_own_page_may_open_a_websocket(headers: list[str], viewer: Viewer) -> None:
    assert b" 101 " in sent(viewer.port, handshake(*own(viewer.port, *headers)))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["Host: rebound.example:{port}"],
        ["Host: localhost:{other}"],
        ["Host: localhost"],
        ["Host: 127.0.0.1:{port}.rebound.example"],
        ["Host: localhost@rebound.example:{port}"],
        ["Host: localhost:{port}", "Host: rebound.example"],
        ["Host: 10.0.0.1:{port}"],
        ["Host:"],
    ],
)
def test_requests_to_another_host_are_refused_before_they_are_answered(headers: list[str], viewer: Viewer) -> None:
    assert b" 403 " in sent(viewer.port, handshake(*own(viewer.port, *headers)))
    page = "\r\n".join(["GET / HTTP/1.1", *own(viewer.port, *headers), "", ""]).encode()
    assert b" 403 " in sent(viewer.port, page)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    "origin",
    [
        "http://elsewhere.example",
        "http://localhost:{other}",
        "https://localhost:{port}",
        "http://localhost:{port}.elsewhere.example",
        "http://elsewhere.example@localhost:{port}",
        "http://localhost:{port}/",
        "http://localhost:99999",
        "http://localhost:port",
        "http://[::1",
        "http://localhost",
        "localhost:{port}",
        "null",
        "file://",
        "",
        "http://localhost:{port}, http://elsewhere.example",
        "http://localhost:{port}\r\nOrigin: http://elsewhere.example",
        "\xff\xfe",
    ],
)
def test_pages_of_other_sites_get_no_websocket(origin: str, viewer: Viewer) -> None:
    headers = own(viewer.port, "Host: localhost:{port}", f"Origin: {origin}")
    assert b" 403 " in sent(viewer.port, handshake(*headers))


@pytest.mark.usefixtures("silent")
def test_a_page_of_another_version_is_refused_without_a_word(viewer: Viewer) -> None:
    host = f"Host: localhost:{viewer.port}"
    for other in ((), ("Sec-WebSocket-Protocol: viser-v0.0.1",), ("Upgrade: websocket",)):
        assert b" 403 " in sent(viewer.port, handshake(host, *other))


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n",
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\tfolded\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: minus\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: 1\r\n" % k for k in range(1000)) + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n\r\n",
        b"GET /%00 HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
    ],
    ids=lambda request: repr(request[:40]),
)
def test_a_malformed_request_is_refused_and_nothing_is_printed(request_: bytes, viewer: Viewer) -> None:
    status = sent(viewer.port, request_.replace(b"{port}", b"%d" % viewer.port))
    assert not status or status.split()[1][:1] in (b"4", b"5")
    assert is_served(viewer.port)


@pytest.mark.usefixtures("silent")
def test_a_first_malformed_request_prints_nothing() -> None:
    with appell.view("two-link", browser=False, block=False) as fresh:
        assert not sent(fresh.port, b"no request at all\r\n\r\n").startswith(b"HTTP/1.1 2")
        assert is_served(fresh.port)


@pytest.mark.usefixtures("silent")
def test_idle_connections_do_not_keep_the_page_from_being_served(viewer: Viewer) -> None:
    lines = [connected(viewer.port) for _ in range(200)]
    try:
        assert is_served(viewer.port)
    finally:
        for line in lines:
            line.close()


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    "frame",
    [framed(1, b"text"), framed(2, b"\xc1 no message"), framed(2, b""), framed(7, b""), b"\x00\xff" * 50],
    ids=["text", "no message", "empty", "unknown opcode", "noise"],
)
def test_a_message_that_is_none_closes_its_own_connection(frame: bytes, viewer: Viewer) -> None:
    with opened(viewer.port) as line:
        line.sendall(frame + framed(8, struct.pack("!H", 1000)))
        while _received(line):
            pass
    gc.collect()  # asyncio reports an exception of a task when the task is freed
    assert is_served(viewer.port)


@pytest.mark.usefixtures("silent")
def test_pages_that_go_away_while_a_run_is_played_do_not_stop_it(viewer: Viewer) -> None:
    page = viewer.page
    page.toggle()  # type: ignore[attr-defined]
    for k in range(12):
        line = opened(viewer.port)
        line.recv(65536)
        if k % 3 == 0:  # a reset, as of a page whose process was killed
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif k % 3 == 1:  # the end of a message that is half sent
            line.sendall(framed(2, b"half of a message")[:-5])
        line.close()
    before = viewer.q
    deadline = time.monotonic() + PATIENCE
    while np.array_equal(viewer.q, before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not np.array_equal(viewer.q, before)
    with opened(viewer.port) as line:
        assert line.recv(65536)
    viewer.seek(0.0)
    gc.collect()


def test_what_cannot_be_drawn_is_named_and_does_not_end_the_thread(capfd: pytest.CaptureFixture[str]) -> None:
    drawn = threading.Event()

    def tick(_: float) -> bool:
        if not drawn.is_set():
            drawn.set()
            raise ValueError("no such speed")
        again.set()
        return False

    again, loop = threading.Event(), DrawingLoop(tick)
    loop.start()
    assert drawn.wait(PATIENCE)
    loop.wake()
    assert again.wait(PATIENCE)
    loop.stop()
    assert capfd.readouterr().err == "appell: warning: view: not drawn: ValueError: no such speed\n"


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(65536)
    except ConnectionResetError:
        return b""
