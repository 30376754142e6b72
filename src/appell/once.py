"""What is made on first use and kept: made once, whichever thread asks first; other threads wait for it.

Everything that is compiled, and everything kept that changes later, is made this way. ``functools.cache`` and
``cached_property`` are for plain values, which two threads may compute twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from functools import cached_property, partial, wraps
from typing import Any, ParamSpec, Self, TypeVar, overload

T = TypeVar("T")
P = ParamSpec("P")


class Memo:
    """Values by key. Each key has a lock of its own, so that threads that make different things do not wait.

    A lock belongs to a process: a forked child does not wait for a thread that it does not have.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, Any] = {}

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made now if there is none; an error leaves none.

        >>> memo = Memo()
        >>> memo("one", list) is memo("one", list)
        True
        """
        if key not in self._values:
            with self._locks.setdefault((os.getpid(), key), threading.RLock()):  # setdefault is one step
                if key not in self._values:
                    self._values[key] = make()
        value: T = self._values[key]
        return value

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()  # a copy makes its own


def once(owner: object, key: Hashable, make: Callable[[], T]) -> T:
    """Return what an object keeps under a key, made on first use; it is released with the object."""
    memo: Memo = getattr(owner, "_memo", None) or vars(owner).setdefault("_memo", Memo())
    return memo(key, make)


class once_property(cached_property[T]):  # noqa: N801  # a decorator, as the one that it extends
    """A ``cached_property`` that is computed once."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        """Return the value, which replaces this property in the object."""
        if instance is None:
            return self
        name = str(self.attrname)
        value: T = vars(instance).setdefault(name, once(instance, name, partial(self.func, instance)))
        return value


def once_function(make: Callable[P, T]) -> Callable[P, T]:
    """Return a function that is run once per argument, and whose results are kept until the process ends."""
    memo = Memo()

    @wraps(make)
    def found(*arguments: P.args, **named: P.kwargs) -> T:
        return memo((arguments, *sorted(named.items())), partial(make, *arguments, **named))

    return found
