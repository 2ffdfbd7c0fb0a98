"""Producers that send a message again without its delay if the delay was refused."""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.ports.client import Draft, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Outcome, Refused
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN
from assay_steps.defects.ports import ProducerFilter, Sending


def is_retained(draft: Draft) -> bool:
    """Return whether a message is a retained publication."""
    return draft.properties.get(RETAIN) == 1


def is_grouped(draft: Draft) -> bool:
    """Return whether a message is part of a group."""
    return draft.group_id is not None or draft.group_sequence is not None or LAST_IN_GROUP in draft.properties


def sent_at_once(wanted: Callable[[Draft], bool]) -> type[ProducerFilter]:
    """Make a producer class that sends a message again without its delay, if the delay was refused.

    Args:
        wanted: Chooses the messages.
    """

    class SentAtOnce(ProducerFilter):
        def sending(self, asked: Sending) -> Outcome[Sent]:
            answer = asked.through(self.behind)
            cannot = isinstance(answer, Refused) and answer.mqrc == Mqrc.OPTIONS_ERROR
            if not cannot or not wanted(asked.message):
                return answer
            self.behind.set(Setting.DELAY, 0)
            return asked.through(self.behind)

    return SentAtOnce
