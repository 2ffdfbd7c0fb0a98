"""Defects of the client in the comparison of time to live and delay (DD-12 to DD-14)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from msgspec.structs import replace

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.defects.producers import Member, RemembersSpans, expiry_error, has_own_options, together

T = TypeVar("T")
SECOND_MS = 1_000


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
    """Make a producer class that also refuses the pairs of time to live and delay for which `wrong` returns True.

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


class _LongestRemembered(RemembersSpans):
    """A producer compares a time to live with the longest earlier delay, and a delay with the shortest time to live."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._delay_ms = 0
        self._ttl_ms: int | None = None

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if isinstance(value, int) and value:
            if setting is Setting.TTL and value < self._delay_ms:
                return expiry_error()
            if setting is Setting.DELAY and self._ttl_ms is not None and value > self._ttl_ms:
                return expiry_error()
        answer = super().set(setting, value)
        if isinstance(value, int) and value and isinstance(answer, Ok):
            if setting is Setting.DELAY:
                self._delay_ms = max(value, self._delay_ms)
            if setting is Setting.TTL:
                self._ttl_ms = min(value, value if self._ttl_ms is None else self._ttl_ms)
        return answer


class _ShowsWhatWasRefused(ProducerFilter):
    """After a refusal, a producer shows the refused delay or time to live."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._refused: dict[Setting, int] = {}

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        self._refused.pop(setting, None)
        if isinstance(answer, Refused) and isinstance(value, int):
            self._refused[setting] = value
        return answer

    def get(self, setting: Setting) -> Outcome[int]:
        return Ok(self._refused[setting]) if setting in self._refused else self.behind.get(setting)


class _UncheckedAfterSend(RemembersSpans):
    """After its first send, a producer ignores a time to live below the delay and raises no exception."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        swallowed = self.sent and isinstance(answer, Refused) and answer.mqrc == Mqrc.EXPIRY_ERROR
        return Ok(None) if swallowed else answer


class _AllowedPairRefused(RemembersSpans):
    """A producer refuses a send if time to live and delay are equal, or if one of them was set to 0."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._zero: set[Setting] = set()

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        (self._zero.discard if value else self._zero.add)(setting)
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        ttl, delay = self.spans[Setting.TTL], self.spans[Setting.DELAY]
        wrong = bool(self._zero) or bool(ttl and ttl == delay)
        return expiry_error() if wrong else super().sending(asked)


class _ZeroNotGiven(RemembersSpans):
    """A time to live of 0 given with a send counts as not given."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return super().sending(replace(asked, ttl_ms=asked.ttl_ms or None))


class _OwnOptionsStay(RemembersSpans):
    """A time to live given with a send stays set on the producer, even if the producer refuses the send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.ttl_ms is not None:
            with self.without(Setting.DELAY):
                super().set(Setting.TTL, asked.ttl_ms)
        return super().sending(asked)


class _OwnOptionsAlone(RemembersSpans):
    """A send that gives a delivery mode or priority does not get the producer's time to live."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        own = has_own_options(asked) and asked.ttl_ms is None
        return super().sending(replace(asked, ttl_ms=0) if own else asked)


class _Compared(Member):
    """A producer compares its delay and time to live with the settings of the other producers."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if isinstance(value, int) and value and self._clashes(setting, value):
            return expiry_error()
        return super().set(setting, value)

    def _clashes(self, setting: Setting, value: int) -> bool:
        if setting is Setting.TTL:
            return any(other.values.get(Setting.DELAY, 0) > value for other in self.others)
        lives = [other.values.get(Setting.TTL, 0) for other in self.others]
        return setting is Setting.DELAY and any(0 < life < value for life in lives)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.ttl_ms and self._clashes(Setting.TTL, asked.ttl_ms):
            return expiry_error()
        return super().sending(asked)


class _Unchecked(Member):
    """Only the newest producer of a client compares its delay with its time to live."""

    def _spared(self, answer: Outcome[None] | Outcome[Sent]) -> bool:
        wrong = isinstance(answer, Refused) and answer.mqrc == Mqrc.EXPIRY_ERROR
        return wrong and self is not self.members[-1]

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        return Ok(None) if self._spared(answer) else answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        return super().sending(replace(asked, ttl_ms=None)) if self._spared(answer) else answer


DELAY_REFUSALS_DEFECTS = (
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
        text="A producer treats a time to live of 0, which means no end, as shorter than any delay.",
        port=twisted(_comparing(_zero_is_less)),
    ),
    at_port(twisted, _LongestRemembered, "earlier-spans-remembered", "DD-12", "DD-13"),
    at_port(twisted, _ShowsWhatWasRefused, "refused-span-shown", "DD-15"),
    at_port(twisted, _UncheckedAfterSend, "spans-unchecked-after-send", "DD-12", "DD-13"),
    at_port(twisted, _AllowedPairRefused, "allowed-spans-refused-at-send", "DD-12", "DD-13"),
    at_port(twisted, _ZeroNotGiven, "zero-time-to-live-not-given", "DD-14"),
    at_port(twisted, _OwnOptionsStay, "own-time-to-live-stays", "DD-14", "DD-15"),
    at_port(twisted, _OwnOptionsAlone, "own-options-drop-time-to-live", "DD-14"),
    at_port(together, _Compared, "spans-compared-across-producers", "DD-12", "DD-13", "DD-14"),
    at_port(together, _Unchecked, "spans-checked-by-last-producer", "DD-12", "DD-13", "DD-14"),
)
