"""The one thread that draws; buttons and sliders of the page store their requests and wake it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

RATE = 60.0
"""The greatest number of pictures per second."""


class Loop:
    """Calls `tick` with the seconds since the last call: when woken, and RATE times per second while it returns True.

    Requests that arrive while a picture is drawn are drawn together, so that a slow robot does not lag behind its
    sliders.
    """

    def __init__(self, tick: Callable[[float], bool]) -> None:
        self._tick = tick
        self._woken, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="appell view", daemon=True)

    def start(self) -> None:
        """Start the thread; the first call follows at once."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Request a call."""
        self._woken.set()

    def stop(self) -> None:
        """Stop the thread, and wait for the last call."""
        self._over.set()
        self._woken.set()
        if self._thread is not threading.current_thread() and self._thread.is_alive():
            self._thread.join(timeout=10.0)

    def _run(self) -> None:
        last, is_moving = time.perf_counter(), False
        while True:
            if not is_moving:
                self._woken.wait()
                last = time.perf_counter()
            self._woken.clear()
            if self._over.is_set():
                return
            now = time.perf_counter()
            is_moving = self._ticked(now - last)
            last = now
            rest = 1.0 / RATE - (time.perf_counter() - now)
            if is_moving and rest > 0.0:
                self._over.wait(rest)

    def _ticked(self, seconds: float) -> bool:
        """Call `tick` once; an error in one picture must not prevent the next."""
        try:
            return self._tick(seconds)
        except Exception as error:
            sys.stderr.write(f"appell: warning: view: not drawn: {type(error).__name__}: {error}\n")
            return False
