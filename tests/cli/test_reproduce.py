"""`appell reproduce`: one page of all papers that stands alone, and a summary of what came out."""

from __future__ import annotations

import functools
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.papers import NAMES, reproduce
from appell.reports.collection import Collection, counted
from appell.reports.report import Figure, Film, Highlight, Report
from appell.reports.rules import Counts, Same
from appell.reports.table import Table
from appell.reports.verdict import Kind, Verdict
from appell.results import animation
from appell.results.style import figure

SLICES = {"mata2002": {"tables": ["4", "5"]}, "valera2003": {"tables": ["line"]}}
"""Tables of two papers that are quick to make: tests/papers makes them all."""


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], prog_name="appell")


def draw():
    drawn = figure(2.0, 1.5)
    drawn.subplots().plot([0.0, 1.0], [0.0, 1.0])
    return drawn


@functools.cache
def film():
    run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    return animation.film(run, "gif", fps=10.0)


def stand_in(name):
    """Return a small report of every kind of thing, quick to make."""
    verdicts = (Same()(1, 1), Counts("n < 6")(((1,), (3,)), ((1,), (6,))))
    rows = tuple((f"row {k}", 1.0, 2.0, "wide " * 30, verdict) for k, verdict in enumerate(verdicts))
    table = Table(f"Table 1. Of {name} & co", ("what", "paper", "ours", "long", "verdict"), rows, ("a note",))
    figures = (Figure("figure1", "Figure 1. A line", draw), Film("motion", "A film", film))
    return Report(
        name,
        "a stand-in",
        (table,),
        figures,
        ("(1): minus",),
        gives="It gives a table.",
        highlights=(Highlight("row 0", 1.0, 2.0, verdicts[0]),),
    )


@pytest.fixture(scope="module")
def whole():
    """Return two stand-ins and a real paper as one collection."""
    reports = (stand_in("one2001"), stand_in("two2002"), reproduce("mata2002", **SLICES["mata2002"]))
    return Collection("Three papers", tuple(report.drawn() for report in reports))


class Seen(NamedTuple):
    """What a browser found on the page: complaints, requests, widths of images, links to nowhere, what is too wide."""

    errors: list[str]
    requests: list[str]
    widths: list[int]
    lost: list[str]
    is_page_too_wide: bool
    does_table_scroll: bool


LOST = (
    "[...document.querySelectorAll('nav a')].map(a => decodeURI(a.hash.slice(1)))"
    ".filter(name => !document.getElementById(name))"
)


def look(api: Any, program: str, address: str) -> Seen:
    """Return what a browser finds on a page as narrow as a telephone."""
    errors: list[str] = []
    requests: list[str] = []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 360, "height": 700})
        page.set_default_timeout(90_000)
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        seen = Seen(
            errors,
            requests,
            page.evaluate("[...document.images].map(image => image.naturalWidth)"),
            page.evaluate(LOST),
            page.evaluate("document.documentElement.scrollWidth > window.innerWidth"),
            page.evaluate("[...document.querySelectorAll('.wide')].some(box => box.scrollWidth > box.clientWidth)"),
        )
        browser.close()
    return seen


@pytest.fixture(scope="module")
def place(whole, tmp_path_factory):
    """Return where the collection's page is."""
    return whole.save(tmp_path_factory.mktemp("out") / "report.html")


@pytest.fixture(scope="module")
def seen(place, chromium):
    """Return what a browser finds on the page; in a thread, for one thread cannot drive two browsers."""
    api = pytest.importorskip("playwright.sync_api")
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(look, api, chromium, place.as_uri()).result()


def test_the_page_opens_without_a_word_on_the_console(seen):
    assert seen.errors == []


def test_the_page_asks_nobody_for_anything(seen, place):
    assert [url for url in seen.requests if not url.startswith("data:")] == [place.as_uri()]


def test_every_image_of_the_page_is_decoded(seen, whole):
    assert len(seen.widths) == 1 + sum(len(made.report.figures) for made in whole.reports)  # a film comes first
    assert all(width > 0 for width in seen.widths)


def test_every_line_of_the_contents_leads_somewhere(seen):
    assert seen.lost == []


def test_a_wide_table_scrolls_and_the_page_does_not(seen):
    assert seen.does_table_scroll
    assert not seen.is_page_too_wide


def test_no_place_on_the_page_has_a_name_twice(whole):
    names = re.findall(r' id="([^"]+)"', whole.html())
    assert len(names) == len(set(names))


def test_the_page_names_no_machine(whole):
    page = re.sub(r"base64,[^\"]+", "", whole.html())
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", page)
    assert str(Path.home()) not in page


def test_verdicts_are_counted_by_kind(whole):
    assert counted(whole.reports[0].report.tables) == {kind: int(kind in (Kind.AGREES, Kind.DIFFERS)) for kind in Kind}
    totals = whole.effort().row("all")
    verdicts = [row[-1] for made in whole.reports for table in made.report.tables for row in table.rows]
    assert sum(totals[kind.value] for kind in Kind) == sum(isinstance(verdict, Verdict) for verdict in verdicts)


@pytest.mark.parametrize("name", SLICES)
def test_a_paper_says_what_it_gives_and_which_rows_matter(name):
    report = reproduce(name, **SLICES[name])
    assert report.gives.endswith(".")
    assert report.highlights


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("appell.cli.reproduce.run", stand_in)


def test_all_papers_have_a_line_each_and_one_page_beside_their_own(quick, tmp_path):
    result = invoke("all", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    lines = result.stderr.splitlines()
    assert [line.split(":")[0] for line in lines if ": " in line][:-1] == [
        f"[{k}/5] {name}" for k, name in enumerate(NAMES, 1)
    ]
    assert lines[-1] == f"report: {tmp_path / 'report.html'}"
    assert {path.name for path in tmp_path.glob("*.html")} == {"report.html", *(f"{name}.html" for name in NAMES)}
    for word in (*NAMES, "row 0", "paper's value", "errata"):
        assert word in result.stdout


def test_one_paper_prints_its_tables(quick, tmp_path):
    result = invoke("mata2002", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert "Table 1. Of mata2002 & co" in result.stdout
    assert f"report: {tmp_path / 'mata2002.html'}" in result.stderr
    assert (tmp_path / "mata2002-motion.gif").read_bytes()[:4] == b"GIF8"


def test_json_has_every_report(quick, tmp_path):
    told = json.loads(invoke("all", "--out", tmp_path, "--json").stdout)
    assert [report["name"] for report in told] == list(NAMES)
    assert told[0]["highlights"][0]["verdict"] == "equal"
