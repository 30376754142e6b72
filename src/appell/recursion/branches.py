"""Solving M·x = b for many columns b that are zero on most branches of the tree.

Joint j moves only what it carries, and is felt only by the joints that carry it. Of ∂τ/∂qⱼ, as of the unit force on
joint j, only entries of these are not zero. In M = LᵀDL (:mod:`appell.recursion.forward`) the first half of the
solution, Lᵀy = b, never leaves them. The second, Lx = D⁻¹y, goes to all joints. On a branch that leaves joint j's own
at velocity β, x follows from that of the path to β alone,

    x_k = −Σ_{i on the path to β} E_ki x_i,   E_ki = L_ki − Σ_{m between β and k} L_km E_mi,                (1)

with an E that all columns of other branches share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from appell.recursion.elimination import is_zero
from appell.recursion.forward import factorise
from appell.recursion.kinematics import Scalars
from appell.recursion.sweep import Rows
from appell.spatial.scalar import Scalar

ABREAST = 14
"""Columns that are solved together at most: a processor keeps the sums of all of them in registers."""


class Branches:
    """The factors of M, and the rows of Eq. (1) as they are needed."""

    def __init__(self, matrix: Rows, parents: list[int]) -> None:
        self.lower, self.inverse = factorise(matrix, parents)
        self.parents = parents
        self.paths: list[list[int]] = []
        """Per velocity those before it on the way to the base, and itself."""
        for k, parent in enumerate(parents):
            self.paths.append([*(self.paths[parent] if parent >= 0 else ()), k])
        self._rows: dict[tuple[int, int], list[Scalar]] = {}

    def solve_all(self, columns: Sequence[Scalars]) -> list[list[Scalar]]:
        """Return x of columns of any branches; those that the same joints feel are solved together."""
        groups: dict[frozenset[int], list[int]] = {}
        for c, column in enumerate(columns):
            felt = frozenset(i for k, x in enumerate(column) if not is_zero(x) for i in self.paths[k])
            groups.setdefault(felt, []).append(c)
        found: dict[int, list[Scalar]] = {}
        for group in groups.values():
            size = -(-len(group) // -(-len(group) // ABREAST))
            for some in (group[at : at + size] for at in range(0, len(group), size)):
                found |= zip(some, self.solve(*(columns[c] for c in some)), strict=True)
        return [found[c] for c in range(len(columns))]

    def solve(self, *columns: Scalars, stop: int | None = None) -> list[list[Scalar]]:
        """Return x of some columns of the same branch, up to some velocity.

        The columns take turns at each factor, which is then read once for all of them. Sums end with what was found
        last, so that they need not wait for it.
        """
        felt = sorted({i for column in columns for k, x in enumerate(column) if not is_zero(x) for i in self.paths[k]})
        n = len(self.parents) if stop is None else stop
        left = {k: max((i for i in self.paths[k] if i in felt), default=-1) for k in range(n) if k not in felt}
        rows = {k: self.row(k, last) for k, last in left.items() if last >= 0}

        def reduced(values: list[Scalar], terms: Iterable[tuple[Scalar, list[Scalar]]]) -> list[Scalar]:
            for factor, others in terms:
                values = [x - factor * y for x, y in zip(values, others, strict=True)]
            return values

        y: dict[int, list[Scalar]] = {}
        for i in reversed(felt):
            beyond = [k for k in reversed(felt) if k > i and i in self.paths[k]]
            y[i] = reduced([column[i] for column in columns], ((self.lower[k][i], y[k]) for k in beyond))
        x: list[list[Scalar]] = []
        for k in range(n):
            if k in y:
                scaled = [value * self.inverse[k] for value in y[k]]
                x.append(reduced(scaled, ((self.lower[k][i], x[i]) for i in self.paths[k][:-1])))
            else:
                path = self.paths[left[k]] if k in rows else []
                pairs = zip(rows.get(k, ()), (x[i] for i in path), strict=True)
                x.append(reduced([0.0] * len(columns), pairs))
        return [list(values) for values in zip(*x, strict=True)]

    def row(self, k: int, last: int) -> list[Scalar]:
        """Return E of Eq. (1) of a velocity, for a branch that leaves the path to another."""
        if (k, last) not in self._rows:
            path = self.paths[last]
            between = self.paths[k][len(path) : -1]
            row = [self.lower[k][i] for i in path]
            for m in between:
                row = [x - self.lower[k][m] * e for x, e in zip(row, self.row(m, last), strict=True)]
            self._rows[k, last] = row
        return self._rows[k, last]

    def inverse_matrix(self) -> Rows:
        """Return M⁻¹, symmetric to the last bit."""
        n = range(len(self.parents))
        columns = [self.solve(tuple(float(i == k) for i in n), stop=k + 1)[0] for k in n]
        return tuple(tuple(columns[max(i, k)][min(i, k)] for k in n) for i in n)
