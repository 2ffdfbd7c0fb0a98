"""Miniature scenarios for QS-03, QS-06, QS-07 and QS-08: settled messages that come again, or not."""

from __future__ import annotations

from functools import partial
from typing import Literal

from tests.evidence.histories import QUEUE, message
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev

ONCE, AT_LEAST_ONCE = "at-most-once", "at-least-once"


def _subscribes(
    tale: Tale,
    actor: str = "receiver",
    of: str = TOPIC,
    qos: str = ONCE,
    *,
    name: str = "s",
    client: str = "c",
    durable: bool = True,
) -> str:
    """Connect, create a consumer with a quality of service and a listener, and return the watch's id."""
    tale.answer(tale.call("connect", actor, args={"client_id": client}))
    durability = "durable" if durable else "non-durable"
    args: dict[str, ev.Scalar] = {"durability": durability, "name": name, "shared": False, "qos": qos}
    tale.answer(tale.call("consumer", actor, args=args, destination=of))
    return tale.listens(actor, of)


def _accepts(tale: Tale, key: str = "m", actor: str = "receiver", unit: str | None = None) -> None:
    tale.tell(ev.Settle, actor=actor, link=f"{actor}-1", msg=message(key), outcome="accepted", unit=unit)


def _loses(tale: Tale, actor: str = "receiver") -> None:
    tale.answer(tale.call("abort", actor))


def _once(
    *,
    again_ms: int | None = None,
    again_by: str = "receiver",
    lost: Literal["", "abort", "cut", "kill", "stays"] = "",
    name: str = "s",
    client: str = "c",
    qos: str = ONCE,
    to_ms: int = 9_000,
    retained: bool = False,
    durable: bool = True,
) -> Telling:
    """Tell of a subscriber that receives at most once, goes, and comes again.

    `lost` says how it goes: by a call that closes its consumer, by a loss of its connection, or not at all.
    """

    def tell(tale: Tale) -> None:
        watch = _subscribes(tale, qos=qos, durable=durable)
        tale.sends(to=TOPIC, shown={"JMS_IBM_Retain": 1} if retained else {})
        tale.at(2_000).handed(of=TOPIC)
        tale.returns()
        tale.at(2_100)
        if lost in {"cut", "kill"}:
            tale.suffers(lost)
        elif lost == "abort":
            _loses(tale)
        elif lost != "stays":
            tale.asks_for("close-consumer")
        tale.at(2_200).stops(watch, of=TOPIC)
        watch = _subscribes(tale.at(3_000), qos=qos, name=name, client=client, durable=durable)
        if again_ms is not None:
            tale.at(again_ms).handed(of=TOPIC, actor=again_by)
            tale.returns(again_by)
        tale.at(to_ms).stops(watch, of=TOPIC)

    return tell


def _acknowledged(
    *,
    again_ms: int | None = None,
    unit: Literal["", "commit", "rollback"] = "",
    cut_ms: int | None = None,
    send_cut: bool = False,
    answered: bool = True,
    again_of: str = QUEUE,
    times: int = 1,
    closes: bool = True,
    line_ms: int | None = None,
    kill_ms: int | None = None,
    mode: str = "persistent",
) -> Telling:
    """Tell of a message on a queue that one client acknowledges, and of another client that comes later.

    `closes` tells whether the first client closes its consumer before.  At `line_ms` it drops its connection, which has
    another name than its consumer; at `kill_ms` the broker is killed.
    """

    def tell(tale: Tale) -> None:
        tale.consumes()
        watch = tale.listens()
        for _ in range(times):
            tale.sends(answered=answered, mode=mode)
        if send_cut:
            tale.suffers("cut")
        tale.at(2_000).handed()
        _accepts(tale, unit="u" if unit else None)
        tale.returns()
        if unit:
            tale.at(2_100).ends_unit("u", unit)
        if cut_ms is not None:
            tale.at(cut_ms).suffers("cut")
        if line_ms is not None:
            tale.at(line_ms).asks_for("abort", "line")
        if kill_ms is not None:
            tale.at(kill_ms).suffers()
        tale.at(4_000).stops(watch)
        if closes:
            tale.asks_for("close-consumer")
        tale.consumes("other")
        watch = tale.listens("other")
        if again_ms is not None:
            tale.at(again_ms).handed(actor="other", of=again_of)
            tale.returns("other")
        tale.at(9_000).stops(watch, "other")

    return tell


def _sent_once(
    *,
    again_ms: int | None,
    qos: str = ONCE,
    other: str | None = None,
    cut: bool = False,
    closes: bool = True,
    killed: bool = False,
    mode: str = "non-persistent",
) -> Telling:
    def tell(tale: Tale) -> None:
        tale.consumes()
        watch = tale.listens()
        tale.produces(qos)
        if other is not None:
            tale.produces(other)
        tale.sends(mode=mode)
        if cut:
            tale.suffers("cut")
        tale.at(2_000).handed()
        _accepts(tale)
        tale.returns()
        tale.at(4_000).stops(watch)
        if closes:
            tale.asks_for("close-consumer")
        if killed:
            tale.suffers("kill")
        watch = tale.listens()
        if again_ms is not None:
            tale.at(again_ms).handed()
            tale.returns()
        tale.at(9_000).stops(watch)

    return tell


def _lost_before(tale: Tale) -> None:
    """Tell of a client that accepts a message over a connection that it has lost."""
    tale.consumes()
    tale.sends()
    tale.at(2_000).handed()
    _loses(tale)
    tale.at(2_001)
    _accepts(tale)
    tale.at(5_000).handed(actor="other")


