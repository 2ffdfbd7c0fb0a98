"""Claims about the messages that actors received: which, how often, in which order and with which fields."""

from __future__ import annotations

from pytest_bdd import then, when

from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.world import World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Place, read_place
from assay_steps.words.parsing import phrase

STAGING = read_place("the staging queue")


def _refuse_what_is_not_due(world: World, labels: tuple[str, ...]) -> None:
    """Refuse to wait for messages whose delay lasts longer than a step waits.

    Raises:
        MistakeError: The scenario sent such a message.
    """
    for label in labels:
        sent = world.messages.get(label)
        left_ms = 0 if sent is None or not sent.delay_ms else world.left_ms(label, sent.delay_ms)
        waits_ms = world.limits.expected_ms
        if left_ms > waits_ms:
            raise MistakeError(
                f'"{label}" is due in {left_ms / 1_000:.0f} s, and this step waits {waits_ms / 1_000:.0f} s: '
                f'write `"{label}" is overdue` before it'
            )


def _exactly(world: World, evidence: Evidence, actors: tuple[str, ...], labels: tuple[str, ...], times: int) -> None:
    keys = world.keys(labels)
    _refuse_what_is_not_due(world, labels)
    world.observe(actors, keys, times)
    evidence.claim("delivered-exactly", {"kids": listed(keys), "actors": listed(actors)}, {"times": times})


@then(phrase("the receiver sees the message exactly once"))
@then(phrase("the receiver sees {labels:Names} exactly once"))
@then(phrase("{name:Name} sees {labels:Names} exactly once"))
@then(phrase("{name:Name} sees {labels:Names} exactly {times:Number} times"))
def _(
    world: World,
    evidence: Evidence,
    labels: tuple[str, ...] = ("message",),
    name: str = RECEIVER,
    times: int = 1,
) -> None:
    _exactly(world, evidence, (name,), labels, times)


@then(phrase("{names:Names} together see {labels:Names} exactly once"))
def _(world: World, evidence: Evidence, names: tuple[str, ...], labels: tuple[str, ...]) -> None:
    _exactly(world, evidence, names, labels, 1)


@then(phrase("the receiver sees {labels:Names} at least once"))
@then(phrase("{names:Names} together see {labels:Names} at least once"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], names: tuple[str, ...] = (RECEIVER,)) -> None:
    keys = world.keys(labels)
    _refuse_what_is_not_due(world, labels)
    world.observe(names, keys)
    evidence.claim("delivered-at-least", {"kids": listed(keys), "actors": listed(names)}, {"times": 1})


@then(phrase("the receiver sees {labels:Names} at most once"))
@then(phrase("{name:Name} sees {labels:Names} at most once"))
@then(phrase("{names:Names} together see {labels:Names} at most once"))
def _(
    world: World, evidence: Evidence, labels: tuple[str, ...], name: str = RECEIVER, names: tuple[str, ...] = ()
) -> None:
    keys, actors = world.keys(labels), names or (name,)
    world.observe(actors, ())
    evidence.claim("delivered-at-most", {"kids": listed(keys), "actors": listed(actors)}, {"times": 1})


