"""Steps about batch listeners (BATCH:24-40): listeners, their actions, and claims about the delivered batches.

A step with a claim about the size or the time of batches first waits until the actor has received every message that
was sent to the actor's destination.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from pytest_bdd import given, then, when

from assay_adapters.ports.client import Origin, Script
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_evidence import events
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.recording import Answer, SetupRefusedError
from assay_steps.cast.world import World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.vocabulary.clients.sending import send
from assay_steps.words.names import Place, read_place
from assay_steps.words.parsing import phrase

PLAIN = Script()

FILL_MS = 1_000
"""The batch timeout, in milliseconds, for a client that loses its connection during a batch.

It is short, because the queue already holds the batch's messages.
"""

LOST_WITHIN_MS = 100
"""The duration, in milliseconds, of the listener's callback during which the client loses its connection.

The client loses the connection at the callback's beginning, so it acknowledges no message.
"""

UNBATCHED = "unbatched"
"""The name of the message, receiver and queue with which a step measures a delivery without a batch."""


@given("the time of an unbatched delivery has been measured")
def _(world: World) -> None:
    with _unbatched_receiver(world) as place:
        send(world, world.producer(place), UNBATCHED, place)


@given(phrase("the time of an unbatched delivery of {count:Number} queued messages has been measured"))
def _(world: World, count: int) -> None:
    """Measure the time from the send of the last message to its reception by a receiver that opens after all sends.

    A later claim compares the time of a full batch with this time, because a broker under load may take a second for
    hundreds of messages.
    """
    place = read_place(f'queue "{UNBATCHED}"')
    producer = world.producer(place)
    for label in (*(f"{UNBATCHED}{number}" for number in range(1, count)), UNBATCHED):
        send(world, producer, label, place)
    with _unbatched_receiver(world):
        pass


@contextmanager
def _unbatched_receiver(world: World) -> Generator[Place]:
    """Open a receiver without batches, and close it after it has received the message `UNBATCHED`."""
    place = read_place(f'queue "{UNBATCHED}"')
    consumer = world.consumer(UNBATCHED, Origin(address=world.address(place))).needed()
    consumer.listen(PLAIN).needed()
    yield place
    world.await_sightings((UNBATCHED,), (world.key(UNBATCHED),))
    consumer.session.connection.close().needed()


@given(phrase("the receiver takes batches of at most {size:Number} within {timeout:Duration}"))
@given(phrase("the receiver takes batches of at most {size:Number} within {timeout:Duration} and {script:Script}"))
@given(phrase("{name:Name} takes batches of at most {size:Number} within {timeout:Duration}"))
@given(phrase("{name:Name} takes batches of at most {size:Number} within {timeout:Duration} and {script:Script}"))
@when(phrase("the receiver starts to take batches of at most {size:Number} within {timeout:Duration}"))
@when(
    phrase("the receiver starts to take batches of at most {size:Number} within {timeout:Duration} and {script:Script}")
)
@when(phrase("{name:Name} starts to take batches of at most {size:Number} within {timeout:Duration}"))
@when(
    phrase("{name:Name} starts to take batches of at most {size:Number} within {timeout:Duration} and {script:Script}")
)
def _(world: World, size: int, timeout: int, name: str = RECEIVER, script: Script = PLAIN) -> None:
    world.consumers[name].listen_batch(script, size, timeout).needed()


@when(phrase("a batch listener of size {size:Number} and timeout {timeout:Number} ms is set on {name:Name}"))
def _(world: World, size: int, timeout: int, name: str) -> None:
    answer = world.consumers[name].listen_batch(PLAIN, size, timeout)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("a message listener is set on {name:Name}"))
def _(world: World, name: str) -> None:
    answer = world.consumers[name].listen(PLAIN)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("the message listener of {name:Name} is removed"))
def _(world: World, name: str) -> None:
    world.consumers[name].listen(None).needed()


@when(phrase("the batch listener of {name:Name} is removed"))
def _(world: World, name: str) -> None:
    world.consumers[name].listen_batch(None, 1, 0).needed()


@when(phrase("{name:Name} asks for a message"))
def _(world: World, name: str) -> None:
    answer = world.consumers[name].receive(0)
    world.last = Answer(answer.ref, answer.outcome)


@when(
    phrase(
        "{count:Number} times, the connection of {name:Name} is lost during a batch of {size:Number} messages "
        "from {place:Place}, and {other:Name} receives the redelivered messages"
    )
)
def _(world: World, count: int, size: int, place: Place, name: str, other: str) -> None:
    origin = Origin(address=world.address(place))
    producer = world.producer(place)
    world.many = tuple(f"many{number}" for number in range(1, count * size + 1))
    for first in range(0, count * size, size):
        labels = world.many[first : first + size]
        for label in labels:
            send(world, producer, label, place)
        _lose_with_batch(world, origin, name, labels)
        _take(world, origin, other, size)


def _lose_with_batch(world: World, origin: Origin, name: str, labels: tuple[str, ...]) -> None:
    consumer = world.consumer(name, origin).needed()
    connection = consumer.session.connection
    world.sightings.at_first_sight(world.coming_key(labels[-1]), connection.abort)
    consumer.listen_batch(Script(take_ms=LOST_WITHIN_MS), len(labels), FILL_MS).needed()
    world.wait_until(lambda: not connection.open, world.limits.expected_ms)


def _take(world: World, origin: Origin, name: str, count: int) -> None:
    consumer = world.consumer(name, origin).needed()
    for _turn in range(count):
        answer = consumer.receive(world.limits.expected_ms)
        if not isinstance(answer.outcome, Ok) or answer.outcome.value is None:
            break
    consumer.session.connection.close().needed()


def _await_all(world: World, *names: str) -> None:
    """Wait until the consumers together have received all messages of their destinations that are due by then."""
    origins = {world.consumers[name].origin.address for name in names}
    expected = [
        sent.key
        for label, sent in world.messages.items()
        if sent.destination in origins
        and sent.answer.accepted
        and world.left_ms(label, sent.delay_ms) <= world.limits.expected_ms
    ]
    world.await_sightings(names, expected)


def _shape(world: World, evidence: Evidence, name: str, size: int, **bounds: int) -> None:
    _await_all(world, name)
    evidence.claim("batch-shape", {"actor": name} | _like(world), {"max": size, **bounds})


def _like(world: World) -> dict[str, str]:
    """Return a claim's reference to the unbatched message that an earlier step measured; empty if no step has."""
    return {"like": world.key(UNBATCHED)} if UNBATCHED in world.messages else {}


