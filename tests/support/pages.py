"""Pages of the viewer in a browser: waiting, and where points of the world are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from appell.viewer.view import Viewer

PATIENCE = 60.0
"""How long a condition may take on a busy machine [s]."""


def until(is_so: Callable[[], bool], page: Any) -> bool:
    """Wait for a condition; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < end:
        page.wait_for_timeout(50)
    return is_so()


def pixel(viewer: Viewer, page: Any, point: Any) -> tuple[float, float]:
    """Return where a point of the world is on the page, by the camera that the page reports."""
    (client,) = viewer._server.get_clients().values()
    camera = client.camera
    w, x, y, z = camera.wxyz
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    seen = turn.T @ (np.asarray(point) - camera.position)  # x to the right, y down, z ahead
    canvas = page.locator("canvas").first.bounding_box()
    focal = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov)
    return (
        float(canvas["x"] + 0.5 * canvas["width"] + focal * seen[0] / seen[2]),
        float(canvas["y"] + 0.5 * canvas["height"] + focal * seen[1] / seen[2]),
    )
