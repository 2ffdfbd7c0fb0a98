"""Defects of a producer after a refusal, and in the refusal's exception (DD-15, DD-18)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from msgspec.structs import replace

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Outcome, Refused
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.defects.producers import Member, RemembersSpans, in_face, together

T = TypeVar("T")


def _is_expiry(outcome: Outcome[T]) -> bool:
    return isinstance(outcome, Refused) and outcome.mqrc == Mqrc.EXPIRY_ERROR


class _BrokenByRefusal(ProducerFilter):
    """After a producer has refused a setting or a send, it refuses every further send."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._refusal: Refused | None = None

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if isinstance(answer, Refused):
            self._refusal = answer
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if self._refusal is not None:
            return self._refusal
        answer = asked.through(self.behind)
        if isinstance(answer, Refused):
            self._refusal = answer
        return answer


class _ResetByRefusal(ProducerFilter):
    """When a producer refuses a delay or time to live, it sets this value to 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if _is_expiry(answer):
            self.behind.set(setting, 0)
        return answer


def _retold(told: Callable[[Refused], Refused]) -> type[ProducerFilter]:
    """Make a producer class that alters refusals with reason 2013 (MQRC_EXPIRY_ERROR)."""

    class Retold(ProducerFilter):
        def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
            answer = self.behind.set(setting, value)
            return told(answer) if isinstance(answer, Refused) and _is_expiry(answer) else answer

        def sending(self, asked: Sending) -> Outcome[Sent]:
            answer = asked.through(self.behind)
            return told(answer) if isinstance(answer, Refused) and _is_expiry(answer) else answer

    return Retold


def _checked(refusal: Refused) -> Refused:
    return replace(refusal, checked=True)


def _unchecked(refusal: Refused) -> Refused:
    return replace(refusal, checked=False)


def _terse(refusal: Refused) -> Refused:
    return replace(refusal, text=Mqrc.EXPIRY_ERROR.label)


class _TerseOptions(ProducerFilter):
    """The simplified producer's exceptions for refused options and delays have only the reason and no explanation."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return _without_words(self.behind.set(setting, value))

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return _without_words(asked.through(self.behind))


def _without_words(answer: Outcome[T]) -> Outcome[T]:
    told = isinstance(answer, Refused) and answer.mqrc in {Mqrc.OPTIONS_ERROR, Mqrc.FUNCTION_NOT_SUPPORTED}
    return replace(answer, text=f"MQRC {answer.mqrc}") if told and isinstance(answer, Refused) else answer


class _OtherReason(ProducerFilter):
    """The simplified producer's exceptions have no reason code."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return _without_code(self.behind.set(setting, value))

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return _without_code(asked.through(self.behind))


def _without_code(answer: Outcome[T]) -> Outcome[T]:
    return replace(answer, mqrc=None) if isinstance(answer, Refused) else answer


class _ResetByRefusedSend(RemembersSpans):
    """A refused send sets the producer's delivery delay to 0."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        if isinstance(answer, Refused):
            self.behind.set(Setting.DELAY, 0)
        return answer


class _OthersResetByRefusal(Member):
    """A refused send sets the delays of the other producers to 0."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        if isinstance(answer, Refused):
            for other in self.others:
                other.behind.set(Setting.DELAY, 0)
        return answer


DELAY_REFUSALS_AND_PRODUCERS_DEFECTS = (
    at_port(twisted, _BrokenByRefusal, "refusal-breaks-producer", "DD-15", "DD-10", "DD-16", "DD-17"),
    at_port(twisted, _ResetByRefusal, "refusal-resets-setting", "DD-15"),
    Defect(
        name="expiry-error-always-checked",
        rules=("DD-18",),
        text="The simplified producer raises the checked exception.",
        port=twisted(_retold(_checked)),
    ),
    Defect(
        name="expiry-error-always-runtime",
        rules=("DD-18",),
        text="The classic producer raises the runtime exception.",
        port=twisted(_retold(_unchecked)),
    ),
    Defect(
        name="terse-simplified",
        rules=("DD-18",),
        text="The simplified producer's exception has only the reason and no explanation.",
        port=in_face("simplified", _retold(_terse)),
    ),
    at_port(lambda twist: in_face("simplified", twist), _TerseOptions, "terse-simplified-options", "DD-18"),
    at_port(lambda twist: in_face("simplified", twist), _OtherReason, "no-reason-from-simplified", "DD-18"),
    at_port(twisted, _ResetByRefusedSend, "refused-send-resets-delay", "DD-15"),
    at_port(together, _OthersResetByRefusal, "refusal-resets-other-producers", "DD-15"),
)
