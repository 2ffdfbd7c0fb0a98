"""Miniature scenarios for QS-04, QS-05, QS-32, PD-15, BT-07 and BT-10."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import message
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev

Fault = Literal["kill", "restart", "cut", "pause"]
SURE, ONCE = "at-least-once", "at-most-once"


def _light(
    seen: int = 1,
    *,
    qos: str = SURE,
    fault: Fault | None = None,
    away: bool = True,
    confirms: bool = False,
    receives: str | None = SURE,
    to_ms: int = 9_000,
    shared: bool = False,
    before: bool = False,
    notices: bool = True,
    credit: int | None = None,
) -> Telling:
    """Return a scenario of a message to a durable subscription.

    Args:
        seen: How often its subscriber receives the message.
        qos: The sender's quality of service; empty for a JMS client.
        fault: A fault after the send.
        away: Whether the subscriber is away during the send.
        confirms: Whether the subscriber confirms messages before the application has them.
        receives: The subscriber's quality of service; None for a JMS client.
        to_ms: The end of the last watch.
        shared: Whether the subscription is shared.
        before: Whether it receives the message once more, before the fault.
        notices: Whether the subscriber notices the fault.
        credit: The subscriber's credit; None for the client's default.
    """

    def tell(tale: Tale) -> None:
        def comes() -> str:
            confirming = confirms if receives else None
            tale.consumes("sub", TOPIC, name="s", qos=receives, auto_confirm=confirming, shared=shared, credit=credit)
            return tale.listens("sub", TOPIC)

        tale.connects("sub", "c")
        watch = comes()
        if qos:
            tale.produces(qos, to=TOPIC)
        tale.at(100)
        if away:
            tale.stops(watch, "sub", TOPIC)
        tale.sends(to=TOPIC)
        if before:
            tale.handed(actor="sub", of=TOPIC)
            tale.returns("sub")
        if fault is not None:
            tale.at(200).suffers(fault)
        if away or (fault is not None and notices):
            if not away:
                tale.stops(watch, "sub", TOPIC)
            tale.at(1_000)
            watch = comes()
        for _ in range(seen):
            tale.handed(actor="sub", of=TOPIC)
            tale.returns("sub")
        tale.at(to_ms).stops(watch, "sub", TOPIC)

    return tell


def _torn(
    seen: int = 1,
    *,
    fault: Fault | None = "cut",
    answered: bool = True,
    later: Literal["after", "meanwhile"] | None = None,
    qos: str = SURE,
    aborts: str | None = None,
    notices: bool = True,
) -> Telling:
    """Return a scenario of a send during which a connection is lost.

    Args:
        seen: How often a subscriber receives the message.
        fault: The fault during the send.
        answered: Whether the send returns.
        later: When the broker is killed: after the answer, or before it with an end after it.
        qos: The sender's quality of service.
        aborts: The client that drops its connection during the send.
        notices: Whether the subscriber notices the fault, and comes again.
    """

    def tell(tale: Tale) -> None:
        tale.connects("sub", "c")
        tale.consumes("sub", TOPIC, name="s", qos=SURE, auto_confirm=False)
        tale.produces(qos, to=TOPIC)
        watch = "" if notices else tale.listens("sub", TOPIC)
        call = tale.at(100).sends(to=TOPIC, answered=False)
        if aborts is not None:
            tale.asks_for("abort", aborts)
        if fault is not None:
            tale.suffers(fault)
        kill = tale.at(490).begins("kill") if later == "meanwhile" else None
        if answered:
            tale.at(500).answer(call)
        if kill is not None:
            tale.at(510).recovers(kill, "kill")
        if later == "after":
            tale.at(600).suffers("kill")
        if notices:
            tale.at(1_000).consumes("sub", TOPIC, name="s", qos=SURE, auto_confirm=False)
            watch = tale.listens("sub", TOPIC)
        for _ in range(seen):
            tale.handed(actor="sub", of=TOPIC)
            tale.returns("sub")
        tale.at(9_000).stops(watch, "sub", TOPIC)

    return tell


def _missed(
    order: str,
    *,
    priorities: tuple[int, int] = (4, 4),
    fault: Fault | None = None,
    openings: int = 1,
    marked: bool = False,
    senders: tuple[str, str] = ("sender", "sender"),
    shared: bool = False,
    leaves: str | None = "close-consumer",
) -> Telling:
    """Return a scenario of a durable subscription that misses the messages ``a`` and ``b``.

    Args:
        order: The messages in the order in which they come later.
        priorities: Their priorities.
        fault: A fault while the subscriber is away.
        openings: How often the subscriber comes before it receives them.
        marked: Whether they are marked as redelivered.
        senders: Their senders.
        shared: Whether the subscription is shared.
        leaves: The call with which the subscriber leaves before the messages; None if it only does not watch.
    """

    def tell(tale: Tale) -> None:
        tale.connects("sub", "c")
        tale.consumes("sub", TOPIC, name="s", shared=shared)
        if leaves is not None:
            tale.asks_for(leaves, "sub")
        tale.at(100)
        for key, priority, sender in zip("ab", priorities, senders, strict=True):
            args: dict[str, ev.Scalar] = {"mode": "persistent", "priority": priority}
            tale.answer(tale.call("send", sender, destination=TOPIC, args=args, msg=message(key)))
        if fault is not None:
            tale.at(200).suffers(fault)
        for _ in range(openings):
            tale.now_ns += 1_000_000_000
            tale.consumes("sub", TOPIC, name="s", shared=shared)
        watch = tale.listens("sub", TOPIC)
        for key in order:
            tale.handed(key, "sub", of=TOPIC, marked=marked)
            tale.returns("sub")
        tale.stops(watch, "sub", TOPIC)

    return tell


def _batched(
    order: str, *, batch: bool = True, raised: bool = False, cut: bool = False, other: bool = False
) -> Telling:
    """Return a scenario of the messages ``a`` and ``b`` of a queue, received in batches.

    Args:
        order: The messages in the order in which they come.
        batch: Whether they come in batches.
        raised: Whether a callback fails before.
        cut: Whether a connection is cut before.
        other: Whether the watch of another consumer ends before: its connection may be lost.
    """

    def tell(tale: Tale) -> None:
        tale.opens()
        tale.consumes()
        watch = tale.listens(size=2 if batch else None)
        if other:
            tale.consumes("other")
        spare = tale.listens("other") if other else None
        for key in "ab":
            tale.sends(key)
        if spare is not None:
            tale.stops(spare, "other")
        if cut:
            tale.suffers("cut")
        if raised:
            tale.returns(batch=0, ended="raised")
        for number, key in enumerate(order):
            tale.handed(key, batch=number // 2 if batch else None)
        tale.returns(batch=0 if batch else None)
        tale.stops(watch)

    return tell


def _lazily(
    *, ahead: bool = False, during: bool = False, accepted: bool = True, raised: bool = False, again: bool = False,
    ack: str = "dups-ok", late: bool = False,
) -> Telling:  # fmt: skip
    """Return a scenario of a batch in dups-ok mode.

    Args:
        ahead: Whether the client accepts the message before the application has it.
        during: Whether it accepts the message during the callback.
        accepted: Whether it accepts the message after the callback.
        raised: Whether the callback fails.
        again: Whether the message comes again then.
        ack: The session's mode.
        late: Whether it accepts the message only while the message is in the next batch, too.
    """

    def tell(tale: Tale) -> None:
        tale.sends("a")
        tale.opens(ack=ack)
        tale.consumes()
        tale.listens(size=1)
        if ahead:
            tale.settles("a")
        tale.handed("a", batch=0)
        if during:
            tale.settles("a")
        tale.returns(batch=0, ended="raised" if raised else "returned")
        if accepted:
            tale.settles("a")
        if again or late:
            tale.handed("a", batch=1, marked=True)
        if late:
            tale.settles("a")
            tale.returns(batch=1)

    return tell


_COPY, _FIRST = "m>s|c", "receiver-1/0/0"
AT_LEAST_ONCE = (
    Case("QS-04", "it is there for a subscriber that was away", _light(), {_COPY: KEPT}),
    Case("QS-04", "it is not there", _light(0), {_COPY: BROKEN}),
    Case("QS-04", "it is there after a cut", _light(fault="cut", away=False), {_COPY: KEPT}),
    Case("QS-04", "the cut lost it", _light(0, fault="cut", away=False), {_COPY: BROKEN}),
    Case("QS-04", "the topic may choose non-persistent", _light(0, fault="kill"), {}),
    Case("QS-04", "it was sent at most once", _light(0, qos=ONCE), {}),
    Case("QS-04", "a JMS client sent it", _light(0, qos=""), {}),
    Case("QS-04", "the subscriber confirms before the application has it", _light(0, confirms=True), {}),
    Case("QS-04", "the subscriber's credit may have ended", _light(0, credit=1), {}),
    Case("QS-04", "another sharer may hold it", _light(0, shared=True), {}),
    Case("QS-04", "no one waited", _light(0, to_ms=1_500), {}),
    Case("QS-04", "it came before the cut", _light(0, fault="cut", away=False, before=True), {}),
    Case("QS-04", "the subscriber may not have noticed the cut", _light(
        0, fault="cut", away=False, notices=False), {}),
    Case("QS-05", "it arrives after the cut", _torn(), {"m": KEPT}),
    Case("QS-05", "it arrives twice", _torn(2), {"m": KEPT}),
    Case("QS-05", "it does not arrive", _torn(0), {"m": BROKEN}),
    Case("QS-05", "nothing happened", _torn(fault=None), {}),
    Case("QS-05", "the send never returned", _torn(0, answered=False), {}),
    Case("QS-05", "a later kill may have lost it", _torn(0, later="after"), {}),
    Case("QS-05", "the broker may end just after its answer", _torn(0, later="meanwhile"), {}),
    Case("QS-05", "a pause loses no connection", _torn(fault="pause"), {}),
    Case("QS-05", "the sender drops its connection", _torn(fault=None, aborts="sender"), {"m": KEPT}),
    Case("QS-05", "another client drops its connection", _torn(fault=None, aborts="other"), {}),
    Case("QS-05", "the subscriber may not have noticed the cut", _torn(0, notices=False), {}),
    Case("QS-05", "a sender at most once need not", _torn(0, qos=ONCE), {}),
    Case("QS-32", "it is there after the kill", _light(qos="", fault="kill"), {_COPY: KEPT}),
    Case("QS-32", "it is lost by the restart", _light(0, qos="", fault="restart"), {_COPY: BROKEN}),
    Case("QS-32", "another kind of subscription", _light(0, qos="", fault="kill", receives=None), {}),
    Case("QS-32", "nothing ended the broker", _light(0, qos=""), {}),
    Case("QS-32", "an MQ Light client sent it", _light(0, fault="kill"), {}),
    Case("PD-15", "the missed messages come in order", _missed("ab"), {"b>s|c": KEPT}),
    Case("PD-15", "the missed messages come in reverse", _missed("ba"), {"b>s|c": BROKEN}),
    Case("PD-15", "a higher priority may overtake", _missed("ba", priorities=(4, 9)), {}),
    Case("PD-15", "two senders have no order", _missed("ba", senders=("sender", "other")), {}),
    Case("PD-15", "a restart may change the order", _missed("ba", fault="restart"), {}),
    Case("PD-15", "an earlier visit may have had them", _missed("ba", openings=2), {}),
    Case("PD-15", "they were given before", _missed("ba", marked=True), {}),
    Case("PD-15", "an earlier consumer may have had one", _missed("ba", leaves=None), {}),
    Case("PD-15", "a lost consumer may have had one", _missed("ba", leaves="abort"), {}),
    Case("PD-15", "other sharers may have had them", _missed("ba", shared=True), {}),
    Case("BT-07", "batches keep the order", _batched("ab"), {"b>queue://Q": KEPT}),
    Case("BT-07", "a batch turns the order round", _batched("ba"), {"b>queue://Q": BROKEN}),
    Case("BT-07", "single messages are no subject", _batched("ba", batch=False), {}),
    Case("BT-07", "a failed callback gives messages back", _batched("ba", raised=True), {}),
    Case("BT-07", "a lost consumer may have had one", _batched("ba", other=True), {}),
    Case("BT-07", "a cut gives messages back", _batched("ba", cut=True), {}),
    Case("BT-10", "accepted after the callback", _lazily(), {_FIRST: KEPT}),
    Case("BT-10", "accepted before the application has it", _lazily(ahead=True, accepted=False), {_FIRST: BROKEN}),
    Case("BT-10", "accepted during the callback", _lazily(during=True, accepted=False), {_FIRST: BROKEN}),
    Case("BT-10", "never accepted, and not given back", _lazily(accepted=False), {}),
    Case("BT-10", "a duplicate is allowed", _lazily(accepted=False, again=True), {_FIRST: KEPT}),
    Case("BT-10", "the callback failed, and it comes again", _lazily(accepted=False, raised=True, again=True), {
        _FIRST: KEPT}),
    Case("BT-10", "the callback failed, and it is accepted", _lazily(raised=True), {_FIRST: BROKEN}),
    Case("BT-10", "it accepts the first of two receptions late", _lazily(accepted=False, late=True), {_FIRST: KEPT}),
    Case("BT-10", "another mode", _lazily(ack="client"), {}),
)  # fmt: skip
"""The scenarios."""
MORE = (
    Case("PD-15", "high priorities come in reverse", _missed("ba", priorities=(9, 9)), {"b>s|c": BROKEN}),
    Case("PD-15", "low priorities come in reverse", _missed("ba", priorities=(0, 0)), {"b>s|c": BROKEN}),
)
"""Further scenarios, so that random histories break each rule."""
