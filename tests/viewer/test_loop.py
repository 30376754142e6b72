"""The thread that draws: what is asked for while it is busy is drawn once, not as often as it was asked for."""

from __future__ import annotations

import threading

from appell.viewer.view import DrawingLoop

PATIENCE = 30.0


def test_what_is_asked_for_often_is_drawn_once() -> None:
    calls, busy, go_on, idle = [], threading.Event(), threading.Event(), threading.Event()

    def tick(seconds: float) -> bool:
        calls.append(seconds)
        busy.set()
        go_on.wait(PATIENCE)
        if len(calls) == 2:
            idle.set()
        return False

    loop = DrawingLoop(tick)
    loop.start()
    assert busy.wait(PATIENCE)
    for _ in range(100):
        loop.wake()
    go_on.set()
    assert idle.wait(PATIENCE)
    loop.stop()
    assert len(calls) == 2


def test_it_goes_on_by_itself_until_told_not_to() -> None:
    calls, over = [], threading.Event()

    def tick(seconds: float) -> bool:
        calls.append(seconds)
        if len(calls) == 5:
            over.set()
        return len(calls) < 5

    loop = DrawingLoop(tick)
    loop.start()
    assert over.wait(PATIENCE)
    loop.stop()
    assert len(calls) == 5
    assert all(seconds >= 0.0 for seconds in calls)
