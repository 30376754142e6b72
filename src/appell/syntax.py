"""Names inside text of other languages: the one place that knows what the syntax of each language allows.

Robots, links, joints, frames and files may have any name: names come from files of others and must neither become code
nor break a file. In strings they are read back unchanged; comments and documentation show them on one line, with
escapes for characters that are not printable. A name that a syntax cannot represent is an error.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from appell.errors import InputError, visible

UNFIT = re.compile(r"[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\$\{|\$\(")
"""What a name in an XML file of a robot cannot contain: control characters, and expressions of xacro."""
LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def identifier(text: str) -> str:
    """Return a name for C and Python: letters, digits and underscores, no digit first.

    >>> identifier("agile-wrist"), identifier("7dof arm"), identifier("é")
    ('agile_wrist', 'r7dof_arm', 'r')
    """
    name = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"r{name}"


def c_comment(text: str) -> str:
    r"""Return one line of a comment of C or C++, in ASCII.

    >>> c_comment("joint */ one ??/"), c_comment("Gelenk ä\n#error \\")
    ('joint * / one ? ?/', 'Gelenk &#228;&#10;#error &#92;')
    """
    ascii_only = "".join(c if " " <= c <= "~" and c != "\\" else f"&#{ord(c)};" for c in text)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", ascii_only)


def c_string(text: str) -> str:
    r"""Return a string literal of C or C++, in ASCII.

    >>> print(c_string('a"b\\ ä??/'))
    "a\"b\\ \303\244\?\?/"
    """
    if "\0" in text:
        raise InputError(f"strings of C cannot contain the zero byte of '{text}'; rename it")
    return f'"{"".join(map(_c_character, _scalars(text).encode()))}"'


def _c_character(byte: int) -> str:
    if chr(byte) in '"\\?':  # ? because of trigraphs
        return f"\\{chr(byte)}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def c_include(name: str) -> str:
    """Return the name of a header in quotes, for an #include.

    >>> c_include("arm.h")
    '"arm.h"'
    """
    decoded = re.sub("[\udc80-\udcff]", "", name)  # without the bytes of a name that is not UTF-8
    if not decoded.isprintable() or any(mark in name for mark in ('"', "\\", "??")):
        raise InputError(f"'{name}' cannot be included in C; give the file a name of letters, digits and underscores")
    return f'"{name}"'


def python_docstring(text: str) -> str:
    r"""Return one line between triple quotes of Python.

    >>> print(python_docstring('joint "" \\ one\n'))
    joint \"\" \\ one\\n
    """
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')


def quoted(text: str) -> str:
    r"""Return a string of TOML or YAML in double quotes.

    >>> print(quoted('a"b\\ ä\n'))
    "a\"b\\ ä\u000a"
    """
    return f'"{"".join(map(_quoted_character, _scalars(text)))}"'


def _quoted_character(c: str) -> str:
    if c in '"\\':
        return f"\\{c}"
    if c.isprintable():
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


def _scalars(text: str) -> str:
    """Return the text itself; halves of surrogate pairs, which UTF-8 cannot encode, are an error."""
    if re.search("[\ud800-\udfff]", text):
        raise InputError(f"the name '{text}' contains a lone surrogate, which is not a character; rename it")
    return text


def xml_text(text: str) -> str:
    r"""Return text or an attribute of XML, on one line.

    >>> xml_text("a < b\x0b")
    'a &lt; b\\x0b'
    """
    return html.escape(visible(text))


def html_text(text: str) -> str:
    """Return text or an attribute of HTML.

    >>> html_text("</script>")
    '&lt;/script&gt;'
    """
    return html.escape(text).encode("utf-8", "backslashreplace").decode()


def html_data(value: Any) -> str:
    r"""Return a value as JSON inside a script element of HTML.

    >>> html_data("</script>")
    '"\\u003c/script>"'
    """
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def plot_text(text: str) -> str:
    r"""Return text of a Matplotlib figure, on one line, in which a dollar sign begins no equation.

    >>> print(plot_text("$a$"))
    \$a\$
    """
    return visible(text).replace("$", r"\$")


def latex_name(text: str) -> str:
    r"""Return a name as text of LaTeX, on one line.

    >>> print(latex_name("50% \\input{x}_1"))
    50\% \textbackslash{}input\{x\}\_1
    """
    return visible(text).translate(LATEX)


def markdown_cell(text: str) -> str:
    r"""Return text of a cell of a Markdown table.

    >>> print(markdown_cell("a|b <c>"))
    a\|b &lt;c>
    """
    return visible(text).replace("|", "\\|").replace("<", "&lt;")


def markdown_code(text: str) -> str:
    """Return text as inline code of Markdown, on one line.

    >>> markdown_code("joint1"), markdown_code("a`b")
    ('`joint1`', '`` a`b ``')
    """
    shown = visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    is_plain = len(fence) == 1 and shown.strip() == shown != ""
    return f"`{shown}`" if is_plain else f"{fence} {shown} {fence}"
