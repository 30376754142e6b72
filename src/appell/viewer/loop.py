"""The one thread that draws: the page's buttons and sliders only say what is wanted, and wake it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

RATE = 60.0
"""Pictures a second at most."""


class Loop:
    """Calls `tick` with the seconds since the last call: when woken, and RATE times a second while it returns True.

    What is wanted twice before it was drawn once is drawn once, so a slow robot does not lag behind its sliders.
    """

    def __init__(self, tick: Callable[[float], bool]) -> None:
        self._tick = tick
        self._woken, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="appell view", daemon=True)

    def start(self) -> None:
        """Begin, with one call."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Ask for a call."""
        self._woken.set()

    def stop(self) -> None:
        """End; returns when the last call has."""
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
        """Return whether to be called again soon; what one call cannot draw must not keep the next from being drawn."""
        try:
            return self._tick(seconds)
        except Exception as error:
            sys.stderr.write(f"appell: warning: view: not drawn: {type(error).__name__}: {error}\n")
            return False
