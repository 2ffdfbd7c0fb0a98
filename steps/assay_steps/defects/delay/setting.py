"""Defects of the client in the setting of a delivery delay (DD-01)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.clients.bodies import octets_of
from assay_adapters.ports.client import Client, ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, refused
from assay_sdk.driver import DriverCommand, Send
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, clients, twisted
from assay_steps.defects.producers import RemembersSpans, has_own_options, in_face
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires

SECOND_MS = 1_000
_LONG_B = 1_000


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


class _ShowsTheFirst(ProducerFilter):
    """A producer always shows the first delivery delay that was set."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._first: int | None = None

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if setting is Setting.DELAY and isinstance(answer, Ok) and self._first is None and isinstance(value, int):
            self._first = value
        return answer

    def get(self, setting: Setting) -> Outcome[int]:
        shown = self._first if setting is Setting.DELAY else None
        return self.behind.get(setting) if shown is None else Ok(shown)


class _ShowsNoneBefore(ProducerFilter):
    """A producer shows a delivery delay of -1 ms until the application sets one."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._set: set[Setting] = set()

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        self._set.add(setting)
        return self.behind.set(setting, value)

    def get(self, setting: Setting) -> Outcome[int]:
        missing = setting is Setting.DELAY and setting not in self._set
        return Ok(-1) if missing else self.behind.get(setting)


class _ForgottenAfterSend(ProducerFilter):
    """A producer's delivery delay applies only to the next send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = asked.through(self.behind)
        self.behind.set(Setting.DELAY, 0)
        return answer


class _FixedAtFirstSend(RemembersSpans):
    """A delivery delay that is set after a producer's first send has no effect."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return Ok(None) if setting is Setting.DELAY and self.sent else super().set(setting, value)


class _NotReplaced(RemembersSpans):
    """A producer ignores a new delivery delay, unless the new or the old one is 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        stays = setting is Setting.DELAY and value and self.spans[setting]
        return Ok(None) if stays else super().set(setting, value)


class _ResetByOthers(RemembersSpans):
    """Setting priority, delivery mode or time to live sets the delivery delay to 0."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is not Setting.DELAY:
            super().set(Setting.DELAY, 0)
        return answer


class _WithoutDays(ProducerFilter):
    """A producer drops the days of a delivery delay that is given as a `timedelta`."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        span = isinstance(value, timedelta) and setting is Setting.DELAY
        return self.behind.set(setting, value % timedelta(days=1) if span and isinstance(value, timedelta) else value)


def _undelayed(wanted: Callable[[Sending], bool]) -> type[ProducerFilter]:
    """Make a producer class that sends the messages that `wanted` chooses without their delay."""

    class Undelayed(RemembersSpans):
        def sending(self, asked: Sending) -> Outcome[Sent]:
            if not wanted(asked):
                return super().sending(asked)
            with self.without(Setting.DELAY):
                return super().sending(asked)

    return Undelayed


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


DELAY_SETTING_DEFECTS = (
    at_port(twisted, _NegativeTaken, "negative-delay-taken", "DD-01"),
    at_port(twisted, _FractionsTaken, "fractions-of-delay-taken", "DD-01"),
    Defect(
        name="no-delay-for-classic",
        rules=("DD-01", "DD-10"),
        text="Classic producers refuse every delivery delay.",
        port=in_face("classic", _NoDelay),
    ),
    Defect(
        name="no-delay-for-simplified",
        rules=("DD-01", "DD-10"),
        text="Simplified producers refuse every delivery delay.",
        port=in_face("simplified", _NoDelay),
    ),
    at_port(twisted, _NoDelayRefused, "delay-of-0-refused", "DD-01", "DD-13", "DD-10"),
    at_port(twisted, _CutToSeconds, "delay-cut-to-seconds", "DD-01"),
    at_port(twisted, _NotTakenBack, "delay-not-taken-back", "DD-01"),
    at_port(twisted, _ShowsTheFirst, "first-delay-shown", "DD-01"),
    at_port(twisted, _ShowsNoneBefore, "no-delay-shown-before-set", "DD-01"),
    at_port(twisted, _ForgottenAfterSend, "delay-forgotten-after-send", "DD-01"),
    at_port(twisted, _FixedAtFirstSend, "delay-fixed-at-first-send", "DD-01"),
    at_port(twisted, _NotReplaced, "delay-not-replaced", "DD-01"),
    at_port(twisted, _ResetByOthers, "delay-reset-by-other-settings", "DD-01"),
    at_port(twisted, _WithoutDays, "days-of-delay-dropped", "DD-01"),
    Defect(
        name="delay-lost-with-own-options",
        rules=("DD-01",),
        text="A send with a priority, delivery mode or time to live of its own has no delay.",
        port=twisted(_undelayed(has_own_options)),
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
)
