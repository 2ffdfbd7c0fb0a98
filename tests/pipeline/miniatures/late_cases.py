"""Miniature scenarios for the rules about publications and later subscribers (PD-12, PD-14, PD-27, PD-34, QS-31)."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import refusal
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import PRIORITY, TOPIC, Tale, Telling, preceded

SURE, ONCE = "at-least-once", "at-most-once"


def _published(
    *,
    seen: int = 0,
    by: str = "late",
    first: bool = True,
    closes: bool = False,
    lost: bool = False,
    fault: Literal["kill", "powerloss", "restart", "cut"] | None = None,
    mode: str = "persistent",
    shared: bool = False,
    durable: bool = False,
    qos: str | None = None,
    early_ms: int | None = None,
    to_ms: int = 5_000,
    retained: bool = False,
    delay_ms: int = 0,
    member: str | None = None,
    of: str = TOPIC,
    light: str | None = None,
    then: Literal["closes", "receives it"] | None = None,
    cut_ms: int | None = None,
) -> Telling:
    """Return a scenario of a publication at 1 s, and of a consumer that comes at 2 s.

    Args:
        seen: How often the later consumer receives the publication.
        by: The later consumer's name; the first one is called ``first``.
        first: Whether a non-durable consumer comes before the publication.
        closes: Whether it closes before the publication.
        lost: Whether it loses its connection before the publication.
        fault: A fault between the publication and the later consumer.
        mode: The publication's mode.
        shared: Whether the later consumer shares its subscription.
        durable: Whether its subscription is durable.
        qos: The quality of service of both consumers.
        early_ms: When the later consumer comes, if not at 2 s.
        to_ms: The end of its watch.
        retained: Whether the broker retains the publication.
        delay_ms: The publication's delay.
        member: The queue manager of a further connection.
        of: The destination of the first consumer.
        light: The quality of service of the sender, if it is an MQ Light client.
        then: What the first consumer does after the publication.
        cut_ms: When the later consumer's connection is cut.
    """

    def tell(tale: Tale) -> None:
        if member is not None:
            tale.connects("far", member=member)
        if light is not None:
            tale.produces(light, to=TOPIC)
        watch = None
        if first:
            watch = _comes_first(tale, of, qos, "close-consumer" if closes else "abort" if lost else None)
        if early_ms is not None:
            tale.at(early_ms).consumes(by, TOPIC)
            later = tale.listens(by, TOPIC)
        shown = {**PRIORITY, "JMS_IBM_Retain": 1} if retained else PRIORITY
        tale.at(1_000).sends(to=TOPIC, mode=mode, delay_ms=delay_ms, shown=shown)
        _goes_on(tale, then, fault, watch, of)
        if early_ms is None:
            tale.at(2_000).consumes(by, TOPIC, name="s" if durable or shared else None, shared=shared, qos=qos)
            later = tale.listens(by, TOPIC)
        if cut_ms is not None:
            tale.at(cut_ms).suffers("cut")
        _receives(tale, by, seen)
        tale.at(to_ms).stops(later, by, TOPIC)

    return tell


def _goes_on(tale: Tale, then: str | None, fault: str | None, watch: str | None, of: str) -> None:
    """Tell what happens between the publication and the later consumer."""
    if then == "closes":
        tale.asks_for("close-consumer", "first")
        tale.stops(watch or "", "first", of)
        watch = None
    elif then == "receives it":
        tale.handed(actor="first", of=TOPIC)
        tale.returns("first")
    if fault is not None:
        tale.at(1_200).suffers(fault)
    if watch is not None:
        tale.stops(watch, "first", of)


def _receives(tale: Tale, by: str, times: int) -> None:
    for _ in range(times):
        tale.now_ns += 100_000_000
        tale.handed(actor=by, of=TOPIC, link=2)
        tale.returns(by, link=2)


def _is_refused(tale: Tale) -> None:
    tale.answer(tale.call("consumer", "late", destination=TOPIC), refusal())


def _is_elsewhere(tale: Tale) -> None:
    tale.consumes("first", "topic://ELSEWHERE")


def _is_administered(tale: Tale) -> None:
    tale.commands("DEFINE SUB(S)")


def _comes_first(tale: Tale, of: str, qos: str | None, leaves: str | None) -> str | None:
    """Tell of the first consumer, and return its watch if it stays."""
    tale.consumes("first", of, qos=qos)
    watch = tale.listens("first", of)
    tale.at(500)
    if leaves is None:
        return watch
    tale.asks_for(leaves, "first")
    tale.stops(watch, "first", of)
    return None


def _buffered(tale: Tale) -> None:
    """Tell of a consumer that reconnects, and of its old link, which then hands over what it had."""
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    tale.sends("other", to=TOPIC)
    tale.handed("other", "a", of=TOPIC)
    tale.at(1_000).sends(to=TOPIC)
    tale.asks_for("abort", "a")
    tale.stops(watch, "a", TOPIC)
    tale.at(1_100).consumes("a", TOPIC)
    tale.handed(actor="a", of=TOPIC)


LATE = (
    Case("PD-14", "a later subscriber gets nothing", _published(), {"m": KEPT}),
    Case("PD-14", "a later subscriber gets it", _published(seen=1), {"m": BROKEN}),
    Case("PD-14", "the first subscriber gets nothing after a new subscription", _published(by="first"), {"m": KEPT}),
    Case("PD-14", "the first subscriber gets it again", _published(by="first", seen=1), {"m": BROKEN}),
    Case("PD-14", "the subscriber was there before", _published(early_ms=900, seen=1), {}),
    Case("PD-14", "a durable subscription may be older", _published(durable=True, seen=1), {}),
    Case("PD-14", "a sharer may have kept the subscription open", _published(shared=True, seen=1), {}),
    Case("PD-14", "the broker retains it", _published(retained=True, seen=1), {}),
    Case("PD-14", "a delayed publication is another rule's", _published(delay_ms=5_000, seen=1), {}),
    Case("PD-14", "another queue manager may publish it later", _published(member="QM2", seen=1), {}),
    Case("PD-14", "no one waited for long", _published(to_ms=2_500), {}),
    Case("PD-14", "a kill is another rule's", _published(fault="kill", seen=1), {}),
    Case("PD-14", "a cut is no excuse", _published(fault="cut", seen=1), {"m": BROKEN}),
    Case("PD-14", "an old link hands over what it has", _buffered, {}),
    Case("PD-12", "a closed subscription collects nothing", _published(closes=True), {"m": KEPT}),
    Case("PD-12", "a closed subscription goes on", _published(closes=True, seen=1), {"m": BROKEN}),
    Case("PD-12", "a lost connection may be noticed late", _published(lost=True, seen=1), {}),
    Case("PD-12", "nobody had closed", _published(seen=1), {}),
    Case("PD-27", "a restart ends the subscription", _published(fault="restart"), {"m": KEPT}),
    Case("PD-27", "a kill ends the subscription", _published(fault="kill"), {"m": KEPT}),
    Case("PD-27", "it comes after the kill", _published(fault="kill", seen=1), {"m": BROKEN}),
    Case("PD-27", "no subscription was there", _published(fault="kill", first=False, seen=1), {}),
    Case("PD-27", "a kill loses a non-persistent one anyway", _published(fault="kill", mode="non-persistent"), {}),
    Case("PD-27", "a broker can save it before it stops", _published(fault="restart", light=SURE), {"m": KEPT}),
    Case("PD-27", "a non-persistent one may be on its way", _published(fault="restart", mode="non-persistent"), {}),
    Case("PD-27", "the topic may choose non-persistent", _published(fault="kill", light=SURE), {}),
    Case("PD-27", "a restart before says nothing of a kill", preceded(
        lambda tale: tale.suffers("restart"), _published(fault="kill", light=SURE)), {}),
    Case("PD-27", "the subscription was closed before the kill", _published(fault="kill", then="closes"), {}),
    Case("PD-27", "the subscriber had received it", _published(fault="kill", then="receives it"), {}),
    Case("PD-12", "another subscription of the client was closed", preceded(
        _is_elsewhere, _published(closes=True)), {}),
    Case("PD-14", "a cut may hide it", _published(cut_ms=2_500), {}),
    Case("PD-14", "a non-persistent one may be on its way", _published(mode="non-persistent", seen=1), {}),
    Case("PD-34", "a broker may have kept a refused subscription", preceded(
        _is_refused, _published(first=False, durable=True, seen=1)), {}),
    Case("PD-34", "an administrator defined a subscription", preceded(
        _is_administered, _published(first=False, durable=True, seen=1)), {}),
    Case("PD-14", "a client that sends at most once may be late", _published(light=ONCE, seen=1), {}),
    Case("PD-34", "no later subscriber gets it", _published(first=False), {"m": KEPT}),
    Case("PD-34", "a later subscriber gets it", _published(first=False, seen=1), {"m": BROKEN}),
    Case("PD-34", "a later durable subscriber gets it", _published(first=False, durable=True, seen=1), {"m": BROKEN}),
    Case("PD-34", "a subscriber was there before", _published(seen=1), {}),
    Case("PD-34", "a pattern may match the topic", _published(of="topic://#", seen=1), {}),
    Case("PD-34", "a non-persistent one", _published(first=False, mode="non-persistent"), {}),
    Case("QS-31", "a stop ends the subscription", _published(fault="restart", qos=ONCE), {"m": KEPT}),
    Case("QS-31", "it comes after the stop", _published(fault="restart", qos=ONCE, seen=1), {"m": BROKEN}),
    Case("QS-31", "other qualities of service", _published(fault="restart", seen=1), {}),
    Case("QS-31", "nothing ended the broker", _published(qos=ONCE, seen=1), {}),
)  # fmt: skip
"""The scenarios."""
MORE = (
    Case("QS-31", "a kill ends the subscription", _published(fault="kill", qos=ONCE), {"m": KEPT}),
    Case("QS-31", "a stop ends what was not persistent", _published(fault="restart", qos=ONCE, light=SURE), {
        "m": KEPT}),
)  # fmt: skip
"""Further scenarios, so that random histories keep each rule."""

WITHOUT_POWER = (
    Case("PD-27", "a loss of power ends the subscription", _published(fault="powerloss"), {"m": KEPT}),
    Case("PD-27", "it comes after the loss of power", _published(fault="powerloss", seen=1), {"m": BROKEN}),
    Case("PD-27", "a loss of power loses what the topic may choose", _published(fault="powerloss", light=SURE), {}),
)
"""Scenarios in which the broker loses its power."""
