"""Tolerated variants that are slow.

Their filters stand between the SDK's engine and its driver, so every backend with a defect's seams can have them.
"""

from __future__ import annotations

from functools import partial

from assay_sdk.driver import Arrived, Done, DriverEvent
from assay_steps.defects.wires import FilteredWire, WireFilter, wires
from assay_steps.variants.model import Variant

_SLOW_NS = 300_000_000


class _Late(WireFilter):
    """Hands every event to the engine `_SLOW_NS` after the driver has it, in the same order."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._runner = line.runner

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, self.delayed):
            return (event,)
        self._runner.call_at(self._runner.clock.monotonic_ns() + _SLOW_NS, partial(self.line.emit, event))
        return ()

    delayed: tuple[type[DriverEvent], ...] = ()


class _SlowAnswers(_Late):
    delayed = (Done,)


class _SlowDeliveries(_Late):
    delayed = (Arrived,)


PACE_VARIANTS = (
    Variant(
        name="answers-slowly",
        rules=("DD-19", "QS-05", "BT-08"),
        text="The broker's answer to each command reaches the client 0.3 s late.",
        allowed_by="No document gives a time in which a broker answers.",
        wire=wires(_SlowAnswers),
    ),
    Variant(
        name="delivers-slowly",
        rules=("DD-03", "PD-21", "QS-08", "BT-05"),
        text="Each message reaches the client 0.3 s after the broker has sent it.",
        allowed_by="No document gives a time in which a message reaches its receiver.",
        wire=wires(_SlowDeliveries),
    ),
)