def _watched_on(tale: Tale) -> None:
    tale.consumes()
    watch = tale.listens()
    tale.sends()
    tale.at(2_000).handed()
    _accepts(tale)
    tale.returns()
    tale.at(9_000).stops(watch)


def _elsewhere(tale: Tale) -> None:
    tale.answer(tale.call("connect", "far", args={"client_id": None, "member": "QM2"}))
    _once(again_ms=5_000)(tale)


_QS06 = partial(Case, "QS-06")
_QS07 = partial(Case, "QS-07")
_QS08 = partial(Case, "QS-08")
_QS03 = partial(Case, "QS-03")
REPEATS = (
    _QS06("it does not come again", _once(), {"m>receiver": KEPT}),
    _QS06("it comes again", _once(again_ms=5_000), {"m>receiver": BROKEN}),
    _QS06("it comes again after a cut", _once(again_ms=5_000, lost="cut"), {"m>receiver": BROKEN}),
    _QS06("another subscriber has its own copy", _once(again_ms=5_000, again_by="b"), {"m>receiver": KEPT}),
    _QS06("another subscription has its own copy", _once(again_ms=5_000, name="t"), {}),
    _QS06("another client id has its own copy", _once(again_ms=5_000, client="d"), {}),
    _QS06("a subscriber that acknowledges is no subject", _once(again_ms=5_000, qos=AT_LEAST_ONCE), {}),
    _QS06("a retained publication may come again", _once(again_ms=5_000, retained=True), {}),
    _QS06("another queue manager may publish it again", _elsewhere, {}),
    _QS06("nobody waited for long", _once(to_ms=3_500), {}),
    _QS07("it does not come again after an abort", _once(lost="abort"), {"m>receiver": KEPT}),
    _QS07("it does not come again after a cut", _once(lost="cut"), {"m>receiver": KEPT}),
    _QS07("it comes again after a cut", _once(again_ms=5_000, lost="cut"), {"m>receiver": BROKEN}),
    _QS07("it comes again after an abort", _once(again_ms=5_000, lost="abort"), {"m>receiver": BROKEN}),
    _QS07("without a lost connection it is no subject", _once(again_ms=5_000), {}),
    _QS08("it does not come again", _acknowledged(), {"m": KEPT}),
    _QS08("it comes again to another client", _acknowledged(again_ms=5_000), {"m": BROKEN}),
    _QS08("it comes again after a commit", _acknowledged(again_ms=5_000, unit="commit"), {"m": BROKEN}),
    _QS08("it may come again after a rollback", _acknowledged(again_ms=5_000, unit="rollback"), {}),
    _QS08("a cut may have lost the acceptance", _acknowledged(again_ms=5_000, cut_ms=2_500), {}),
    _QS08("a cut comes long after the acceptance", _acknowledged(again_ms=5_000, cut_ms=3_500), {"m": BROKEN}),
    _QS08("the acceptance came after the loss of the connection", _lost_before, {}),
    _QS08("its sender may have sent it again", _acknowledged(again_ms=5_000, send_cut=True), {}),
    _QS08("an unanswered send may be sent again", _acknowledged(again_ms=5_000, answered=False), {}),
    _QS08("a message sent twice says nothing", _acknowledged(again_ms=5_000, times=2), {}),
    _QS08("it comes from another queue", _acknowledged(again_ms=5_000, again_of="queue://DLQ"), {"m": KEPT}),
    _QS08("no consumer came later", _watched_on, {}),
    _QS03("it does not come again", _sent_once(again_ms=None), {"m": KEPT}),
    _QS03("it comes again", _sent_once(again_ms=5_000), {"m": BROKEN}),
    _QS03("a cut of the send is no excuse", _sent_once(again_ms=5_000, cut=True), {"m": BROKEN}),
    _QS03("a sender at least once is no subject", _sent_once(again_ms=5_000, qos=AT_LEAST_ONCE), {}),
)
"""The scenarios of the four rules."""
CONTESTED = (
    _QS06("the first consumer kept its link", _once(lost="stays"), {}),
    _QS06("its subscription ended with its consumer", _once(durable=False), {}),
    _QS06("a kill came before the broker had dropped its copy", _once(again_ms=5_000, lost="kill"), {}),
    _QS07("a kill came before the broker had dropped its copy", _once(again_ms=5_000, lost="kill"), {}),
    _QS07("its subscription ended with its connection", _once(lost="abort", durable=False), {}),
    _QS08("a loss of the connection, which has another name", _acknowledged(again_ms=5_000, line_ms=2_500), {}),
    _QS08("the connection was lost long after it", _acknowledged(again_ms=5_000, line_ms=3_500), {"m": BROKEN}),
    _QS08("the first consumer kept its link", _acknowledged(closes=False), {}),
    _QS08("a kill lost nothing", _acknowledged(kill_ms=3_500), {"m": KEPT}),
    _QS08("a kill has lost it anyway", _acknowledged(kill_ms=3_500, mode="non-persistent"), {}),
    _QS03("the first consumer kept its link", _sent_once(again_ms=None, closes=False), {}),
    _QS03("its sender may have sent it at least once", _sent_once(again_ms=5_000, other=AT_LEAST_ONCE, cut=True), {}),
    _QS03(
        "a kill may have lost what the topic made non-persistent",
        _sent_once(again_ms=None, killed=True, mode="persistent"),
        {},
    ),
    _QS03("another producer says nothing", _sent_once(again_ms=None, other=ONCE), {"m": KEPT}),
)
"""Scenarios in which a vendor would contest a verdict of an earlier form of the invariants."""
