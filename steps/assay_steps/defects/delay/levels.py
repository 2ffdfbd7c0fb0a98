"""Defects of the client with queue managers of earlier levels (DD-10)."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_sdk.driver import LEVEL_PROPERTY, DriverEvent, Opened
from assay_steps.defects.model import at_port, on_wire
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.defects.wire_filters import events

_SINCE = "8.0"


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


class _OldLevelSwallowed(ProducerFilter):
    """Setting a delay at a level older than 8.0 has no effect and raises no exception."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        unknown = isinstance(answer, Refused) and answer.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED
        return Ok(None) if unknown and setting is Setting.DELAY else answer


def _level_as_text(event: DriverEvent) -> DriverEvent:
    """The client compares the queue manager's level as text, so 10.0 counts as older than 8.0."""
    if not isinstance(event, Opened) or str(event.properties.get(LEVEL_PROPERTY, _SINCE)) >= _SINCE:
        return event
    return replace(event, properties={**event.properties, LEVEL_PROPERTY: "7.5"})


DELAY_LEVELS_DEFECTS = (
    at_port(twisted, _LevelForgotten, "old-level-forgotten", "DD-10"),
    at_port(twisted, _OldLevelSwallowed, "old-level-delay-ignored", "DD-10"),
    on_wire(events, _level_as_text, "level-compared-as-text", "DD-10"),
)
