"""The equations of motion of a small robot in symbols, by SymPy.

A verb's program is run on polynomials: coordinates enter as cosines and sines, parameters, velocities and accelerations
as themselves, and s² is 1 − c² wherever it appears, so that equal expressions become the same polynomial. Its terms are
then collected by parameters and velocities, and each factor of cosines and sines is written in the shorter form: as
products, or by angle sums, as for parallel axes. Decimal numbers of the file stay decimal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from appell.errors import InputError, visible
from appell.extras import extra
from appell.files import write
from appell.model.parameters import parameter_names
from appell.robot.calls import compile
from appell.robot.kind import Key, Kind
from appell.syntax import identifier, latex_name, python_docstring
from appell.trace.expr import Op
from appell.trace.tape import Tape

MOST = 20_000
"""Largest number of terms of a polynomial."""
SHORT = 40
"""Largest number of terms of a factor of cosines and sines for which other forms are tried."""
NEGLIGIBLE = Fraction(1, 10**12)
"""Relative size below which a coefficient is a rounded zero."""
LETTERS = {"tau": r"\tau"}


@dataclass(frozen=True, eq=False)
class Equations:
    """M, C, G, τ and S of a robot as SymPy expressions, each computed when it is first read.

    M a + C v + G = τ = ∂S/∂a. `q`, `v` and `a` are the symbols of the state, `parameters` those of the parameters with
    their values in the file. Parameters are those of :attr:`appell.Robot.parameters`: mass m, first moments mx, my, mz
    and moments of inertia Ixx … Izz about the joint's frame, rotor inertia Ia, damping d, Coulomb friction f and
    stiffness k, each with the name of its link, joint or spring; those that are zero in the file are omitted.
    """

    kind: Kind
    symbols: Mapping[str, Sequence[Any]]

    @property
    def q(self) -> tuple[Any, ...]:
        """Return the symbols of the coordinates."""
        return tuple(self.symbols["q"])

    @property
    def v(self) -> tuple[Any, ...]:
        """Return the symbols of the velocities."""
        return tuple(self.symbols["v"])

    @property
    def a(self) -> tuple[Any, ...]:
        """Return the symbols of the accelerations."""
        return tuple(self.symbols["a"])

    @cached_property
    def parameters(self) -> dict[Any, float]:
        """Return the symbols of the parameters and their values in the file."""
        given = zip(self.symbols["parameters"], self.kind.facts.parameters, strict=True)
        return {symbol: value for symbol, value in given if symbol != 0}

    @cached_property
    def M(self) -> Any:  # noqa: N802  # as the equations are written
        """Return the mass matrix."""
        return self.of("mass_matrix")

    @cached_property
    def C(self) -> Any:  # noqa: N802
        """Return the Coriolis matrix, with Ṁ − 2C skew."""
        return self.of("coriolis_matrix")

    @cached_property
    def G(self) -> Any:  # noqa: N802
        """Return the gravity torques."""
        return self.of("gravity")

    @cached_property
    def tau(self) -> Any:
        """Return the joint torques of a motion."""
        return self.of("generalised_forces")

    @cached_property
    def S(self) -> Any:  # noqa: N802
        """Return the Gibbs function, without terms that do not depend on accelerations."""
        return self.of("gibbs").as_independent(*self.a, as_Add=True)[1]

    def of(self, verb: str) -> Any:
        """Return the result of any verb with one result and no frame: a matrix, a column or a number."""
        return expression(self.kind, Key(verb, is_parametric=True), self.symbols)

    def latex(self) -> str:
        """Return all of them as displayed equations of LaTeX."""
        names = {"M": self.M, "C": self.C, "G": self.G, r"\tau": self.tau, "S": self.S}
        return "\n\n".join(displayed(name, value) for name, value in names.items())

    def _repr_latex_(self) -> str:
        return self.latex()


def equations(kind: Kind) -> Equations:
    """Return the equations of motion of a robot."""
    return Equations(kind, state_symbols(kind))


def state_symbols(kind: Kind) -> dict[str, list[Any]]:
    """Return the symbols of a verb's arguments by name; a parameter that is zero in the file is 0."""
    sympy, facts = _sympy(), kind.facts
    coordinates = [
        f"{name}_{k + 1}" if size > 1 else name
        for name, size in zip(facts.joint_names, facts.joint_sizes, strict=True)
        for k in range(size)
    ]
    names = {"q": coordinates, "v": facts.independent, "a": facts.independent, "tau": facts.forces}
    found = {letter: [sympy.Symbol(f"{letter}_{x}", real=True) for x in of] for letter, of in names.items()}
    given = zip(parameter_names(kind.model), facts.parameters, strict=False)
    return {**found, "parameters": [sympy.Symbol(name, real=True) if x else sympy.S.Zero for name, x in given]}


