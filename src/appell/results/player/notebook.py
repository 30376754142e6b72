"""A run in a notebook: a player in a frame of its own, and a summary with the impacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appell.display import Html, card, folded, frame, table

if TYPE_CHECKING:
    from appell.results.run import Run

HEIGHT = 560
"""Of the player in a notebook [px]."""


@dataclass(frozen=True, eq=False, repr=False)
class Player:
    """A page that plays a run; a notebook displays it in a frame that can reach neither notebook nor network.

    >>> import appell
    >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    >>> run.animate()._repr_html_()[:29]
    '<iframe sandbox="allow-script'
    """

    run: Run
    html: str = field(repr=False)

    def __repr__(self) -> str:
        span = f"{self.run.t[-1] - self.run.t[0]:.6g} s"
        hint = "displays itself in a notebook; run.to_html(path) writes it to a file"
        return f"<Player of '{self.run.robot_name}', {span}: {hint}>"

    def _repr_html_(self) -> str:
        return frame(HEIGHT, sandbox="allow-scripts", srcdoc=self.html)


def run_summary(run: Run) -> Html:
    """Return a run as HTML: sizes, energy, remarks and a table of the impacts."""
    lines = []
    if len(run.t):
        lines.append(f"energy {run.energy[0]:.6g} J at the start, {run.energy[-1]:.6g} J at the end")
    if run.events:
        lines.append("events: " + ", ".join(f"{event.name} at {event.time:.6g} s" for event in run.events))
    if run.rests:
        resting = (f"{x.point} on {x.wall} {x.start:.4g} to {x.end:.4g} s" for x in run.rests[:5])
        lines.append("resting contacts: " + ", ".join(resting) + (" …" if len(run.rests) > 5 else ""))
    rows = [
        (f"{x.time:.6g}", ", ".join(x.points), ", ".join(x.walls), float(x.impulse.max(initial=0.0)), float(x.loss))
        for x in run.impacts
    ]
    columns = ("t [s]", "points", "walls", "largest impulse [N·s]", "energy loss [J]")
    impacts = folded(f"{len(rows)} impacts", table(columns, rows), len(rows) <= 20) if rows else Html("")
    shown = Html("<code>run.plot()</code>, <code>run.animate()</code>, <code>run.to_html(path)</code>")
    return card(repr(run).strip("<>"), *lines, *run.notes, impacts, shown)
