"""Conclusions of the papers on operation counts, with all algorithms counted by one rule.

The papers compare their operation counts with published counts that follow other rules. Here all algorithms are traced
and counted alike: products with 0 and ±1, signs, sines, cosines and operations on constants are free, common
subexpressions count once, divisions and roots count as products.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from appell.papers.mata2002_counts import general_arm
from appell.reports.rules import Less
from appell.reports.table import Cell, Table

COLUMNS = ("conclusion", "ours", "verdict")
RULE = Less("A conclusion holds (agrees) when each of the first numbers is less than the second's; else it differs.")
COUNTED = (
    "Operations are traced and counted by one rule: 0, ±1, signs, sines, cosines and constants are free, common "
    "subexpressions count once, divisions and roots count as products."
)

Numbers = tuple[str, Sequence[float]]
"""An algorithm and its numbers."""


def row(statement: str, first: Numbers, other: Numbers) -> tuple[Cell, ...]:
    """Return a statement that the numbers of one algorithm are less than those of another, and whether it holds.

    >>> row("fewer operations", ("this", (3, 2)), ("that", (4, 2)))
    ('fewer operations', 'this: 3, 2; that: 4, 2', 'does not hold')
    """
    worst = max(zip(first[1], other[1], strict=True), key=lambda pair: pair[0] - pair[1])
    shown = [f"{name}: {', '.join(f'{x:.4g}' for x in numbers)}" for name, numbers in (first, other)]
    return statement, "; ".join(shown), RULE(*worst)


def table(rows: Iterable[tuple[Cell, ...]], notes: Iterable[str] = (COUNTED,)) -> Table:
    """Return conclusions as a table."""
    return Table("Conclusions of the paper", COLUMNS, tuple(rows), tuple(notes))


def _counts(verb: str, names: Mapping[str, str]) -> dict[str, Numbers]:
    arm = general_arm(6)
    return {name: (label, arm.operations(verb, name)[:2]) for name, label in names.items()}


def tensors() -> list[tuple[Cell, ...]]:
    """Return the statements of mata2002 on operation counts, products and sums, for six joints."""
    forces = _counts("inverse_dynamics", {"mata2002": "Gibbs–Appell, tensors", "newton-euler": "Newton–Euler"})
    matrix = _counts("mass_matrix", {"mata2002": "Gibbs–Appell", "composite": "composite bodies"})
    moved = _counts(
        "forward_dynamics",
        {"mata2002": "Gibbs–Appell", "composite": "composite bodies", "articulated": "articulated bodies"},
    )
    return [
        row(
            "Inverse dynamics takes fewer operations than by Newton–Euler (table 1)",
            forces["mata2002"],
            forces["newton-euler"],
        ),
        row(
            "The inertia matrix takes fewer operations than by composite bodies (table 2)",
            matrix["mata2002"],
            matrix["composite"],
        ),
        row(
            "Forward dynamics takes fewer operations than with composite bodies (table 4)",
            moved["mata2002"],
            moved["composite"],
        ),
        row(
            "Forward dynamics takes fewer operations than by articulated bodies (table 4)",
            moved["mata2002"],
            moved["articulated"],
        ),
    ]


def vectors() -> list[tuple[Cell, ...]]:
    """Return the statements of valera2003 on operation counts, products and sums, for six joints."""
    forces = _counts(
        "inverse_dynamics",
        {
            "vector": "Gibbs–Appell, vectors",
            "vector-merged": "Gibbs–Appell, vectors, one recursion",
            "newton-euler": "Newton–Euler",
            "mata2002": "Gibbs–Appell, tensors",
        },
    )
    return [
        row(
            "Inverse dynamics takes slightly fewer operations than by Newton–Euler (table 3)",
            forces["vector"],
            forces["newton-euler"],
        ),
        row(
            "The same with α and β in one recursion, which the counts of table 3 require",
            forces["vector-merged"],
            forces["newton-euler"],
        ),
        row("Tensors would take fewer operations than vectors (section 5)", forces["mata2002"], forces["vector"]),
    ]
