"""Defects of the client in how long a producer's delay and time to live hold, and for which sends."""

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
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, twisted
from assay_steps.defects.wires import FilteredWire, WireFilter, wires

_LONG_B = 1_000
_SPANS = (Setting.DELAY, Setting.TTL)
_SHORTEST_MS = 3_000


class _Settings(ProducerFilter):
    """Remembers the spans that were accepted, 0 included."""

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
        """Set a span to 0 for a time."""
        self.behind.set(setting, 0)
        yield
        self.behind.set(setting, self.spans[setting])


# DD-01


class _FixedAtFirstSend(_Settings):
    """A delivery delay that is set after a producer's first send has no effect."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return Ok(None) if setting is Setting.DELAY and self.sent else super().set(setting, value)


class _NotReplaced(_Settings):
    """A delivery delay stays as it was first set, unless it is set to 0."""

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
    """A delay that is set to 0 is taken for the shortest one of the broker, three seconds."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return super().set(setting, _SHORTEST_MS if setting is Setting.DELAY and not value else value)


class _KeptWithTheMessage(_Settings):
    """A message object that was sent with a delay is delayed again when it is sent without one."""

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
    """Of a delivery delay that is given as a span of time, the days are dropped."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        span = isinstance(value, timedelta) and setting is Setting.DELAY
        return self.behind.set(setting, value % timedelta(days=1) if span and isinstance(value, timedelta) else value)


def _undelayed(wanted: Callable[[Sending], bool]) -> type[ProducerFilter]:
    """Producers that send some messages without their delay."""

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
    """Make the producers of a client share their delivery delay."""
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
    """A producer counts every delivery delay from the time of its first send."""

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
    """After its first refusal or send, a producer takes every delivery delay at an old level, and ignores it."""

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
    """A time to live and a delay are compared with each other's earlier values too."""

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
    """After a producer's first send, a time to live or delay that does not fit is ignored, and nothing is raised."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        swallowed = self.sent and isinstance(answer, Refused) and answer.mqrc == Mqrc.EXPIRY_ERROR
        return Ok(None) if swallowed else answer


class _AllowedPairRefused(_Settings):
    """A send is refused if the producer's time to live equals its delay, or if one of them was set to 0."""

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
    """A time to live of 0 that is given with one send counts as not given."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return super().sending(replace(asked, ttl_ms=asked.ttl_ms or None))


class _OwnOptionsStay(_Settings):
    """A time to live that is given with one send is the producer's from then on, even if the send is refused."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.ttl_ms is not None:
            with self.without(Setting.DELAY):
                super().set(Setting.TTL, asked.ttl_ms)
        return super().sending(asked)


class _OwnOptionsAlone(_Settings):
    """A send with options of its own has no time to live but its own."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        own = _has_own_options(asked) and asked.ttl_ms is None
        return super().sending(replace(asked, ttl_ms=0) if own else asked)


class _ResetByRefusedSend(_Settings):
    """A send that is refused sets the producer's delivery delay to 0."""

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
        text="A producer that is given a destination with each send delays nothing.",
        port=twisted(_undelayed(lambda asked: asked.to is not None)),
    ),
    Defect(
        name="sent-again-undelayed",
        rules=("DD-01",),
        text="A message object that is sent again goes without its producer's delay.",
        port=twisted(_undelayed(lambda asked: asked.message.reused)),
    ),
    Defect(
        name="delay-shared-by-producers",
        rules=("DD-01",),
        text="The delivery delay that was set last holds for all producers of the client.",
        port=_shared,
    ),
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
"""Defects of a producer's delay and time to live."""
