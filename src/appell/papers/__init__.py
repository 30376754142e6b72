"""One file per paper: its tables, paper against ours, with verdicts where the paper has numbers, and its figures."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from appell.errors import InputError
from appell.model.build import alternatives
from appell.reports.report import Report

NAMES = ("abedloo2014", "enferadi2010", "mata2002", "shafei2018", "valera2003")
"""The papers that can be reproduced, by short name."""


def reproduce(name: str, **options: Any) -> Report:
    """Return the report of a paper: its tables and figures, paper against ours.

    Parameters
    ----------
    name
        The paper's short name, for example "mata2002".
    options
        What the paper's own ``report`` takes; see its file in :mod:`appell.papers`.

    Raises
    ------
    InputError
        When the paper or an option is unknown.

    Examples
    --------
    >>> import appell.papers
    >>> report = appell.papers.reproduce("mata2002", tables=["4"])
    >>> print(report.tables[0].title)
    Table 4. Forward dynamics of a general arm of six joints
    """
    if name not in NAMES:
        raise InputError(f"reproduce: no paper '{name}'; {alternatives(name, NAMES)}")
    start = time.perf_counter()
    try:
        paper = import_module(f"appell.papers.{name}")
        report: Report = paper.report(**options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error) or "report()" not in str(error):
            raise
        raise InputError(f"reproduce: {name} has no such option: {error}") from None
    return replace(report, index=paper.INDEX, seconds=time.perf_counter() - start)
