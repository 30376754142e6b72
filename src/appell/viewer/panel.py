"""The page of a robot: sliders, a gizmo, and the actuator forces that balance gravity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import AppellError, AppellWarning, InputError
from appell.model.model import WORLD
from appell.robot.robot import Robot
from appell.shapes.drawable import Drawable
from appell.shapes.palette import REST
from appell.spatial.scalar import Array
from appell.viewer.contacts import Arrows, ArrowScale, held_count, stance
from appell.viewer.drag import Drag
from appell.viewer.html import bars, heading, line, small
from appell.viewer.overlays import Overlays
from appell.viewer.scene import GHOST, Box, PageScene, RobotFigure, extent
from appell.viewer.sliders import (
    UNMOVED,
    PageOptions,
    Slider,
    SliderSet,
    limit_line,
    near_limits,
    settled,
    slider_colours,
    widened,
)

REACHES = 12
"""Random configurations that estimate how far an arm reaches."""


class RobotPage:
    """A robot moved by sliders and by a gizmo."""

    def __init__(self, server: Any, drawable: Drawable, options: PageOptions, wake: Callable[[], None]) -> None:
        robot = drawable.robot
        self._server, self._drawable, self._robot, self._wake = server, drawable, robot, wake
        self._slider_set = SliderSet(robot)
        self._rng = np.random.default_rng()
        self._requested: str | Array = ""
        self._greatest = 0.0
        self.q: Array = self._slider_set.start() if options.q is None else options.q
        self.note = ""
        self._scene = PageScene(server, drawable, drawable.poses(self.q))
        self._scene.look(self._scene.box if options.q is not None else self._room())
        if options.reference is not None:
            RobotFigure(server, drawable, drawable.poses(options.reference.at(0.0)), "/ghost", GHOST)
        self._fill(options)

    def _room(self) -> Box:
        """Return the box for the camera: for an arm, midway between the box around it and that of its reach."""
        box = self._scene.box
        if self._robot.closure_names or _floats(self._robot):
            return box
        for q in self._robot.random(np.random.default_rng(0), REACHES):
            seen = extent(self._drawable, self._drawable.poses(q))
            box = Box(np.minimum(box.low, seen.low), np.maximum(box.high, seen.high))
        own = self._scene.box
        return Box(0.5 * (own.low + box.low), 0.5 * (own.high + box.high))

    def _fill(self, options: PageOptions) -> None:
        gui = self._server.gui
        gui.add_html(heading(self._robot.name, _about(self._robot)))
        values = self._slider_set.values(self.q)
        ranges = [widened(one, x) for one, x in zip(self._slider_set.sliders, values, strict=True)]
        with gui.add_folder("Motors" if self._robot.closure_names else "Joints"):
            self.sliders = [_slider(gui, one, x) for one, x in zip(ranges, values, strict=True)]
            buttons = gui.add_button_group("", ("Neutral", "Random"))
            self._line = gui.add_html("", visible=False)
            self._limits = gui.add_html("", visible=False)
            self._colours = gui.add_html("")
        self.drag = Drag(self._server, self._robot, self._scene.box.size, options.drag, self._wake)
        with gui.add_folder("Forces against gravity"):
            self._table = gui.add_html("")
        self._stance = Arrows(self._server, "/contacts/arrows", REST, self._scene.box.size, self._weight())
        self._scale = ArrowScale(self._server, [("contact forces", self._stance, "N")], self._wake)
        self.overlays = Overlays(self._server, self._scene, self._drawable, self._wake)
        for frame in options.traces:
            self.overlays.traces.add(frame)
        for remark in self._drawable.remarks:
            gui.add_html(small(remark))
        for slider in self.sliders:
            slider.on_update(lambda _: self._wake())
        buttons.on_click(lambda event: self._request(event.target.value))

    def _weight(self) -> float:
        """Return the weight that one held frame carries on average [N]; zero where none is held."""
        gravity = float(np.linalg.norm([float(x) for x in self._robot.model.gravity]))
        count = held_count(self._robot)
        return self._robot.total_mass * gravity / count if count else 0.0

    def _request(self, what: str) -> None:
        self._requested = what
        self._wake()

    def show(self, q: ArrayLike) -> None:
        """Go to a configuration."""
        self._requested = settled(self._robot, q)
        self._wake()

    def seek(self, t: float) -> None:
        """Raise: a robot has no time."""
        raise InputError("viewer.seek: the page shows a robot, which has no times; use viewer.show(q)")

    def tick(self, _: float) -> bool:
        """Bring robot, table and overlays to where the sliders or the gizmo are; return whether to go on."""
        requested, self._requested = self._requested, ""
        self.note = ""
        try:
            if not isinstance(requested, str):
                self.q = requested
            elif requested:
                self.q = self._robot.neutral() if requested == "Neutral" else self._robot.random(self._rng)
            elif not self.drag.is_moving:
                self.q = self._slider_set.moved(self.q, [slider.value for slider in self.sliders])
        except (AppellError, AppellWarning) as error:
            self.note = str(error)
        self.q = self.drag.update(self.q)
        self._set_sliders()
        self._scene.place(self._drawable.poses(self.q))
        self.drag.settle(self.q)
        self._show_limits()
        self._show_forces()
        self.overlays.update(self.q)
        self._line.content, self._line.visible = line(self.note), bool(self.note)
        self._server.flush()
        return self.drag.is_moving

    def _show_limits(self) -> None:
        sliders = self._slider_set.sliders
        names = [one.label for one in sliders]
        found = near_limits(names, self._slider_set.values(self.q), [one.limits for one in sliders])
        text, colours = limit_line(found), slider_colours(self.sliders, names, found)
        self._limits.content, self._limits.visible = text, bool(text)
        self._colours.content = colours

    def _set_sliders(self) -> None:
        """Set the sliders to the robot's coordinates: after a button or the gizmo, and where it could not follow."""
        for slider, x in zip(self.sliders, self._slider_set.values(self.q), strict=True):
            if abs(slider.value - x) > UNMOVED:
                slider.min, slider.max = min(slider.min, x), max(slider.max, x)
                slider.value = _rounded(x)

    def _show_forces(self) -> None:
        try:
            held = self._slider_set.holding(self.q)
        except (AppellError, AppellWarning) as error:
            self._table.content = line(str(error))
            return
        self._greatest = max(self._greatest, float(np.abs(held).max(initial=0.0)))
        rows = [
            (name, float(force), unit, most if math.isfinite(most) and most > 0.0 else self._greatest)
            for (name, unit, most), force in zip(self._slider_set.forces, held, strict=True)
        ]
        self._table.content = bars(rows)
        if held_count(self._robot):
            self._scale.update()
            contacts = stance(self._robot, self.q, held)
            places = [contact.position(self._scene.poses) for contact in contacts]
            self._stance.draw(places, [contact.at(0.0) for contact in contacts])


def _rounded(x: float) -> float:
    """Return a value without rounding errors of zero, which the page would print as -0.000."""
    return round(x, 10) + 0.0


def _slider(gui: Any, one: Slider, at: float) -> Any:
    digits = max(0, math.ceil(-math.log10((one.high - one.low) / 500.0)))
    step = 10.0**-digits
    # rounded outwards to whole steps: the page prints the ends of the range in full
    low, high = math.floor(one.low / step) * step, math.ceil(one.high / step) * step
    hint = f"{one.low:.4g} to {one.high:.4g} {one.unit}"
    slider = gui.add_slider(one.label, round(low, digits), round(high, digits), step, _rounded(at), hint=hint)
    slider.precision = digits
    return slider


def _floats(robot: Robot) -> bool:
    return any(
        body.parent == WORLD and body.joint.kind in ("free", "planar", "prismatic") for body in robot.model.bodies
    )


def _about(robot: Robot) -> str:
    label = f", {robot.kind.facts.label}" if robot.kind.facts.label else ""
    return f"{len(robot.link_names)} bodies, {robot.nv} degrees of freedom{label}, {robot.total_mass:.4g} kg"
