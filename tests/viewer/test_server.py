"""The server: of this machine, for this machine, and gone when stopped."""

from __future__ import annotations

import asyncio
import socket
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import appell
from appell.errors import AppellError, InputError

viser = pytest.importorskip("viser")


def listening(port: int) -> set[str]:
    """Return the addresses that a port is listened at, by the kernel's own table."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("this system does not tell who listens")
    found = set()
    for kind in ("tcp", "tcp6"):
        for line in Path("/proc/net", kind).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, _, number = local.partition(":")
            if state == "0A" and int(number, 16) == port:
                found.add(address)
    return found


def test_only_the_loopback_interface_is_listened_at() -> None:
    with appell.view("two-link", browser=False, block=False) as viewer:
        assert listening(viewer.port) == {"0100007F"}


def test_the_page_is_served_and_gone_after_stop() -> None:
    viewer = appell.view("two-link", browser=False, block=False)
    with urllib.request.urlopen(viewer.url) as answer:
        assert b"<html" in answer.read()[:2000].lower()
    viewer.stop()
    viewer.stop()
    with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", viewer.port), timeout=5.0):
        pass


def test_no_thread_of_the_viewer_is_left() -> None:
    with appell.view("two-link", browser=False, block=False):
        assert any(thread.name == "appell view" for thread in threading.enumerate())
    assert not any(thread.name == "appell view" for thread in threading.enumerate())


def test_pages_of_other_sites_are_turned_away() -> None:
    client = pytest.importorskip("websockets.asyncio.client")
    protocol = f"viser-v{viser.__version__}"

    async def first_message(url: str, origin: str) -> object:
        async with client.connect(url, origin=origin, subprotocols=[protocol], max_size=None) as connection:
            return await asyncio.wait_for(connection.recv(), 20.0)

    # in a thread: the browser's tests leave a loop of asyncio running in this one
    with appell.view("two-link", browser=False, block=False) as viewer, ThreadPoolExecutor(1) as aside:
        url = viewer.url.replace("http", "ws")
        assert aside.submit(lambda: asyncio.run(first_message(url, viewer.url))).result()
        refused = aside.submit(lambda: asyncio.run(first_message(url, "http://elsewhere.example")))
        with pytest.raises(Exception, match="403"):
            refused.result()


def test_the_page_is_not_shared_through_a_tunnel() -> None:
    with appell.view("two-link", browser=False, block=False) as viewer, pytest.raises(AppellError, match="not shared"):
        viewer._server.request_share_url()


def test_a_port_that_is_taken_is_told() -> None:
    with (
        appell.view("two-link", browser=False, block=False) as viewer,
        pytest.raises(InputError, match=f"port {viewer.port} cannot be used"),
    ):
        appell.view("two-link", port=viewer.port, browser=False, block=False)


@pytest.mark.parametrize("port", [-1, 70000, True, "80"])
def test_what_is_no_port_is_told(port: int) -> None:
    with pytest.raises(InputError, match="expected an integer"):
        appell.view("two-link", port=port, browser=False, block=False)
