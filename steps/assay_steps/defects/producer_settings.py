"""Defects by which sends of a producer do not get its delay or time to live."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.clients.bodies import octets_of
from assay_adapters.ports.client import Client, ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.driver import DriverCommand, Send
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, clients, twisted
from assay_steps.defects.wires import FilteredWire, WireFilter, wires

_LONG_B = 1_000
_SPANS = (Setting.DELAY, Setting.TTL)
_SHORTEST_MS = 3_000


class _Settings(ProducerFilter):
    """A producer that remembers its accepted delay and time to live, including 0."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self.spans: dict[Setting, int | timedelta] = dict.fromkeys(_SPANS, 0)
        self.sent = False

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if setting in self.spans and isinstance(answer, Ok):
            self.spans[setting] = value
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        self.sent = True
        return asked.through(self.behind)

    @contextmanager
    def without(self, setting: Setting) -> Generator[None]:
        """Set the delay or time to live to 0 inside the ``with`` block, and restore it at the end."""
        self.behind.set(setting, 0)
        yield
        self.behind.set(setting, self.spans[setting])


# DD-01


class _FixedAtFirstSend(_Settings):
    """A delivery delay that is set after a producer's first send has no effect."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return Ok(None) if setting is Setting.DELAY and self.sent else super().set(setting, value)


class _NotReplaced(_Settings):
    """A producer ignores a new delivery delay, unless the new or the old one is 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        stays = setting is Setting.DELAY and value and self.spans[setting]
        return Ok(None) if stays else super().set(setting, value)


class _ResetByOthers(_Settings):
    """Setting priority, delivery mode or time to live sets the delivery delay to 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is not Setting.DELAY:
            super().set(Setting.DELAY, 0)
        return answer


class _ZeroIsTheShortest(ProducerFilter):
    """A producer treats a delay of 0 as a delay of three seconds."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return super().set(setting, _SHORTEST_MS if setting is Setting.DELAY and not value else value)


class _KeptWithTheMessage(_Settings):
    """The second send of a message object has the delay of its first send, even if the producer has none."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._before: int | timedelta = 0

    def sending(self, asked: Sending) -> Outcome[Sent]:
        kept = self._before if asked.message.reused and not self.spans[Setting.DELAY] else 0
        self._before = self.spans[Setting.DELAY] or kept
        if not kept:
            return super().sending(asked)
        self.behind.set(Setting.DELAY, kept)
        answer = super().sending(asked)
        self.behind.set(Setting.DELAY, 0)
        return answer


class _WithoutDays(ProducerFilter):
    """A producer drops the days of a delivery delay that is given as a `timedelta`."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        span = isinstance(value, timedelta) and setting is Setting.DELAY
        return self.behind.set(setting, value % timedelta(days=1) if span and isinstance(value, timedelta) else value)


def _undelayed(wanted: Callable[[Sending], bool]) -> type[ProducerFilter]:
    """Make a producer class that sends the messages that `wanted` chooses without their delay."""

    class Undelayed(_Settings):
        def sending(self, asked: Sending) -> Outcome[Sent]:
            if not wanted(asked):
                return super().sending(asked)
            with self.without(Setting.DELAY):
                return super().sending(asked)

    return Undelayed


def _has_own_options(asked: Sending) -> bool:
    return asked.mode is not None or asked.priority is not None or asked.ttl_ms is not None


def _is_special(asked: Sending) -> bool:
    draft = asked.message
    octets = octets_of(draft.content)
    plain = octets and octets.isascii() and len(octets) < _LONG_B
    return not plain or bool(draft.properties) or draft.correlation_id is not None


def _shared(client: Client) -> Client:
    """The delivery delay that was set last applies to all producers of the client."""
    last: list[int | timedelta] = [0]

    class Shared(ProducerFilter):
        def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
            answer = self.behind.set(setting, value)
            if setting is Setting.DELAY and isinstance(answer, Ok):
                last[0] = value
            return answer

        def sending(self, asked: Sending) -> Outcome[Sent]:
            self.behind.set(Setting.DELAY, last[0])
            return asked.through(self.behind)

    return ClientFilter(client, Shared)


class _FromFirstSend(WireFilter):
    """Every delivery delay of a producer counts from the time of the producer's first send."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._first: dict[int, int] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or command.message.creation_ms is None:
            return (command,)
        message = command.message
        first_ms = self._first.setdefault(command.link, message.creation_ms or 0)
        if message.delivery_time_ms is None:
            return (command,)
        due_ms = first_ms + message.delivery_time_ms - (message.creation_ms or 0)
        return (replace(command, message=replace(message, delivery_time_ms=due_ms)),)


# DD-10


class _LevelForgotten(ProducerFilter):
    """At a level before 8.0, a producer accepts and ignores delivery delays after its first refusal or send."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._used = False

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        told = isinstance(answer, Refused) and answer.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED and setting is Setting.DELAY
        used, self._used = self._used, self._used or told
        return Ok(None) if told and used else answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        self._used = True
        return asked.through(self.behind)