@then(phrase("the receiver's batches hold at most {size:Number} messages"))
@then(phrase("{name:Name}'s batches hold at most {size:Number} messages"))
def _(world: World, evidence: Evidence, size: int, name: str = RECEIVER) -> None:
    _shape(world, evidence, name, size)


@then(phrase("the batches of {names:Names} hold at most {size:Number} messages"))
def _(world: World, evidence: Evidence, names: tuple[str, ...], size: int) -> None:
    _await_all(world, *names)
    evidence.claim("batch-shape", {"actors": listed(names)}, {"max": size})


@then(phrase("the receiver receives 1 batch of exactly 1 message"))
@then(phrase("the receiver receives {count:Number} batches of exactly {size:Number} messages"))
@then(phrase("{name:Name} receives {count:Number} batches of exactly {size:Number} messages"))
def _(world: World, evidence: Evidence, count: int = 1, size: int = 1, name: str = RECEIVER) -> None:
    _shape(world, evidence, name, size, min=size, batches=count)


@then(
    phrase(
        "each batch of at most {size:Number} reaches the receiver at most {timeout:Duration} after its first message "
        "could be delivered, with a tolerance"
    )
)
def _(world: World, evidence: Evidence, size: int, timeout: int) -> None:
    _shape(world, evidence, RECEIVER, size, defer_ms=timeout, limit_ms=world.limits.at_once_ms)


@then(
    phrase(
        "each batch of at most {size:Number} reaches the receiver at most {timeout:Duration} after its first message "
        "could be delivered, without a tolerance"
    )
)
def _(world: World, evidence: Evidence, size: int, timeout: int) -> None:
    _shape(world, evidence, RECEIVER, size, defer_ms=timeout)


@then(phrase("the receiver gets a full batch of {size:Number} at once"))
def _(world: World, evidence: Evidence, size: int) -> None:
    _shape(world, evidence, RECEIVER, size, full_ms=world.limits.at_once_ms)


@then(phrase("the number of messages in each of the receiver's batches of at most {size:Number} is recorded"))
def _(world: World, evidence: Evidence, size: int) -> None:
    _shape(world, evidence, RECEIVER, size, fill=1)


@then(phrase("the first batch of the receiver holds {label:Name}"))
def _(world: World, evidence: Evidence, label: str) -> None:
    key = world.key(label)
    world.await_sightings((RECEIVER,), (key,))
    evidence.claim("equal-fields", {"kid": key, "actor": RECEIVER, "field.batch": "0"})


