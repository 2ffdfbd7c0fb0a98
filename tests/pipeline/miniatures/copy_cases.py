"""Miniature scenarios for the rules about copies of messages on queues and in subscriptions (PD-13 to PD-33)."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev

Fault = Literal["kill", "powerloss", "restart", "cut"]
Upset = Literal["kill", "cut", "raised", "rollback", "closed"]
LIGHT = "non-persistent"


def _subscribed(
    seen: int = 1,
    *,
    mode: str = "persistent",
    away: bool = True,
    fault: Fault | None = None,
    reopened_ms: int = 1_000,
    to_ms: int = 9_000,
    client: str | None = "c",
    shared: bool = False,
    selector: str | None = None,
    admin: str | None = None,
    body: str | None = None,
    marked: bool = False,
    deleted: bool = False,
    light: bool = False,
    qos: str | None = None,
) -> Telling:
    """Return a scenario of a message to a topic with a durable subscription, whose subscriber is away or active.

    `light` tells whether the sender is an MQ Light client; `qos` is the subscriber's quality of service, if it is one.
    """

    def tell(tale: Tale) -> None:
        if light:
            tale.produces("at-least-once", to=TOPIC)
        if client is not None:
            tale.connects("sub", client)
        tale.consumes("sub", TOPIC, name="news", shared=shared, selector=selector, qos=qos)
        watch = tale.listens("sub", TOPIC)
        if away:
            tale.at(100).stops(watch, "sub", TOPIC)
        if deleted:
            tale.answer(tale.call("unsubscribe", "sub", args={"name": "news"}))
        tale.at(200).sends(to=TOPIC, mode=mode)
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        if fault:
            tale.at(300).suffers(fault)
        if away:
            tale.at(reopened_ms).consumes("sub", TOPIC, name="news", shared=shared, selector=selector, qos=qos)
            watch = tale.listens("sub", TOPIC)
        for _ in range(seen):
            tale.now_ns += 100_000_000
            tale.handed(actor="sub", of=TOPIC, body=body, marked=marked)
            tale.returns("sub")
        tale.at(to_ms).stops(watch, "sub", TOPIC)

    return tell


def _namesakes(*seen: str) -> Telling:
    """Return a scenario with one subscription name under two client ids."""

    def tell(tale: Tale) -> None:
        watches = {}
        for actor in "ab":
            tale.connects(actor, f"client-{actor}")
            tale.consumes(actor, TOPIC, name="news")
            watches[actor] = tale.listens(actor, TOPIC)
        tale.at(10).sends(to=TOPIC)
        for actor in seen:
            tale.at(100).handed(actor=actor, of=TOPIC)
            tale.returns(actor)
        for actor in "ab":
            tale.at(5_000).stops(watches[actor], actor, TOPIC)

    return tell


def _collects_again(seen: int, *, reopened: bool = False) -> Telling:
    """Return a scenario in which the message is sent after a restart, before the subscriber comes back."""

    def tell(tale: Tale) -> None:
        tale.connects("sub", "c")
        tale.consumes("sub", TOPIC, name="news")
        tale.suffers("restart")
        if reopened:
            tale.consumes("sub", TOPIC, name="news")
        tale.at(200).sends(to=TOPIC)
        tale.at(300).consumes("sub", TOPIC, name="news")
        watch = tale.listens("sub", TOPIC)
        for _ in range(seen):
            tale.handed(actor="sub", of=TOPIC)
            tale.returns("sub")
        tale.at(5_000).stops(watch, "sub", TOPIC)

    return tell


def _live(
    seen: int = 1,
    *,
    mode: str = "persistent",
    selector: str | None = None,
    to_ms: int = 5_000,
    fault: Fault | None = None,
    stopped: bool = False,
    far: bool = False,
    face: str | None = None,
    delay_ms: int = 0,
) -> Telling:
    """Return a scenario of a message to a topic with an active non-durable subscriber.

    `stopped` tells whether the subscriber's connection is stopped, and `far` whether a client has another queue
    manager; `face` is the sender's.
    """

    def tell(tale: Tale) -> None:
        if face is not None:
            tale.connects("sender", face=face)
        if far:
            tale.connects("far", member="QM2")
        tale.consumes("live", TOPIC, selector=selector)
        watch = tale.listens("live", TOPIC)
        if stopped:
            tale.asks_for("stop-connection", "live")
        tale.at(10).sends(to=TOPIC, mode=mode, delay_ms=delay_ms)
        if fault:
            tale.suffers(fault)
        for _ in range(seen):
            tale.handed(actor="live", of=TOPIC)
            tale.returns("live")
        tale.at(to_ms).stops(watch, "live", TOPIC)

    return tell


def _upset(tale: Tale, what: Upset | None, actor: str) -> None:
    """Add an event after which a broker may deliver a message again."""
    match what:
        case "kill" | "cut":
            tale.suffers(what, took_ms=0)
        case "raised":
            tale.returns(actor, ended="raised")
        case "rollback":
            tale.ends_unit("u", "rollback")
        case "closed":
            tale.answer(tale.call("close-consumer", actor))
        case None:
            pass


def _command(tale: Tale, command: str | None) -> None:
    if command is not None:
        tale.tell(ev.Admin, call="c", command=command)


def _queued(
    *seen_by: str,
    mode: str = LIGHT,
    waiting: str = "ab",
    later: str = "",
    between: Upset | None = None,
    before: bool = False,
    admin: str | None = None,
    body: str | None = None,
    marked: bool = False,
    to_ms: int = 5_000,
    defined: str | None = None,
    browsed: bool = False,
) -> Telling:
    """Return a scenario of a message on a queue.

    Args:
        seen_by: The consumers that receive it, in order.
        mode: Its delivery mode.
        waiting: The consumers that watch through the send.
        later: The consumers that come after the send.
        between: An event before the last reception.
        before: Whether the event is before the first reception instead.
        admin: A command after the send.
        body: The body as received.
        marked: Whether the receptions after the first are marked as redelivered.
        to_ms: The end of the watches.
        defined: A command before the send.
        browsed: Whether a browse lists the message.
    """

    def tell(tale: Tale) -> None:
        watches = {}
        _command(tale, defined)
        for actor in waiting:
            tale.consumes(actor)
            watches[actor] = tale.listens(actor)
        tale.at(10).sends(mode=mode)
        _command(tale, admin)
        if before:
            _upset(tale, between, "a")
        for actor in later:
            tale.at(500).consumes(actor)
            watches[actor] = tale.listens(actor)
        for turn, actor in enumerate(seen_by):
            if turn == len(seen_by) - 1 and not before:
                _upset(tale, between, seen_by[0])
            tale.handed(actor=actor, body=body, marked=marked and turn > 0)
            tale.returns(actor)
        if browsed:
            tale.at(3_000).browses("m")
        for actor, watch in watches.items():
            tale.at(to_ms).stops(watch, actor)

    return tell


def _attached(mode: str = "persistent", of: str = TOPIC) -> Telling:
    """Return a scenario of a message for a consumer that is attached through the send, and watches only afterwards."""

    def tell(tale: Tale) -> None:
        tale.connects("sub", "c")
        tale.consumes("sub", of, name="news" if of == TOPIC else None)
        tale.at(200).sends(to=of, mode=mode)
        watch = tale.at(300).listens("sub", of)
        tale.handed(actor="sub", of=of)
        tale.returns("sub")
        tale.at(5_000).stops(watch, "sub", of)

    return tell


def _on_a_lost_connection(to_ms: int) -> Telling:
    """Return a scenario of a message for a queue's only consumer, which loses its connection and comes again."""

    def tell(tale: Tale) -> None:
        tale.sends()
        tale.at(500).consumes()
        watch = tale.listens()
        tale.at(600).stops(watch)
        tale.asks_for("abort")
        tale.at(700).consumes()
        watch = tale.listens()
        tale.at(to_ms).stops(watch)

    return tell


