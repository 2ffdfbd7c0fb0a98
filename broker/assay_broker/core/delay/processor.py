"""The delivery delay processor of one queue manager."""

from __future__ import annotations

from assay_broker.core.objects.model import Definition
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState, ProcessorTable
from assay_sdk.model.stepper import Stepper


def condition(staging_queue: Definition | None) -> ProcessorInput:
    """Return the condition of the staging queue as an input of the processor's state table.

    Args:
        staging_queue: The definition of the staging queue; None if the queue is not defined.
    """
    if staging_queue is None or staging_queue.says("GET", "DISABLED"):
        return ProcessorInput.UNAVAILABLE
    return ProcessorInput.PUT_DISABLED if staging_queue.says("PUT", "DISABLED") else ProcessorInput.AVAILABLE


class Processor(Stepper[ProcessorState, ProcessorInput, ProcessorAction]):
    """The state of the delivery delay processor.

    Args:
        table: The state table of the queue manager's platform.
    """

    def __init__(self, table: ProcessorTable) -> None:
        super().__init__(table, ProcessorState.DOWN)
        self.restart_ms: int | None = None
        """The time of the failed processor's restart, in milliseconds since the epoch; None if none is planned."""

    @property
    def watching(self) -> bool:
        """Whether the processor releases due messages."""
        return self.state is ProcessorState.WATCHING

    def step(self, happened: ProcessorInput) -> ProcessorAction:
        """Go to the next state, and cancel the restart unless the next state is `FAILED`.

        Raises:
            ImpossibleError: The table has no row for the state and the input; this is an error in the core.
        """
        action = super().step(happened)
        if self.state is not ProcessorState.FAILED:
            self.restart_ms = None
        return action
