"""Checks of the values of attributes, for MQSC and the `Admin` port."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from assay_broker.core.objects.attributes import Attribute, Choice, Flag, Name, Number, Text
from assay_broker.core.objects.model import Value
from assay_broker.core.objects.names import name_fault, shortened

_NUMERAL = re.compile(r"-?[0-9]{1,18}")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class ValueFaultError(ValueError):
    """The error for a value that is not valid for its attribute; its text is a sentence for the administrator."""


class OutOfRangeError(ValueFaultError):
    """The error for a number below the lowest or above the highest valid value."""


class TooLongError(ValueFaultError):
    """The error for a text or a name that is too long."""


def accepted(row: Attribute, value: Value) -> Value:
    """Return a given value in the form of definitions: a number, a word in upper case, or a text.

    Args:
        row: The attribute.
        value: The given value. A number may be given as digits, and a blank text becomes the empty text.

    Raises:
        ValueFaultError: The value is not valid for the attribute.
    """
    return _ACCEPT[type(row.values)](row.keyword, row.values, value)


def shown(row: Attribute, value: Value) -> str:
    """Return a value as DISPLAY shows it: a special number such as -1 as its word, a blank value as an empty text."""
    if isinstance(row.values, Number):
        words = {number: word for word, number in row.values.words.items()}
        return words.get(int(value), str(value))
    return str(value)


def words_of(row: Attribute) -> tuple[str, ...]:
    """Return the words that an attribute can have as its value; empty for an attribute without such words."""
    if isinstance(row.values, Choice):
        return row.values.words
    if isinstance(row.values, Number):
        return tuple(row.values.words)
    return ("YES", "NO") if isinstance(row.values, Flag) else ()


def expected(row: Attribute) -> str:
    """Return a text that lists the valid values of an attribute, for use in a sentence."""
    values = row.values
    if isinstance(values, Number):
        return " or ".join((f"a whole number from {values.lowest} to {values.highest}", *values.words))
    if isinstance(values, Text):
        return f"a text of at most {values.longest} bytes"
    if isinstance(values, Name):
        return f"a name of at most {values.longest} characters, or ' '"
    *most, last = words_of(row)
    return f"{', '.join(most)} or {last}" if most else last


def _choice(keyword: str, values: Choice | Flag, value: Value) -> Value:
    words = values.words if isinstance(values, Choice) else ("YES", "NO")
    word = str(value).upper()
    if word not in words:
        raise ValueFaultError(f"{keyword} is {' or '.join(words)}, not {shortened(str(value))}.")
    return word


def _number(keyword: str, values: Number, value: Value) -> Value:
    if isinstance(value, str):
        word = value.upper()
        if word in values.words:
            return values.words[word]
        if _NUMERAL.fullmatch(value) is None:
            allowed = " or ".join(("a whole number", *values.words))
            raise ValueFaultError(f"{keyword} is {allowed}, not {shortened(value)}.")
        value = int(value)
    elif value in values.words.values():  # the number that a definition has in place of the word
        return value
    if not values.lowest <= value <= values.highest:
        raise OutOfRangeError(f"{keyword} is {values.lowest} to {values.highest}, not {value}.")
    return value


def _text(keyword: str, values: Text, value: Value) -> Value:
    text = str(value)
    if _UNPRINTABLE.search(text) is not None:
        raise ValueFaultError(f"{keyword} contains a control character, which is not allowed.")
    size = len(text.encode())
    if size > values.longest:
        raise TooLongError(f"{keyword} has {size} bytes; at most {values.longest} are allowed.")
    return text if text.strip(" ") else ""


def _name(keyword: str, values: Name, value: Value) -> Value:
    name = str(value).strip(" ")
    if not name:
        return ""
    fault = name_fault(name, values.longest)
    if fault is not None:
        kind = TooLongError if len(name) > values.longest else ValueFaultError
        raise kind(f"The name {shortened(name)} in {keyword} {fault}.")
    return name


_ACCEPT: dict[type, Callable[[str, Any, Value], Value]] = {
    Choice: _choice,
    Flag: _choice,
    Number: _number,
    Text: _text,
    Name: _name,
}
