"""The tolerated variants of the rules of delivery delay."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import AttachSender, Command, Put
from assay_broker.core.effects import Answer
from assay_broker.core.settings import Settings
from assay_broker.defects.sends import is_delayed
from assay_broker.defects.shapes import replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant, sends
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc, Refused

_LATE_MS = 4_000
"""How late a variant releases messages, in milliseconds: a second less than a run's default limit for lateness."""

_GRID_MS = 4_500
"""The time between two looks of a variant at the staging queue, in milliseconds: half a second less than the limit."""


def _outliving(message: Message) -> Message:
    """Return a message that lives one millisecond longer, if it expires at its delivery time."""
    due_ms = message.delivery_time_ms
    return message if due_ms is None or message.expiry_ms != due_ms else replace(message, expiry_ms=due_ms + 1)


def _with(alter: Callable[[Settings], Settings]) -> Seams:
    """Return filters that alter the queue manager's settings."""
    return Seams(settings=alter)


_WORDS = {
    Mqrc.Q_FULL: "The destination has as many messages as it holds: its maximum depth is reached.",
    Mqrc.PUT_INHIBITED: "The destination is disabled for senders.",
    Mqrc.MSG_TOO_BIG_FOR_Q: "The message is larger than the destination takes.",
    Mqrc.NOT_AUTHORIZED: "The user may not send there.",
}
"""Other texts for refusals, by reason code; the document of delivery delay gives none of these codes."""

_FURTHER_WORDS = {
    Mqrc.Q_FULL: "There is no room for another message.",
    Mqrc.PUT_INHIBITED: "The destination takes no messages now: its administrator has stopped them.",
    Mqrc.MSG_TOO_BIG_FOR_Q: "The body has more bytes than the destination takes.",
    Mqrc.NOT_AUTHORIZED: "Access is denied.",
}
"""Texts for refusals, by reason code, that use no word of IBM MQ's names for the reasons."""


def _refusals(retell: Callable[[Refused], Refused]) -> Seams:
    """Return filters that change refusals with a code in `_WORDS`, of delayed sends and of senders' attaches."""

    def told(answer: Answer, asked: Command, now_ms: int, _view: View) -> Answer:
        why = answer.refused
        sends = isinstance(asked, AttachSender) or (isinstance(asked, Put) and is_delayed(asked, now_ms))
        return replace(answer, refused=retell(why)) if sends and why is not None and why.mqrc in _WORDS else answer

    return replies(told)


def _generally(why: Refused) -> Refused:
    """Return a refusal with its reason code and only a general text, as IBM MQ's client does."""
    return replace(why, text="JMSWMQ2007: Failed to send a message. Use the linked exception to find the cause.")


def _without_code(why: Refused) -> Refused:
    return replace(why, mqrc=None, text=_WORDS[Mqrc(why.mqrc or 0)], objects=())


def _in_further_words(why: Refused) -> Refused:
    return replace(why, mqrc=None, text=_FURTHER_WORDS[Mqrc(why.mqrc or 0)], objects=())


DELAY_VARIANTS = (
    Variant(
        name="reason-in-linked-exception",
        rules=("DD-19", "DD-21", "DD-30", "DD-78"),
        text="The text of a refused delayed send names no reason and no queue; only the reason code tells the reason.",
        allowed_by="DELAY:19 asks for a suitable message; IBM MQ's own client gives the reason in a linked exception.",
        apply=lambda: _refusals(_generally),
    ),
    Variant(
        name="refusals-without-reason-codes",
        rules=("DD-19", "DD-21", "DD-30", "DD-78"),
        text="The refusal of a delayed send has another text, no reason code, and names no queue.",
        allowed_by='DELAY:19 asks for a suitable message, "for example queue full"; lines 25 and 78 give no code.',
        apply=lambda: _refusals(_without_code),
    ),
    Variant(
        name="refusals-in-further-words",
        rules=("DD-19", "DD-21", "DD-30", "DD-78"),
        text="The refusal of a delayed send speaks of room, bytes and access, and has no reason code.",
        allowed_by='DELAY:19 asks for a suitable message, "for example queue full"; lines 25 and 78 give no code.',
        apply=lambda: _refusals(_in_further_words),
    ),
    Variant(
        name="delivered-at-expiry",
        rules=("DD-56",),
        text="A message that expires at its delivery time is delivered.",
        allowed_by="DELAY:62 says nothing of a time to live that equals the delay.",
        apply=lambda: sends(_outliving),
    ),
    Variant(
        name="released-late",
        rules=(
            "DD-03",
            "DD-06",
            "DD-27",
            "DD-31",
            "DD-36",
            "DD-38",
            "DD-50",
            "DD-52",
            "DD-55",
            "DD-57",
            "DD-70",
            "DD-73",
            "DD-75",
            "DD-76",
            "DD-77",
            "DD-81",
            "DD-83",
        ),
        text="Every delayed message is released 4 s after its delay, within the run's limit for lateness.",
        allowed_by="DELAY:7 says that the message is delivered once the delay is over, and gives no limit.",
        apply=lambda: _with(lambda settings: replace(settings, release_after_ms=_LATE_MS)),
    ),
    Variant(
        name="released-on-a-grid",
        rules=("DD-02", "DD-03", "DD-20", "DD-27", "DD-38", "DD-55", "DD-57", "DD-77", "DD-81", "DD-85"),
        text="Delayed messages are released every 4.5 s, so that one is late by 1 ms and the next by 4 s.",
        allowed_by="DELAY:7 says that the message is delivered once the delay is over, and gives no limit.",
        apply=lambda: _with(lambda settings: replace(settings, release_every_ms=_GRID_MS)),
    ),
    Variant(
        name="tried-again-rarely",
        rules=("DD-57", "DD-65", "DD-71"),
        text="A message that neither its target nor the dead-letter queue accepted is tried again after ten seconds.",
        allowed_by="DELAY:74 says that the message is tried again later.",
        apply=lambda: _with(lambda settings: replace(settings, retry_ms=10_000)),
    ),
)
