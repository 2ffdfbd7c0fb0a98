"""Translations between the model's values and the core's."""

from __future__ import annotations

from tests.broker.model.words import (
    REPLY,
    TEMPORARY,
    Sent,
)

from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.model.report_options import Mqro

REPORTS = int(Mqro.EXCEPTION | Mqro.EXPIRATION)

Predicted = str | None
"""The word for a refusal; None for success."""


def address(name: str) -> Address:
    """Return the address of a queue or topic from the model's name."""
    if name == TEMPORARY:
        return Address(AddressKind.TEMPORARY_QUEUE, name)
    return Address(AddressKind.TOPIC if name.startswith("T") else AddressKind.QUEUE, name)


def message_of(sent: Sent, to: str) -> Message:
    """Return the core's message for a send in the model."""
    properties: dict[str, str | int | float | bool | bytes | None] = {"color": sent.color}
    options = (REPORTS if sent.report else 0) | (int(Mqro.DISCARD_MSG) if sent.discard else 0)
    if options:
        properties["JMS_IBM_MQMD_Report"] = options
    if sent.last:
        properties["JMS_IBM_Last_Msg_In_Group"] = True
    return Message(
        message_id=sent.text,
        body=sent.text,
        to=address(to),
        durable=sent.persistent,
        priority=sent.priority,
        expiry_ms=sent.expires_ms,
        delivery_time_ms=sent.due_ms,
        group_id=sent.group,
        group_sequence=sent.seq if sent.group else None,
        reply_to=address(REPLY) if sent.report else None,
        properties=properties,
    )


def text_of(message: Message) -> str:
    """Return the model's name of a message: its id, or the id of the reported message."""
    feedback = message.properties.get("JMS_IBM_Feedback")
    return str(message.message_id) if feedback is None else f"{feedback} on {message.correlation_id}"


def word_of(refused: Refused | None) -> Predicted:
    """Return the model's word for a refusal."""
    if refused is None:
        return None
    return Mqrc(refused.mqrc).name if refused.mqrc is not None else refused.kind.name
