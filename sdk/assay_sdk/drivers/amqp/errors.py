"""Refusals off the wire: an AMQP error condition to a `Refused`.

A peer that names its reason code (I-6: ``x-opt-mqrc`` in the condition's info) is taken at its word through the one
table of reasons.  Elsewhere the condition alone decides, as in Apache Qpid JMS (``AmqpSupport``), and no code is made
up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, cast

from assay_sdk.amqp.terms import MQRC_KEY, OBJECTS_KEY
from assay_sdk.model.reasons import REASONS, JmsErrorKind, Mqrc, Refused, refused


class Condition(Protocol):
    """An error condition as the engine gives it."""

    @property
    def name(self) -> str:
        """``amqp:not-found``, or a name of the peer's own."""
        ...

    @property
    def description(self) -> str | None:
        """Text for people."""
        ...

    @property
    def info(self) -> object:
        """A map with more, or nothing."""
        ...


_STATED: Mapping[str, JmsErrorKind] = {
    # conditions that several reasons share: what a peer without reason codes means by them
    "amqp:not-found": JmsErrorKind.INVALID_DESTINATION,
    "amqp:illegal-state": JmsErrorKind.ILLEGAL_STATE,
    "amqp:not-implemented": JmsErrorKind.UNSUPPORTED,
    "amqp:invalid-field": JmsErrorKind.MESSAGING,
    "amqp:precondition-failed": JmsErrorKind.MESSAGING,
    "amqp:not-allowed": JmsErrorKind.MESSAGING,
    # conditions that no reason has (OASIS AMQP 1.0, 2.8.15 to 2.8.18, 4.5.8)
    "amqp:connection:redirect": JmsErrorKind.CONNECTION_LOST,
    "amqp:connection:framing-error": JmsErrorKind.CONNECTION_LOST,
    "amqp:link:redirect": JmsErrorKind.INVALID_DESTINATION,
    "amqp:link:stolen": JmsErrorKind.ILLEGAL_STATE,
    "amqp:transaction:timeout": JmsErrorKind.TRANSACTION_ROLLED_BACK,
    "amqp:transaction:unknown-id": JmsErrorKind.TRANSACTION_ROLLED_BACK,
}

KINDS: Mapping[str, JmsErrorKind] = {reason.condition: reason.kind for reason in REASONS.values()} | dict(_STATED)
"""Condition to JMS error class, for peers that give no reason code."""


def refusal(
    condition: Condition | None, doing: str, *objects: str, otherwise: JmsErrorKind = JmsErrorKind.MESSAGING
) -> Refused:
    """What the peer refused, as a value.

    Args:
        condition: The peer's error condition; None when it gave none.
        doing: What was refused, in words that follow "the broker refused".
        objects: Names of the objects at fault, unless the peer names them.
        otherwise: The class when there is no condition, or one that nobody knows.
    """
    if condition is None:
        return Refused(otherwise, f"the broker refused {doing} and gave no reason", objects=objects)
    info = condition.info if isinstance(condition.info, dict) else {}
    text = f"the broker refused {doing}: {condition.description or 'no description'} ({condition.name})"
    named = info.get(OBJECTS_KEY)
    at_fault = tuple(str(name) for name in cast("Iterable[object]", named)) if isinstance(named, list) else objects
    number = info.get(MQRC_KEY)
    if isinstance(number, int):
        try:
            return refused(Mqrc(number), text, *at_fault)
        except ValueError:  # a reason code newer than our table: its number is still worth telling
            return Refused(KINDS.get(condition.name, otherwise), text, mqrc=int(number), objects=at_fault)
    return Refused(KINDS.get(condition.name, otherwise), text, objects=at_fault)


def lost(text: str, mqrc: Mqrc = Mqrc.CONNECTION_BROKEN) -> Refused:
    """The connection is gone: how every open command ends."""
    return refused(mqrc, text)
