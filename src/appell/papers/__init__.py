"""Reproductions of papers, one file each: tables compared with our results, with verdicts, and figures."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from appell.errors import InputError
from appell.messages import alternatives
from appell.reports.report import Report

NAMES = ("abedloo2014", "enferadi2010", "mata2002", "shafei2018", "valera2003")
"""The papers that can be reproduced, by short name."""


def reproduce(name: str, **options: Any) -> Report:
    """Reproduce a paper: its tables and figures, compared with our results.

    Parameters
    ----------
    name : str
        The paper's short name, for example "mata2002".
    **options
        Options of the paper's ``report`` function; see its file in :mod:`appell.papers`.

    Returns
    -------
    Report
        Tables with verdicts, figures, and the underlying run or fit as ``report.run``.

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
        raise InputError(f"reproduce: unknown paper '{name}'; {alternatives(name, NAMES)}")
    start = time.perf_counter()
    try:
        paper = import_module(f"appell.papers.{name}")
        report: Report = paper.report(**options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error) or "report()" not in str(error):
            raise
        raise InputError(f"reproduce: {name}: unknown option: {error}") from None
    return replace(report, seconds=time.perf_counter() - start)
