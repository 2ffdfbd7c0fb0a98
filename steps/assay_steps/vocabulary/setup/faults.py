"""Steps about faults: restarts, kills and power losses of the broker, failed writes, and lost connections."""

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
    PowerLoss,
    Restart,
    StoreError,
    Unreachable,
    WorkerDies,
)
from assay_adapters.ports.outcome import Refused
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.actors import Producer
from assay_steps.cast.recording import SetupRefusedError
from assay_steps.cast.timing.waiting import RECONNECTED_MS
from assay_steps.cast.world import PLAIN, World
from assay_steps.vocabulary.clients.sending import producer_for, send
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase
from assay_steps.words.send_options import SendOptions


@given("the broker has been restarted")
@when("the broker is restarted")
def _(world: World) -> None:
    world.faults.inject(Restart())


@given(phrase("the broker has been restarted at command level {level:Level}"))
@when(phrase("the broker is restarted at command level {level:Level}"))
@when(phrase("the broker is restarted with OPMODE({opmode:Opmode})"))
def _(world: World, level: str | None = None, opmode: Opmode | None = None) -> None:
    world.faults.inject(Restart(level=level, opmode=opmode))


@when(phrase("the broker's store refuses the next write"))
@when(phrase("the broker's store refuses the next {times:Number} writes"))
def _(world: World, times: int = 1) -> None:
    world.faults.inject(StoreError(times))


@when(phrase("the store of queue manager {member:Name} refuses the next write"))
def _(world: World, member: str) -> None:
    world.faults.inject(StoreError(), world.names.member(member))


@when("the worker of the delivery delay processor dies")
def _(world: World) -> None:
    world.faults.inject(WorkerDies())


@when("the broker is killed and comes back")
def _(world: World) -> None:
    world.faults.inject(Kill())


@when("the broker loses its power and comes back")
def _(world: World) -> None:
    world.faults.inject(PowerLoss())


@when(phrase("every connection is cut"))
def _(world: World) -> None:
    world.faults.inject(Cut())


@when("every subscriber is connected again")
def _(world: World) -> None:
    if not any(one.session.connection.reconnects for one in world.consumers.values()):
        raise MistakeError("no subscriber's client reconnects by itself here; tag the scenario @needs-reconnect")
    if away := world.await_reconnections():
        text = f"the client did not reconnect within {RECONNECTED_MS // 1_000} s after the fault: {', '.join(away)}"
        raise SetupRefusedError(Refused(JmsErrorKind.CONNECTION_LOST, text))


@when(phrase("every connection is cut, and none is accepted for {span:Duration}"))
def _(world: World, span: int) -> None:
    injection = world.faults.arm(Unreachable())
    world.instance.runner.call_at(world.instance.clock.monotonic_ns() + span * NS_PER_MS, injection.heal)
    world.faults.wait_for(Unreachable(), injection)


@given(phrase("the broker will be killed when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.faults.arm_for_later(Kill(), FirstSight(world.coming_key(label)))


@when(phrase("every connection will be cut in {span:Duration}"))
def _(world: World, span: int) -> None:
    world.faults.arm_for_later(Cut(), At(world.instance.clock.monotonic_ns() + span * NS_PER_MS))


@given(phrase("the broker's store will refuse the next write when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.faults.arm_for_later(StoreError(), FirstSight(world.coming_key(label)))


@given(phrase("every connection will be cut when {label:Name} is first seen"))
def _(world: World, label: str) -> None:
    world.faults.arm_for_later(Cut(), FirstSight(world.coming_key(label)))


@given(phrase("the broker will be killed {span:Duration} after {label:Name} is first seen"))
def _(world: World, span: int, label: str) -> None:
    _arm_behind_first_sight(world, Kill(), span, label)


@given(phrase("every connection will be cut {span:Duration} after {label:Name} is first seen"))
def _(world: World, span: int, label: str) -> None:
    _arm_behind_first_sight(world, Cut(), span, label)


def _arm_behind_first_sight(world: World, fault: Kill | Cut, span_ms: int, label: str) -> None:
    def arm() -> None:
        due_ns = world.instance.clock.monotonic_ns() + span_ms * NS_PER_MS
        world.faults.arm_for_later(fault, At(due_ns))

    world.faults.announce(fault)
    world.sightings.at_first_sight(world.coming_key(label), arm)


@given(phrase("the connection of {name:Name} will be lost when {label:Name} is first seen"))
def _(world: World, name: str, label: str) -> None:
    world.sightings.at_first_sight(world.coming_key(label), world.consumers[name].session.connection.abort)


@given(phrase("the connection of {name:Name} will be lost when {label:Name} is acknowledged"))
def _(world: World, name: str, label: str) -> None:
    world.sightings.at_settlement(world.coming_key(label), world.consumers[name].session.connection.abort)


@when("the broker has been killed and is back")
@when("the broker's store has refused the write")
@when("every connection has been cut")
def _(world: World) -> None:
    world.wait_until(lambda: not world.faults.announced, world.limits.expected_ms)
    world.faults.wait_for_armed()


@when(phrase("the connection of {name:Name} has been lost"))
def _(world: World, name: str) -> None:
    await_loss(world, name)


def await_loss(world: World, name: str) -> None:
    """Wait until an actor's connection is lost: an earlier step has named a message that ends it.

    The connection ends when the actor receives or acknowledges that message. If the connection is still open after
    `TimeLimits.expected_ms`, drop it now: the scenario's claims then find that the message was not delivered.
    """
    connection = world.consumers[name].session.connection
    world.wait_until(lambda: not connection.open, world.limits.expected_ms)
    if connection.open:
        connection.abort()


def _send_and_kill(
    world: World,
    producer: Producer,
    label: str,
    place: Place,
    moment: type[AfterAnswer | BeforeAnswer | FirstSight],
    options: SendOptions = PLAIN,
) -> None:
    """Send a message, and wait until the broker was killed at a moment of the send and is back."""
    injection = world.faults.arm(Kill(), moment(world.coming_key(label)))
    send(world, producer, label, place, options)
    world.faults.wait_for(Kill(), injection)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed just after it answers"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} and the broker is"
        " killed just after it answers"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    _send_and_kill(world, producer_for(world, place, options), label, place, AfterAnswer, options)


@when(phrase("the producer sends message {label:Name} and the broker is killed just after it answers"))
def _(world: World, label: str) -> None:
    _send_and_kill(world, world.producers["sender"], label, world.places["sender"], AfterAnswer)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed before it answers"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed before it answers"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    _send_and_kill(world, producer_for(world, place, options), label, place, BeforeAnswer, options)


@when(phrase("message {label:Name} is sent to {place:Place} and the broker is killed when the message is first seen"))
@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} "
        "and the broker is killed when the message is first seen"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    _send_and_kill(world, producer_for(world, place, options), label, place, FirstSight, options)


@when(
    phrase("several messages are sent to {place:Place} one at a time, and the broker is killed just after each answer")
)
def _(world: World, place: Place) -> None:
    world.many = tuple(f"many{number}" for number in range(1, world.rounds + 1))
    for number, label in enumerate(world.many):
        if number > 0:
            world.faults.slow_disk()  # the kill before has ended the slowness
        _send_and_kill(world, world.producer(place), label, place, AfterAnswer)
