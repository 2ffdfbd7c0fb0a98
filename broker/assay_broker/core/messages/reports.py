"""Report options (MQRO) and the queue manager's report messages (DD-57, DD-72, DD-85)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay_broker.core.messages.bodies import body_of
from assay_broker.core.refusals import refusal
from assay_sdk.model.message import Body, Message, Property
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import MQMT_REPORT, REPORT_PROPERTIES, WHOLE_REPORT, Mqfb, Mqro

_EXCERPT = 100  # the number of bytes of the original message's body in a report "with data"


_ASKED = Mqro.EXCEPTION | Mqro.EXPIRATION | Mqro.COA | Mqro.COD | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY
_KNOWN = int(
    _ASKED
    | Mqro.EXCEPTION_WITH_FULL_DATA
    | Mqro.EXPIRATION_WITH_FULL_DATA
    | Mqro.COA_WITH_FULL_DATA
    | Mqro.COD_WITH_FULL_DATA
    | Mqro.PASS_CORREL_ID
    | Mqro.PASS_MSG_ID
    | Mqro.PASS_DISCARD_AND_EXPIRY
    | Mqro.DISCARD_MSG
)

_NAMES = frozenset({*REPORT_PROPERTIES, WHOLE_REPORT})

FEEDBACK: Mapping[Mqro, Mqfb] = MappingProxyType(
    {Mqro.EXPIRATION: Mqfb.EXPIRATION, Mqro.COA: Mqfb.COA, Mqro.COD: Mqfb.COD}
)
"""The feedback code (MQFB) of each kind of report; an exception report has the reason code instead."""


def options(message: Message) -> Mqro:
    """Return a message's report options (MQMD.Report)."""
    found = Mqro(0)
    for name in _NAMES:
        value = message.properties.get(name)
        if isinstance(value, int):
            found |= Mqro(value & 0xFFFFFFFF)
    return found


def check_options(message: Message) -> None:
    """Refuse report options that are not valid, and reports without a reply-to queue.

    Raises:
        RefusalError: The message has an unknown option, or an option for data without the report itself. Or it asks for
            a report and names no reply-to queue.
    """
    if _NAMES.isdisjoint(message.properties):
        return
    asked = options(message)
    if not asked:
        return
    wrong = int(asked) & ~_KNOWN
    for plain, (_, everything) in _WITH.items():
        bits = asked & everything
        if bits and plain not in bits:
            wrong |= int(bits)
    if wrong:
        raise refusal(Mqrc.REPORT_OPTIONS_ERROR, f"The report options 0x{wrong:08X} are not valid.")
    if asked & _ASKED and message.reply_to is None:
        raise refusal(Mqrc.MISSING_REPLY_TO_Q, "The message asks for a report, but names no reply-to queue.")


def wants(message: Message, kind: Mqro) -> bool:
    """Return whether a message asks for a kind of report, with or without data."""
    return bool(message.properties) and not _NAMES.isdisjoint(message.properties) and kind in options(message)


def report(
    original: Message, kind: Mqro, feedback: int, message_id: str, *, now_ms: int, expires_ms: int | None
) -> Message:
    """Build the report on a message, by MQMD's rules for MsgId, CorrelId, Persistence, Priority, Expiry and data.

    Args:
        original: The message on which to report.
        kind: The kind of report: ``Mqro.EXCEPTION``, ``EXPIRATION``, ``COA`` or ``COD``.
        feedback: The value of MQMD.Feedback: a reason code (MQRC), or a feedback code (MQFB).
        message_id: A new message id, for a report that does not get the original's id (MQRO_PASS_MSG_ID).
        now_ms: The time, in milliseconds since the epoch.
        expires_ms: When the original expires, in milliseconds since the epoch; None for never.

    Returns:
        The report, addressed to the original's reply-to queue.
    """
    asked = options(original)
    inherits = Mqro.PASS_DISCARD_AND_EXPIRY in asked
    properties: dict[str, Property] = {"JMS_IBM_MsgType": MQMT_REPORT, "JMS_IBM_Feedback": int(feedback)}
    if inherits and Mqro.DISCARD_MSG in asked:
        properties[WHOLE_REPORT] = int(Mqro.DISCARD_MSG)
    body = _data(body_of(original), asked, kind)
    return Message(
        message_id=original.message_id if Mqro.PASS_MSG_ID in asked else message_id,
        correlation_id=original.correlation_id if Mqro.PASS_CORREL_ID in asked else original.message_id,
        to=original.reply_to,
        durable=original.durable,
        priority=original.priority,
        creation_ms=now_ms,
        # A report on an expired message would expire at once if it inherited the expiry.
        expiry_ms=expires_ms if inherits and expires_ms is not None and expires_ms > now_ms else None,
        properties=properties,
        content_type=original.content_type if body is not None else None,
        body=body,
    )


_WITH: Mapping[Mqro, tuple[Mqro, Mqro]] = MappingProxyType(
    {
        Mqro.EXCEPTION: (Mqro.EXCEPTION_WITH_DATA, Mqro.EXCEPTION_WITH_FULL_DATA),
        Mqro.EXPIRATION: (Mqro.EXPIRATION_WITH_DATA, Mqro.EXPIRATION_WITH_FULL_DATA),
        Mqro.COA: (Mqro.COA_WITH_DATA, Mqro.COA_WITH_FULL_DATA),
        Mqro.COD: (Mqro.COD_WITH_DATA, Mqro.COD_WITH_FULL_DATA),
    }
)
"""For each kind of report: the option for the first 100 bytes of the body, and the option for the whole body."""


def _data(body: Body, asked: Mqro, kind: Mqro) -> Body:
    some, everything = _WITH[kind]
    if everything in asked or body is None:
        return body if everything in asked else None
    if some not in asked:
        return None
    if isinstance(body, str):
        return body.encode(errors="surrogatepass")[:_EXCERPT].decode(errors="ignore")
    return body[:_EXCERPT]
