"""Steps about receivers on queues: with a listener, with receive calls, polling and browsing; and their ends."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.ports.client import AckMode, Origin, Script
from assay_adapters.ports.outcome import Ok
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import World
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

RECEIVER = "receiver"


@given(phrase("a receiver is waiting on {place:Place}"))
@given(phrase("receiver {name:Name} is waiting on {place:Place}"))
@given(phrase("receiver {name:Name} is waiting on {place:Place} in {ack:Ack} mode"))
@given(phrase("receiver {name:Name} is waiting on {place:Place} for messages with {selector:Name}"))
@when(phrase("a receiver starts to wait on {place:Place}"))
@when(phrase("receiver {name:Name} starts to wait on {place:Place}"))
@when(phrase("receiver {name:Name} starts to wait on {place:Place} for messages with {selector:Name}"))
def _(
    world: World, place: Place, name: str = RECEIVER, ack: AckMode = AckMode.AUTO, selector: str | None = None
) -> None:
    origin = Origin(address=world.address(place), selector=selector)
    world.consumer(name, origin, ack=ack, member=place.member).needed().listen(Script()).needed()


@given(phrase("a receiver on {place:Place}"))
@given(phrase("receiver {name:Name} on {place:Place}"))
@given(phrase("receiver {name:Name} on {place:Place} in {ack:Ack} mode"))
@given(phrase("receiver {name:Name} on {place:Place} for messages with {selector:Name}"))
@when(phrase("a receiver connects to {place:Place}"))
@when(phrase("receiver {name:Name} connects to {place:Place}"))
@when(phrase("receiver {name:Name} connects to {place:Place} in {ack:Ack} mode"))
def _(
    world: World, place: Place, name: str = RECEIVER, ack: AckMode = AckMode.AUTO, selector: str | None = None
) -> None:
    origin = Origin(address=world.address(place), selector=selector)
    world.consumer(name, origin, ack=ack, member=place.member).needed()


@given(phrase("a {style:Style} receiver on {place:Place}"))
def _(world: World, place: Place, style: str) -> None:
    session = world.session(RECEIVER, face=style, member=place.member)
    world.consumer(RECEIVER, Origin(address=world.address(place)), session=session).needed()


@when(phrase("the receiver polls every {interval:Duration} for {span:Duration}"))
@when(phrase("receiver {name:Name} polls every {interval:Duration} for {span:Duration}"))
def _(world: World, interval: int, span: int, name: str = RECEIVER) -> None:
    consumer = world.consumers[name]
    deadline = world.now_ms() + span
    while world.now_ms() < deadline:
        consumer.receive(interval)


@given(phrase("{name:Name} will try to receive a message from {other:Name} in its next callback"))
def _(world: World, name: str, other: str) -> None:
    consumer = world.consumers[other]
    world.sightings.in_callback(name, lambda: consumer.receive(world.limits.expected_ms))


@when(phrase("{name:Name} receives a message"))
@when(phrase("{name:Name} receives {count:Number} messages"))
def _(world: World, name: str, count: int = 1) -> None:
    for _turn in range(count):
        answer = world.consumers[name].receive(world.limits.expected_ms)
        if not isinstance(answer.outcome, Ok) or answer.outcome.value is None:
            return


@when(phrase("{place:Place} is browsed"))
def _(world: World, place: Place) -> None:
    answer = world.browser(place).browse(world.address(place))
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("{place:Place} is browsed every {interval:Duration} for {span:Duration}"))
def _(world: World, place: Place, interval: int, span: int) -> None:
    deadline = world.now_ms() + span
    while world.now_ms() < deadline:
        world.browser(place).browse(world.address(place)).needed()
        world.pass_time(interval)


@when("the receiver is closed")
@when(phrase("{name:Name} is closed"))
@when(phrase("the consumer of {name:Name} is closed"))
def _(world: World, name: str = RECEIVER) -> None:
    world.consumers[name].close().needed()


@when(phrase("the session of {name:Name} is closed"))
def _(world: World, name: str) -> None:
    world.sessions.pop(name).close().needed()


@when("the receiver's connection is closed")
@when(phrase("{name:Name}'s connection is closed"))
@when(phrase("the connection of {name:Name} is closed"))
def _(world: World, name: str = RECEIVER) -> None:
    world.consumers[name].session.connection.close().needed()


@when("the receiver's connection is lost")
@when(phrase("{name:Name}'s connection is lost"))
@when(phrase("the connection of {name:Name} is lost"))
def _(world: World, name: str = RECEIVER) -> None:
    world.consumers[name].session.connection.abort()
