"""The headers of a frame as text: lines, escapes and repeated names (STOMP 1.2, Value Encoding)."""

from __future__ import annotations

import re

from assay_sdk.stomp.errors import LocalError, RemoteError
from assay_sdk.stomp.frames import UNESCAPED
from assay_sdk.stomp.versions import Version

_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_SHOWN = 40
_RECEIPT = re.compile(rb"\nreceipt:([^\n\r]{1,256})")


def receipt_in(head: bytes) -> str | None:
    """Return the receipt that a faulty head asks for; None if the head has no readable header `receipt`."""
    found = _RECEIPT.search(head)
    return found[1].decode(errors="replace") if found else None


def parse_lines(command: str, lines: list[str], version: Version | None) -> dict[str, str]:
    """Parse the header lines of a frame, by the rules of a version.

    Args:
        command: The frame's command; the headers of CONNECT and CONNECTED are never escaped.
        lines: The lines without their ends.
        version: The version; None before its negotiation.

    Raises:
        RemoteError: A line has no colon or no name, or an escape is not valid.
    """
    escapes = None if version is None or command in UNESCAPED else version.escapes
    trims = version is not None and version.trims
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if trims:
            name, value = name.strip(" \t"), value.strip(" \t")
        if not colon:
            raise RemoteError(f"{command} has the header line {line[:_SHOWN]!r} without a colon")
        if not name:
            raise RemoteError(f"{command} has the header line {line[:_SHOWN]!r} without a name")
        if escapes and "\\" in line:
            name, value = unescape(name, escapes), unescape(value, escapes)
        headers.setdefault(name, value)
    if version is None and "accept-version" not in headers and "version" not in headers:
        return {name.strip(" \t"): value.strip(" \t") for name, value in headers.items()}  # a STOMP 1.0 peer
    return headers


def unescape(text: str, escapes: dict[str, str]) -> str:
    r"""Replace the escapes in a name or value, in one pass, so that ``\\n`` is a backslash and an n.

    Args:
        text: The name or value.
        escapes: The escapes of the version (`Version.escapes`).

    Raises:
        RemoteError: An escape is not defined, which is a fatal error (STOMP 1.2, Value Encoding).
    """

    def replaced(found: re.Match[str]) -> str:
        meaning = escapes.get(found[1])
        if meaning is None:
            known = ", ".join(f"\\{letter}" for letter in escapes)
            shown = "\\" + repr(found[1])[1:-1]  # repr of the whole escape would double its backslash
            raise RemoteError(f"A header has the undefined escape '{shown}': the defined escapes are {known}")
        return meaning

    return _ESCAPE.sub(replaced, text) if "\\" in text else text


def escape(text: str, version: Version) -> str:
    r"""Escape a name or value by the rules of version 1.1 or 1.2; the backslash first, because escapes contain it."""
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if "\n" in text:
        text = text.replace("\n", "\\n")
    if ":" in text:
        text = text.replace(":", "\\c")
    if version.returns and "\r" in text:
        text = text.replace("\r", "\\r")
    return text


def plain_line(command: str, name: str, value: str, version: Version | None) -> str:
    """Return a header line without escapes, for STOMP 1.0 and for the frames CONNECT and CONNECTED.

    Raises:
        LocalError: The header needs an escape.
    """
    returns = version is None or version.returns
    if ":" in name or "\n" in name or "\n" in value or (returns and ("\r" in name or "\r" in value)):
        raise LocalError(f"{command} cannot have the header {name[:_SHOWN]!r}: it would need an escape")
    return f"{name}:{value}"
