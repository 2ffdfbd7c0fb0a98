"""Defects of the client in delivery mode, priority and time to live (PD-01 to PD-04)."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import MODE_VALUES, Client, ClientProducer, Draft, Mode, Sent, Setting
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.driver import DriverCommand, Send
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending, clients, twisted
from assay_steps.defects.producers import Member, together
from assay_steps.defects.wire_filters import commands

_NUMBERS = {mode: number for number, mode in MODE_VALUES.items()}
_NON_PERSISTENT = _NUMBERS[Mode.NON_PERSISTENT]
_PERSISTENT = _NUMBERS[Mode.PERSISTENT]
_USUAL_PRIORITY = 4
_HOUR_MS = 3_600_000
_SHOWN = {Mode.PERSISTENT: "PERSISTENT", Mode.NON_PERSISTENT: "NON_PERSISTENT"}


class _NonPersistentFromTheStart(ProducerFilter):
    """A producer without a set delivery mode sends non-persistently."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        behind.set(Setting.MODE, _NON_PERSISTENT)


class _KnowsNoNonPersistent(ProducerFilter):
    """Setting a producer to non-persistent has no effect."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        ignored = setting is Setting.MODE and value == _NON_PERSISTENT
        return Ok(None) if ignored else super().set(setting, value)


class _AnyModeIsNonPersistent(ProducerFilter):
    """A producer on which any delivery mode is set sends non-persistently."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return super().set(setting, _NON_PERSISTENT if setting is Setting.MODE else value)


class _ModeForOneSend(ProducerFilter):
    """A delivery mode set on a producer applies only to its next send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        super().set(Setting.MODE, _PERSISTENT)
        return sent


class _IgnoresWhatIsGivenWithTheSend(ProducerFilter):
    """The client ignores delivery mode, priority and time to live given with a send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return Sending(message=asked.message, to=asked.to).through(self.behind)


class _KeepsWhatIsGivenWithTheSend(ProducerFilter):
    """Delivery mode, priority and time to live that are given with a send stay set on the producer."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        given = (
            (Setting.MODE, None if asked.mode is None else _NUMBERS[asked.mode]),
            (Setting.PRIORITY, asked.priority),
            (Setting.TTL, asked.ttl_ms),
        )
        for setting, value in given:
            if value is not None:
                super().set(setting, value)
        return Sending(message=asked.message, to=asked.to).through(self.behind)


class _KeepsWhatWasRefused(ProducerFilter):
    """If a send is refused, the delivery mode, priority and time to live given with it stay set on the producer."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        given = (
            (Setting.MODE, None if asked.mode is None else _NUMBERS[asked.mode]),
            (Setting.PRIORITY, asked.priority),
            (Setting.TTL, asked.ttl_ms),
        )
        for setting, value in given:
            if value is not None and isinstance(sent, Refused):
                super().set(setting, value)
        return sent


class _ZeroIsNothing(ProducerFilter):
    """A priority or time to live of 0 given with a send counts as not given."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return replace(asked, priority=asked.priority or None, ttl_ms=asked.ttl_ms or None).through(self.behind)


class _DestinationDoesNotDecide(ProducerFilter):
    """The client ignores the mode ``as the destination defines`` if it is given with a send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return replace(asked, mode=None if asked.mode is Mode.AS_DESTINATION else asked.mode).through(self.behind)


class _SentOnAsItCame(ProducerFilter):
    """When the client forwards a received message, it does not use the producer's mode, priority and time to live."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._mode = Mode.PERSISTENT

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if setting is Setting.MODE and isinstance(value, int):
            self._mode = MODE_VALUES[value]
        return super().set(setting, value)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.message.received is None:
            return asked.through(self.behind)
        mode = Mode.PERSISTENT if (asked.mode or self._mode) is Mode.NON_PERSISTENT else Mode.NON_PERSISTENT
        other = replace(asked, mode=mode, priority=_USUAL_PRIORITY + 1, ttl_ms=_HOUR_MS)
        return other.through(self.behind)


class _NamedTakesNoOptions(ProducerFilter):
    """The client ignores priority and time to live given with a send that names its destination."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return (asked if asked.to is None else replace(asked, priority=None, ttl_ms=None)).through(self.behind)


