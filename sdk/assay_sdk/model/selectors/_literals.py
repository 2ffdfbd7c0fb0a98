"""Numeric and string literals of selectors; numeric literals are written as in Java (Jakarta Messaging 3.1, 3.8.1.1).

The Java Language Specification defines this form in 3.10.1 and 3.10.2.  Integer literals are longs, with or without
the suffix ``L``, because Jakarta Messaging speaks of "the range of long".
"""

from __future__ import annotations

import math
import re
import struct

LONG_MIN = -(2**63)
LONG_MAX = 2**63 - 1
_LONG_SPAN = 2**64

_STRAY_UNDERSCORE = {
    False: re.compile(r"(?<![0-9_])_|_(?![0-9_])"),
    True: re.compile(r"(?<![0-9a-fA-F_])_|_(?![0-9a-fA-F_])"),
}
"""The pattern of misplaced underscores in hexadecimal literals (key True) and in all other literals (key False)."""
_ZERO = re.compile(r"[0._]*(?:[eEpP].*|[fFdD])?\Z")
_RADIX = {"0x": 16, "0b": 2}


class LiteralError(ValueError):
    """The error for a number that Java refuses; the error's text names the fault, as a clause."""


def number(text: str, *, negative: bool = False) -> int | float:
    """Return the value of a numeric literal.

    Args:
        text: The literal, without a sign.
        negative: Whether a minus directly precedes the literal.  The result is then the negated value, and a decimal
            integer may be `LONG_MIN`.

    Returns:
        An int within the range of a long, or a float.

    Raises:
        LiteralError: A digit does not exist in the radix or is missing, an underscore is misplaced, or the value is out
            of range.
    """
    prefix = text[:2].lower()
    if _STRAY_UNDERSCORE[prefix == "0x"].search(text[2:] if prefix in _RADIX else text):
        raise LiteralError(f"the number {text} has an underscore that is not between two digits")
    plain = text.replace("_", "")
    if prefix == "0x" and "p" in plain.lower():
        value: int | float = _hexadecimal_float(plain)
    elif prefix in _RADIX:
        return _radix(text, plain[2:].rstrip("lL"), _RADIX[prefix], negative=negative)
    elif plain.isdigit() or plain[-1] in "lL":
        return _exact(text, plain.rstrip("lL"), negative=negative)
    else:
        value = _decimal_float(plain)
    return -value if negative else value


def _exact(text: str, digits: str, *, negative: bool) -> int:
    if len(digits) > 1 and digits[0] == "0":
        return _radix(text, digits[1:], 8, negative=negative)
    # A long has at most 19 digits.  The digits are counted first, because int() is slow for thousands of digits.
    if len(digits) > 19 or int(digits) > LONG_MAX + negative:  # noqa: PLR2004 - explained in the line above
        raise LiteralError(f"the number {text} is beyond the range of a 64-bit integer")
    return -int(digits) if negative else int(digits)


def _radix(text: str, digits: str, radix: int, *, negative: bool) -> int:
    """Return a hexadecimal, octal or binary literal as the bits of a long: 0xFFFFFFFFFFFFFFFF is -1 (JLS 3.10.1)."""
    try:
        bits = int(digits, radix)
    except ValueError:
        raise LiteralError(f"the number {text} has a digit that base {radix} does not have") from None
    if bits >= _LONG_SPAN:
        raise LiteralError(f"the number {text} is beyond the range of a 64-bit integer")
    return wrapped(-wrapped(bits) if negative else bits)


def _decimal_float(text: str) -> float:
    digits = text.rstrip("fFdD")
    return _finite(text, float(digits))


def _hexadecimal_float(text: str) -> float:
    digits = text[:-1] if text[-1] in "fFdD" else text
    try:
        value = float.fromhex(digits)
    except OverflowError:
        value = math.inf
    except ValueError:
        raise LiteralError(f"the number {text} has no hexadecimal digit before its exponent") from None
    return _finite(text, value)


def _finite(text: str, value: float) -> float:
    """Return the value of a floating-point literal; round it to single precision for the suffix ``f``.

    Raises:
        LiteralError: The value rounds to infinity, or the value is not zero but rounds to zero; Java refuses both.
    """
    if text[-1] in "fF":
        try:
            value = float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            value = math.inf
    if math.isinf(value):
        raise LiteralError(f"the number {text} is too large for a floating-point number")
    if value == 0 and not _ZERO.match(text.lower().removeprefix("0x")):
        raise LiteralError(f"the number {text} is too small for a floating-point number")
    return value


def wrapped(value: int) -> int:
    """Return an integer as a Java long after overflow: modulo 2**64, from `LONG_MIN` to `LONG_MAX`."""
    if LONG_MIN <= value <= LONG_MAX:
        return value
    return (value + 2**63) % _LONG_SPAN - 2**63


def string(token: str) -> str:
    """Return the text of a string literal, without the outer quotes; two quotes within it stand for one quote."""
    return token[1:-1].replace("''", "'")