@then(phrase("batch {number:Number} of {name:Name} holds {labels:Names} again"))
def _(world: World, evidence: Evidence, number: int, name: str, labels: tuple[str, ...]) -> None:
    keys = world.keys(labels)
    world.observe((name,), keys, 2)
    for key in keys:
        evidence.claim("equal-fields", {"kid": key, "actor": name, "which": "last", "field.batch": str(number - 1)})


@then(phrase("the receiver sees {label:Name} outside any batch"))
def _(world: World, evidence: Evidence, label: str) -> None:
    key = world.key(label)
    world.await_sightings((RECEIVER,), (key,))
    evidence.claim("equal-fields", {"kid": key, "actor": RECEIVER, "field.batch": "none"})


@then(phrase("the batch after the failed one holds {label:Name}"))
def _(world: World, evidence: Evidence, label: str) -> None:
    key = world.key(label)
    after = _failed_batch(world, RECEIVER) + 1
    world.observe((RECEIVER,), (key,), 2)
    evidence.claim("equal-fields", {"kid": key, "actor": RECEIVER, "which": "last", "field.batch": str(after)})


def _failed_batch(world: World, name: str) -> int:
    """Wait for a batch callback that raises an exception, and return the batch's number.

    Raises:
        SetupRefusedError: No batch callback of the actor has raised an exception within the time limit.
    """

    def raised() -> list[int]:
        return [
            event.batch
            for event in world.recorder.journal.events
            if isinstance(event, events.Callback)
            and event.actor == name
            and event.ended == "raised"
            and event.batch is not None
        ]

    world.wait_until(lambda: bool(raised()), world.limits.expected_ms)
    for batch in raised():
        return batch
    raise SetupRefusedError(Refused(JmsErrorKind.MESSAGING, f"no batch callback of {name!r} has failed"))


def _keys_of(world: World, *batches: int) -> tuple[str, ...]:
    """Return the keys of the messages in the receiver's batches with these numbers, each key once."""
    keys = (one.key for one in world.sightings.all if one.actor == RECEIVER and one.batch in batches)
    return tuple(dict.fromkeys(keys))


@then("every message of the failed batch comes to the receiver again")
def _(world: World, evidence: Evidence) -> None:
    keys = _keys_of(world, _failed_batch(world, RECEIVER))
    world.observe((RECEIVER,), keys, 2)
    evidence.claim("redelivered", {"kids": listed(keys), "actors": RECEIVER}, {"times": 2, "flagged": 0})


@then("no message of the batches before the failed batch comes to the receiver again")
def _(world: World, evidence: Evidence) -> None:
    keys = _keys_of(world, *range(_failed_batch(world, RECEIVER)))
    world.observe((RECEIVER,), keys)
    evidence.claim("delivered-exactly", {"kids": listed(keys), "actors": RECEIVER})


@then(phrase("{name:Name} sees every message of the batch of {label:Name} exactly once"))
def _(world: World, evidence: Evidence, name: str, label: str) -> None:
    batch = next(one.batch for one in world.seen_by((RECEIVER,), (world.key(label),)))
    keys = (world.key(label),) if batch is None else _keys_of(world, batch)
    world.observe((name,), keys)
    evidence.claim("delivered-exactly", {"kids": listed(keys), "actors": name})


@then(phrase("{name:Name} sees all messages of the batch of {label:Name}, or none"))
def _(world: World, evidence: Evidence, label: str, name: str) -> None:
    batch = next(one.batch for one in world.seen_by((RECEIVER,), (world.key(label),)))
    keys = (world.key(label),) if batch is None else _keys_of(world, batch)
    world.observe((name,), ())
    of = {"taken": listed(keys), "actors": name, "after": world.recorder.left(RECEIVER).ref}
    evidence.claim("all-or-nothing", of)


@then(phrase("the number of marked redeliveries of {labels:Names} that {names:Names} sees is recorded"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], names: tuple[str, ...]) -> None:
    keys = world.keys(labels)
    world.observe(names, (), 1)
    evidence.claim("redelivered", {"kids": listed(keys), "actors": listed(names)}, {"times": 0, "flagged": 0})


@then(phrase("every redelivery of {labels:Names} that {names:Names} sees is marked as redelivered"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], names: tuple[str, ...]) -> None:
    keys = world.keys(labels)
    world.observe(names, (), 1)
    evidence.claim("redelivered", {"kids": listed(keys), "actors": listed(names)}, {"times": 0})