# DD-12 to DD-15


def _expiry_error() -> Refused:
    return refused(Mqrc.EXPIRY_ERROR, "The time to live is less than the delivery delay.")


class _LongestRemembered(_Settings):
    """A producer compares a new delay or time to live also with earlier values that it no longer has."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._delay_ms = 0
        self._ttl_ms: int | None = None

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if isinstance(value, int) and value:
            if setting is Setting.TTL and value < self._delay_ms:
                return _expiry_error()
            if setting is Setting.DELAY and self._ttl_ms is not None and value > self._ttl_ms:
                return _expiry_error()
        answer = super().set(setting, value)
        if isinstance(value, int) and value and isinstance(answer, Ok):
            if setting is Setting.DELAY:
                self._delay_ms = max(value, self._delay_ms)
            if setting is Setting.TTL:
                self._ttl_ms = min(value, value if self._ttl_ms is None else self._ttl_ms)
        return answer


class _UncheckedAfterSend(_Settings):
    """After its first send, a producer ignores a time to live below the delay and raises no exception."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        swallowed = self.sent and isinstance(answer, Refused) and answer.mqrc == Mqrc.EXPIRY_ERROR
        return Ok(None) if swallowed else answer


class _AllowedPairRefused(_Settings):
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
        return _expiry_error() if wrong else super().sending(asked)


class _ZeroNotGiven(_Settings):
    """A time to live of 0 given with a send counts as not given."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return super().sending(replace(asked, ttl_ms=asked.ttl_ms or None))


class _OwnOptionsStay(_Settings):
    """A time to live given with a send stays set on the producer, even if the producer refuses the send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.ttl_ms is not None:
            with self.without(Setting.DELAY):
                super().set(Setting.TTL, asked.ttl_ms)
        return super().sending(asked)


class _OwnOptionsAlone(_Settings):
    """A send that gives a delivery mode or priority does not get the producer's time to live."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        own = _has_own_options(asked) and asked.ttl_ms is None
        return super().sending(replace(asked, ttl_ms=0) if own else asked)


class _ResetByRefusedSend(_Settings):
    """A refused send sets the producer's delivery delay to 0."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        if isinstance(answer, Refused):
            self.behind.set(Setting.DELAY, 0)
        return answer


PRODUCER_DEFECTS: tuple[Defect, ...] = (
    at_port(twisted, _FixedAtFirstSend, "delay-fixed-at-first-send", "DD-01"),
    at_port(twisted, _NotReplaced, "delay-not-replaced", "DD-01"),
    at_port(twisted, _ResetByOthers, "delay-reset-by-other-settings", "DD-01"),
    at_port(twisted, _WithoutDays, "days-of-delay-dropped", "DD-01"),
    Defect(
        name="delay-lost-with-own-options",
        rules=("DD-01",),
        text="A send with a priority, delivery mode or time to live of its own has no delay.",
        port=twisted(_undelayed(_has_own_options)),
    ),
    Defect(
        name="delay-for-plain-messages-only",
        rules=("DD-01",),
        text="Messages with an empty, long or non-ASCII body, with properties or a correlation id have no delay.",
        port=twisted(_undelayed(_is_special)),
    ),
    Defect(
        name="delay-needs-destination",
        rules=("DD-01",),
        text="A producer that gets a destination with each send does not delay messages.",
        port=twisted(_undelayed(lambda asked: asked.to is not None)),
    ),
    Defect(
        name="sent-again-undelayed",
        rules=("DD-01",),
        text="The second send of a message object does not get the producer's delay.",
        port=twisted(_undelayed(lambda asked: asked.message.reused)),
    ),
    at_port(clients, _shared, "delay-shared-by-producers", "DD-01"),
    on_wire(wires, _FromFirstSend, "delay-counted-from-first-send", "DD-01"),
    at_port(twisted, _KeptWithTheMessage, "delay-kept-with-message-object", "DD-04"),
    at_port(twisted, _ZeroIsTheShortest, "zero-delay-is-three-seconds", "DD-04"),
    at_port(twisted, _LevelForgotten, "old-level-forgotten", "DD-10"),
    at_port(twisted, _LongestRemembered, "earlier-spans-remembered", "DD-12", "DD-13"),
    at_port(twisted, _UncheckedAfterSend, "spans-unchecked-after-send", "DD-12", "DD-13"),
    at_port(twisted, _AllowedPairRefused, "allowed-spans-refused-at-send", "DD-12", "DD-13"),
    at_port(twisted, _ZeroNotGiven, "zero-time-to-live-not-given", "DD-14"),
    at_port(twisted, _OwnOptionsStay, "own-time-to-live-stays", "DD-14", "DD-15"),
    at_port(twisted, _OwnOptionsAlone, "own-options-drop-time-to-live", "DD-14"),
    at_port(twisted, _ResetByRefusedSend, "refused-send-resets-delay", "DD-15"),
)
"""All defects of this module."""
