"""The server of the page: of this machine, for this machine."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

from appell.errors import AppellError, InputError
from appell.read.extras import extra

HOST = "127.0.0.1"
"""The loopback interface: no other machine reaches it."""
OWN = (HOST, "localhost")
"""What a page of this server calls it."""


def import_viser() -> Any:
    """Return the viser package, an extra."""
    return extra("viser", "view: the viewer needs")


def start(port: int, title: str) -> Any:
    """Return a running server at a port of the loopback interface, any free one for 0.

    Raises
    ------
    InputError
        When the port is no port or is taken.
    """
    viser = import_viser()
    _check(port)
    with quiet():
        server = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
    # viser can open a tunnel through a server of its makers, and any page may ask for it: not here
    server.request_share_url = _refuse
    server._websock_server.on_client_connect(_gate(server))
    return server


def stop(server: Any) -> None:
    """Stop a server and its threads."""
    with quiet():
        server.stop()


def address(server: Any) -> str:
    """Return where the page is."""
    return f"http://{HOST}:{server.get_port()}"


def _check(port: int) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise InputError(f"view: port: expected a whole number from 0 (any free port) to 65535, got {port!r}")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # elsewhere it would share a port that is taken
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise InputError(
                f"view: port {port} cannot be used ({error.strerror}); leave it out for a free one"
            ) from None


def _refuse(verbose: bool = True) -> None:
    raise AppellError("view: the page is not shared with other machines")


def _gate(server: Any) -> Any:
    """Return what turns away pages of other sites: a browser lets any site open a socket to this machine."""

    async def check(connection: Any) -> None:
        live = server._websock_server._live_connections.get(connection.client_id)
        if live is None:
            return
        origin = live.request.headers.get("Origin")
        if origin is not None and (
            urlparse(origin).hostname not in OWN or urlparse(origin).port not in (server.get_port(), None)
        ):
            await live.close(1008, "pages of other sites are not served")

    return check


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep viser from printing: what there is to say, the viewer says itself."""
    from rich import get_console  # noqa: PLC0415  # viser's own, when it prints

    console = get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
