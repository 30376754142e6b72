"""Table 1 of shafei2018: operation counts of the equations of motion, as formulas in links per branch and branches.

The counts are those of I_f and ℜ of (25): the inertia matrix, one half of it, and the right-hand side. The robot has
n_b branches of n links each from one sliding point, as the paper's formulas, all proportional to n_b, assume. Products
with 0 and ±1, operations on constants, signs, sines and cosines are free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from appell.model.lean import lean
from appell.model.model import Body, Model
from appell.papers.formula import Formula, fit
from appell.papers.mata2002_counts import COLUMNS, SIDES, compared, general_arm, pair
from appell.papers.mata2002_counts import counted as counted_arms
from appell.papers.paper import less
from appell.papers.paper import read as read_paper
from appell.read.catalogue import read
from appell.recursion import gibbs, inertia_matrix, lagrange, mixed
from appell.recursion.kinematics import Scalars
from appell.reports.rules import Counts, NotComparable
from appell.reports.table import Cell, Table
from appell.reports.verdict import Verdict
from appell.results.style import COLOURS, figure
from appell.trace.tape import Count, Port, count, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

LINKS = range(4, 8)
BRANCHES = range(1, 4)
SHOWN = (4, 4)
"""Links per branch and branches for the numbers next to the formulas, included in figures 12 and 13."""

Matrix = Callable[[Model, Scalars], Any]
Vector = Callable[[Model, Scalars, Scalars], Any]
METHODS: dict[str, tuple[Matrix, Vector]] = {
    "mixed": (mixed.mass_matrix, mixed.bias),
    "gibbs": (inertia_matrix.mass_matrix_gibbs, gibbs.bias),
    "composite": (inertia_matrix.mass_matrix_composite, gibbs.bias),
    "lagrange": (lagrange.mass_matrix, lagrange.bias),
}


class Grid(NamedTuple):
    """A count in n links per branch and n_b branches: (slope)·n_b + level, both polynomials in n.

    >>> str(Grid(Formula.of("2", "1"), Formula.of("-3"))), Grid(Formula.of("2", "1"), Formula.of("-3"))(4, 2)
    ('(n + 2)n_b − 3', 9)
    """

    slope: Formula
    level: Formula = Formula.of("0")

    def __call__(self, links: int, branches: int) -> int | float:
        """Return the count for so many links per branch and branches."""
        return self.slope(links) * branches + self.level(links)

    def __str__(self) -> str:
        text = f"({self.slope})n_b"
        level = str(self.level)
        if level == "0":
            return text
        return f"{text} − {level[1:]}" if level.startswith("−") else f"{text} + {level}"


class Printed(NamedTuple):
    """A row of the paper's table: products and sums, and our name of the method."""

    sides: tuple[Grid, Grid]
    method: str


TEXT = read_paper("shafei2018")
PAPER = {
    what: Printed((Grid(Formula.of(*products)), Grid(Formula.of(*sums))), method)
    for what, (method, products, sums) in TEXT.results["table1"].items()
}
"""Table 1 as printed."""


def star(links: int, branches: int, link: Body) -> Model:
    """Return a robot with branches of equal links, all from a point that slides in the xy plane.

    >>> star(2, 3, rod()).nv
    8
    """
    tree = read("shafei-tree")
    bodies = list(tree.bodies[:2])
    for branch in range(branches):
        for i in range(links):
            parent = 1 if i == 0 else len(bodies) - 1
            joint = replace(link.joint, name=f"joint{branch + 1}.{i + 1}")
            bodies.append(replace(link, name=f"link{branch + 1}.{i + 1}", parent=parent, joint=joint))
    return replace(tree, name=f"star{links}x{branches}", bodies=tuple(bodies), frames=())


def rod() -> Body:
    """Return a link of the paper's robot: a rod that rotates in the plane about the end of the previous one."""
    return read("shafei-tree").bodies[3]


def general() -> Body:
    """Return the general link of mata2002's tables, without zeros."""
    return general_arm(2).model.bodies[1]


