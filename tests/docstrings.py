"""Find gaps in the docstrings of public names: ``python -m tests.docstrings [ROOM ...]`` lists them.

A public function or method has a summary, a Parameters section of exactly its parameters, a Returns (or Yields) section
unless it returns None, and an example. A public class lists the arguments of its constructor, under Parameters or
Attributes, and has an example; the example of a class also serves the methods that it calls. A property, and a method
that overrides one of a base class, has a summary.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import appell

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


class Public(NamedTuple):
    """A public object: its full name, itself, and the class that it is a member of."""

    name: str
    member: Any
    owner: type | None = None

    @property
    def room(self) -> str:
        """Return the room of the source that defines it."""
        module = str(getattr(_function(self.member), "__module__", "") or (self.owner and self.owner.__module__))
        return module.partition(".")[2].partition(".")[0]


def public() -> Iterator[Public]:
    """Yield every public function, class, method and property."""
    seen: set[int] = set()
    for name, thing in _exported(appell, "appell", set()):
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield Public(name, thing)
        if inspect.isclass(thing):
            for key, member in _members(thing):
                if id(_function(member)) not in seen:  # inherited members once, of the first class that has them
                    seen.add(id(_function(member)))
                    yield Public(f"{name}.{key}", member, thing)


def _exported(module: types.ModuleType, prefix: str, seen: set[str]) -> Iterator[tuple[str, Any]]:
    for key in module.__all__:
        thing = getattr(module, key)
        if isinstance(thing, types.ModuleType):
            if thing.__name__ not in seen and hasattr(thing, "__all__"):
                seen.add(thing.__name__)
                yield from _exported(importlib.import_module(thing.__name__), f"{prefix}.{key}", seen)
        elif inspect.isclass(thing) or inspect.isfunction(thing):
            yield f"{prefix}.{key}", thing


def _members(of: type) -> Iterator[tuple[str, Any]]:
    own = [base for base in of.__mro__ if base.__module__.startswith("appell")]
    for key in dict.fromkeys(key for base in own for key in vars(base) if not key.startswith("_")):
        member = inspect.getattr_static(of, key)
        if isinstance(member, _PROPERTIES) or inspect.isfunction(_function(member)):
            yield key, member


_PROPERTIES = (property, functools.cached_property)


def _function(member: Any) -> Any:
    """Return the function behind a method, a class method or a property."""
    if isinstance(member, functools.cached_property):
        return member.func
    if isinstance(member, property):
        return member.fget
    return member.__func__ if isinstance(member, classmethod | staticmethod) else member


def gaps(one: Public) -> list[str]:
    """Return what the docstring of a public name lacks."""
    text = _doc(one)
    if not text:
        return ["no docstring"]
    found = [] if re.match(r".+[.:…](?:\n\n|\n*$)", text) else ["no summary of one line"]
    if isinstance(one.member, _PROPERTIES) or _overrides(one):
        return found
    found += _parameter_gaps(one, text)
    if not inspect.isclass(one.member) and _returns(one.member) and not _sections(text).keys() & {"Returns", "Yields"}:
        found.append("no Returns section")
    return found if _has_example(one, text) else [*found, "no example"]


def _overrides(one: Public) -> bool:
    key = one.name.rpartition(".")[2]
    return one.owner is not None and sum(key in vars(base) for base in one.owner.__mro__) > 1


def _doc(one: Public) -> str:
    if inspect.isclass(one.member):
        return inspect.cleandoc(one.member.__doc__ or "")
    return inspect.getdoc(one.member) or inspect.cleandoc(_function(one.member).__doc__ or "")


def _sections(text: str) -> dict[str, str]:
    places = [*_SECTION.finditer(text)]
    starts = [*(place.start() for place in places), len(text)]
    return {place[1]: text[place.end() : end] for place, end in zip(places, starts[1:], strict=True)}


def _parameter_gaps(one: Public, text: str) -> list[str]:
    wanted = _parameters(one)
    sections = _sections(text)
    lines = [
        line for key in ("Parameters", "Attributes") for line in sections.get(key, "").partition(">>>")[0].split("\n")
    ]
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    given = [name.strip("` ") for head in heads for name in head.split(",")]
    missing = [name for name in wanted if name not in given]
    extra = [] if inspect.isclass(one.member) else [name for name in given if name not in wanted]
    return [f"Parameters lacks {name}" for name in missing] + [f"Parameters has {name}" for name in extra]


def _parameters(one: Public) -> list[str]:
    if inspect.isclass(one.member):
        if issubclass(one.member, BaseException) or inspect.isabstract(one.member):
            return []
        if getattr(one.member, "_is_protocol", False):
            return []
    function = one.member if inspect.isclass(one.member) else _function(one.member)
    marks: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [f"{marks.get(x.kind, '')}{x.name}" for x in inspect.signature(function).parameters.values()]
    is_bound = one.owner is not None and not isinstance(one.member, staticmethod)
    return names[1:] if is_bound else names


def _returns(member: Any) -> bool:
    return inspect.signature(_function(member)).return_annotation not in (None, "None", inspect.Signature.empty)


def _has_example(one: Public, text: str) -> bool:
    if ">>>" in text or (inspect.isclass(one.member) and issubclass(one.member, BaseException)):
        return True
    example = "" if one.owner is None else inspect.cleandoc(one.owner.__doc__ or "").partition(">>>")[2]
    return f".{one.name.rpartition('.')[2]}(" in example


def main(rooms: list[str]) -> int:
    """Print the gaps, of all rooms or of some."""
    found = [(one, gaps(one)) for one in public() if not rooms or one.room in rooms]
    for one, lacks in found:
        if lacks:
            print(f"{one.room}: {one.name}: {'; '.join(lacks)}")
    print(f"{sum(bool(lacks) for _, lacks in found)} of {len(found)} public names have gaps")
    return 1 if any(lacks for _, lacks in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
