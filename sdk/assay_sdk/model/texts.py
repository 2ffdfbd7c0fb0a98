"""Valid names of destinations, clients and subscriptions, and valid selectors.

| text | valid |
|---|---|
| name | no control characters, no unpaired surrogates, at most `LONGEST_NAME` bytes of UTF-8 |
| selector | no unpaired surrogates, at most `LONGEST_SELECTOR` bytes of UTF-8 |

Every driver sends valid texts unchanged.  The rules have two reasons:

- An AMQP client sends these texts in one attach frame, and a broker closes the connection if a frame is longer than
  the broker accepts.  With these limits an attach frame stays below the 64 KiB that `assay broker` accepts; another
  broker may have lower limits.
- An AMQP library that uses C strings would cut a name at a NUL character.
"""

from __future__ import annotations

import unicodedata
from reprlib import repr as short

LONGEST_NAME = 10_240
"""Longest name, in bytes of UTF-8; a topic string in IBM MQ has the same limit."""

LONGEST_SELECTOR = 10_240
"""Longest selector, in bytes of UTF-8; IBM MQ has the same limit."""

_SHOWN = 60
_SURROGATE = "Cs"
_UNFIT = frozenset({"Cc", _SURROGATE})
"""Unicode categories of the characters that a name cannot contain: control characters and unpaired surrogates."""


class TextError(ValueError):
    """The error for an invalid name or selector; the error's text names the fault."""


def shown(text: str) -> str:
    """Return the beginning of a text in quotation marks, for an error."""
    return repr(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")


def name_flaw(name: str) -> str | None:
    """Return the fault of a name that is not empty, as a clause; None if the name is valid."""
    return _flaw(name, _UNFIT, LONGEST_NAME)


def check_name(name: object, what: str) -> None:
    """Check a name that an application has passed.

    Args:
        name: The name.
        what: Words for the name, which begin the text of the error, such as ``client_id``.

    Raises:
        TextError: The name is not text, is empty or too long, or has an invalid character.
    """
    if not isinstance(name, str):
        raise TextError(f"{what} is {short(name)}: give text")
    if not name:
        raise TextError(f"{what} is empty: give at least one character")
    flaw = name_flaw(name)
    if flaw is not None:
        raise TextError(f"{what} {shown(name)} is not valid: {flaw}")


def check_selector_text(selector: str) -> None:
    """Check the characters and the length of a selector, but not its syntax.

    Raises:
        TextError: The selector has an unpaired surrogate, or is too long.
    """
    flaw = _flaw(selector, frozenset({_SURROGATE}), LONGEST_SELECTOR)
    if flaw is not None:
        raise TextError(f"the selector {shown(selector)} is not valid: {flaw}")


def _flaw(text: str, unfit: frozenset[str], longest: int) -> str | None:
    if not (text.isascii() and text.isprintable()):
        for position, letter in enumerate(text):
            if unicodedata.category(letter) in unfit:
                return f"character {position + 1} is U+{ord(letter):04X}; leave it out"
    size = len(text.encode())
    return f"it has {size} bytes of UTF-8, and {longest} are allowed" if size > longest else None
