"""Miniature scenarios for the rules about messages that were not acknowledged (QS-09, QS-10, QS-14)."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

Loss = Literal["kill", "restart", "cut", "abort"]


def _lost(
    again: str | None = None,
    *,
    loss: Loss | None = "abort",
    marked: bool = True,
    settled: bool = False,
    tells: bool = True,
    neighbour: Literal["before", "after"] | None = None,
    returns: bool = True,
    fellow: bool = False,
    mode: str = "persistent",
    admin: str | None = None,
    same_link: bool = False,
    asked: bool = False,
    closes: bool = False,
    notices_ms: int = 1_010,
    to_ms: int = 9_000,
) -> Telling:
    """Return a scenario of a queue's consumer ``a`` that receives a message and loses its connection.

    Args:
        again: The consumer that receives the message again; None for none.
        loss: How it loses the connection; None for not at all.
        marked: Whether the message is marked as redelivered.
        settled: Whether the consumer had accepted the message.
        tells: Whether the consumer accepts another message later.
        neighbour: Whether the consumer accepts another message of the same link before it receives this one, or after.
        returns: Whether the consumer comes back.
        fellow: Whether a consumer ``b`` is there, too.
        mode: The message's mode.
        admin: An administrator's command.
        same_link: Whether the message comes again on the same link.
        asked: Whether the client calls for a commit before the loss, without an answer.
        closes: Whether it closes its connection after the loss in an orderly way.
        notices_ms: When it notices the loss.
        to_ms: The end of the watches.
    """

    def tell(tale: Tale) -> None:
        for key in ("m", "n", "o"):
            tale.sends(key, mode=mode)
        if admin is not None:
            tale.commands(admin)
        watches = {}
        for actor in "ab" if fellow else "a":
            tale.consumes(actor)
            watches[actor] = tale.listens(actor)
        _receives(tale, neighbour=neighbour, settled=settled, asked=asked)
        if loss is not None:
            _loses(tale, loss)
            tale.at(notices_ms).stops(watches.pop("a"), "a")
            _goes_on(tale, watches, closes=closes, returns=returns)
        if tells and returns:
            tale.handed("o", "a", link=2)
            tale.settles("o", "a", link=2)
            tale.returns("a", link=2)
        if again is not None:
            _again(tale, again, marked=marked, link=1 if same_link else 2)
        for actor, watch in watches.items():
            tale.at(to_ms).stops(watch, actor)

    return tell


def _receives(tale: Tale, *, neighbour: str | None, settled: bool, asked: bool) -> None:
    for key in {"before": "nm", "after": "mn", None: "m"}[neighbour]:
        tale.handed(key, "a")
        if key == "n":
            tale.settles("n", "a")
        else:
            tale.returns("a")
    if settled:
        tale.settles("m", "a")
    if asked:
        tale.call("commit", "a.1")
    tale.at(1_000)


def _goes_on(tale: Tale, watches: dict[str, str], *, closes: bool, returns: bool) -> None:
    if closes:
        tale.asks_for("close-connection", "a")
    if returns:
        tale.now_ns += 990_000_000
        tale.consumes("a")
        watches["a"] = tale.listens("a")


def _loses(tale: Tale, loss: Loss) -> None:
    if loss == "abort":
        tale.asks_for("abort", "a")
    else:
        tale.suffers(loss)


def _again(tale: Tale, actor: str, *, marked: bool, link: int = 2, of: str = QUEUE) -> None:
    tale.handed("m", actor, link=link, marked=marked, of=of)
    tale.returns(actor, link=link)


def _lost_on_topic(tale: Tale) -> None:
    """Tell of a non-durable subscriber that loses its connection and comes again."""
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    for key in "mo":
        tale.sends(key, TOPIC)
        tale.handed(key, "a", of=TOPIC)
        tale.returns("a")
    tale.settles("o", "a")
    tale.at(1_000).asks_for("abort", "a")
    tale.consumes("a", TOPIC)
    tale.at(9_000).stops(watch, "a", TOPIC)


def _shared(
    again: str | None = "b",
    *,
    returns: bool = False,
    third: Literal["watches", "is attached"] | None = None,
    light: bool = False,
    to_ms: int = 9_000,
) -> Telling:
    """Return a scenario of two sharers of a durable subscription, of which ``a`` loses its connection.

    Args:
        again: The sharer that receives its message then; None for none.
        returns: Whether ``a`` comes back.
        third: What a third sharer does, if there is one.
        light: Whether the sharers are MQ Light clients, with different client ids.
        to_ms: The end of the watches.
    """

    def tell(tale: Tale) -> None:
        watches = {}
        qos, confirms = ("at-least-once", False) if light else (None, None)
        for actor in "abc" if third else "ab":
            tale.connects(actor, f"client-{actor}" if light else "c")
            tale.consumes(actor, TOPIC, name="s", shared=True, qos=qos, auto_confirm=confirms)
            if actor != "c" or third == "watches":
                watches[actor] = tale.listens(actor, TOPIC)
        for key in ("n", "m"):
            tale.sends(key, TOPIC)
            tale.handed(key, "a", of=TOPIC)
            tale.returns("a")
        tale.settles("n", "a")
        tale.at(1_000).asks_for("abort", "a")
        tale.stops(watches.pop("a"), "a", TOPIC)
        if returns:
            tale.consumes("a", TOPIC, name="s", shared=True, qos=qos, auto_confirm=confirms)
            watches["a"] = tale.listens("a", TOPIC)
        if again is not None:
            tale.at(1_500)
            _again(tale, again, marked=True, of=TOPIC)
        for actor, watch in watches.items():
            tale.at(to_ms).stops(watch, actor, TOPIC)

    return tell


UNSETTLED = (
    Case("QS-09", "it comes again, marked", _lost("a"), {"m": KEPT}),
    Case("QS-09", "it does not come again", _lost(), {"m": BROKEN}),
    Case("QS-09", "it comes again without a mark", _lost("a", marked=False), {"m": KEPT}),
    Case("QS-09", "it comes again after a cut", _lost("a", loss="cut"), {"m": KEPT}),
    Case("QS-09", "it does not come again after a cut", _lost(loss="cut"), {"m": BROKEN}),
    Case("QS-09", "it does not come again after a kill", _lost(loss="kill"), {"m": BROKEN}),
    Case("QS-09", "it comes again after a kill", _lost("a", loss="kill"), {"m": KEPT}),
    Case("QS-09", "a kill loses a non-persistent message", _lost(loss="kill", mode="non-persistent"), {}),
    Case("QS-09", "it was acknowledged", _lost(settled=True), {}),
    Case("QS-09", "the connection was not lost", _lost(loss=None), {}),
    Case("QS-09", "the client records no settlements", _lost(tells=False), {}),
    Case("QS-09", "the consumer's connection may have outlived the cut", _lost(
        loss="cut", returns=False, neighbour="after"), {}),
    Case("QS-09", "another consumer may hold it", _lost(fellow=True), {}),
    Case("QS-09", "another consumer gets it", _lost("b", fellow=True), {"m": KEPT}),
    Case("QS-09", "an administrator may have cleared it", _lost(admin="CLEAR QLOCAL(Q)"), {}),
    Case("QS-09", "no one waited for long", _lost(to_ms=5_500), {}),
    Case("QS-09", "it comes again over the old link", _lost("a", same_link=True), {}),
    Case("QS-09", "the client notices the cut late", _lost(loss="cut", notices_ms=6_000, to_ms=8_000), {}),
    Case("QS-09", "it notices late, and then waits for long", _lost(loss="cut", notices_ms=6_000, to_ms=12_000), {
        "m": BROKEN}),
    Case("QS-09", "a subscription that is not durable ends with its connection", _lost_on_topic, {}),
    Case("QS-09", "a commit without an answer may cover it", _lost(asked=True), {}),
    Case("QS-09", "a cut may have spared a connection that is then closed", _lost("a", loss="cut", closes=True), {}),
    Case("QS-10", "another sharer gets it", _shared(), {"m>s|c": KEPT}),
    Case("QS-10", "no other sharer gets it", _shared(None), {"m>s|c": BROKEN}),
    Case("QS-10", "MQ Light clients with other client ids share", _shared(light=True), {"m>share s": KEPT}),
    Case("QS-10", "an MQ Light client does not get it", _shared(None, light=True), {"m>share s": BROKEN}),
    Case("QS-10", "the first sharer comes back and gets it", _shared("a", returns=True), {}),
    Case("QS-10", "a third sharer may hold it", _shared(None, third="watches"), {}),
    Case("QS-10", "a third sharer may hold it without a watch", _shared(None, third="is attached"), {}),
    Case("QS-10", "no one waited for long", _shared(None, to_ms=4_500), {}),
    Case("QS-14", "it comes again beside an acknowledged one", _lost("a", neighbour="after"), {"m": KEPT}),
    Case("QS-14", "the acknowledgement of another loses it", _lost(neighbour="after"), {"m": BROKEN}),
    Case("QS-14", "the other was acknowledged before", _lost("a", neighbour="before"), {}),
    Case("QS-14", "nothing was acknowledged", _lost(), {}),
)  # fmt: skip
"""The scenarios."""
