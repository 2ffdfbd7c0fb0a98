"""What stands on a queue, measured: how much memory messages take is what senders are slowed down by."""

from __future__ import annotations

from assay_broker.core.messages.entries import Entry

_OVERHEAD = 768
"""Octets that a copy takes besides its body: the copy itself, its message with its ids, its places in tables; of one
without ids it is 540 (measured)."""
_PROPERTY = 96
"""What each of its properties takes (measured)."""


def weight(entry: Entry) -> int:
    """About how many octets of memory a copy takes; copies of one publication share a body, and each counts it."""
    message = entry.message
    body = message.body if message.encoded is None else message.encoded
    return _OVERHEAD + _PROPERTY * len(message.properties) + len(body or b"")


class Copies(dict[int, Entry]):
    """Copies by their keys; they come by `add` and go by `discard` or `clear`.

    What a copy takes does not change while it stands here, unless `weigh` is told.
    """

    octets = 0
    """About how much memory they take."""

    def add(self, entry: Entry) -> None:
        """A copy comes; it may be here already."""
        key = entry.key
        if key not in self:
            entry.octets = octets = weight(entry)
            self.octets += octets
            self[key] = entry

    def weigh(self, entry: Entry) -> None:
        """A copy has changed; it need not be here."""
        if entry.key in self:
            self.octets -= entry.octets
            entry.octets = weight(entry)
            self.octets += entry.octets

    def discard(self, key: int) -> None:
        """A copy goes, if it is here."""
        entry = self.pop(key, None)
        if entry is not None:
            self.octets -= entry.octets

    def clear(self) -> None:
        """All go."""
        super().clear()
        self.octets = 0
