"""Steps about confirmation: the work of a subscriber's application between reception and confirmation of a message.

An application that fails ends without a close, as if its process had been killed; its client does not reconnect.  The
application enters each processed message in a database, which survives the failure.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from pytest_bdd import given, then, when

from assay_adapters.ports.client import Script
from assay_adapters.ports.outcome import Ok, Outcome
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.world import World
from assay_steps.vocabulary.setup.faults import await_loss
from assay_steps.words.parsing import phrase


class Database:
    """The database of an application's processed messages; each message has one row, even if entered twice."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect(":memory:", isolation_level=None)
        self._rows.execute("CREATE TABLE entry (kid TEXT PRIMARY KEY) WITHOUT ROWID")

    def enter(self, key: str) -> Outcome[None]:
        """Enter a message's key and commit; a key that is already in the database changes nothing."""
        self._rows.execute("INSERT OR IGNORE INTO entry (kid) VALUES (?)", (key,))
        return Ok(None)

    def entries(self) -> Outcome[tuple[str, ...]]:
        """Read the keys of all entered messages."""
        return Ok(tuple(key for (key,) in self._rows.execute("SELECT kid FROM entry ORDER BY kid")))

    def close(self) -> None:
        """Close the database."""
        self._rows.close()


@pytest.fixture
def database() -> Iterator[Database]:
    """Provide the database that all applications of the scenario share."""
    made = Database()
    yield made
    made.close()


def _fail(world: World, name: str) -> None:
    world.consumers[name].session.connection.abort()


def _enter(world: World, database: Database, name: str, key: str) -> None:
    world.recorder.record(name, "enter", lambda: database.enter(key), args={"kid": key}).needed()


@given(phrase("the application of {name:Name} will fail when {label:Name} is first seen"))
def _(world: World, name: str, label: str) -> None:
    world.sightings.at_first_sight(world.coming_key(label), lambda: _fail(world, name))


@when(phrase("the application of {name:Name} fails"))
def _(world: World, name: str) -> None:
    _fail(world, name)


@when(phrase("the application of {name:Name} has failed"))
def _(world: World, name: str) -> None:
    await_loss(world, name)


@when(phrase("receiver {name:Name} starts to receive and {script:Script}"))
@when(phrase("subscriber {name:Name} starts to receive and {script:Script}"))
def _(world: World, name: str, script: Script) -> None:
    world.consumers[name].listen(script).needed()


@when(phrase("subscriber {name:Name} comes back as {other:Name}"))
def _(world: World, name: str, other: str) -> None:
    world.play_again(other, world.roles[name]).listen(Script()).needed()


@when(phrase("subscriber {name:Name} comes back and does not receive yet"))
def _(world: World, name: str) -> None:
    world.play_again(name, world.roles[name])


@when(phrase("{name:Name} stores {label:Name} in its database"))
def _(world: World, database: Database, name: str, label: str) -> None:
    _enter(world, database, name, world.key(label))


@when(phrase("{name:Name} receives 1 message, storing it in its database before acknowledging it"))
@when(phrase("{name:Name} receives {count:Number} messages, storing each in its database before acknowledging it"))
def _(world: World, database: Database, name: str, count: int = 1) -> None:
    consumer = world.consumers[name]
    for _turn in range(count):
        answer = consumer.receive(world.limits.expected_ms)
        if not isinstance(answer.outcome, Ok) or answer.outcome.value is None:
            return
        seen = answer.outcome.value
        _enter(world, database, name, seen.key)
        consumer.session.acknowledge(seen).needed()


@then(phrase("{labels:Names} are in the database of {name:Name}"))
def _(world: World, evidence: Evidence, database: Database, labels: tuple[str, ...], name: str) -> None:
    answer = world.recorder.record(name, "entries", database.entries, show=lambda keys: {"keys": keys})
    evidence.claim("found-by-browse", {"call": answer.ref, "kids": listed(world.keys(labels))}, {"count": 1})


@then(phrase("{labels:Names} went over the wire once, settled"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...]) -> None:
    _went(world, evidence, labels, times=1, settled=1)


@then(phrase("{labels:Names} went over the wire once, not settled"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...]) -> None:
    _went(world, evidence, labels, times=1, settled=0)


@then(phrase("{labels:Names} went over the wire again, not settled"))
@then(phrase("{labels:Names} went over the wire at least {times:Number} times, not settled"))
def _(world: World, evidence: Evidence, labels: tuple[str, ...], times: int = 2) -> None:
    _went(world, evidence, labels, least=times, settled=0)


@then(phrase("{label:Name} went over the wire unaltered, each time to the same topic"))
def _(world: World, evidence: Evidence, label: str) -> None:
    sent = world.messages[label]
    kind = {"field.body": sent.kind} if sent.octets else {}  # no body and an empty text are the same to many brokers
    same = {"field.sha256": "sent", "field.target": "first"} | kind
    evidence.claim("transferred", {"kids": sent.key} | same, {"least": 1})


@then(phrase("{label:Name} went over the wire each time with the message id that its sender saw"))
def _(world: World, evidence: Evidence, label: str) -> None:
    sent = world.messages[label]
    shown = str(sent.answer.needed().message_id)
    evidence.claim("transferred", {"kids": sent.key, "field.JMSMessageID": shown}, {"least": 1})


@then(phrase("{label:Name} went over the wire each time without a durable field in its header"))
def _(world: World, evidence: Evidence, label: str) -> None:
    evidence.claim("transferred", {"kids": world.key(label), "field.durable": "none"}, {"least": 1})


def _went(world: World, evidence: Evidence, labels: tuple[str, ...], **bounds: int) -> None:
    keys = world.keys(labels)  # a client may buffer a message whose send has returned
    world.wait_until(lambda: all(world.sightings.transferred(None, key) for key in keys), world.limits.expected_ms)
    evidence.claim("transferred", {"kids": listed(keys)}, bounds)
