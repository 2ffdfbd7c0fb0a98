"""Defects of the client with unacknowledged messages whose receiver has been closed (BT-11, BT-12)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from assay_adapters.ports.client import Client
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import CloseLink, Drain, Driver, DriverCommand, Outcome, Settle
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter
from assay_steps.defects.model import in_both
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires


class _OfClosedReceivers:
    """A defect that alters the outcomes of messages whose receiver has been closed.

    The filter at the port notes the close; the filter on the wire alters the outcomes.

    Args:
        instead: For each outcome of the client that changes, the outcome that the broker gets in its place.
    """

    def __init__(self, instead: Mapping[Outcome, Outcome]) -> None:
        self._instead = instead
        self._closing: list[str] = []

    def port(self, client: Client) -> Client:
        """Note the close of each receiver."""
        closing = self._closing

        class NotesClose(ConsumerFilter):
            def close(self) -> Answer[None]:
                closing.append(self.actor)
                try:
                    return super().close()
                finally:
                    closing.clear()

        return ConsumingClientFilter(client, NotesClose)

    def wire(self, driver: Driver) -> Driver:
        """Alter the outcomes on each wire."""
        closing, instead = self._closing, self._instead

        class Alters(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._closed: set[int] = set()

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if isinstance(command, Drain) and closing:
                    self._closed.add(command.link)
                if not isinstance(command, Settle) or command.link not in self._closed:
                    return (command,)
                return (replace(command, outcome=instead.get(command.outcome, command.outcome)),)

        return wires(Alters)(driver)


class _DetachedAtOnce(_OfClosedReceivers):
    """A defect by which a closed receiver's link is detached before a call acknowledges the receiver's messages."""

    def wire(self, driver: Driver) -> Driver:
        """Detach the links of closed receivers on each wire."""
        closing = self._closing

        class Detaches(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._closed: set[int] = set()

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if isinstance(command, Drain) and closing:
                    self._closed.add(command.link)
                if not isinstance(command, Settle) or command.outcome is not Outcome.ACCEPTED:
                    return (command,)
                if command.link not in self._closed:
                    return (command,)
                self._closed.discard(command.link)
                return (CloseLink(self.line.own_token(), command.link), command)

        return wires(Detaches)(driver)


BATCH_ACKNOWLEDGEMENT_CLOSED_RECEIVERS_DEFECTS = (
    in_both(
        _OfClosedReceivers(dict.fromkeys(Outcome, Outcome.RELEASED)),
        "call-leaves-closed-receivers-out",
        "BT-11",
        text="A call of acknowledge does not acknowledge messages of receivers that have been closed.",
    ),
    in_both(
        _DetachedAtOnce({}),
        "call-refused-after-a-close",
        "BT-11",
        text="A call of acknowledge is refused if the receiver has been closed, and the messages come again.",
    ),
    in_both(
        _OfClosedReceivers({Outcome.MODIFIED: Outcome.ACCEPTED}),
        "rollback-forgets-closed-receivers",
        "BT-12",
        text="A rollback does not bring back messages of receivers that have been closed.",
    ),
)
