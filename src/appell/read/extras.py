"""Packages that not every installation has, loaded when something needs them."""

from __future__ import annotations

import importlib
from typing import Any

from appell.errors import InputError


def extra(package: str, what: str, group: str) -> Any:
    """Return a package, or a module of it; `what` needs it, and the extra `group` of appell brings it.

    Raises
    ------
    InputError
        When it is not installed.

    >>> extra("nobody.has_it", "pictures need", "plot")
    Traceback (most recent call last):
    ...
    appell.errors.InputError: pictures need nobody, which is not installed; pip install 'appell[plot]'
    """
    name = package.partition(".")[0]
    try:
        importlib.import_module(name)
        return importlib.import_module(package)
    except ImportError:
        raise InputError(f"{what} {name}, which is not installed; pip install 'appell[{group}]'") from None
