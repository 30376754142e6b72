"""Mutants of a package: small changes of its arithmetic, each of which a test should notice.

All mutants that a run tries are written into one copy of the package. An expression `x + y` with mutant 7 becomes
`x - y if _on(7) else x + y`, so that a process chooses its mutant by a number in its environment and the same copy also
records which test evaluates which mutated expression.
"""

from __future__ import annotations

import ast
import compileall
import copy
import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SWITCH = "mutant_switch"
"""The module, beside the mutated package, that holds the number of the active mutant and those that were reached."""
ACTIVE = "MUTANT"
"""The variable of the environment with the number of the active mutant."""
_SWITCH_TEXT = f'''
import os

ACTIVE = int(os.environ.get("{ACTIVE}", "-1"))
REACHED = set()


def on(number):
    REACHED.add(number)
    return number == ACTIVE
'''
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.GtE, ast.LtE),
    ast.LtE: (ast.Gt, ast.Lt),
    ast.Gt: (ast.LtE, ast.GtE),
    ast.GtE: (ast.Lt, ast.Gt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
TOLERANCE = 1e-2
"""Positive constants below it are thresholds and step sizes, no arithmetic."""
LEFT_OUT = ("plots.py",)
"""Files of layout and colours."""
TEXT_FUNCTIONS = ("__repr__", "__str__", "warn")
"""Functions and calls that make messages."""


Change = Callable[[Any], Any]
"""A function from an expression to its mutated form."""


@dataclass(frozen=True)
class Mutant:
    """One change of one expression."""

    file: Path
    """Relative to the package."""
    line: int
    key: str
    """File, function, line of source and change: stays the same while other lines are edited."""
    node: ast.AST
    change: Change


def _with(**fields: Any) -> Change:
    """Return the change of some fields of a node."""

    def change(node: Any) -> Any:
        result = copy.copy(node)
        for name, value in fields.items():
            setattr(result, name, value)
        return result

    return change


def _is_text(node: ast.AST) -> bool:
    """Return whether a node is a string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _changes(node: ast.AST, *, is_index: bool) -> Iterator[Change]:
    """Yield the changes of one node."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if not (_is_text(left) or _is_text(right)):
            if type(op) in ARITHMETIC:
                yield _with(op=ARITHMETIC[type(op)]())
        case ast.AugAssign(op=op, value=value) if type(op) in ARITHMETIC and not _is_text(value):
            yield _with(op=ARITHMETIC[type(op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield lambda unary: unary.operand
        case ast.BoolOp(op=op):
            yield _with(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.Compare(ops=[op, *others]) if type(op) in COMPARISONS:
            for other in COMPARISONS[type(op)]:
                yield _with(ops=[other(), *others])
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value) if is_index or not 0 < value < TOLERANCE:
            yield _with(value=value + 1 if is_index else type(value)(1 - value if value in (0, 1) else 2 * value))


def _is_setting(target: ast.expr, value: ast.expr) -> bool:
    """Return whether an assignment gives a number a name in capitals: a threshold, a count, a default."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return all(map(_is_setting, target.elts, value.elts))
    return isinstance(target, ast.Name) and target.id.isupper() and isinstance(value, ast.Constant)


def _skipped(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node that hold no arithmetic: annotations, messages, patterns, settings."""
    match node:
        case ast.Raise() | ast.JoinedStr():
            return list(ast.iter_child_nodes(node))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in TEXT_FUNCTIONS:
            return list(ast.iter_child_nodes(node))
        case ast.FunctionDef(name=name) if name in TEXT_FUNCTIONS:
            return list(ast.iter_child_nodes(node))
        case ast.FunctionDef(returns=ast.AST() as annotation) | ast.arg(annotation=ast.AST() as annotation):
            return [annotation]
        case ast.AnnAssign(annotation=annotation):
            return [annotation]
        case ast.Assign(targets=[target], value=value) if _is_setting(target, value):
            return [value]
        case ast.match_case(pattern=pattern):
            return [pattern]
    return []


def mutants_of(path: Path, file: Path) -> tuple[ast.Module, list[Mutant]]:
    """Return the tree of a source file and all its mutants."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    found: list[Mutant] = []
    seen: dict[str, int] = {}

    def walk(node: ast.AST, scope: str, is_index: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}".lstrip(".")
        for change in _changes(node, is_index=is_index):
            line = getattr(node, "lineno", 0)
            text = f"{ast.unparse(node)} → {ast.unparse(change(node))}"
            key = f"{file.as_posix()}: {scope}: {lines[line - 1].strip()}: {text}"
            seen[key] = seen.get(key, 0) + 1
            found.append(Mutant(file, line, key if seen[key] == 1 else f"{key} ({seen[key]})", node, change))
        left_out = _skipped(node)
        for child in ast.iter_child_nodes(node):
            if child not in left_out:
                inside = isinstance(node, ast.Subscript) and child is node.slice
                walk(child, scope, inside or (is_index and isinstance(node, ast.Tuple | ast.Slice)))

    walk(tree, "", False)
    return tree, found


def sample(mutants: list[Mutant], number: int, seed: int) -> list[Mutant]:
    """Return some of the mutants, in an order of chance that an edit elsewhere in the package does not change."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    return sorted(mutants, key=rank)[:number]


class _Switches(ast.NodeTransformer):
    """Puts a choice between mutant and original at each expression that has a mutant."""

    def __init__(self, numbered: dict[int, list[tuple[int, Change]]]) -> None:
        self.numbered = numbered

    def visit(self, node: ast.AST) -> Any:
        chosen = self.numbered.get(id(node), [])
        result: Any = self.generic_visit(node)
        original = result
        for number, change in chosen:
            test = ast.Call(ast.Name("_on", ast.Load()), [ast.Constant(number)], [])
            if isinstance(node, ast.AugAssign):
                result = ast.If(test, [change(original)], [result])
            else:
                result = ast.IfExp(test, change(original), result)
        return result


def all_mutants(package: Path, rooms: list[str]) -> tuple[dict[Path, ast.Module], list[Mutant]]:
    """Return the trees of the files of some folders of a package, and all their mutants."""
    trees, mutants = {}, []
    for path in sorted(path for room in rooms for path in (package / room).rglob("*.py")):
        if path.name not in LEFT_OUT:
            file = path.relative_to(package)
            trees[file], found = mutants_of(path, file)
            mutants += found
    return trees, mutants


def write_copy(package: Path, folder: Path, trees: dict[Path, ast.Module], mutants: list[Mutant]) -> None:
    """Write a copy of a package into a folder, with all mutants in it; the trees are changed."""
    target = folder / package.name
    shutil.copytree(package, target, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / f"{SWITCH}.py").write_text(_SWITCH_TEXT)
    numbered: dict[int, list[tuple[int, Change]]] = {}
    for number, mutant in enumerate(mutants):
        numbered.setdefault(id(mutant.node), []).append((number, mutant.change))
    for file in {mutant.file for mutant in mutants}:
        tree = ast.fix_missing_locations(_Switches(numbered).visit(trees[file]))
        first = next((k for k, one in enumerate(tree.body) if not _is_prologue(one)), len(tree.body))
        tree.body.insert(first, ast.parse(f"from {SWITCH} import on as _on").body[0])
        (target / file).write_text(ast.unparse(tree), encoding="utf-8")
    compileall.compile_dir(target, quiet=1)


def _is_prologue(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring or an import from __future__, which stay first."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and _is_text(statement.value)
