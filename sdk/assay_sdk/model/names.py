"""Valid names of message properties: the identifiers of selectors (Jakarta Messaging 3.1, 3.5.1, 3.8.1.1)."""

from __future__ import annotations

import unicodedata

RESERVED = frozenset({"NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"})
"""Reserved words, which cannot be names in capital or small letters (Jakarta Messaging 3.1, 3.8.1.1)."""

_JAVA_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
"""Unicode categories of Character.isJavaIdentifierStart."""
_JAVA_PARTS = _JAVA_LETTERS | {"Nd", "Mc", "Mn", "Cf"}
"""Unicode categories of Character.isJavaIdentifierPart."""


def first_invalid(name: str) -> int | None:
    """Return the offset of the first character that is not valid at its place in a name; None if all are valid."""
    if name.isascii() and name.isidentifier():
        return None
    for offset, letter in enumerate(name):
        if unicodedata.category(letter) not in (_JAVA_PARTS if offset else _JAVA_LETTERS):
            return offset
    return None
