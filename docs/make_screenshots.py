"""Make the pictures of docs/viewer.md anew: python docs/make_screenshots.py [arm] [tree] [stewart].

Needs what the viewer's tests need: playwright, and Chromium on this machine. The arm is example-robot-data's UR5; its
visual meshes are .dae files, which need pycollada, and without it the picture shows those it collides with.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import appell
from appell.papers.shafei2018 import RADIUS, START
from appell.viewer.viewer import Viewer

IMAGES = Path(__file__).parent / "images"
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
SIZE = {"width": 1200, "height": 750}
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def arm() -> Viewer:
    """Show an arm with its meshes, and how readily its tool moves."""
    file = ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf"
    viewer = appell.view(file, q=[0.7, -1.35, 1.75, -1.2, -1.57, 0.3], browser=False, block=False)
    viewer.page.overlays.ellipsoid.kind.value = "inertia"
    return viewer


def tree() -> Viewer:
    """Show shafei2018's tree as it strikes the wall first."""
    robot = appell.load("shafei-tree")
    run = appell.simulate(robot, START, np.zeros(robot.nv), 2.0, walls=[appell.walls.Circle(RADIUS)])
    viewer = appell.view(run, browser=False, block=False)
    viewer.seek(run.impacts[0].time + 0.004)
    return viewer


def stewart() -> Viewer:
    """Show a platform that its motors have tilted."""
    robot = appell.load("stewart")
    tilted = np.zeros(robot.nv)
    tilted[:6] = [0.0, -0.05, -0.02, 0.07, 0.09, 0.06]
    return appell.view(robot, q=robot.integrate(robot.neutral(), tilted), browser=False, block=False)


PICTURES: dict[str, Callable[[], Viewer]] = {"arm": arm, "tree_impact": tree, "stewart": stewart}


def main(names: list[str]) -> None:
    """Make the pictures asked for, all unless any are."""
    for name in names or PICTURES:
        with PICTURES[name]() as viewer, page_of(viewer.url) as page:
            page.screenshot(path=IMAGES / f"view_{name}.png", timeout=120_000)


@contextmanager
def page_of(url: str) -> Iterator[Any]:
    """Open a page and wait until it has stopped fading in."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # what only this needs

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(url)
        page.wait_for_function(
            "[...document.querySelectorAll('canvas')].some(c => c.style.opacity === '1')", timeout=120_000
        )
        close = page.locator(".mantine-Notification-closeButton")
        if close.count():
            close.first.click()
        time.sleep(3.0)
        yield page
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
