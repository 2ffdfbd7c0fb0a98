"""Claims about the time of a delivery: not before the due time, and not too long after it."""

from __future__ import annotations

from pytest_bdd import then

from assay_sdk.time import NS_PER_MS
from assay_steps.cast.claims import Evidence
from assay_steps.cast.world import World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.words.parsing import phrase

_DUE = "JMSDeliveryTime"


@then(phrase("the receiver sees it no earlier than {delay:Duration} after the send"))
@then(phrase("the receiver sees {label:Name} no earlier than {delay:Duration} after its send"))
@then(phrase("{name:Name} sees {label:Name} no earlier than {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, delay: int, label: str = "message", name: str = RECEIVER) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.key,), due_in_ms=world.left_ms(label, delay))
    evidence.claim("not-before", {"kid": sent.key, "call": sent.call, "actors": name}, {"delay_ms": delay})


@then(phrase("message {label:Name} shows a JMSDeliveryTime of its send time plus {delay:Duration}"))
def _(world: World, evidence: Evidence, label: str, delay: int) -> None:
    shown = {"at": world.recorder.returned(world.messages[label].call), "field": _DUE}
    evidence.claim("in-range", shown, _due_ms(world, label, delay))


@then(phrase("the receiver sees {label:Name} with a JMSDeliveryTime of its send time plus {delay:Duration}"))
def _(world: World, evidence: Evidence, label: str, delay: int) -> None:
    sent = world.messages[label]
    world.observe((RECEIVER,), (sent.key,), due_in_ms=world.left_ms(label, delay))
    evidence.claim("in-range", {"kid": sent.key, "actor": RECEIVER, "field": _DUE}, _due_ms(world, label, delay))


def _due_ms(world: World, label: str, delay_ms: int) -> dict[str, int]:
    """Return a message's earliest and latest due time: the begin and the end of its send, each plus the delay.

    Both are in milliseconds since the epoch.
    """
    call = world.messages[label].call
    ends = {call, world.recorder.returned(call)}
    walls_ns = sorted(event.wall_ns for event in world.recorder.journal.events if event.ref in ends)
    return {"least": walls_ns[0] // NS_PER_MS + delay_ms, "most": -(-walls_ns[-1] // NS_PER_MS) + delay_ms}


@then(phrase("no receiver sees {label:Name} earlier than {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, label: str, delay: int) -> None:
    sent = world.messages[label]
    world.observe(tuple(world.consumers), (sent.key,), due_in_ms=world.left_ms(label, delay))
    evidence.claim("not-before", {"kid": sent.key, "call": sent.call}, {"delay_ms": delay})


@then(phrase("the receiver sees it in time, {delay:Duration} after the send"))
@then(phrase("the receiver sees {label:Name} in time, {delay:Duration} after its send"))
@then(phrase("{name:Name} sees {label:Name} in time, {delay:Duration} after its send"))
def _(world: World, evidence: Evidence, delay: int, label: str = "message", name: str = RECEIVER) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.key,), due_in_ms=world.left_ms(label, delay))
    evidence.claim(
        "by",
        {"kid": sent.key, "call": sent.call, "actors": name},
        {"delay_ms": delay, "limit_ms": world.limits.late_ms},
    )


def _within(world: World, evidence: Evidence, label: str, name: str, bounds: dict[str, int], **further: str) -> None:
    sent = world.messages[label]
    world.observe((name,), (sent.key,))
    evidence.claim("by", {"kid": sent.key, "call": sent.call, "actors": name} | further, bounds)


@then(phrase("the receiver sees {label:Name} within {limit:Duration} after its send"))
@then(phrase("{name:Name} sees {label:Name} within {limit:Duration} after its send"))
def _(world: World, evidence: Evidence, label: str, limit: int, name: str = RECEIVER) -> None:
    _within(world, evidence, label, name, {"limit_ms": limit})


@then(phrase("the receiver sees {label:Name} in time after session {session:Name} was committed"))
@then(phrase("{name:Name} sees {label:Name} in time after session {session:Name} was committed"))
def _(world: World, evidence: Evidence, label: str, session: str, name: str = RECEIVER) -> None:
    _within(world, evidence, label, name, {"limit_ms": world.limits.late_ms}, after=world.recorder.committed(session))


@then(
    phrase(
        "the receiver sees {label:Name} within {limit:Duration} after its connection was started,"
        " with a tolerance of a second"
    )
)
@then(
    phrase(
        "{name:Name} sees {label:Name} within {limit:Duration} after its connection was started,"
        " with a tolerance of a second"
    )
)
def _(world: World, evidence: Evidence, label: str, limit: int, name: str = RECEIVER) -> None:
    started = world.consumers[name].session.connection.started
    if started is None:
        raise LookupError(f"The connection of {name!r} was not started again: no step before this one does that.")
    _within(world, evidence, label, name, {"limit_ms": limit + world.limits.at_once_ms}, after=started)


@then(phrase("{label:Name} takes at most a second longer from its send to the receiver than {other:Name}"))
def _(world: World, evidence: Evidence, label: str, other: str) -> None:
    _within(world, evidence, label, RECEIVER, {"limit_ms": world.limits.at_once_ms}, like=world.key(other))


@then(phrase("the receiver waits for {span:Duration} and does not see {label:Name}"))
def _(world: World, evidence: Evidence, label: str, span: int) -> None:
    sent = world.messages[label]
    world.listen_for(span)
    of = {"kid": sent.key, "call": sent.call, "actors": RECEIVER, "from": world.recorder.returned(sent.call)}
    evidence.claim("never-seen", of, {"window_ms": span, "quiet_ms": min(span, world.limits.quiet_ms)})
