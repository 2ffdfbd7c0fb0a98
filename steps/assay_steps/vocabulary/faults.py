"""What is done to the broker: orderly restart, kill, lost lines."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.ports.capabilities import Opmode
from assay_adapters.ports.faults import (
    AfterAnswer,
    At,
    BeforeAnswer,
    Cut,
    FirstSight,
    Kill,
    Restart,
    StoreError,
    WorkerDies,
)
from assay_steps.names import Place
from assay_steps.options import SendOptions
from assay_steps.parsing import phrase
from assay_steps.vocabulary.sending import producer_for, send
from assay_steps.waiting import NS_PER_MS
from assay_steps.world import PLAIN, World


@given("the broker has been restarted")
@when("the broker is restarted")
def _(world: World) -> None:
    world.troubles.hurt(Restart())


@given(phrase("the broker has been restarted at level {level:Level}"))
@when(phrase("the broker is restarted at level {level:Level}"))
@when(phrase("the broker is restarted with OPMODE({opmode:Opmode})"))
def _(world: World, level: str | None = None, opmode: Opmode | None = None) -> None:
    world.troubles.hurt(Restart(level=level, opmode=opmode))


@when(phrase("the broker's store refuses the next write"))
@when(phrase("the broker's store refuses the next {times:Number} writes"))
def _(world: World, times: int = 1) -> None:
    world.troubles.hurt(StoreError(times))


@when("what works for the delivery delay processor dies")
def _(world: World) -> None:
    world.troubles.hurt(WorkerDies())


@when("the broker is killed and comes back")
def _(world: World) -> None:
    world.troubles.hurt(Kill())


@when(phrase("every connection is cut"))
def _(world: World) -> None:
    world.troubles.hurt(Cut())


@given(phrase("the broker will be killed when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.troubles.await_later(Kill(), FirstSight(world.kid(label)))


@given(phrase("every connection will be cut when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.troubles.await_later(Cut(), FirstSight(world.kid(label)))


@given(phrase("the broker will be killed {span:Duration} after {label:Name} is first seen"))
def _(world: World, span: int, label: str) -> None:
    _arm_behind_first_sight(world, Kill(), span, label)


@given(phrase("every connection will be cut {span:Duration} after {label:Name} is first seen"))
def _(world: World, span: int, label: str) -> None:
    _arm_behind_first_sight(world, Cut(), span, label)


def _arm_behind_first_sight(world: World, fault: Kill | Cut, span_ms: int, label: str) -> None:
    def arm() -> None:
        due_ns = world.instance.clock.monotonic_ns() + span_ms * NS_PER_MS
        world.troubles.await_later(fault, At(due_ns))

    world.troubles.promise()
    world.sightings.at_first_sight(world.kid(label), arm)


@given(phrase("the connection of {name:Name} will be lost when {label:Name} is first seen"))
def _(world: World, name: str, label: str) -> None:
    world.sightings.at_first_sight(world.kid(label), world.consumers[name].session.connection.abort)


@when("the broker has been killed and is back")
@when("every connection has been cut")
def _(world: World) -> None:
    world.wait_until(lambda: not world.troubles.promised, world.patience.expected_ms)
    world.troubles.suffer_awaited()


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
    producer = producer_for(world, place, options)
    injection = world.troubles.arm(Kill(), AfterAnswer(world.kid(label)))
    send(world, producer, label, place, options)
    world.troubles.suffer(Kill(), injection)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed before its answer"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed before its answer"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    producer = producer_for(world, place, options)
    injection = world.troubles.arm(Kill(), BeforeAnswer(world.kid(label)))
    send(world, producer, label, place, options)
    world.troubles.suffer(Kill(), injection)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed at its first sight"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed at its first sight"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    producer = producer_for(world, place, options)
    injection = world.troubles.arm(Kill(), FirstSight(world.kid(label)))
    send(world, producer, label, place, options)
    world.troubles.suffer(Kill(), injection)


@when(phrase("many messages are sent to {place:Place} and the broker is killed at the very answer to each"))
def _(world: World, place: Place) -> None:
    world.many = tuple(f"many{number}" for number in range(1, world.rounds + 1))
    for label in world.many:
        producer = world.producer(place)
        injection = world.troubles.arm(Kill(), AfterAnswer(world.kid(label)))
        send(world, producer, label, place)
        world.troubles.suffer(Kill(), injection)
