"""The delivery delay processor of one queue manager."""

from __future__ import annotations

from assay_broker.core.objects.model import Definition
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState, ProcessorTable
from assay_sdk.model.stepper import Stepper


def condition(staging_queue: Definition | None) -> ProcessorInput:
    """In what condition the processor finds its queue.

    Args:
        staging_queue: As it is defined; None for not at all.
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
        """When it starts again by itself, in milliseconds since the epoch."""

    @property
    def watching(self) -> bool:
        """Whether it moves what is due."""
        return self.state is ProcessorState.WATCHING

    def step(self, happened: ProcessorInput) -> ProcessorAction:
        """Go to the next state; only a failed processor starts again by itself.

        Raises:
            ImpossibleError: The table has no such row: a fault of the core, not of a client.
        """
        action = super().step(happened)
        if self.state is not ProcessorState.FAILED:
            self.restart_ms = None
        return action
