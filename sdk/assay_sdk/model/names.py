"""Valid names of message properties, which are the valid identifiers in selectors.

Source: Jakarta Messaging 3.1, 3.5.1 and 3.8.1.1.
"""

from __future__ import annotations

import unicodedata

RESERVED = frozenset({"NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE"})
"""Reserved words: none of them, in capital or small letters, is a valid name (Jakarta Messaging 3.1, 3.8.1.1)."""

_JAVA_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
"""Unicode categories of Character.isJavaIdentifierStart."""
_JAVA_PARTS = _JAVA_LETTERS | {"Nd", "Mc", "Mn", "Cf"}
"""Unicode categories of Character.isJavaIdentifierPart, without the control characters that Java ignores in names."""


def first_invalid(name: str) -> int | None:
    """Return the offset of the first invalid character of a name; None if all are valid.

    A name cannot begin with some characters that are valid later, such as digits.
    """
    if name.isascii() and name.isidentifier():
        return None
    for offset, letter in enumerate(name):
        if unicodedata.category(letter) not in (_JAVA_PARTS if offset else _JAVA_LETTERS):
            return offset
    return None