class _ModeAloneCounts(ProducerFilter):
    """The client ignores a delivery mode given with a send if priority or time to live are given, too."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        alone = asked.priority is None and asked.ttl_ms is None
        return replace(asked, mode=asked.mode if alone else None).through(self.behind)


class _SettingResetsMode(ProducerFilter):
    """Setting a producer's priority, time to live or delay resets its delivery mode to persistent."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is not Setting.MODE:
            super().set(Setting.MODE, _PERSISTENT)
        return answer


class _ModeResetsSettings(ProducerFilter):
    """Setting a producer's delivery mode resets its priority and time to live."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is Setting.MODE:
            super().set(Setting.PRIORITY, _USUAL_PRIORITY)
            super().set(Setting.TTL, 0)
        return answer


class _GivenAloneResetsTheOthers(ProducerFilter):
    """If a send gives only one of mode, priority and time to live, the client uses JMS's defaults for the other two."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.mode is None and asked.priority is None and asked.ttl_ms is None:
            return asked.through(self.behind)
        whole = replace(
            asked,
            mode=asked.mode or Mode.PERSISTENT,
            priority=_USUAL_PRIORITY if asked.priority is None else asked.priority,
            ttl_ms=asked.ttl_ms or 0,
        )
        return whole.through(self.behind)


class _MessageObjectRemembers(ProducerFilter):
    """The second send of a message object uses the mode, priority and time to live of the object's first send."""

    _before: Sending | None = None

    def sending(self, asked: Sending) -> Outcome[Sent]:
        before = self._before if asked.message.reused else None
        self._before = before or asked
        if before is not None:
            asked = replace(asked, mode=before.mode, priority=before.priority, ttl_ms=before.ttl_ms)
        return asked.through(self.behind)


class _MessageObjectKeepsItsBody(ProducerFilter):
    """If a message object was sent or received before, the client sends it with another body than its current one."""

    _before: Draft | None = None

    def sending(self, asked: Sending) -> Outcome[Sent]:
        draft, before = asked.message, self._before
        self._before = draft
        if draft.reused and before is not None:
            asked = replace(asked, message=replace(draft, body=before.body))
        if draft.received is not None:
            asked = replace(asked, message=replace(draft, body=f"not {draft.body!s}"))
        return asked.through(self.behind)


class _MessageDecides(ProducerFilter):
    """A delivery mode set on the message overrides the mode of the producer and of the send."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        return replace(asked, mode=asked.message.own_mode or asked.mode).through(self.behind)


class _MessageStaysAsItWas(ProducerFilter):
    """After a send, JMSDeliveryMode of the message is the mode that the application set on the message."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        if asked.message.own_mode is None or not isinstance(sent, Ok):
            return sent
        return Ok(replace(sent.value, fields=sent.value.fields | {"JMSDeliveryMode": _SHOWN[asked.message.own_mode]}))


class _ShowsTheProducersMode(ProducerFilter):
    """After a send, JMSDeliveryMode of the message is the producer's mode, even if the send gave another mode."""

    _mode = Mode.PERSISTENT

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if setting is Setting.MODE:
            self._mode = next(mode for mode, number in _NUMBERS.items() if number == value)
        return super().set(setting, value)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        if asked.mode is None or not isinstance(sent, Ok):
            return sent
        return Ok(replace(sent.value, fields=sent.value.fields | {"JMSDeliveryMode": _SHOWN[self._mode]}))


class _ShowsUsualPriority(ProducerFilter):
    """After a send, JMSPriority of the message is 4, even if the send gave another priority."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        return Ok(replace(sent.value, fields=sent.value.fields | {"JMSPriority": 4})) if isinstance(sent, Ok) else sent


class _KeepsShownPriority(ProducerFilter):
    """After a send, JMSPriority of the message is the priority that an earlier send gave."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._given: int | None = None

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if self._given is None:
            self._given = asked.priority
        sent = asked.through(self.behind)
        if self._given is None or not isinstance(sent, Ok):
            return sent
        return Ok(replace(sent.value, fields=sent.value.fields | {"JMSPriority": self._given}))


