"""Tolerated variants of the client: the moment at which it checks an application's settings."""

from __future__ import annotations

from datetime import timedelta

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.variants.model import Variant


class _AtSend(ProducerFilter):
    """A producer that accepts a time to live below the delay, and refuses each send instead."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._refusals: dict[Setting, Refused] = {}

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        self._refusals.pop(setting, None)
        if not isinstance(answer, Refused) or answer.mqrc != Mqrc.EXPIRY_ERROR:
            return answer
        self._refusals[setting] = answer
        return Ok(None)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        for refusal in self._refusals.values():
            return refusal
        return asked.through(self.behind)


CHECK_VARIANTS = (
    Variant(
        name="spans-checked-at-send",
        rules=("DD-12", "DD-13", "DD-18"),
        text="The client refuses a time to live below the delay at each send, not when the application sets it.",
        allowed_by="DELAY:15 allows the check at one of the setters or at the send, depending on the operations.",
        parts=("client",),
        port=twisted(_AtSend),
    ),
)