def expression(kind: Kind, key: Key, symbols: Mapping[str, Sequence[Any]]) -> Any:
    """Return the result of a verb as a SymPy matrix, column or number of given symbols; several as a tuple."""
    sympy = _sympy()
    tape = compile.tape(kind, key._replace(formulation=key.formulation or _on_the_file(kind, key)), is_guarded=False)
    written = [_written(x) for x in _polynomials(kind.model.name, tape, symbols)]
    found = []
    for port in tape.outputs:
        own, written = written[: port.size], written[port.size :]
        shape = port.shape if len(port.shape) == 2 else (port.size, 1)
        found.append(sympy.Matrix(*shape, own) if port.shape else own[0])
    return found[0] if len(found) == 1 else tuple(found)


def sympy_text(kind: Kind, keys: Sequence[Key]) -> str:
    """Return a module that defines verbs as SymPy expressions, their symbols, and the parameters' values."""
    sympy, made = _sympy(), equations(kind)
    found = {key.verb: expression(kind, key, made.symbols) for key in keys}
    used = set().union(*(x.free_symbols for value in found.values() for x in _several(value)))
    names = {x: sympy.Symbol(identifier(x.name), real=True) for of in made.symbols.values() for x in of if x in used}
    if len(set(names.values())) < len(names):
        raise InputError(
            f"export: two names of robot '{kind.model.name}' are equal as Python identifiers; rename a link or a joint"
        )
    title = python_docstring(f"{', '.join(found)} of robot '{kind.model.name}' for SymPy, written by appell.")
    lines = [f'"""{title}"""', ""]
    lines += ["from sympy import Matrix, Symbol, cos, sign, sin  # noqa: F401", ""]
    lines += [f'{own} = Symbol("{own}", real=True)' for own in names.values()]
    values = ", ".join(f"{names[x]}: {value!r}" for x, value in made.parameters.items() if x in used)
    lines += [f"parameters = {{{values}}}", ""]
    for verb, value in found.items():
        written = [_python(x.xreplace(names)) for x in _several(value)]
        lines.append(f"{verb} = {written[0] if len(written) == 1 else '(' + ', '.join(written) + ')'}")
    return "\n".join(lines) + "\n"


def _python(value: Any) -> str:
    sympy = _sympy()
    if isinstance(value, sympy.MatrixBase):
        rows = ",\n".join(f"    {sympy.sstr(row, full_prec=False)}" for row in value.tolist())
        return f"Matrix([\n{rows},\n])"
    return str(sympy.sstr(value, full_prec=False))


def latex_text(kind: Kind, keys: Sequence[Key]) -> str:
    """Return verbs as displayed equations of LaTeX, for a document that loads amsmath."""
    made = equations(kind)
    parts = [f"% {', '.join(key.verb for key in keys)} of robot '{visible(kind.model.name)}', written by appell"]
    for key in keys:
        results = zip(kind.verbs[key.verb].outputs, _several(expression(kind, key, made.symbols)), strict=True)
        parts += [displayed(LETTERS.get(name, name), value) for (name, _), value in results]
    return "\n\n".join(parts) + "\n"


def export(kind: Kind, keys: Sequence[Key], to: str, file: Path | None, is_one: bool) -> Any:
    """Write verbs as equations and return the path; without a file return the expressions, or the text of LaTeX."""
    if file is not None:
        return write(file, sympy_text(kind, keys) if to == "sympy" else latex_text(kind, keys))
    if to == "latex":
        return latex_text(kind, keys)
    symbols = state_symbols(kind)
    found = tuple(expression(kind, key, symbols) for key in keys)
    return found[0] if is_one else found


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _on_the_file(kind: Kind, key: Key) -> str:
    """Return a formulation, which then runs on the frames of the file."""
    return next(iter(kind.formulations(key.verb)))