def _as_the_broker_ends(mode: str = "persistent", of: str = TOPIC) -> Telling:
    """Return a scenario of a message that comes after the begin of a restart, before the broker's process has ended."""

    def tell(tale: Tale) -> None:
        tale.connects("sub", "c")
        tale.consumes("sub", of, name="news" if of == TOPIC else None)
        watch = tale.listens("sub", of)
        tale.at(200).sends(to=of, mode=mode)
        fault = tale.at(300).begins("restart")
        tale.at(310).handed(actor="sub", of=of)
        tale.returns("sub")
        tale.at(350).stops(watch, "sub", of)
        tale.at(900).recovers(fault, "restart")

    return tell


_NEWS = "m>news|c"
COPIES = (
    Case("PD-13", "what was missed is there", _subscribed(), {_NEWS: KEPT}),
    Case("PD-13", "what was missed is not there", _subscribed(0), {_NEWS: BROKEN}),
    Case("PD-13", "no one waited for it", _subscribed(0, to_ms=1_900), {}),
    Case("PD-13", "the subscriber was active", _subscribed(away=False), {}),
    Case("PD-13", "a selector excuses the missing copy", _subscribed(0, selector="x = 1"), {}),
    Case("PD-13", "the subscription was deleted before", _subscribed(0, deleted=True), {}),
    Case("PD-13", "another sharer may hold it", _subscribed(0, shared=True), {}),
    Case("PD-13", "the client id is unknown", _subscribed(0, client=None), {}),
    Case("PD-13", "an administrator may have cleared it", _subscribed(0, admin="CLEAR QLOCAL(S)"), {}),
    Case("PD-13", "a kill between is another rule's", _subscribed(0, fault="kill"), {}),
    Case("PD-16", "each client id has its copy", _namesakes("a", "b"), {
        "m>news|client-a": KEPT, "m>news|client-b": KEPT}),
    Case("PD-16", "one client id has both copies", _namesakes("a", "a"), {
        "m>news|client-a": KEPT, "m>news|client-b": BROKEN}),
    Case("PD-16", "one client id alone", _subscribed(), {}),
    Case("PD-18", "one of two consumers gets it", _queued("a"), {"m": KEPT}),
    Case("PD-18", "both consumers get it", _queued("a", "b"), {"m": BROKEN}),
    Case("PD-18", "the second one's is marked", _queued("a", "b", marked=True), {}),
    Case("PD-18", "a failed callback between", _queued("a", "b", between="raised"), {}),
    Case("PD-18", "a lost connection between", _queued("a", "b", between="cut"), {}),
    Case("PD-18", "a rollback between", _queued("a", "b", between="rollback"), {}),
    Case("PD-18", "the first consumer closed between", _queued("a", "b", between="closed"), {}),
    Case("PD-18", "a lost connection before both", _queued("a", "b", between="cut", before=True), {}),
    Case("PD-18", "kept until a consumer comes", _queued("a", mode="persistent", waiting="", later="a"), {"m": KEPT}),
    Case("PD-18", "not kept until a consumer comes", _queued(mode="persistent", waiting="", later="a"), {"m": BROKEN}),
    Case("PD-18", "another consumer may hold it", _queued(mode="persistent", waiting="", later="ab"), {}),
    Case("PD-21", "it comes once", _queued("a", waiting="a"), {"m": KEPT}),
    Case("PD-21", "it does not come", _queued(waiting="a"), {"m": BROKEN}),
    Case("PD-21", "it comes twice", _queued("a", "a", waiting="a"), {"m": BROKEN}),
    Case("PD-21", "it comes twice and is marked", _queued("a", "a", waiting="a", marked=True), {}),
    Case("PD-21", "no consumer was connected", _queued(waiting="", later="a"), {}),
    Case("PD-21", "the watch ends too early", _queued(waiting="a", to_ms=900), {}),
    Case("PD-21", "a cut excuses the loss", _queued(waiting="a", between="cut", before=True), {}),
    Case("PD-21", "an administrator may have cleared it", _queued(waiting="a", admin="CLEAR QLOCAL(Q)"), {}),
    Case("PD-22", "it comes after the kill", _queued("a", between="kill"), {"m": KEPT}),
    Case("PD-22", "it comes altered after the kill", _queued("a", between="kill", body="x"), {"m": BROKEN}),
    Case("PD-22", "it is lost by the kill", _queued(between="kill", before=True), {}),
    Case("PD-23", "it is there after the kill", _subscribed(fault="kill"), {_NEWS: KEPT}),
    Case("PD-23", "it is lost by the restart", _subscribed(0, fault="restart"), {_NEWS: BROKEN}),
    Case("PD-23", "no one waited after the kill", _subscribed(0, fault="kill", to_ms=1_900), {}),
    Case("PD-24", "an active subscriber gets it", _subscribed(away=False), {_NEWS: KEPT}),
    Case("PD-24", "an active subscriber misses it", _subscribed(0, away=False), {_NEWS: BROKEN}),
    Case("PD-24", "the subscriber was away", _subscribed(0), {}),
    Case("PD-25", "it is there without a restart", _subscribed(), {_NEWS: KEPT}),
    Case("PD-25", "it is there after a restart", _subscribed(fault="restart"), {_NEWS: KEPT}),
    Case("PD-25", "it is not there after a kill", _subscribed(0, fault="kill"), {_NEWS: BROKEN}),
    Case("PD-26", "an active subscriber gets it", _live(), {"m>live#1": KEPT}),
    Case("PD-26", "an active subscriber misses it", _live(0), {"m>live#1": BROKEN}),
    Case("PD-26", "a selector excuses the missing copy", _live(0, selector="x = 1"), {}),
    Case("PD-26", "the watch ends too early", _live(0, to_ms=900), {}),
    Case("PD-26", "a cut excuses the missing copy", _live(0, fault="cut"), {}),
    Case("PD-28", "an active durable subscriber gets it", _subscribed(away=False, mode=LIGHT), {_NEWS: KEPT}),
    Case("PD-28", "an active durable subscriber misses it", _subscribed(0, away=False, mode=LIGHT), {_NEWS: BROKEN}),
    Case("PD-28", "a kill excuses the loss", _subscribed(0, away=False, mode=LIGHT, fault="kill"), {}),
    Case("PD-29", "it comes later", _subscribed(mode=LIGHT), {_NEWS: KEPT}),
    Case("PD-29", "it does not come later", _subscribed(0, mode=LIGHT), {}),
    Case("PD-29", "it comes altered", _subscribed(mode=LIGHT, body="x"), {_NEWS: BROKEN}),
    Case("PD-29", "it comes twice", _subscribed(2, mode=LIGHT), {_NEWS: BROKEN}),
    Case("PD-30", "it outlives the restart", _subscribed(mode=LIGHT, fault="restart"), {_NEWS: KEPT}),
    Case("PD-30", "it is lost by the restart", _subscribed(0, mode=LIGHT, fault="restart"), {}),
    Case("PD-30", "it comes altered", _subscribed(mode=LIGHT, fault="kill", body="x"), {_NEWS: BROKEN}),
    Case("PD-30", "the subscription collects again", _collects_again(1), {_NEWS: KEPT}),
    Case("PD-30", "the subscription is gone", _collects_again(0), {_NEWS: BROKEN}),
    Case("PD-30", "the subscription was opened again", _collects_again(0, reopened=True), {}),
    Case("PD-32", "it comes later", _queued("a", waiting="", later="a"), {"m": KEPT}),
    Case("PD-32", "it is lost", _queued(waiting="", later="a"), {}),
    Case("PD-32", "it comes altered", _queued("a", waiting="", later="a", body="x"), {"m": BROKEN}),
    Case("PD-32", "it comes twice", _queued("a", "a", waiting="", later="a"), {"m": BROKEN}),
    Case("PD-33", "an active subscriber gets it", _live(mode=LIGHT), {"m>live#1": KEPT}),
    Case("PD-33", "an active subscriber misses it", _live(0, mode=LIGHT), {"m>live#1": BROKEN}),
    Case("PD-33", "a restart excuses the loss", _live(0, mode=LIGHT, fault="restart"), {}),
)  # fmt: skip
"""The scenarios."""
CONTESTED = (
    Case("PD-13", "the subscriber was attached without a watch", _attached(), {}),
    Case("PD-13", "its client confirms a message before it hands it over", _subscribed(0, qos="at-least-once"), {}),
    Case("PD-18", "it may be on the dead-letter queue, because its queue was full", _queued(
        mode="persistent", waiting="", later="a", defined="DEFINE QLOCAL(Q) MAXDEPTH(1)"), {}),
    Case("PD-18", "a definition sends nothing elsewhere", _queued(
        mode="persistent", waiting="", later="a", defined="DEFINE QLOCAL(Q)"), {"m": BROKEN}),
    Case("PD-18", "the consumer was attached without a watch", _attached(of=QUEUE), {}),
    Case("PD-18", "it is on the queue, and goes to no consumer", _queued(browsed=True), {}),
    Case("PD-18", "a lost connection may still hold it", _on_a_lost_connection(3_000), {}),
    Case("PD-18", "no lost connection holds it for so long", _on_a_lost_connection(9_000), {"m": BROKEN}),
    Case("PD-21", "it is on the queue, and goes to no consumer", _queued(waiting="a", browsed=True), {}),
    Case("PD-22", "it comes before the broker has ended", _as_the_broker_ends(LIGHT, QUEUE), {}),
    Case("PD-23", "it comes before the broker has ended", _as_the_broker_ends(), {}),
    Case("PD-23", "the topic makes the message of an MQ Light client non-persistent", _subscribed(
        0, fault="restart", light=True), {}),
    Case("PD-25", "the subscriber was attached without a watch", _attached(), {}),
    Case("PD-26", "a delayed message may still come", _live(0, delay_ms=500, to_ms=3_000), {}),
    Case("PD-26", "a delayed message does not come", _live(0, delay_ms=500, to_ms=9_000), {"m>live#1": BROKEN}),
    Case("PD-26", "a stopped connection delivers nothing", _live(0, stopped=True), {}),
    Case("PD-26", "the subscription may be known too late to another queue manager", _live(0, far=True), {}),
    Case("PD-26", "an MQ Light client may not have sent it", _live(0, face="mqlight"), {}),
    Case("PD-29", "the subscriber was attached without a watch", _attached(LIGHT), {}),
    Case("PD-32", "the consumer was attached without a watch", _attached(LIGHT, QUEUE), {}),
)  # fmt: skip
"""Scenarios in which a vendor would contest a verdict of an earlier form of the invariants."""

WITHOUT_POWER = (Case("PD-23", "it is there after the loss of power", _subscribed(fault="powerloss"), {_NEWS: KEPT}),)
"""Scenarios in which the broker loses its power."""
