"""The size, octets and kind of message bodies."""

from __future__ import annotations

from typing import overload

_PADDING = b"."


@overload
def sized(body: str, key: str, size: int | None) -> str: ...
@overload
def sized(body: str | bytes, key: str, size: int | None) -> str | bytes: ...
def sized(body: str | bytes, key: str, size: int | None) -> str | bytes:
    """Return a body cut or padded to a size; unless the size is 0, it still contains the kit's id.

    Args:
        body: The original body, with the kit's id.
        key: The kit's id.
        size: The size in octets (for a text, of its UTF-8); 0 for an empty body, None to leave the body unchanged.

    Raises:
        ValueError: The size is negative, too small for the kit's id, or would cut a character in two.
    """
    if size is None:
        return body
    if size == 0:
        return body[:0]
    octets = octets_of(body)
    made = octets[: max(size, 0)].ljust(size, _PADDING)
    if key.encode() not in made:
        raise ValueError(f"A body of {size} bytes cannot hold the kit's id {key!r}; ask for more, or for an empty one.")
    if isinstance(body, bytes):
        return made
    try:
        return made.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"A body of {size} bytes would cut a character of {body[:60]!r}; ask for another.") from error


def octets_of(body: str | bytes) -> bytes:
    """Return a body's octets (the UTF-8 of a text); the journal records their digest."""
    return body.encode() if isinstance(body, str) else body


def kind_of(body: str | bytes | None) -> str:
    """Return the kind of a body as the journal names it: text, bytes or none."""
    return "none" if body is None else "bytes" if isinstance(body, bytes) else "text"