class _Ring:
    """Polynomials over the rational numbers in symbols, cosines and sines."""

    def __init__(self, symbols: Sequence[Any], angles: Sequence[Any], signs: Sequence[Any]) -> None:
        sympy = _sympy()
        self.angles = list(angles)
        trig = [f(x) for x in angles for f in (sympy.cos, sympy.sin)]
        self.generators = [*trig, *(sympy.sign(x) for x in signs), *symbols]
        self.n_trig = len(trig)
        self.ring = sympy.ring([f"x{k}" for k in range(len(self.generators))], sympy.QQ)[0]
        self.of = dict(zip(self.generators, self.ring.gens, strict=True))

    def constant(self, x: float) -> Any:
        """Return a number as its shortest decimal fraction."""
        return self.ring.ground_new(_sympy().QQ(*Fraction(repr(x)).as_integer_ratio()))

    def turned(self, op: Op, angle: Any, offset: float) -> Any:
        """Return the cosine or sine of an angle and an offset."""
        sympy = _sympy()
        cosine, sine = self.of[sympy.cos(angle)], self.of[sympy.sin(angle)]
        c, s = self.constant(math.cos(offset)), self.constant(math.sin(offset))
        return cosine * c - sine * s if op is Op.COS else sine * c + cosine * s

    def reduced(self, x: Any) -> Any:
        """Return a polynomial with every s² replaced by 1 − c²."""
        for k in range(1, self.n_trig, 2):
            while any(monomial[k] > 1 for monomial in x):
                rest = self.ring.zero
                for monomial, coefficient in x.items():
                    if monomial[k] < 2:
                        rest[monomial] = rest.get(monomial, 0) + coefficient
                        continue
                    low = list(monomial)
                    low[k] -= 2
                    high = low.copy()
                    high[k - 1] += 2
                    rest[tuple(low)] = rest.get(tuple(low), 0) + coefficient
                    rest[tuple(high)] = rest.get(tuple(high), 0) - coefficient
                rest.strip_zero()
                x = rest
        return x


def _polynomials(name: str, tape: Tape, symbols: Mapping[str, Sequence[Any]]) -> list[tuple[_Ring, Any]]:
    """Return the results of a tape as polynomials."""
    sympy = _sympy()
    inputs = [x for port in tape.inputs for x in symbols[port.name]]
    turned, signed = _arguments(name, tape)
    named = [x for x in inputs if x != 0]
    ring = _Ring(named, [inputs[k] for k in turned], [inputs[k] for k in signed])
    zero = ring.ring.zero
    values: list[Any] = [ring.of[x] if x != 0 else zero for x in inputs]
    for step in tape.steps:
        args = [values[k] for k in step.args]
        if step.op is Op.CONST:
            made = ring.constant(step.value)
        elif step.op is Op.NEG:
            made = -args[0]
        elif step.op is Op.ADD:
            made = args[0] + args[1]
        elif step.op is Op.SUB:
            made = args[0] - args[1]
        elif step.op is Op.MUL:
            made = ring.reduced(args[0] * args[1])
        elif step.op is Op.DIV and args[1].is_ground and args[1]:
            made = args[0].quo_ground(args[1].LC)
        elif step.op in (Op.SIN, Op.COS):
            made = ring.turned(step.op, *_angle(name, tape, step.args[0], inputs))
        elif step.op is Op.SIGN:
            made = ring.of[sympy.sign(inputs[step.args[0]])]
        else:
            raise _too_much(name, "its equations divide by expressions")
        if len(made) > MOST:
            raise _too_much(name, f"an equation has more than {MOST} terms")
        values.append(made)
    return [(ring, values[k]) for k in tape.results]


def _arguments(name: str, tape: Tape) -> tuple[list[int], list[int]]:
    """Return which inputs a tape takes cosines and sines of, and which it takes signs of."""
    places = range(tape.n_inputs)
    turned = {_angle(name, tape, step.args[0], places)[0] for step in tape.steps if step.op in (Op.SIN, Op.COS)}
    signed = {step.args[0] for step in tape.steps if step.op is Op.SIGN}
    if any(k >= tape.n_inputs for k in signed):
        raise _too_much(name, "it takes signs of expressions")
    return sorted(turned), sorted(signed)


def _angle(name: str, tape: Tape, k: int, inputs: Sequence[Any]) -> tuple[Any, float]:
    """Return an angle as an input and an offset."""
    if k < tape.n_inputs:
        return inputs[k], 0.0
    step = tape.steps[k - tape.n_inputs]
    offset = tape.steps[step.args[-1] - tape.n_inputs]
    if step.op is not Op.ADD or step.args[0] >= tape.n_inputs or offset.op is not Op.CONST:
        raise _too_much(name, "it takes sines of sums")
    return inputs[step.args[0]], offset.value


