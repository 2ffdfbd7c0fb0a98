"""The delivery delay processor of one queue manager."""

from __future__ import annotations

from assay_broker.core.objects.model import Definition
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState, ProcessorTable
from assay_sdk.model.stepper import Stepper


def condition(staging_queue: Definition | None) -> ProcessorInput:
    """Return the processor's input for the condition of the staging queue.

    Args:
        staging_queue: Its definition; None if it is not defined.
    """
    if staging_queue is None or staging_queue.says("GET", "DISABLED"):
        return ProcessorInput.UNAVAILABLE
    return ProcessorInput.PUT_DISABLED if staging_queue.says("PUT", "DISABLED") else ProcessorInput.AVAILABLE


class Processor(Stepper[ProcessorState, ProcessorInput, ProcessorAction]):
    """The state of the processor.

    Args:
        table: The transitions of its platform.
    """

    def __init__(self, table: ProcessorTable) -> None:
        super().__init__(table, ProcessorState.DOWN)
        self.restart_ms: int | None = None
        """When it restarts by itself, in milliseconds since the epoch; None if it does not."""

    @property
    def watching(self) -> bool:
        """Whether it releases due messages."""
        return self.state is ProcessorState.WATCHING

    def step(self, happened: ProcessorInput) -> ProcessorAction:
        """Go to the next state. Only a failed processor keeps its restart time.

        Raises:
            ImpossibleError: The table has no such row: a fault of the core, not of a client.
        """
        action = super().step(happened)
        if self.state is not ProcessorState.FAILED:
            self.restart_ms = None
        return action
