"""Filters that recognize the links and sizes of batch listeners, for defects of several features."""

from __future__ import annotations

from assay_adapters.ports.client import Script
from assay_sdk.driver import Arrived, Credit, DriverCommand, DriverEvent, Outcome, Settle
from assay_sdk.engine.settings import LISTENER_WINDOW
from assay_steps.defects.consumers import ConsumerFilter, ConsumerTwist, noting_batches
from assay_steps.defects.wire_filters import FilteredWire, WireFilter


def is_batch_window(credit: int) -> bool:
    """Return whether a grant of credit comes from a batch listener.

    A receive call grants a credit of 1, and a message listener grants `LISTENER_WINDOW`.  A batch listener for 50
    messages grants the same credit as a message listener, so the function does not recognize it.
    """
    return credit not in {1, LISTENER_WINDOW}


class OfBatches(WireFilter):
    """A filter that records the links of batch listeners, and can rewrite and acknowledge the messages on them."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.batches: set[int] = set()
        """The links of batch listeners."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Remember the links with the credit of a batch listener."""
        if isinstance(command, Credit) and is_batch_window(command.credit):
            self.batches.add(command.link)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Pass a message of a batch listener through `arrived`."""
        if not isinstance(event, Arrived) or event.link not in self.batches:
            return (event,)
        return self.arrived(event)

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        """Return the events that the engine gets in place of the arrival of a message for a batch listener."""
        return (event,)

    def accept(self, event: Arrived) -> None:
        """Acknowledge a message for the client."""
        self.line.wire.submit(Settle(self.line.own_token(), event.link, (event.delivery,), Outcome.ACCEPTED))


def noting_sizes(sizes: dict[str, int]) -> ConsumerTwist:
    """Make a wrapper for consumers that notes in `sizes` the batch size of each actor's listener."""

    def note(consumer: ConsumerFilter, _script: Script | None, size: int) -> None:
        sizes[consumer.actor] = size

    return noting_batches(note)
