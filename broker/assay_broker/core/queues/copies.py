"""The message copies of a queue, and the memory that they take.

If the copies of all queues take more memory than a limit of the server, senders must wait.
"""

from __future__ import annotations

from assay_broker.core.messages.entries import Entry

_OVERHEAD = 768
"""The memory of a copy without its body and properties, in octets (measured; 540 for a message without ids)."""
_PROPERTY = 96
"""The memory of each property of a copy, in octets (measured)."""


def weight(entry: Entry) -> int:
    """Return the memory that a copy takes, in octets, approximately.

    Copies of one publication share its body, but the result counts the body for each copy.
    """
    message = entry.message
    body = message.body if message.encoded is None else message.encoded
    return _OVERHEAD + _PROPERTY * len(message.properties) + len(body or b"")


class Copies(dict[int, Entry]):
    """The message copies of a queue by key, and the amount of memory that they take.

    The caller adds copies with `add`, and removes them with `discard` or `clear`. After a change of a copy's message
    the caller calls `weigh`.
    """

    octets = 0
    """The memory of all copies, in octets, approximately."""

    def add(self, entry: Entry) -> None:
        """Add a copy, unless a copy with its key is present."""
        key = entry.key
        if key not in self:
            entry.octets = octets = weight(entry)
            self.octets += octets
            self[key] = entry

    def weigh(self, entry: Entry) -> None:
        """Update the memory of a copy whose message has changed, if the copy is present."""
        if entry.key in self:
            self.octets -= entry.octets
            entry.octets = weight(entry)
            self.octets += entry.octets

    def discard(self, key: int) -> None:
        """Remove the copy with this key, if it is present."""
        entry = self.pop(key, None)
        if entry is not None:
            self.octets -= entry.octets

    def clear(self) -> None:
        """Remove all copies."""
        super().clear()
        self.octets = 0
