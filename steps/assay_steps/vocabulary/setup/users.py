"""Steps about users: their authorities, and their attempts to use queues and topics.

A user has all authorities of the group of all users. So a scenario first takes these authorities from the group.
"""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.ports.client import Origin
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import PLAIN, World
from assay_steps.vocabulary.clients.sending import prepared, send
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase
from assay_steps.words.send_options import SendOptions


@given(phrase("ordinary users lose their authority for {place:Place}"))
@when(phrase("ordinary users lose their authority for {place:Place}"))
def _(world: World, place: Place) -> None:
    world.administrator.withhold(place).needed()


@given(phrase("user {user:Name} may {right:Right} {place:Place}"))
@when(phrase("user {user:Name} is allowed to {right:Right} {place:Place}"))
def _(world: World, user: str, right: str, place: Place) -> None:
    world.administrator.grant(place, user, right).needed()


@when(phrase("user {user:Name} is no longer allowed to {right:Right} {place:Place}"))
def _(world: World, user: str, right: str, place: Place) -> None:
    world.administrator.revoke(place, user, right).needed()


@given(phrase("a connection {name:Name} of user {user:Name}"))
def _(world: World, name: str, user: str) -> None:
    world.connections.connect(name, user=user).needed()


@when(phrase("user {user:Name} sends message {label:Name} to {place:Place}"))
@when(phrase("user {user:Name} sends message {label:Name} to {place:Place} with {options:Options}"))
def _(world: World, user: str, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    session = world.session(f"user {user}", user=user, member=place.member)
    answer = world.try_producer(place, f"{user}'s sender", session)
    if answer.accepted:
        send(world, prepared(answer.needed(), options), label, place, options)
    else:
        world.draft(label, options)  # later steps may claim that no queue holds it
        world.last = Answer(answer.ref, answer.outcome)
    if not world.last.accepted:
        session.connection.close()  # a broker may end the connection with the refusal; the next send gets another one


@when(phrase("user {user:Name} browses {place:Place}"))
def _(world: World, user: str, place: Place) -> None:
    answer = world.session(f"user {user}", user=user, member=place.member).browse(world.address(place))
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("user {user:Name} asks for a message from {place:Place}"))
def _(world: World, user: str, place: Place) -> None:
    session = world.session(f"user {user}", user=user, member=place.member)
    consumer = world.consumer(f"{user}'s receiver", Origin(address=world.address(place)), session=session)
    world.last = Answer(consumer.ref, consumer.outcome)
    if consumer.accepted:
        received = consumer.needed().receive(0)
        world.last = Answer(received.ref, received.outcome)
