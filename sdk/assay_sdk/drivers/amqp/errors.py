"""Conversion of AMQP error conditions to refusals.

If the condition's info has a reason code (``x-opt-mqrc``), the refusal has that code and its error kind.  Otherwise the
condition alone decides the error kind, as in Apache Qpid JMS (``AmqpSupport``), and the refusal has no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, cast

from assay_sdk.amqp.terms import MQRC_KEY, OBJECTS_KEY
from assay_sdk.model.reasons import REASONS, JmsErrorKind, Mqrc, Refused, refused


class Condition(Protocol):
    """An error condition of the broker, with the attributes of Proton's class."""

    @property
    def name(self) -> str:
        """Name of the condition, such as ``amqp:not-found``."""
        ...

    @property
    def description(self) -> str | None:
        """Description for people; None if the broker sent none."""
        ...

    @property
    def info(self) -> object:
        """Map with details; None if the broker sent none."""
        ...


_STATED: Mapping[str, JmsErrorKind] = {
    # Conditions that stand for several reason codes: the error kind if the broker sends no reason code.
    "amqp:not-found": JmsErrorKind.INVALID_DESTINATION,
    "amqp:illegal-state": JmsErrorKind.ILLEGAL_STATE,
    "amqp:not-implemented": JmsErrorKind.UNSUPPORTED,
    "amqp:invalid-field": JmsErrorKind.MESSAGING,
    "amqp:precondition-failed": JmsErrorKind.MESSAGING,
    "amqp:not-allowed": JmsErrorKind.MESSAGING,
    # Conditions that have no reason code (OASIS AMQP 1.0, 2.8.15 to 2.8.18, 4.5.8).
    "amqp:connection:redirect": JmsErrorKind.CONNECTION_LOST,
    "amqp:connection:framing-error": JmsErrorKind.CONNECTION_LOST,
    "amqp:link:redirect": JmsErrorKind.INVALID_DESTINATION,
    "amqp:link:stolen": JmsErrorKind.ILLEGAL_STATE,
    "amqp:transaction:timeout": JmsErrorKind.TRANSACTION_ROLLED_BACK,
    "amqp:transaction:unknown-id": JmsErrorKind.TRANSACTION_ROLLED_BACK,
}

KINDS: Mapping[str, JmsErrorKind] = {reason.condition: reason.kind for reason in REASONS.values()} | dict(_STATED)
"""Error kind of each condition, for brokers that send no reason code."""


def refusal(
    condition: Condition | None, doing: str, *objects: str, otherwise: JmsErrorKind = JmsErrorKind.MESSAGING
) -> Refused:
    """Return the refusal for a broker's error condition.

    Args:
        condition: Error condition; None if the broker sent none.
        doing: Action that the broker refused, in words that follow "the broker refused".
        objects: Names of the objects that caused the refusal, used unless the condition names objects.
        otherwise: Error kind if the condition is None or unknown.
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
        except ValueError:  # `Mqrc` lacks the reason code; the refusal still has the number
            return Refused(KINDS.get(condition.name, otherwise), text, mqrc=int(number), objects=at_fault)
    return Refused(KINDS.get(condition.name, otherwise), text, objects=at_fault)
