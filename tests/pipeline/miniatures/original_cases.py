"""Miniature scenarios for DD-39: delayed messages that are received as they were sent, or altered."""

from __future__ import annotations

from collections.abc import Mapping

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import PRIORITY, TOPIC, Tale, Telling

from assay_evidence import events as ev

AS_DESTINATION = "as the destination defines"


def _received(
    *,
    delay_ms: int = 500,
    to: str = QUEUE,
    of: str | None = None,
    body: str | None = None,
    sent: Mapping[str, ev.Scalar] | None = PRIORITY,
    seen: Mapping[str, ev.Scalar] = PRIORITY,
    refused: bool = False,
    mode: str = "persistent",
    priority: int | str = 4,
) -> Telling:
    def tell(tale: Tale) -> None:
        tale.sends(to=to, delay_ms=delay_ms, shown=sent, refused=refused, mode=mode, priority=priority)
        tale.at(600).handed(of=of or to, body=body, shown=seen)

    return tell


def _altered_at_the_second_delivery(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.at(600).handed()
    tale.at(700).handed(body="altered")


def _altered_and_sent_twice(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.sends(delay_ms=500)
    tale.at(600).handed(body="altered")


def _altered_and_unanswered(tale: Tale) -> None:
    tale.sends(delay_ms=500, answered=False)
    tale.at(600).handed(body="altered")


def _only_browsed(tale: Tale) -> None:
    tale.sends(delay_ms=500)
    tale.at(600).browses("m")


ORIGINALS = (
    Case("DD-39", "it is received as it was sent", _received(), {"m": KEPT}),
    Case("DD-39", "a publication is received as it was sent", _received(to=TOPIC), {"m": KEPT}),
    Case("DD-39", "it has another body", _received(body="altered"), {"m": BROKEN}),
    Case("DD-39", "a publication has another body", _received(to=TOPIC, body="altered"), {"m": BROKEN}),
    Case("DD-39", "it has another priority", _received(seen={"JMSPriority": 5}), {"m": BROKEN}),
    Case(
        "DD-39",
        "it has another message id",
        _received(sent={"JMSMessageID": "ID:1"}, seen={"JMSMessageID": "ID:2"}),
        {"m": BROKEN},
    ),
    Case(
        "DD-39",
        "it gets a correlation id",
        _received(sent={"JMSCorrelationID": None}, seen={"JMSCorrelationID": "ID:1"}),
        {"m": BROKEN},
    ),
    Case(
        "DD-39",
        "it becomes persistent",
        _received(sent={"JMSDeliveryMode": "NON_PERSISTENT"}, seen={"JMSDeliveryMode": "PERSISTENT"}),
        {"m": BROKEN},
    ),
    Case("DD-39", "the second delivery has another body", _altered_at_the_second_delivery, {"m": BROKEN}),
    Case("DD-39", "the count of deliveries may differ", _received(seen={"JMSXDeliveryCount": 2}), {"m": KEPT}),
    Case("DD-39", "a header that the answer does not show", _received(sent={}), {"m": KEPT}),
    Case("DD-39", "a header that the receiver does not show", _received(seen={}), {"m": KEPT}),
    Case("DD-39", "the answer shows no message", _received(sent=None, body="altered"), {}),
    Case("DD-39", "a refused send is no subject", _received(refused=True, body="altered"), {}),
    Case("DD-39", "an unanswered send is no subject", _altered_and_unanswered, {}),
    Case("DD-39", "a message without a delay is no subject", _received(delay_ms=0, body="altered"), {}),
    Case("DD-39", "a message sent twice says nothing", _altered_and_sent_twice, {}),
    Case("DD-39", "it comes from another queue", _received(of="queue://DLQ", body="altered"), {}),
    Case("DD-39", "the destination chooses the persistence", _received(mode=AS_DESTINATION, body="altered"), {}),
    Case("DD-39", "the destination chooses the priority", _received(priority=AS_DESTINATION, body="altered"), {}),
    Case("DD-39", "a browse shows no content", _only_browsed, {}),
)
"""The scenarios of DD-39."""
