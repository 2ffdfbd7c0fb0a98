"""Defects of the client in refusing delays: old levels, clusters, retained publications, groups."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import Draft, Mode, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, LEVEL_PROPERTY, Done, DriverEvent, Opened
from assay_sdk.model.message import Address
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import ProducerFilter, twisted
from assay_steps.defects.wires import events

_SINCE = "8.0"


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


def _is_retained(draft: Draft) -> bool:
    return draft.properties.get(RETAIN) == 1


def _is_grouped(draft: Draft) -> bool:
    return draft.group_id is not None or draft.group_sequence is not None or LAST_IN_GROUP in draft.properties


def _is_plain(draft: Draft) -> bool:
    return not _is_retained(draft) and not _is_grouped(draft)


def _sent_at_once(wanted: Callable[[Draft], bool]) -> type[ProducerFilter]:
    """Make a producer class that sends a message again without its delay, if the delay was refused.

    Args:
        wanted: Chooses the messages.
    """

    class SentAtOnce(ProducerFilter):
        def send(
            self,
            message: Draft,
            *,
            mode: Mode | None = None,
            priority: int | None = None,
            ttl_ms: int | None = None,
            to: Address | None = None,
        ) -> Outcome[Sent]:
            answer = self.behind.send(message, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to)
            cannot = isinstance(answer, Refused) and answer.mqrc == Mqrc.OPTIONS_ERROR
            if not cannot or not wanted(message):
                return answer
            self.behind.set(Setting.DELAY, 0)
            return self.behind.send(message, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to)

    return SentAtOnce


def _not_fixed_misread(event: DriverEvent) -> DriverEvent:
    """The client takes a destination with DEFBIND(NOTFIXED) for a clustered one with DEFBIND(OPEN)."""
    if not isinstance(event, Done) or event.properties.get(DEFBIND_PROPERTY) != "NOTFIXED":
        return event
    return replace(event, properties={**event.properties, CLUSTERED_PROPERTY: True, DEFBIND_PROPERTY: "OPEN"})


REFUSAL_DEFECTS: tuple[Defect, ...] = (
    at_port(twisted, _OldLevelSwallowed, "old-level-delay-ignored", "DD-10"),
    on_wire(events, _level_as_text, "level-compared-as-text", "DD-10"),
    Defect(
        name="clustered-sent-at-once",
        rules=("DD-11",),
        text="If a clustered destination refuses a delay, the client sends the message without the delay.",
        port=twisted(_sent_at_once(_is_plain)),
    ),
    on_wire(events, _not_fixed_misread, "notfixed-misread", "DD-11"),
    Defect(
        name="retained-sent-at-once",
        rules=("DD-16",),
        text="The client sends a delayed retained publication without the delay.",
        port=twisted(_sent_at_once(_is_retained)),
    ),
    Defect(
        name="grouped-sent-at-once",
        rules=("DD-17",),
        text="The client sends a delayed message in a group without the delay.",
        port=twisted(_sent_at_once(_is_grouped)),
    ),
)