def _one_mode_for_all(client: Client) -> Client:
    """A delivery mode set on one producer also applies to every later producer."""
    modes: list[int | timedelta] = []

    class SharedMode(ProducerFilter):
        def __init__(self, behind: ClientProducer) -> None:
            super().__init__(behind)
            for mode in modes[-1:]:
                behind.set(Setting.MODE, mode)

        def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
            if setting is Setting.MODE and isinstance(value, int):
                modes.append(value)
            return super().set(setting, value)

    return ClientFilter(client, SharedMode)


def _without_header(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    if not isinstance(command, Send) or command.message.durable is not False:
        return None
    return (replace(command, message=replace(command.message, durable=None)),)


class _OneMode(Member):
    """The delivery mode that was set last applies to all producers."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is Setting.MODE:
            for other in self.others:
                other.behind.set(setting, value)
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        said = [other.values[Setting.MODE] for other in self.others if Setting.MODE in other.values]
        if said and Setting.MODE not in self.values:
            self.behind.set(Setting.MODE, said[-1])
        return super().sending(asked)


class _OwnOptionsSpread(Member):
    """Delivery mode and priority given with a send are also set on the other producers."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        for other in self.others:
            if asked.mode is not None:
                other.behind.set(Setting.MODE, _number(asked.mode))
            if asked.priority is not None:
                other.behind.set(Setting.PRIORITY, asked.priority)
        return super().sending(asked)


def _number(mode: Mode) -> int:
    return next(number for number, named in MODE_VALUES.items() if named is mode)


PERSISTENCE_DELIVERY_MODE_DEFECTS = (
    at_port(twisted, _NonPersistentFromTheStart, "non-persistent-by-default", "PD-01"),
    at_port(twisted, _KnowsNoNonPersistent, "knows-no-non-persistent", "PD-01", "PD-02"),
    at_port(twisted, _AnyModeIsNonPersistent, "any-mode-is-non-persistent", "PD-01", "PD-02"),
    at_port(twisted, _ModeForOneSend, "mode-for-one-send", "PD-02"),
    at_port(clients, _one_mode_for_all, "one-mode-for-all", "PD-02"),
    at_port(twisted, _IgnoresWhatIsGivenWithTheSend, "given-with-send-ignored", "PD-03"),
    at_port(twisted, _KeepsWhatIsGivenWithTheSend, "given-with-send-kept", "PD-03"),
    at_port(twisted, _KeepsWhatWasRefused, "given-with-refused-send-kept", "PD-03"),
    at_port(twisted, _ZeroIsNothing, "zero-given-counts-as-nothing", "PD-03"),
    at_port(twisted, _DestinationDoesNotDecide, "destinations-mode-ignored-with-a-send", "PD-03"),
    at_port(twisted, _NamedTakesNoOptions, "named-destination-takes-no-options", "PD-03"),
    at_port(twisted, _ModeAloneCounts, "mode-given-alone-counts", "PD-03"),
    Defect(
        name="non-persistent-without-a-header",
        rules=("PD-02", "PD-03"),
        text="The client sends a non-persistent message without a durable header, so its destination decides.",
        wire=commands(_without_header),
    ),
    at_port(twisted, _ShowsUsualPriority, "shows-usual-priority", "PD-03"),
    at_port(twisted, _KeepsShownPriority, "shows-earlier-priority", "PD-03"),
    at_port(twisted, _SettingResetsMode, "setting-resets-mode", "PD-02"),
    at_port(twisted, _ModeResetsSettings, "mode-resets-settings", "PD-02"),
    at_port(twisted, _GivenAloneResetsTheOthers, "given-alone-resets-the-others", "PD-03"),
    at_port(twisted, _MessageObjectRemembers, "message-object-remembers-its-send", "PD-04"),
    at_port(twisted, _MessageObjectKeepsItsBody, "message-object-keeps-its-body", "PD-04"),
    at_port(twisted, _MessageDecides, "message-decides", "PD-04"),
    at_port(twisted, _SentOnAsItCame, "sent-on-as-it-came", "PD-04"),
    at_port(twisted, _ShowsTheProducersMode, "shows-producers-mode", "PD-04"),
    at_port(twisted, _MessageStaysAsItWas, "message-stays-as-it-was", "PD-04"),
    at_port(together, _OneMode, "mode-shared-by-producers", "PD-01", "PD-02"),
    at_port(together, _OwnOptionsSpread, "own-options-spread-to-other-producers", "PD-03"),
)
