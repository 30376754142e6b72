"""What the papers conclude from comparing algorithms, with every algorithm measured by one rule.

The papers compare their own operation counts with counts that others published by other rules. Here all algorithms are
traced and counted alike: products with 0 and ±1, signs, sines, cosines and what depends on constants alone are free,
equal terms are computed once, divisions and roots are products.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from appell.papers.mata2002_counts import general_arm
from appell.reports.rules import Less
from appell.reports.table import Cell, Table

COLUMNS = ("statement", "less", "numbers", "than", "numbers of the other", "verdict")
RULE = Less("The statement holds (agrees) when each of the numbers is less than the other's; else it differs.")
COUNTED = (
    "Operations are traced and counted by one rule: 0, ±1, signs, sines, cosines and constants are free, equal terms "
)
COUNTED += "are shared, divisions and roots are products."


def row(statement: str, first: tuple[str, Sequence[float]], other: tuple[str, Sequence[float]]) -> tuple[Cell, ...]:
    """Return a statement that the numbers of one algorithm are less than those of another, and whether it holds.

    >>> row("fewer operations", ("a", (3, 2)), ("b", (4, 2)))
    ('fewer operations', 'a', '3, 2', 'b', '4, 2', 'does not hold')
    """
    worst = max(zip(first[1], other[1], strict=True), key=lambda pair: pair[0] - pair[1])
    shown = [", ".join(f"{x:.4g}" for x in numbers) for _, numbers in (first, other)]
    return statement, first[0], shown[0], other[0], shown[1], RULE(*worst)


def table(what: str, rows: Iterable[tuple[Cell, ...]], notes: Iterable[str] = ()) -> Table:
    """Return statements as a table."""
    return Table(f"Conclusions: {what}", COLUMNS, tuple(rows), (COUNTED, *notes))


def serial() -> list[tuple[Cell, ...]]:
    """Return the statements of mata2002 and valera2003 on operation counts, products and sums, for six joints."""
    arm = general_arm(6)

    def counts(verb: str, names: Mapping[str, str]) -> dict[str, tuple[str, Sequence[float]]]:
        return {name: (label, arm.operations(verb, name)[:2]) for name, label in names.items()}

    forces = counts(
        "inverse_dynamics",
        {"mata2002": "Gibbs–Appell, tensors", "vector": "Gibbs–Appell, vectors", "newton-euler": "Newton–Euler"},
    )
    matrix = counts("mass_matrix", {"gibbs": "Gibbs–Appell", "composite": "composite bodies"})
    moved = counts(
        "forward_dynamics",
        {"gibbs": "Gibbs–Appell", "composite": "composite bodies", "articulated": "articulated bodies"},
    )
    return [
        row("mata2002, table 1: inverse dynamics takes fewer operations", forces["mata2002"], forces["newton-euler"]),
        row("mata2002, table 2: the inertia matrix takes fewer operations", matrix["gibbs"], matrix["composite"]),
        row("mata2002, table 4: forward dynamics takes fewer operations", moved["gibbs"], moved["composite"]),
        row("mata2002, table 4: forward dynamics takes fewer operations", moved["gibbs"], moved["articulated"]),
        row("valera2003, table 3: inverse dynamics takes fewer operations", forces["vector"], forces["newton-euler"]),
    ]
