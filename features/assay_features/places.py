"""Where each table and key of a TOML text stands, which tomllib does not say.

The text is known to be valid TOML when it comes here. So it is enough to tell strings and comments from the rest, and
to know where a statement begins: at the start of a line outside every bracket.
"""

import re
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


class Place(NamedTuple):
    """The nth table of an array of tables, or one key of it."""

    array: str
    """Name of the array, "" for keys in front of every header."""
    nth: int
    """Counted from 0."""
    key: str = ""
    """The key, "" for the header."""


class _Statement(NamedTuple):
    line: int
    header: bool
    """Whether it opens with a bracket: a table, or a table of an array."""
    name: str
    """The first part of the name of a key or table."""


def places(text: str) -> Mapping[Place, int]:
    """Find the lines of headers and keys.

    Args:
        text: A valid TOML document.

    Returns:
        For each place the line it first stands on, counted from 1.
    """
    found: dict[Place, int] = {}
    tables: dict[str, int] = {}
    array, nth = "", 0
    for statement in _statements(text):
        if statement.header:
            array = statement.name
            nth = tables.get(array, 0)
            tables[array] = nth + 1
        place = Place(array, nth, "" if statement.header else statement.name)
        found.setdefault(place, statement.line)
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
