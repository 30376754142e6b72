"""Sphinx builds the site from these pages: ``make docs``, or ``python -m sphinx -W docs out/site``.

Pages are plain Markdown that a code host shows as well. What only the site needs is added here while a page is read:
the sidebar (pages.toml), the names of files above blocks, and literal blocks for equations in docstrings. MathJax is
copied into the site; no page makes a request to a server.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.ext.napoleon import Config, NumpyDocstring

HERE = Path(__file__).parent
TITLED = re.compile(r'^( *)```(\w+) title="([^"]+)"$', re.MULTILINE)
RULE = re.compile(r"-{3,}$")


def mathjax() -> Path:
    """Return MathJax as one file that draws SVG, which needs no fonts."""
    shipped = metadata.files("sphinx-mathjax-offline") or []
    return next(Path(str(file.locate())) for file in shipped if file.name == "tex-svg-full.js")


project = "appell"
release = metadata.version("appell")
author = "appell developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_copybutton"]
default_role = "code"

myst_enable_extensions = ["amsmath", "dollarmath", "html_image"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # pages that `appell compare` writes start with a heading of the second level
    "ref.python",  # names of sizes such as n and nq in the types of parameters
]
mathjax_path = "tex-svg-full.js"

html_theme = "furo"
html_title = "appell"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static", str(mathjax())]
html_css_files = ["style.css"]
html_js_files = ["disk.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"sidebar_hide_name": False}
copybutton_exclude = ".linenos, .gp, .go"

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Array": "Array", "ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
# Optional packages that the reference does not need.
autodoc_mock_imports = [name for name in ("gymnasium", "jax", "torch") if find_spec(name) is None]


def toctree(pages: list[str], caption: str = "") -> str:
    """Return a hidden list of pages, for the sidebar."""
    lines = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), *pages, "```"]
    return "\n".join(["", "", *lines, ""])


def complete(app: Any, page: str, source: list[str]) -> None:
    """Add what only the site needs to a page's text."""
    text = TITLED.sub(r"\1```{code-block} \2\n\1:caption: \3\n", source[0])
    contents = tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8"))
    if page == "index":
        text += "".join(toctree(part["pages"], part["caption"]) for part in contents["part"])
    if page == "api/index":
        text += toctree(contents["api"]["pages"])
    source[0] = text


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText: equations, symbols, examples without a heading, then NumPy's sections."""
    sections = [k - 1 for k, line in enumerate(lines) if RULE.match(line)]
    end = sections[0] if sections else len(lines)
    example = next((k for k in range(end, len(lines)) if lines[k].startswith(">>> ")), None)
    is_headed = any(lines[k].startswith("Examples") for k in sections)
    if example is not None and not is_headed:
        lines[example:example] = ["Examples", "--------"]
    indented = [k for k in range(2, end) if lines[k].startswith("    ") and not lines[k - 1]]
    for k in reversed([k for k in indented if not lines[k - 2].startswith("    ")]):
        lines[k:k] = ["::", ""]
    end = next((k - 1 for k, line in enumerate(lines) if RULE.match(line)), len(lines))
    is_example = False
    for k, line in enumerate(lines):
        is_example = line.startswith(">>> ") or (is_example and line != "")
        if not (is_example or (k < end and line.startswith("    "))):
            lines[k] = escaped(line)
    what = "method" if what in ("attribute", "data", "property") else what  # napoleon takes "a: b" there for a type
    lines[:] = NumpyDocstring(lines, Config(napoleon_use_rtype=False), app, what, name, thing, options).lines()


def escaped(line: str) -> str:
    """Return a line in which |a| and a_ outside backticks mean themselves."""
    parts = re.split(r"(`+[^`]*`+)", line)
    parts[::2] = [re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx."""
    app.add_lexer("output", TextLexer)
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", docstring)
