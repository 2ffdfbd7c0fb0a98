"""Checks of a message's contents before a send, so that the result does not depend on the driver or the broker.

| part | valid values |
|---|---|
| body, texts, names of properties | text without unpaired surrogates, which UTF-8 cannot encode |
| names of properties, in the JMS faces | identifiers that are no header field (Jakarta Messaging 3.1, 3.5.1) |
| values of properties | None, bool, int of 64 bits, float, text, bytes (Jakarta Messaging 3.1, 3.5.4) |
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as short

from assay_sdk.model.message import Message
from assay_sdk.model.names import RESERVED, first_invalid

_LEAST, _MOST = -(2**63), 2**63 - 1


class ContentError(ValueError):
    """The error for a message with invalid contents; the error's text names the invalid part."""


def check_contents(message: Message) -> None:
    """Check the contents of a message.

    Args:
        message: Message that the application sends.

    Raises:
        ContentError: A text or a property has an invalid type or value, or UTF-8 cannot encode a text.
    """
    _check_text("correlation_id", message.correlation_id)
    _check_text("jms_type", message.subject)
    _check_text("group_id", message.group_id)
    if isinstance(message.body, str):
        _check_text("the body", message.body)
    for name, value in message.properties.items():
        _check_property(name, value)


def check_names(names: Iterable[str]) -> None:
    """Check that a selector can refer to properties by their names.

    Args:
        names: Names that `check_contents` has accepted.

    Raises:
        ContentError: A name is not an identifier, is a reserved word, or is reserved for JMS's header.
    """
    for name in names:
        offset = first_invalid(name)
        if offset is not None:
            what = f"a name cannot {'have' if offset else 'begin with'} {name[offset]!r}"
            raise ContentError(f"the property {short(name)} has no valid name: {what}; use letters, digits, _ and $")
        if name.upper() in RESERVED:
            raise ContentError(f"the property {short(name)} has no valid name: the word is reserved in selectors")
        if name.startswith("JMS") and not name.startswith(("JMSX", "JMS_")):
            raise ContentError(f"the property {short(name)} has no valid name: JMS is reserved for the header")


def _check_property(name: object, value: object) -> None:
    if not isinstance(name, str) or not name:
        raise ContentError(f"the property {short(name)} has no name: a name is text that is not empty")
    _check_text("the name of a property", name)
    if isinstance(value, str):
        _check_text(f"the property {name}", value)
    elif isinstance(value, int) and not _LEAST <= value <= _MOST:
        raise ContentError(f"the property {name} is {short(value)}: an integer has 64 bits; give it as text")
    elif not (value is None or isinstance(value, bool | int | float | bytes)):
        kind = type(value).__name__
        raise ContentError(f"the property {name} is {short(value)}, of {kind}: give text, a number, bytes or a boolean")


def _check_text(what: str, text: object) -> None:
    if text is None:
        return
    if not isinstance(text, str):
        raise ContentError(f"{what} is {short(text)}: give text")
    if not text.isascii():  # ASCII needs no check, and a body may be long
        try:
            text.encode()
        except UnicodeEncodeError as error:
            where = f"has no character at {error.start} that UTF-8 can write ({text[error.start]!r})"
            raise ContentError(f"{what} {where}: leave it out, or give bytes") from error