def equations(model: Model, method: str) -> Count:
    """Return the operation count of the equations of motion by one method on a model as it stands.

    >>> equations(star(1, 1, rod()), "mixed").trigonometric
    2
    """
    mass_matrix, bias = METHODS[method]

    def program(q: Scalars, v: Scalars) -> Any:
        return [row[: k + 1] for k, row in enumerate(mass_matrix(model, q))], bias(model, q, v)

    half = model.nv * (model.nv + 1) // 2
    inputs = [Port("q", (model.nq,)), Port("v", (model.nv,))]
    return count(trace("equations", program, inputs, [Port("M", (half,)), Port("bias", (model.nv,))]))


def compiled(model: Model) -> Count:
    """Return the operation count of the compiled program: the method with the lowest count on the lean model."""
    counts = (equations(lean(model), method) for method in ("gibbs", "composite"))
    return min(counts, key=lambda c: c.multiplications + c.additions)


@cache
def counted(method: str | None, is_general: bool) -> Mapping[tuple[int, int], Count]:
    """Return the counts of a method, or of the compiled program, over the grid of links and branches."""
    link = general() if is_general else rod()
    robots = {(n, b): star(n, b, link) for n in LINKS for b in BRANCHES}
    return {at: equations(model, method) if method else compiled(model) for at, model in robots.items()}


def surface(counts: Mapping[tuple[int, int], Count], side: int) -> Grid | None:
    """Return the exact formula of the products (side 0) or the sums (side 1); None when there is none."""
    lines = [fit({b: counts[n, b][:2][side] for b in BRANCHES}) for n in LINKS]
    pairs = [(*line.coefficients, 0)[:2] for line in lines if line is not None and len(line.coefficients) <= 2]
    if len(pairs) != len(LINKS):
        return None
    level, slope = (fit({n: int(c) for n, c in zip(LINKS, column, strict=True)}) for column in zip(*pairs, strict=True))
    return Grid(slope, level) if slope is not None and level is not None else None


def _cells(method: str | None, is_general: bool, side: int) -> tuple[str, int | float | None]:
    formula = surface(counted(method, is_general), side)
    return ("no polynomial", None) if formula is None else (str(formula), formula(*SHOWN))


def judged(printed: Printed, side: int, is_general: bool) -> Verdict:
    """Return the verdict on a count of the paper for the links and branches shown.

    >>> judged(PAPER["this work, 3×3 with 4×4"], 0, True).kind.value
    'different rules'
    """
    found = [surface(counted(printed.method, is_general), k) for k in range(len(SIDES))]
    mine = [exact for exact in found if exact is not None]
    if len(mine) < len(SIDES):
        return NO_FORMULA()
    theirs, ours = (([float(exact.slope[2]) for exact in pair], [pair[side](*SHOWN)]) for pair in (printed.sides, mine))
    return COUNTS(theirs, ours)


COUNTS = Counts(f"n = {SHOWN[0]}, n_b = {SHOWN[1]}")
NO_FORMULA = NotComparable("our count is no polynomial in n and n_b")


def table1() -> tuple[Table, ...]:
    """Return table 1, and below it the same for the paper's own robot."""
    rows: list[tuple[Cell, ...]] = []
    for what, printed in PAPER.items():
        for side, name in enumerate(SIDES):
            at = printed.sides[side](*SHOWN)
            each = ((printed.method, True), (printed.method, False), (None, True))
            shown = [cell for method, is_general in each for cell in _cells(method, is_general, side)]
            rows.append((f"{what}: {name}", str(printed.sides[side]), at, *shown, judged(printed, side, True)))
    where = f"at {SHOWN[0]}, {SHOWN[1]}"
    columns = tuple(name.format(at=where) for name in TEXT.texts["1"]["columns"])
    ranges = {"links": f"{LINKS[0]} … {LINKS[-1]}", "branches": f"{BRANCHES[0]} … {BRANCHES[-1]}", "shown": SHOWN}
    return TEXT.table("1", rows, columns, **ranges), _tree(), _hollerbach()


