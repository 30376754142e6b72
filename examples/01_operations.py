"""Operation counts of inverse dynamics for known arms: compiled by appell, and as published for OpenSYMORO."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

import appell
from appell.papers.mata2002_counts import with_general_links
from appell.results.style import figure, png

PUBLISHED = {"puma560": 301 + 240, "rx90": 287 + 226, "stanford": 262 + 211}
"""Multiplications and additions of inverse dynamics by OpenSYMORO, with base parameters."""


def main(file: str = "out/operations.png") -> None:
    """Plot operation counts of inverse dynamics: Gibbs form by the papers' rule, OpenSYMORO, compiled program."""
    # general links, because the catalogue's files have many zeros
    robots = {name: with_general_links(appell.load(name, friction=False, armature=False)) for name in PUBLISHED}
    bars = {
        "Newton–Euler, as filed": [sum(r.operations("inverse_dynamics", "newton-euler")[:2]) for r in robots.values()],
        "Gibbs–Appell, as filed": [sum(r.operations("inverse_dynamics", "gibbs")[:2]) for r in robots.values()],
        "OpenSYMORO, published": list(PUBLISHED.values()),
        "appell, compiled": [sum(r.operations("inverse_dynamics")[:2]) for r in robots.values()],
    }

    def draw() -> Figure:
        canvas = figure(7.0, 3.2)
        axes = canvas.subplots()
        for k, (label, heights) in enumerate(bars.items()):
            places = [i + 0.2 * (k - 1.5) for i in range(len(robots))]
            axes.bar_label(axes.bar(places, heights, width=0.19, label=label), fontsize=7)
        axes.set_xticks(range(len(robots)), list(robots))
        axes.set_ylabel("multiplications and additions")
        axes.set_title("Inverse dynamics of one state, general links")
        axes.legend(frameon=False, ncols=2, fontsize=8)
        axes.set_ylim(0, 1.35 * max(max(heights) for heights in bars.values()))
        return canvas

    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_bytes(png(draw))
    print(f"written to {file}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
