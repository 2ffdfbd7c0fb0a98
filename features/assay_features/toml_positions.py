"""Finds the line of each table and key of a TOML text, and the line of a syntax error.

tomllib returns the values of a text without their lines, and names the line of an error only in the error's text.

The caller of `toml_positions` has parsed the text already, so the text is valid TOML.  It is therefore enough to
recognise strings, comments and the beginnings of statements.  A statement begins at the start of a line outside all
brackets.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<text>\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
    | (?P<comment>\#[^\n]*)
    | (?P<end>\n)
    | (?P<open>[\[{])
    | (?P<close>[\]}])
    | (?P<bare>[A-Za-z0-9_-]+)
    """,
    re.VERBOSE | re.DOTALL,
)


_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)$")


class TomlPosition(NamedTuple):
    """A position in a TOML text: a table in an array of tables, or a key of that table."""

    array: str
    """The name of the array of tables; empty for keys before the first header."""
    nth: int
    """The number of the table in its array, counted from 0."""
    key: str = ""
    """The key; empty for the table's header."""


class _Statement(NamedTuple):
    line: int
    header: bool
    """Whether the statement is the header of a table; False for a key with a value."""
    name: str
    """The name of the key or table; of a dotted name, only the first part."""


def line_of_error(problem: tomllib.TOMLDecodeError, text: str) -> int:
    """Return the line that the text of a TOML error names; if it names none, the last line of the TOML text.

    Args:
        problem: The error.
        text: The text that is no valid TOML.
    """
    match = _ERROR_LINE.search(str(problem))
    return int(match[1]) if match else max(1, len(text.splitlines()))


def toml_positions(text: str) -> Mapping[TomlPosition, int]:
    """Find the lines of headers and keys.

    Args:
        text: A valid TOML document.

    Returns:
        The line of each position's first occurrence, counted from 1.
    """
    found: dict[TomlPosition, int] = {}
    tables: dict[str, int] = {}
    array, nth = "", 0
    for statement in _statements(text):
        if statement.header:
            array = statement.name
            nth = tables.get(array, 0)
            tables[array] = nth + 1
        position = TomlPosition(array, nth, "" if statement.header else statement.name)
        found.setdefault(position, statement.line)
    return found


def _statements(text: str) -> Iterator[_Statement]:
    line, depth = 1, 0
    begun = header = named = False
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "end" and depth == 0:
            begun = header = named = False
        elif kind == "open":
            header = header or not begun
            begun = True
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind in ("bare", "text") and not named and (header or not begun):
            yield _Statement(line, header, token.group().strip("\"'"))
            begun = named = True
        line += token.group().count("\n")
