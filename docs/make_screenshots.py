"""Make the pictures of docs/viewer.md anew: python docs/make_screenshots.py [arm] [tree] [stewart] [player] [notebook].

Needs what the viewer's tests need: playwright, and Chromium on this machine. The arm is example-robot-data's UR5; its
visual meshes are .dae files, which need pycollada, and without it the picture shows those it collides with.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
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
    viewer.page.overlays.kind.value = "inertia"
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


def player() -> None:
    """Make the picture of a run's own page: a quadruped that falls on its feet."""
    robot = appell.load(ROBOTS / "go2_description" / "urdf" / "go2.urdf", floating=True)
    q = robot.neutral()
    q[2] = 0.6
    run = appell.simulate(robot, q, np.zeros(robot.nv), 0.8, walls=[appell.walls.Plane()], restitution=0.3)
    with tempfile.TemporaryDirectory() as folder, opened() as page:
        page.goto(run.to_html(Path(folder, "run.html")).as_uri())
        page.wait_for_selector("body[data-ready]")
        page.evaluate(f"player.seek({run.impacts[0].time + 0.002})")
        page.wait_for_timeout(1000)
        page.screenshot(path=IMAGES / "player.png")


def notebook() -> None:
    """Make the picture of a notebook's cells, as bare HTML."""
    robot = appell.load("shafei-tree")
    run = appell.simulate(robot, START, np.zeros(robot.nv), 1.5, walls=[appell.walls.Circle(RADIUS)])
    cells = (appell.load("puma560"), run, run.animate(speed=0.5))
    with tempfile.TemporaryDirectory() as folder, opened() as page:
        file = Path(folder, "cells.html")
        body = "<hr>".join(cell._repr_html_() for cell in cells)
        head = "<!DOCTYPE html><meta charset=utf-8><style>body { font: 13px sans-serif; margin: 20px }</style>"
        file.write_text(head + body, encoding="utf-8")
        page.set_viewport_size({"width": 1200, "height": 1130})
        page.goto(file.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("body[data-ready]").wait_for(timeout=120_000)
        frame.locator("#list button").nth(1).click()
        page.wait_for_timeout(1000)
        page.screenshot(path=IMAGES / "notebook.png")


def main(names: list[str]) -> None:
    """Make the pictures asked for, all unless any are."""
    pages = {"player": player, "notebook": notebook}
    for name in names or [*PICTURES, *pages]:
        if name in pages:
            pages[name]()
            continue
        with PICTURES[name]() as viewer, page_of(viewer.url) as page:
            page.screenshot(path=IMAGES / f"view_{name}.png", timeout=120_000)


@contextmanager
def opened() -> Iterator[Any]:
    """Start a browser and yield an empty page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # what only this needs

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser.new_page(viewport=SIZE)
        browser.close()


@contextmanager
def page_of(url: str) -> Iterator[Any]:
    """Open a page and wait until it has stopped fading in."""
    with opened() as page:
        page.goto(url)
        page.wait_for_function(
            "[...document.querySelectorAll('canvas')].some(c => c.style.opacity === '1')", timeout=120_000
        )
        close = page.locator(".mantine-Notification-closeButton")
        if close.count():
            close.first.click()
        time.sleep(3.0)
        yield page


if __name__ == "__main__":
    main(sys.argv[1:])
