"""The transactions of a connection: units of work of the queue manager (STOMP 1.2, BEGIN, COMMIT, ABORT)."""

from __future__ import annotations

from collections.abc import Callable

from assay_broker.core.effects import Deliver
from assay_broker.stomp.faults import FaultError
from assay_broker.stomp.subscriptions import Subscription
from assay_sdk.model.reasons import Mqrc, Refused


class Transaction:
    """An open transaction.

    Args:
        name: The client's name for the transaction.
        unit: The number of the unit of work.
        most: The most frames that the transaction may have.
    """

    def __init__(self, name: str, unit: int, most: int) -> None:
        self.name = name
        self.unit = unit
        self.moves: list[tuple[Deliver, str]] = []
        """The messages that NACK moves to a backout queue at the commit, with the names of the queues."""
        self.refused: Refused | None = None
        """The first refusal of a frame without a receipt; the server then refuses the commit with this reason.

        Set only for a client with the extension `assay_sdk.stomp.extensions.OPEN_ERRORS`.
        """
        self._most = most
        self._frames = 0
        self._unanswered = 0
        self._then: Callable[[], None] | None = None
        self._settled: list[tuple[Subscription, str, Deliver]] = []
        """The messages that ACK or NACK have settled, with the names by which the client knows them."""

    def add(self) -> None:
        """Count a frame of the transaction.

        Raises:
            FaultError: The transaction has too many frames.
        """
        self._frames += 1
        if self._frames > self._most:
            raise FaultError(
                f"The transaction {self.name[:40]!r} has more than {self._most} frames: commit more often",
                Mqrc.SYNCPOINT_LIMIT_REACHED,
            )

    def asked(self) -> None:
        """Count a command that the queue manager has not answered yet."""
        self._unanswered += 1

    def answered(self) -> None:
        """Count an answer of the queue manager."""
        self._unanswered -= 1
        self._end()

    def settle(self, subscription: Subscription, key: str, delivery: Deliver) -> None:
        """Note a message that was settled in the transaction."""
        self._settled.append((subscription, key, delivery))

    def end(self, then: Callable[[], None]) -> None:
        """Call `then` once the queue manager has answered all commands of the transaction."""
        self._then = then
        self._end()

    def _end(self) -> None:
        if self._then is not None and not self._unanswered:
            then, self._then = self._then, None
            then()

    def committed(self) -> None:
        """Give the subscriptions room for further messages, because the transaction's messages are consumed."""
        for subscription, _, _ in self._settled:
            subscription.consumed(1)

    def backed_out(self) -> None:
        """Return the transaction's messages to their subscriptions as unsettled; the client can settle them again."""
        for subscription in {one: None for one, _, _ in self._settled}:
            subscription.take_back({key: delivery for owner, key, delivery in self._settled if owner is subscription})
