"""What is done to the broker: orderly restart, kill, lost lines."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.backend import NOW, AfterAnswer, BeforeAnswer, Cut, FirstSight, Kill, Restart
from assay_steps.parsing import Place, SendOptions, phrase
from assay_steps.vocabulary.sending import PLAIN, prepared, send
from assay_steps.world import World


@given("the broker has been restarted")
@when("the broker is restarted")
def _(world: World) -> None:
    world.suffer(Restart(), world.arm(Restart(), NOW))


@when("the broker is killed and comes back")
def _(world: World) -> None:
    world.suffer(Kill(), world.arm(Kill(), NOW))


@when(phrase("every connection is cut"))
def _(world: World) -> None:
    world.suffer(Cut(), world.arm(Cut(), NOW))


@given(phrase("the broker will be killed when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.awaited = (Kill(), world.arm(Kill(), FirstSight(world.kid(label))))


@given(phrase("every connection will be cut when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.awaited = (Cut(), world.arm(Cut(), FirstSight(world.kid(label))))


@given(phrase("the connection of {name:Name} will be lost when {label:Name} is first seen"))
def _(world: World, name: str, label: str) -> None:
    world.at_first_sight(label, world.consumers[name].session.connection.abort)


@when("the broker has been killed and is back")
@when("every connection has been cut")
def _(world: World) -> None:
    world.suffer_awaited()


@when(phrase("the connection of {name:Name} has been lost"))
def _(world: World, name: str) -> None:
    connection = world.consumers[name].session.connection
    world.wait_until(lambda: not connection.open, world.patience.expected_ms)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed at its answer"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} and the broker is killed at its answer"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    producer = prepared(world.producer(world.address(place)), options)
    injection = world.arm(Kill(), AfterAnswer(world.kid(label)))
    send(world, producer, label, place, options)
    world.suffer(Kill(), injection)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed before its answer"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed before its answer"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    producer = prepared(world.producer(world.address(place)), options)
    injection = world.arm(Kill(), BeforeAnswer(world.kid(label)))
    send(world, producer, label, place, options)
    world.suffer(Kill(), injection)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed at its first sight"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed at its first sight"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    producer = prepared(world.producer(world.address(place)), options)
    injection = world.arm(Kill(), FirstSight(world.kid(label)))
    send(world, producer, label, place, options)
    world.suffer(Kill(), injection)


@when(phrase("many messages are sent to {place:Place} and the broker is killed at the very answer to each"))
def _(world: World, place: Place) -> None:
    world.many = tuple(f"many{number}" for number in range(1, world.rounds + 1))
    for label in world.many:
        producer = world.producer(world.address(place))
        injection = world.arm(Kill(), AfterAnswer(world.kid(label)))
        send(world, producer, label, place)
        world.suffer(Kill(), injection)
