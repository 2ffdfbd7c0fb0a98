"""Steps about named sessions: units of work, acknowledgement and recovery."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.ports.client import AckMode, Origin
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_steps.cast.recording import Answer, SetupRefusedError
from assay_steps.cast.world import World
from assay_steps.vocabulary.clients.receiving import RECEIVER
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

_UNDECIDED = frozenset({JmsErrorKind.CONNECTION_LOST, JmsErrorKind.UNSUPPORTED})
"""The kinds of refusals that do not show whether the pair breaks a rule that demands the call's success."""


@given(phrase("session {name:Name} in {ack:Ack} mode"))
@given(phrase("session {name:Name} in {ack:Ack} mode on connection {connection:Name}"))
def _(world: World, name: str, ack: AckMode, connection: str | None = None) -> None:
    world.session(name, ack, connection=connection)


@given(phrase("receiver {name:Name} of session {session:Name} on {place:Place}"))
@given(phrase("receiver {name:Name} of session {session:Name} on {place:Place} for messages with {selector:Name}"))
def _(world: World, name: str, session: str, place: Place, selector: str | None = None) -> None:
    origin = Origin(address=world.address(place), selector=selector)
    world.consumer(name, origin, session=world.sessions[session]).needed()


@given(
    phrase(
        "receiver {name:Name} of session {session:Name} on {place:Place} that gets no messages of its own connection"
    )
)
def _(world: World, name: str, session: str, place: Place) -> None:
    origin = Origin(address=world.address(place), no_local=True)
    world.consumer(name, origin, session=world.sessions[session]).needed()


@when(phrase("session {name:Name} is committed"))
def _(world: World, name: str) -> None:
    answer = world.sessions[name].commit()
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("session {name:Name} is rolled back"))
def _(world: World, name: str) -> None:
    answer = world.sessions[name].rollback()
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("session {name:Name} is recovered"))
def _(world: World, name: str) -> None:
    _tried(world, world.sessions[name].recover())


@when(phrase("session {name:Name} is closed"))
def _(world: World, name: str) -> None:
    world.sessions[name].close().needed()


@when("the receiver's connection is stopped")
@when(phrase("the connection of {name:Name} is stopped"))
def _(world: World, name: str = RECEIVER) -> None:
    world.consumers[name].session.connection.stop().needed()


@when("the receiver's connection is started")
@when(phrase("the connection of {name:Name} is started"))
def _(world: World, name: str = RECEIVER) -> None:
    world.consumers[name].session.connection.start().needed()


@when("the client tries to stop the receiver's connection")
def _(world: World) -> None:
    _tried(world, world.consumers[RECEIVER].session.connection.stop())


@when("the client tries to start the receiver's connection")
def _(world: World) -> None:
    _tried(world, world.consumers[RECEIVER].session.connection.start())


def _tried(world: World, answer: Answer[None]) -> None:
    """Store the answer to a call for the next claim.

    Raises:
        SetupRefusedError: The refusal is one of `_UNDECIDED`, so the scenario is inconclusive.
    """
    if isinstance(answer.outcome, Refused) and answer.outcome.kind in _UNDECIDED:
        answer.needed()  # raises `SetupRefusedError`
    world.last = Answer(answer.ref, answer.outcome)


@given(phrase("{place:Place} is a temporary queue of session {session:Name}"))
def _(world: World, place: Place, session: str) -> None:
    world.temporary[place] = world.sessions[session].temporary_queue().needed()


@when(phrase("{name:Name} acknowledges message {label:Name}"))
def _(world: World, name: str, label: str) -> None:
    _acknowledge(world, name, label, -1).needed()


@when(phrase("{name:Name} tries to acknowledge message {label:Name}"))
def _(world: World, name: str, label: str) -> None:
    answer = _acknowledge(world, name, label, -1)
    if not answer.ref:
        raise SetupRefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, f"{name} has not received {label}"))
    _tried(world, answer)


@when(phrase("{name:Name} acknowledges each of these messages that it has seen"))
def _(world: World, name: str) -> None:
    for label in world.many:
        _acknowledge(world, name, label, -1).needed()


@when(phrase("{name:Name} acknowledges the first delivery of message {label:Name}"))
def _(world: World, name: str, label: str) -> None:
    answer = _acknowledge(world, name, label, 0)  # may be refused, because the first delivery's connection may be gone
    world.last = Answer(answer.ref, answer.outcome)


def _acknowledge(world: World, name: str, label: str, which: int) -> Answer[None]:
    """Acknowledge one of an actor's receptions of a message, and return the answer.

    If the actor has not received the message, do nothing: the scenario's claims find that it was not delivered.

    Args:
        world: The scenario's world.
        name: The actor's name.
        label: The message's label.
        which: The index of the reception; 0 for the first, -1 for the last.
    """
    seen = world.seen_by((name,), (world.key(label),))
    if not seen:
        return Answer("", Ok(None))
    return world.consumers[name].session.acknowledge(seen[which].seen)