def _too_much(name: str, why: str) -> InputError:
    return InputError(
        f"equations of robot '{name}': {why}; symbolic equations are for small open robots. For others use "
        "robot.export(..., to='casadi')"
    )


def _written(made: tuple[_Ring, Any]) -> Any:
    """Return a polynomial as an expression: terms collected by all symbols except cosines and sines."""
    sympy, (ring, x) = _sympy(), made
    largest = max((abs(Fraction(int(c.numerator), int(c.denominator))) for c in x.values()), default=Fraction(0))
    factors: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {}
    for monomial, coefficient in x.items():
        number = Fraction(int(coefficient.numerator), int(coefficient.denominator))
        if abs(number) > NEGLIGIBLE * largest:
            factors.setdefault(monomial[ring.n_trig :], {})[monomial[: ring.n_trig]] = number
    total = sympy.S.Zero
    for outer in sorted(factors, reverse=True):
        inner = tuple(sorted(factors[outer].items(), reverse=True))
        rest = sympy.Mul(*(g**p for g, p in zip(ring.generators[ring.n_trig :], outer, strict=True) if p))
        total += _trigonometric(tuple(ring.angles), inner) * rest
    return total


@lru_cache(maxsize=4096)
def _trigonometric(angles: tuple[Any, ...], terms: tuple[tuple[tuple[int, ...], Fraction], ...]) -> Any:
    """Return a factor of cosines and sines in its shortest form."""
    sympy, fu = _sympy(), extra("sympy.simplify.fu", "equations need")
    generators = [f(x) for x in angles for f in (sympy.cos, sympy.sin)]
    short = _fewest(dict(terms), range(0, len(generators), 2))
    exact = sympy.Add(
        *(
            sympy.Rational(c.numerator, c.denominator) * sympy.Mul(*map(sympy.Pow, generators, powers))
            for powers, c in short.items()
        )
    )
    ways = [exact]
    if 1 < len(short) <= SHORT:
        ways += [sympy.expand(fu.TR8(exact)), fu.TR10i(exact)]
    best = sympy.factor_terms(min(ways, key=lambda way: (sympy.count_ops(way), str(way))))
    return best.replace(lambda e: e.is_Rational and e.q > 4, lambda e: sympy.Float(float(e)))


def _fewest(terms: dict[tuple[int, ...], Fraction], cosines: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
    """Return a sum with fewer terms, by c² = 1 − s² for one angle after the other where that shortens it."""
    for k in cosines:
        other: dict[tuple[int, ...], Fraction] = {}
        pending = list(terms.items())
        while pending:
            powers, number = pending.pop()
            if powers[k] < 2:
                other[powers] = other.get(powers, Fraction(0)) + number
                continue
            low = (*powers[:k], powers[k] - 2, *powers[k + 1 :])
            high = (*low[: k + 1], low[k + 1] + 2, *low[k + 2 :])
            pending += [(low, number), (high, -number)]
        other = {powers: number for powers, number in other.items() if number}
        terms = other if len(other) < len(terms) else terms
    return terms


def displayed(name: str, value: Any) -> str:
    """Return an equation as a display of LaTeX: a matrix entry by entry, its symmetric half once."""
    sympy = _sympy()
    if not isinstance(value, sympy.MatrixBase):
        return f"\\[ {name} = {_latex(value)} \\]"
    rows, columns = value.shape
    is_symmetric = rows == columns > 1 and value == value.T
    lines = []
    for i in range(rows):
        for j in range(i if is_symmetric else 0, columns):
            place = f"{i + 1}" if columns == 1 else f"{i + 1}{j + 1}"
            twin = f" = {name}_{{{j + 1}{i + 1}}}" if is_symmetric and i != j else ""
            lines.append(f"{name}_{{{place}}}{twin} &= {_latex(value[i, j])}")
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _latex(value: Any) -> str:
    """Return an expression in LaTeX; names of characters that SymPy does not typeset are subscripts of text."""
    unusual = (x for x in value.free_symbols if re.search("[^0-9A-Za-z_]", x.name))
    parts = ((x, *x.name.partition("_")) for x in unusual)
    names = {x: f"{letter}_{{\\text{{{latex_name(name)}}}}}" for x, letter, _, name in parts}
    return str(_sympy().latex(value, symbol_names=names))


def _sympy() -> Any:
    return extra("sympy", "equations need")
