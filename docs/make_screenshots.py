"""Make the pictures of docs/viewer.md: python docs/make_screenshots.py [NAME …].

Needs playwright and Chromium, as the viewer's tests do. The robots with meshes are those of example-robot-data; the
visual meshes of the UR5 and the Panda are .dae files, which need pycollada.
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
from appell.viewer.view import Viewer

IMAGES = Path(__file__).parent / "images"
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
SIZE = {"width": 1200, "height": 750}
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


PANDA = ROBOTS / "panda_description" / "urdf" / "panda.urdf"
READY = [0.3, -0.5, 0.0, -2.2, 0.0, 1.8, 0.78, 0.02, 0.02]


def opened(shown: Any, **options: Any) -> Viewer:
    """Open a page without a browser."""
    return appell.view(shown, browser=False, block=False, **options)


def panda(**options: Any) -> Viewer:
    """Open a page of the Panda, ready to grasp."""
    return opened(PANDA, q=READY, **options)


def arm() -> Viewer:
    """Show an arm with its meshes, and the inertia ellipsoid of its tool."""
    file = ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf"
    viewer = opened(file, q=[0.7, -1.35, 1.75, -1.2, -1.57, 0.3])
    viewer.page.overlays.ellipsoid.kind.value = "inertia"
    return viewer


def drag() -> Viewer:
    """Show a hand that was dragged along an arc."""
    viewer = panda(drag="panda_hand_tcp", traces=["panda_hand_tcp"])
    start = appell.load(PANDA).pose(READY, "panda_hand_tcp")
    for angle in np.linspace(0.0, 1.5 * np.pi, 60):
        goal = start.copy()
        goal[:3, 3] += 0.12 * np.array([0.0, np.sin(angle), np.cos(angle) - 1.0])
        viewer.page.drag.to(goal, is_held=False)
        while viewer.page.drag.is_moving:
            time.sleep(0.01)
        time.sleep(0.05)
    return viewer


def frames() -> Viewer:
    """Show the frames of an arm by name, and its centre of mass."""
    viewer = panda()
    shown = viewer.page.overlays
    shown.frames.value, shown.opacity.value, shown.centre.value = "bodies", 0.45, True
    return viewer


def collision() -> Viewer:
    """Show the collision shapes of an arm as wires on its visual shapes."""
    viewer = panda()
    viewer.page.overlays.shapes.value = "both"
    return viewer


def ghost() -> Viewer:
    """Show an arm that carries a load its controller does not know, beside the trajectory it should follow."""
    robot = appell.load(ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf")
    wanted = appell.trajectory.JointLine([0.2, -1.6, 1.9, -1.8, -1.57, 0.0], [1.6, -1.0, 1.2, -1.2, -1.57, 0.0], 2.0)
    law = appell.control.Tracking(robot, wanted, kp=60.0, kd=15.5)
    loaded = robot.with_payload("tool0", 4.0, (0.0, 0.0, 0.05))
    run = appell.simulate(loaded, *wanted(0.0)[:2], 2.5, control=law)
    viewer = opened(run, reference=wanted, traces=["tool0"], source=robot.model.source)
    viewer.seek(1.4)
    return viewer


def stance() -> Viewer:
    """Show a quadruped that stands, with the forces at its feet."""
    robot = appell.load(ROBOTS / "go2_description" / "urdf" / "go2.urdf", floating=True)
    q = robot.neutral()
    for name, at in robot.places("q").items():
        q[at] = 0.8 if "thigh" in name else -1.5 if "calf" in name else q[at]
    held = robot.held({f"{leg}_foot": 3 for leg in ("FL", "FR", "RL", "RR")}, at=q)
    viewer = opened(held, q=q, drag="base")
    viewer.page.overlays.centre.value = True
    return viewer


def humanoid() -> Viewer:
    """Show a white and black humanoid."""
    file = ROBOTS / "talos_data" / "robots" / "talos_reduced.urdf"
    return opened(appell.load(file, floating=True))


def tree() -> Viewer:
    """Show shafei2018's tree at its first impact."""
    robot = appell.load("shafei-tree")
    run = appell.simulate(robot, START, np.zeros(robot.nv), 2.0, walls=[appell.walls.Circle(RADIUS)])
    viewer = opened(run)
    viewer.seek(run.impacts[0].time + 0.004)
    viewer.page.contacts.scale.slider.value = 3.0
    return viewer


def stewart() -> Viewer:
    """Show a tilted Stewart platform."""
    robot = appell.load("stewart")
    tilted = np.zeros(robot.nv)
    tilted[:6] = [0.0, -0.05, -0.02, 0.07, 0.09, 0.06]
    return opened(robot, q=robot.integrate(robot.neutral(), tilted))


PICTURES: dict[str, Callable[[], Viewer]] = {
    "arm": arm,
    "drag": drag,
    "frames": frames,
    "collision": collision,
    "ghost": ghost,
    "stance": stance,
    "humanoid": humanoid,
    "tree_impact": tree,
    "stewart": stewart,
}


def player() -> None:
    """Make the picture of a run's own page: a quadruped that falls on its feet."""
    robot = appell.load(ROBOTS / "go2_description" / "urdf" / "go2.urdf", floating=True)
    q = robot.neutral()
    q[2] = 0.6
    run = appell.simulate(robot, q, np.zeros(robot.nv), 0.8, walls=[appell.walls.Plane()], restitution=0.3)
    with tempfile.TemporaryDirectory() as folder, empty_page() as page:
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
    with tempfile.TemporaryDirectory() as folder, empty_page() as page:
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
    """Make the named pictures; all for no names."""
    pages = {"player": player, "notebook": notebook}
    for name in names or [*PICTURES, *pages]:
        if name in pages:
            pages[name]()
            continue
        with PICTURES[name]() as viewer, page_of(viewer.url) as page:
            page.screenshot(path=IMAGES / f"view_{name}.png", timeout=120_000)


@contextmanager
def empty_page() -> Iterator[Any]:
    """Start a browser and yield an empty page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only this function needs it

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser.new_page(viewport=SIZE)
        browser.close()


@contextmanager
def page_of(url: str) -> Iterator[Any]:
    """Open a page and wait until it has stopped fading in."""
    with empty_page() as page:
        page.goto(url)
        page.wait_for_function(
            "[...document.querySelectorAll('canvas')].some(c => c.style.opacity === '1')", timeout=120_000
        )
        close = page.locator(".mantine-Notification-closeButton")
        if close.count():
            close.first.dispatch_event("click")
        time.sleep(3.0)
        yield page


if __name__ == "__main__":
    main(sys.argv[1:])
