"""Bodies of a given size, for tests of queue limits and of the data in reports."""

from __future__ import annotations

_PADDING = "."


def sized(body: str, key: str, size: int | None) -> str:
    """Return a body cut or padded to a size; it still contains the kit's id.

    Args:
        body: The original body, with the kit's id.
        key: The kit's id.
        size: Octets of UTF-8; 0 for an empty body, None to leave it as it is.

    Raises:
        ValueError: The size is negative, too small for the kit's id, or would cut a character in two.
    """
    if size is None:
        return body
    if size == 0:
        return ""
    octets = body.encode()
    try:
        made = octets[: max(size, 0)].decode() + _PADDING * (size - len(octets))
    except UnicodeDecodeError as error:
        raise ValueError(f"A body of {size} bytes would cut a character of {body[:60]!r}; ask for another.") from error
    if key not in made:
        raise ValueError(f"A body of {size} bytes cannot hold the kit's id {key!r}; ask for more, or for an empty one.")
    return made
