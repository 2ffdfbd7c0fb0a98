"""The message copies of a queue, with the memory that they take, by which senders are slowed down."""

from __future__ import annotations

from assay_broker.core.messages.entries import Entry

_OVERHEAD = 768
"""Octets of a copy besides its body: the copy, its message, its places in tables; 540 without ids (measured)."""
_PROPERTY = 96
"""Octets that each property of a copy takes (measured)."""


def weight(entry: Entry) -> int:
    """Return the memory of a copy in octets, approximately. Copies of one publication each count the shared body."""
    message = entry.message
    body = message.body if message.encoded is None else message.encoded
    return _OVERHEAD + _PROPERTY * len(message.properties) + len(body or b"")


class Copies(dict[int, Entry]):
    """Copies by key, added by `add` and removed by `discard` or `clear`.

    A copy's weight must not change while it is here, unless `weigh` is called.
    """

    octets = 0
    """The memory of all copies, approximately."""

    def add(self, entry: Entry) -> None:
        """Add a copy, unless it is here already."""
        key = entry.key
        if key not in self:
            entry.octets = octets = weight(entry)
            self.octets += octets
            self[key] = entry

    def weigh(self, entry: Entry) -> None:
        """Update the weight of a changed copy, if it is here."""
        if entry.key in self:
            self.octets -= entry.octets
            entry.octets = weight(entry)
            self.octets += entry.octets

    def discard(self, key: int) -> None:
        """Remove a copy, if it is here."""
        entry = self.pop(key, None)
        if entry is not None:
            self.octets -= entry.octets

    def clear(self) -> None:
        """Remove all copies."""
        super().clear()
        self.octets = 0
