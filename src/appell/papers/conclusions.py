"""What the papers conclude from comparing algorithms, with every algorithm measured by one rule.

The papers compare their own operation counts with counts that others published by other rules. Here all algorithms are
traced and counted alike: products with 0 and ±1, signs, sines, cosines and what depends on constants alone are free,
equal terms are computed once, divisions and roots are products.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from appell.papers.mata2002_counts import general_arm
from appell.reports.rules import Less
from appell.reports.table import Cell, Table

Numbers = Sequence[float]
RULE = Less("The statement holds (agrees) when each number is less than that after 'against'; else it differs.")
COUNTED = (
    "Operations are products and sums, traced and counted by one rule: 0, ±1, signs, sines, cosines and constants are "
    "free, equal terms are shared, divisions and roots are products."
)


def row(conclusion: str, first: Numbers, other: Numbers, unit: str = "") -> tuple[Cell, ...]:
    """Return a conclusion that numbers of one algorithm are less than those of another, and whether it holds.

    >>> row("fewer operations", (3, 2), (4, 2))
    ('fewer operations', '3, 2 against 4, 2', 'does not hold')
    """
    worst = max(zip(first, other, strict=True), key=lambda pair: pair[0] - pair[1])
    shown = " against ".join(", ".join(f"{x:.4g}" for x in numbers) for numbers in (first, other))
    return conclusion, shown + unit, RULE(*worst)


def table(rows: Iterable[tuple[Cell, ...]], notes: Iterable[str]) -> Table:
    """Return conclusions as a table."""
    return Table(
        "Conclusions, all algorithms by one rule", ("conclusion", "ours", "verdict"), tuple(rows), tuple(notes)
    )


def serial() -> list[tuple[Cell, ...]]:
    """Return the conclusions of mata2002 and valera2003 on operation counts, for a general arm of six joints."""

    def counts(verb: str, *names: str) -> list[Numbers]:
        return [general_arm(6).operations(verb, name)[:2] for name in names]

    tensors, vectors, merged, newton = counts("inverse_dynamics", "mata2002", "vector", "vector-merged", "newton-euler")
    gibbs, composite = counts("mass_matrix", "gibbs", "composite")
    solved = counts("forward_dynamics", "gibbs", "composite", "articulated")
    return [
        row("Table 1: inverse dynamics takes fewer operations than by Newton–Euler", tensors, newton),
        row("Table 2: the inertia matrix takes fewer operations than by composite bodies", gibbs, composite),
        row("Table 4: forward dynamics takes fewer operations than with composite bodies", solved[0], solved[1]),
        row("Table 4: forward dynamics takes fewer operations than by articulated bodies", solved[0], solved[2]),
        row("valera2003, table 3: the vector form takes fewer operations than Newton–Euler", vectors, newton),
        row("– with its two recursions as one", merged, newton),
    ]