def _hollerbach() -> Table:
    """Return Hollerbach's count for one arm, compared with ours of the same equations."""
    printed = pair(*TEXT.results["hollerbach"])
    ours, built = counted_arms("inverse_dynamics", "lagrange"), counted_arms("inverse_dynamics")
    rows = compared("Lagrange, 4×4 (Hollerbach 1980)", printed, ours, built)
    return TEXT.table("hollerbach", rows, COLUMNS)


# Figures 12 and 13, and the paper's conclusions on them

RANGES = {"12": range(4, 13), "13": range(1, 11)}
"""Links per branch of figure 12, with four branches; branches of figure 13, of four links."""


def total(sides: tuple[Grid, Grid], name: str) -> list[int | float]:
    """Return products and sums together along a figure's axis."""
    at = [(x, SHOWN[1]) if name == "12" else (SHOWN[0], x) for x in RANGES[name]]
    return [sides[0](*place) + sides[1](*place) for place in at]


def formulas(method: str, is_general: bool) -> tuple[Grid, Grid] | None:
    """Return our formulas of products and sums, None where there is none."""
    products, sums = (surface(counted(method, is_general), side) for side in (0, 1))
    return None if products is None or sums is None else (products, sums)


def draw(name: str) -> Drawn:
    """Return figure 12 or 13: operations of the three methods over links or branches, the paper's and ours."""
    drawn = figure(7.6, 3.6)
    axes = drawn.subplots(1, 3, sharey=True)
    for k, (what, printed) in enumerate(PAPER.items()):
        shown = (printed.sides, formulas(printed.method, True), formulas(printed.method, False))
        for panel, sides in zip(axes, shown, strict=True):
            if sides is not None:
                panel.plot(RANGES[name], total(sides, name), ".-", color=COLOURS[k], label=what, linewidth=1.1)
    for panel, title in zip(axes, ("the paper", "ours, general links", "ours, the paper's rods"), strict=True):
        panel.set(title=title, yscale="log", xlabel="links per branch" if name == "12" else "branches")
    axes[0].set_ylabel("products and sums")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


FIGURES = TEXT.figures({"figure12": partial(draw, "12"), "figure13": partial(draw, "13")})

COMPARED = (LINKS[0], BRANCHES[-1])
"""Links per branch and branches for which the methods are compared."""


def conclusions_on_counts() -> list[tuple[Cell, ...]]:
    """Return the paper's conclusions on table 1 and figures 12 and 13, and whether they hold in our results."""
    rows: list[tuple[Cell, ...]] = []
    for kind, is_general in (("general links", True), ("the paper's rods", False)):
        found = {m: counted(m, is_general)[COMPARED][:2] for m in ("gibbs", "mixed", "lagrange")}
        plain, both, lagrange = (
            (name, found[method])
            for method, name in (("gibbs", "3×3"), ("mixed", "3×3 with 4×4"), ("lagrange", "Lagrange, 4×4"))
        )
        rows += [
            less(f"The 3×3 form takes fewer operations than the mixed one, {kind}", plain, both),
            less(f"The mixed form takes fewer than Lagrange's 4×4 form, {kind}", both, lagrange),
        ]
    return rows


NOTES = (
    f"Table 1, figures 12 and 13: products and sums for {COMPARED[0]} links per branch, {COMPARED[1]} branches.",
    "In space the mixed form rotates a body's inertia by 3×3 matrices in addition to moving its mass by 4×4 ones, "
    "while Lagrange's form has both in one 4×4 matrix; for rods in a plane the rotated inertia is constant and "
    "takes no operations.",
)


def _tree() -> Table:
    model = read("shafei-tree")
    lengths = [sum(1 for i in model.ancestors(branch.tip) if i > 1) for branch in mixed.branches(model)]
    rows: list[tuple[Cell, ...]] = []
    for what, printed in PAPER.items():
        ours = equations(model, printed.method)[:2]
        for side, name in enumerate(SIDES):
            theirs = sum(printed.sides[side](n, 1) for n in lengths)
            rows.append((f"{what}: {name}", theirs, ours[side], judged(printed, side, False)))
    built = compiled(model)
    rows += [(f"compiled: {name}", None, built[side], None) for side, name in enumerate(SIDES)]
    return TEXT.table("tree", rows, lengths=", ".join(map(str, lengths)))
