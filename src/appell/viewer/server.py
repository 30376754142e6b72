"""The server of the page, for this machine alone.

A browser lets any site send requests to this machine, and a site may give its own name this machine's address (DNS
rebinding). Every request, those to open a WebSocket among them, is therefore checked before it is answered: its Host,
and its Origin where it has one, must be this server's own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from appell.errors import AppellError, InputError
from appell.extras import extra

HOST = "127.0.0.1"
"""The loopback interface: no other machine reaches it."""
OWN = (HOST, "localhost")
"""The host names of the server in its own pages."""
LOG = logging.getLogger("appell.viewer")
"""Errors of single connections, such as malformed requests; printed only where a program adds a handler."""
LOG.addHandler(logging.NullHandler())
LOG.propagate = False
_STARTS = threading.Lock()


def import_viser() -> Any:
    """Return the viser package, an extra."""
    return extra("viser", "view: the viewer needs")


def start(port: int, title: str) -> Any:
    """Return a running server at a port of the loopback interface, any free one for 0.

    Raises
    ------
    InputError
        When the port is invalid or taken.
    """
    viser = import_viser()
    _check(port)
    with quiet(), _checked_requests(f"viser-v{viser.__version__}") as is_checked:
        server = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
    if not is_checked():
        stop(server)
        raise AppellError(f"view: viser {viser.__version__} has no place for the check of requests; install viser 1.1")
    # viser can open a tunnel through a server on the Internet, and any page may request it: not here
    server.request_share_url = _refuse
    # a closed page leaves tasks behind whose exceptions asyncio would print
    server.get_event_loop().set_exception_handler(lambda _, context: LOG.info("%s", context))
    return server


def stop(server: Any) -> None:
    """Stop a server and its threads."""
    with quiet():
        server.stop()


def address(server: Any) -> str:
    """Return the address of the page."""
    return f"http://{HOST}:{server.get_port()}"


def _check(port: int) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise InputError(f"view: port: expected an integer from 0 (any free port) to 65535, got {port!r}")
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


@contextlib.contextmanager
def _checked_requests(protocol: str) -> Iterator[Callable[[], bool]]:
    """Make the server that viser starts meanwhile check every request; yield a function that returns whether it does.

    viser has no hook for requests, so its call of ``websockets`` is replaced. Other servers are unchanged.
    """
    websockets = extra("websockets.asyncio.server", "view: the viewer needs")
    serve, checked = websockets.serve, []

    def checking_serve(handler: Any, *places: Any, **options: Any) -> Any:
        if not handler.__module__.startswith("viser."):
            return serve(handler, *places, **options)
        answer = options.pop("process_request")
        checked.append(answer)

        def process_request(connection: Any, request: Any) -> Any:
            refusal = refused(request.headers, connection.local_address[1], protocol)
            return answer(connection, request) if refusal is None else connection.respond(403, f"{refusal}\n")

        return serve(handler, *places, process_request=process_request, logger=LOG, **options)

    with _STARTS:
        websockets.serve = checking_serve
        try:
            yield lambda: bool(checked)
        finally:
            websockets.serve = serve


def refused(headers: Any, port: int, protocol: str) -> str | None:
    """Return why a request to a port is refused, by its headers; None where it is answered.

    A request without Origin is not from a page: browsers send one with every request to open a WebSocket.

    >>> from websockets.datastructures import Headers
    >>> refused(Headers(Host="localhost:8080", Origin="http://localhost:8080"), 8080, "viser-v1")
    >>> refused(Headers(Host="rebound.example:8080"), 8080, "viser-v1")
    'Host: expected 127.0.0.1:8080 or localhost:8080'
    """
    suffix = "" if port == 80 else f":{port}"
    names = [f"{name}{suffix}" for name in OWN]
    if [host.lower() for host in headers.get_all("Host")] not in [[name] for name in names]:
        return f"Host: expected {' or '.join(names)}"
    if headers.get_all("Origin") not in [[], *([f"http://{name}"] for name in names)]:
        return "Origin: pages of other sites are not served"
    upgrades = headers.get_all("Upgrade")
    offered = [one.strip() for line in headers.get_all("Sec-WebSocket-Protocol") for one in line.split(",")]
    if upgrades not in [[], ["websocket"]] or (upgrades and protocol not in offered):
        return f"Upgrade: expected a WebSocket of {protocol}; reload the page"
    return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep viser from printing; the viewer prints its own messages."""
    from rich import get_console  # noqa: PLC0415  # viser's own, when it prints

    console = get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