@then(phrase("the receiver never sees {labels:Names}"))
@then(phrase("{name:Name} never sees {labels:Names}"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str = RECEIVER) -> None:
    keys = world.keys(labels)
    world.observe((name,), (), 0)
    sends = [world.messages[label].call for label in labels if label in world.messages]
    of = {"kids": listed(keys), "actors": name, "call": listed(sends)}
    missed = listed(sorted(world.missed.intersection(keys)))
    evidence.claim("never-seen", of | ({"missed": missed} if missed else {}))


@then(phrase("the receiver never sees the refused {labels:Names}"))
@then(phrase("{name:Name} never sees the refused {labels:Names}"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str = RECEIVER) -> None:
    world.observe((name,), (), 0)
    for label in labels:
        evidence.claim("refused-with", {"call": world.messages[label].call})
    evidence.claim("never-seen", {"kids": listed(world.keys(labels)), "actors": name})


@then(phrase("the receiver sees {labels:Names} in that order"))
@then(phrase("{name:Name} sees {labels:Names} in that order"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str = RECEIVER) -> None:
    keys = world.keys(labels)
    world.observe((name,), keys)
    evidence.claim("in-order", {"kids": listed(keys), "actors": name})


@then(phrase("{name:Name} sees {labels:Names} again, marked as redelivered"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str) -> None:
    keys = world.keys(labels)
    world.observe((name,), keys, 2)
    evidence.claim("redelivered", {"kids": listed(keys), "actors": name}, {"times": 2})


@then(phrase("{name:Name} sees {labels:Names} again"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], name: str) -> None:
    keys = world.keys(labels)
    world.observe((name,), keys, 2)
    evidence.claim("redelivered", {"kids": listed(keys), "actors": name}, {"times": 2, "flagged": 0})


@then(phrase("the receiver sees each of these messages exactly once"))
@then(phrase("{name:Name} sees each of these messages exactly once"))
def _(world: World, evidence: Evidence, name: str = RECEIVER) -> None:
    _exactly(world, evidence, (name,), world.many, 1)


@when(phrase("{name:Name} has seen {labels:Names}"))
def _(world: World, name: str, labels: tuple[str, ...]) -> None:
    world.await_first(name, world.keys(labels))


@then(phrase("the message as seen by {name:Name} shows {field} {value:Name}"))
@then(phrase("message {label:Name} as seen by {name:Name} shows {field} {value:Name}"))
def _(world: World, evidence: Evidence, name: str, field: str, value: str, label: str = "message") -> None:
    key = world.key(label)
    world.observe((name,), (key,))
    evidence.claim("equal-fields", {"kid": key, "actor": name, f"field.{field}": value})


@then(phrase("message {label:Name} as seen by {name:Name} shows the {field} that its sender saw"))
def _(world: World, evidence: Evidence, label: str, name: str, field: str) -> None:
    key = world.key(label)
    sent = world.messages[label].answer.needed()
    world.observe((name,), (key,))
    evidence.claim("equal-fields", {"kid": key, "actor": name, f"field.{field}": str(sent.fields.get(field))})


@then(phrase("{name:Name} sees the body of {label:Name} unaltered"))
def _(world: World, evidence: Evidence, name: str, label: str) -> None:
    key = world.key(label)
    world.observe((name,), (key,))
    sent = world.messages[label]
    kind = {"field.body": sent.kind} if sent.octets else {}  # no body and an empty text are the same to many brokers
    evidence.claim("equal-fields", {"kid": key, "actor": name, "field.sha256": "sent"} | kind)


@then(phrase("browsing {place:Place} shows {labels:Names}"))
def _(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...]) -> None:
    answer = world.browser(place).browse(world.address(place))
    evidence.claim("found-by-browse", {"call": answer.ref, "kids": listed(world.keys(labels))}, {"count": 1})


@then(phrase("browsing {place:Place} does not show {labels:Names}"))
def _(world: World, evidence: Evidence, place: Place, labels: tuple[str, ...]) -> None:
    answer = world.browser(place).browse(world.address(place))
    evidence.claim("found-by-browse", {"call": answer.ref, "kids": listed(world.keys(labels))}, {"count": 0})


@then(phrase("inspecting or browsing the staging queue shows {labels:Names}"))
@then(phrase("inspecting or browsing the staging queue does not show {absent:Names}"))
def _(
    world: World, evidence: Evidence, labels: tuple[str, ...] | None = None, absent: tuple[str, ...] | None = None
) -> None:
    keys, count = world.keys(labels or absent or ()), 1 if labels else 0
    if world.administrator.available:
        seen = world.administrator.browse(STAGING, keys)
        evidence.claim("equal-fields", {"at": seen.ref} | {f"field.copies of {key}": str(count) for key in keys})
    else:
        answer = world.browser(STAGING).browse(world.address(STAGING))
        evidence.claim("found-by-browse", {"call": answer.ref, "kids": listed(keys)}, {"count": count})


@then(phrase("{label:Name} was flushed to disk before its send was answered"))
@then(phrase("{copies:Number} copies of {label:Name} were flushed to disk before its send was answered"))
def _(world: World, evidence: Evidence, label: str, copies: int = 1) -> None:
    sent = world.messages[label]
    world.await_flushes(sent.key, copies)
    evidence.claim("flushed-before", {"kid": sent.key, "call": sent.call}, {"copies": copies})


@then(phrase("{label:Name} was flushed to disk before {name:Name} saw it"))
def _(world: World, evidence: Evidence, label: str, name: str) -> None:
    key = world.key(label)
    world.observe((name,), (key,))
    world.await_flushes(key)
    evidence.claim("flushed-before", {"kid": key, "actors": name})
