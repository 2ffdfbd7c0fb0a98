"""Defects of the client with delivery delay and time to live (DD-01, DD-12 to DD-15, DD-18)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientProducer, Face, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, Twist, twisted

T = TypeVar("T")
SECOND_MS = 1_000


def _in_face(face: Face, twist: Twist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes the producers of one face misbehave."""
    return lambda client: ClientFilter(client, twist) if client.identity.face == face else client


def _is_expiry(outcome: Outcome[T]) -> bool:
    return isinstance(outcome, Refused) and outcome.mqrc == Mqrc.EXPIRY_ERROR


class _Remembering(ProducerFilter):
    """A producer that remembers its accepted settings, including 0."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self.known: dict[Setting, int] = {}

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if isinstance(answer, Ok) and isinstance(value, int):
            self.known[setting] = value
        return answer


# DD-01


class _ShowsNoDelay(ProducerFilter):
    """After a send, JMSDeliveryTime of the message equals JMSTimestamp, even if the message has a delay."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        if not isinstance(sent, Ok):
            return sent
        fields = sent.value.fields
        return Ok(replace(sent.value, fields=fields | {"JMSDeliveryTime": fields["JMSTimestamp"]}))


class _NegativeTaken(ProducerFilter):
    """A producer accepts a negative delivery delay."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        negative = setting is Setting.DELAY and isinstance(value, int) and value < 0
        return Ok(None) if negative else self.behind.set(setting, value)


class _FractionsTaken(ProducerFilter):
    """A producer accepts a delivery delay with a fraction of a millisecond, and cuts the fraction."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return self.behind.set(setting, value // timedelta(milliseconds=1) if isinstance(value, timedelta) else value)


class _NoDelay(ProducerFilter):
    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if setting is Setting.DELAY and value:
            return refused(Mqrc.FUNCTION_NOT_SUPPORTED, "This producer does not support delivery delay.")
        return self.behind.set(setting, value)


class _NoDelayRefused(ProducerFilter):
    """A producer refuses a delivery delay of 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if setting is Setting.DELAY and value == 0:
            return refused(Mqrc.OPTIONS_ERROR, "A delivery delay must be longer than 0.")
        return self.behind.set(setting, value)


class _CutToSeconds(ProducerFilter):
    """Producers cut delivery delays of more than a second to whole seconds."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        cut = setting is Setting.DELAY and isinstance(value, int) and value > SECOND_MS
        return self.behind.set(setting, value // SECOND_MS * SECOND_MS if cut and isinstance(value, int) else value)


class _NotTakenBack(ProducerFilter):
    """Setting a delivery delay back to 0 has no effect."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return Ok(None) if setting is Setting.DELAY and value == 0 else self.behind.set(setting, value)


class _ForgottenAfterSend(ProducerFilter):
    """A producer's delivery delay applies only to the next send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = asked.through(self.behind)
        self.behind.set(Setting.DELAY, 0)
        return answer


# DD-12 to DD-14


def _swallowed_at(moment: Setting) -> type[ProducerFilter]:
    class Swallowed(ProducerFilter):
        def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
            answer = self.behind.set(setting, value)
            return Ok(None) if setting is moment and _is_expiry(answer) else answer

    return Swallowed


class _SwallowedAtSend(ProducerFilter):
    """If a send gives a time to live below the delay, the client ignores this time to live."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = asked.through(self.behind)
        return replace(asked, ttl_ms=None).through(self.behind) if _is_expiry(answer) else answer


def _comparing(wrong: Callable[[int | None, int | None], bool]) -> type[ProducerFilter]:
    """Make a producer class that also refuses the pairs of time to live and delay that `wrong` names.

    Args:
        wrong: Returns whether the producer refuses a pair: the time to live and the delay in milliseconds, each None if
            it was never set.
    """

    class Comparing(_Remembering):
        def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
            if isinstance(value, int) and setting in {Setting.TTL, Setting.DELAY}:
                pair = self.known | {setting: value}
                if wrong(pair.get(Setting.TTL), pair.get(Setting.DELAY)):
                    return refused(Mqrc.EXPIRY_ERROR, "The time to live is less than the delivery delay.")
            return super().set(setting, value)

        def sending(self, asked: Sending) -> Outcome[Sent]:
            if asked.ttl_ms is not None and wrong(asked.ttl_ms, self.known.get(Setting.DELAY)):
                return refused(Mqrc.EXPIRY_ERROR, "The time to live is less than the delivery delay.")
            return asked.through(self.behind)

    return Comparing


def _less_in_seconds(ttl_ms: int | None, delay_ms: int | None) -> bool:
    return bool(ttl_ms and delay_ms) and (ttl_ms or 0) // SECOND_MS <= -(-(delay_ms or 0) // SECOND_MS)


def _zero_is_less(ttl_ms: int | None, delay_ms: int | None) -> bool:
    return ttl_ms == 0 and bool(delay_ms)


# DD-15


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


# DD-18


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


DELAY_DEFECTS: tuple[Defect, ...] = (
    at_port(twisted, _NegativeTaken, "negative-delay-taken", "DD-01"),
    at_port(twisted, _FractionsTaken, "fractions-of-delay-taken", "DD-01"),
    Defect(
        name="no-delay-for-classic",
        rules=("DD-01", "DD-10"),
        text="Classic producers refuse every delivery delay.",
        port=_in_face("classic", _NoDelay),
    ),
    Defect(
        name="no-delay-for-simplified",
        rules=("DD-01", "DD-10"),
        text="Simplified producers refuse every delivery delay.",
        port=_in_face("simplified", _NoDelay),
    ),
    at_port(twisted, _NoDelayRefused, "delay-of-0-refused", "DD-01", "DD-13", "DD-10"),
    at_port(twisted, _ShowsNoDelay, "shows-no-delay", "DD-27"),
    at_port(twisted, _CutToSeconds, "delay-cut-to-seconds", "DD-01"),
    at_port(twisted, _NotTakenBack, "delay-not-taken-back", "DD-01"),
    at_port(twisted, _ForgottenAfterSend, "delay-forgotten-after-send", "DD-01"),
    Defect(
        name="expiry-error-swallowed-at-ttl",
        rules=("DD-12",),
        text="Setting a time to live below the delay has no effect and raises no exception.",
        port=twisted(_swallowed_at(Setting.TTL)),
    ),
    Defect(
        name="expiry-error-swallowed-at-delay",
        rules=("DD-13",),
        text="Setting a delay above the time to live has no effect and raises no exception.",
        port=twisted(_swallowed_at(Setting.DELAY)),
    ),
    at_port(twisted, _SwallowedAtSend, "expiry-error-swallowed-at-send", "DD-14"),
    Defect(
        name="expiry-compared-in-seconds",
        rules=("DD-12", "DD-13", "DD-14"),
        text="A producer compares time to live and delay in whole seconds, and refuses equal values.",
        port=twisted(_comparing(_less_in_seconds)),
    ),
    Defect(
        name="never-expires-refused",
        rules=("DD-12", "DD-13", "DD-14"),
        text="A producer takes a time to live of 0, which means no end, for shorter than any delay.",
        port=twisted(_comparing(_zero_is_less)),
    ),
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
        port=_in_face("simplified", _retold(_terse)),
    ),
    at_port(lambda twist: _in_face("simplified", twist), _TerseOptions, "terse-simplified-options", "DD-18"),
    at_port(lambda twist: _in_face("simplified", twist), _OtherReason, "no-reason-from-simplified", "DD-18"),
)
