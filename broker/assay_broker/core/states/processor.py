"""The state tables of the delivery delay processor, one for each platform.

On distributed platforms the processor starts with the queue manager and restarts by itself after a failure (DD-60,
DD-65). On z/OS:

- The processor stops when the staging queue becomes unavailable (DD-61), and starts when it becomes available (DD-62).
- PUT(DISABLED) on the staging queue stops the processor (DD-64).
- After any other failure the processor waits until an administrator disables and enables PUT (DD-63), or until the
  staging queue becomes unavailable and available again.

Each combination of state and input that can occur has a row; a missing row is an error in the core. `docs/processor.md`
draws both tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from assay_broker.core.settings import Platform


class ProcessorState(Enum):
    """The states of the processor."""

    DOWN = auto()
    """The queue manager has not started the processor."""
    WATCHING = auto()
    """The processor releases every message whose delay is over."""
    STOPPED = auto()
    """An administrator has stopped the processor by PUT(DISABLED)."""
    CLOSED = auto()
    """The staging queue does not exist, or is disabled for gets."""
    FAILED = auto()
    """The processor has failed for another reason than the state of the staging queue."""


class ProcessorInput(Enum):
    """The events of the processor: conditions of the staging queue, a failure, and a restart."""

    AVAILABLE = auto()
    PUT_DISABLED = auto()
    UNAVAILABLE = auto()
    FAILURE = auto()
    RESTART = auto()


class ProcessorAction(Enum):
    """The processor's reactions to its events."""

    OPEN = auto()
    """Open the staging queue and release the messages whose delay is over."""
    STAY = auto()
    """Change nothing."""
    REST = auto()
    """Leave due messages on the staging queue."""
    RESTART_LATER = auto()
    """Restart without an administrator after `Settings.retry_ms`."""


ProcessorTable = Mapping[tuple[ProcessorState, ProcessorInput], tuple[ProcessorState, ProcessorAction]]

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction

DISTRIBUTED: ProcessorTable = MappingProxyType(
    {
        (_S.DOWN, _I.AVAILABLE): (_S.WATCHING, _A.OPEN),
        (_S.DOWN, _I.PUT_DISABLED): (_S.WATCHING, _A.OPEN),
        (_S.DOWN, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.WATCHING, _I.AVAILABLE): (_S.WATCHING, _A.STAY),
        (_S.WATCHING, _I.PUT_DISABLED): (_S.WATCHING, _A.STAY),
        (_S.WATCHING, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.WATCHING, _I.FAILURE): (_S.FAILED, _A.RESTART_LATER),
        (_S.CLOSED, _I.AVAILABLE): (_S.WATCHING, _A.OPEN),
        (_S.CLOSED, _I.PUT_DISABLED): (_S.WATCHING, _A.OPEN),
        (_S.CLOSED, _I.UNAVAILABLE): (_S.CLOSED, _A.STAY),
        (_S.CLOSED, _I.FAILURE): (_S.CLOSED, _A.STAY),
        (_S.FAILED, _I.AVAILABLE): (_S.FAILED, _A.STAY),
        (_S.FAILED, _I.PUT_DISABLED): (_S.FAILED, _A.STAY),
        (_S.FAILED, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.FAILED, _I.FAILURE): (_S.FAILED, _A.STAY),
        (_S.FAILED, _I.RESTART): (_S.WATCHING, _A.OPEN),
    }
)

ZOS: ProcessorTable = MappingProxyType(
    {
        (_S.DOWN, _I.AVAILABLE): (_S.WATCHING, _A.OPEN),
        (_S.DOWN, _I.PUT_DISABLED): (_S.STOPPED, _A.REST),
        (_S.DOWN, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.WATCHING, _I.AVAILABLE): (_S.WATCHING, _A.STAY),
        (_S.WATCHING, _I.PUT_DISABLED): (_S.STOPPED, _A.REST),
        (_S.WATCHING, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.WATCHING, _I.FAILURE): (_S.FAILED, _A.REST),
        (_S.STOPPED, _I.AVAILABLE): (_S.WATCHING, _A.OPEN),
        (_S.STOPPED, _I.PUT_DISABLED): (_S.STOPPED, _A.STAY),
        (_S.STOPPED, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.STOPPED, _I.FAILURE): (_S.STOPPED, _A.STAY),
        (_S.CLOSED, _I.AVAILABLE): (_S.WATCHING, _A.OPEN),
        (_S.CLOSED, _I.PUT_DISABLED): (_S.STOPPED, _A.REST),
        (_S.CLOSED, _I.UNAVAILABLE): (_S.CLOSED, _A.STAY),
        (_S.CLOSED, _I.FAILURE): (_S.CLOSED, _A.STAY),
        (_S.FAILED, _I.AVAILABLE): (_S.FAILED, _A.STAY),
        (_S.FAILED, _I.PUT_DISABLED): (_S.STOPPED, _A.REST),
        (_S.FAILED, _I.UNAVAILABLE): (_S.CLOSED, _A.REST),
        (_S.FAILED, _I.FAILURE): (_S.FAILED, _A.STAY),
    }
)

PROCESSOR: Mapping[Platform, ProcessorTable] = MappingProxyType({"distributed": DISTRIBUTED, "zos": ZOS})
