"""Miniature scenarios for PD-11: every open subscription receives a copy of each publication."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import refusal
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.miniatures.at_least_once_cases import ONCE
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev


def _published(
    seen: str = "ab", *, to_ms: int = 5_000, ttl_ms: int = 0, fault: bool = False, admin: str | None = None
) -> Telling:
    def tell(tale: Tale) -> None:
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        watches = {}
        for actor in "ab":
            tale.consumes(actor, TOPIC, name="sub" if actor == "a" else None)
            watches[actor] = tale.listens(actor, TOPIC)
        tale.at(10).sends(to=TOPIC, mode="non-persistent", ttl_ms=ttl_ms)
        if fault:
            tale.suffers("kill")
        for actor in seen:
            tale.at(100).handed(actor=actor)
            tale.returns(actor)
        for actor in "ab":
            tale.at(to_ms).stops(watches[actor], actor, TOPIC)

    return tell


def _unreceived(
    *,
    qos: str | None = None,
    mode: str = "non-persistent",
    delay_ms: int = 0,
    drops: Literal["meanwhile", "later"] | None = None,
    reaches: bool = False,
    ended: bool = False,
    member: str | None = None,
    admin: str | None = None,
    silent_ms: int = 3_000,
) -> Telling:
    """Return a scenario of a publication that one of its subscribers does not receive.

    Args:
        qos: The sender's quality of service; None for a JMS client.
        mode: The publication's delivery mode.
        delay_ms: The publication's delay.
        drops: When the sender drops its connection: during the subscriber's watch, or after it.
        reaches: Whether another subscriber, without a watch, receives the publication.
        ended: Whether the broker ends a session.
        member: The subscriber's queue manager; None for the first.
        admin: An administrator's command before the send.
        silent_ms: How long the subscriber waits after the due time.
    """

    def tell(tale: Tale) -> None:
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        tale.connects("a", member=member)
        tale.consumes("a", TOPIC)
        tale.consumes("b", TOPIC)
        watch = tale.listens("a", TOPIC)
        if qos is not None:
            tale.produces(qos, to=TOPIC)
        tale.at(10).sends(to=TOPIC, mode=mode, delay_ms=delay_ms)
        if drops == "meanwhile":
            tale.at(20).asks_for("abort", "sender")
        if reaches:
            tale.at(30 + delay_ms).handed(actor="b", of=TOPIC)
        if ended:
            tale.tell(ev.SessionEnded, actor="a", refused=refusal(text="detached"))
        tale.at(30 + delay_ms + silent_ms).stops(watch, "a", TOPIC)
        if drops == "later":
            tale.at(40 + delay_ms + silent_ms).asks_for("abort", "sender")

    return tell


def _selecting(tale: Tale) -> None:
    tale.consumes("a", TOPIC, selector="x = 1")
    watch = tale.listens("a", TOPIC)
    tale.sends(to=TOPIC)
    tale.at(5_000).stops(watch, "a", TOPIC)


def _at_work(tale: Tale) -> None:
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    tale.sends("first", to=TOPIC)
    tale.sends("second", to=TOPIC)
    tale.handed("first", "a")
    tale.at(5_000).stops(watch, "a", TOPIC)


def _raising(tale: Tale) -> None:
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    tale.sends("first", to=TOPIC)
    tale.sends("second", to=TOPIC)
    tale.handed("first", "a")
    tale.returns("a", ended="raised")
    tale.at(5_000).stops(watch, "a", TOPIC)


def _shared(seen_by: str) -> Telling:
    def tell(tale: Tale) -> None:
        watches = {}
        for actor in "ab":
            tale.consumes(actor, TOPIC, name="both", shared=True)
            watches[actor] = tale.listens(actor, TOPIC)
        tale.sends(to=TOPIC)
        for actor in seen_by:
            tale.handed(actor=actor)
            tale.returns(actor)
        for actor in "ab":
            tale.at(5_000).stops(watches[actor], actor, TOPIC)

    return tell


def _committed_late(tale: Tale) -> None:
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    tale.sends(to=TOPIC, unit="u")
    tale.at(4_500).ends_unit("u")
    tale.at(5_000).stops(watch, "a", TOPIC)


def _unit_name_again(tale: Tale) -> None:
    """Add a unit of work that never ends, and after a reconnection a second unit of the same name that commits."""
    tale.consumes("a", TOPIC)
    watch = tale.listens("a", TOPIC)
    tale.ends_unit("u", "begin")
    tale.sends("lost", to=TOPIC, unit="u")
    tale.ends_unit("u", "begin")
    tale.sends("kept", to=TOPIC, unit="u")
    tale.ends_unit("u")
    tale.handed("kept", "a")
    tale.returns("a")
    tale.at(5_000).stops(watch, "a", TOPIC)


COPIES = (
    Case("PD-11", "both kinds have their copy", _published(), {"m>a": KEPT, "m>b": KEPT}),
    Case("PD-11", "one subscription misses its copy", _published("a"), {"m>a": KEPT, "m>b": BROKEN}),
    Case("PD-11", "the watch ends too early to say", _published("a", to_ms=900), {"m>a": KEPT}),
    Case("PD-11", "a message that may expire is no subject", _published("a", ttl_ms=100), {}),
    Case("PD-11", "a fault excuses the missing copy", _published("a", fault=True), {"m>a": KEPT}),
    Case(
        "PD-11",
        "an administrator may have kept it back",
        _published("a", admin="ALTER QLOCAL(S) GET(DISABLED)"),
        {"m>a": KEPT},
    ),
    Case(
        "PD-11",
        "a definition keeps nothing back",
        _published("a", admin="DEFINE QLOCAL(Q)"),
        {"m>a": KEPT, "m>b": BROKEN},
    ),
    Case("PD-11", "no reason excuses the missing copy", _unreceived(), {"m>a": BROKEN}),
    Case("PD-11", "sent at most once, on a connection that is lost", _unreceived(qos=ONCE, drops="meanwhile"), {}),
    Case("PD-11", "sent at most once, on a connection that is kept", _unreceived(qos=ONCE), {"m>a": BROKEN}),
    Case("PD-11", "a non-persistent send may be on its way", _unreceived(drops="meanwhile"), {}),
    Case("PD-11", "a persistent one is not", _unreceived(mode="persistent", drops="meanwhile"), {"m>a": BROKEN}),
    Case("PD-11", "the connection is lost after the watch", _unreceived(drops="later"), {"m>a": BROKEN}),
    Case(
        "PD-11",
        "the broker had it, for another subscriber has it",
        _unreceived(drops="meanwhile", reaches=True),
        {"m>a": BROKEN},
    ),
    Case("PD-11", "a delayed copy may be late", _unreceived(delay_ms=500), {}),
    Case("PD-11", "a delayed copy is missing", _unreceived(delay_ms=500, silent_ms=5_500), {"m>a": BROKEN}),
    Case("PD-11", "the broker ended a session", _unreceived(ended=True), {}),
    Case("PD-11", "the subscriber is at another queue manager", _unreceived(member="B"), {}),
    Case("PD-11", "a queue may have been full", _unreceived(admin="DEFINE QLOCAL(Q) MAXDEPTH(1)"), {}),
    Case("PD-11", "a selector excuses the missing copy", _selecting, {}),
    Case("PD-11", "a listener still at work is not silent", _at_work, {"first>a": KEPT}),
    Case("PD-11", "a listener that raised is not silent", _raising, {"first>a": KEPT}),
    Case("PD-11", "a shared subscription has one copy", _shared("b"), {"m>both": KEPT}),
    Case("PD-11", "a shared subscription without it says nothing", _shared(""), {}),
    Case("PD-11", "a commit just before the watch ends", _committed_late, {}),
    Case("PD-11", "a unit's name used again", _unit_name_again, {"kept>a": KEPT}),
)
"""The scenarios."""
