"""Steps about subscribers with a quality of service or a lasting subscription, and claims about their queues.

A client refuses a choice that it does not offer, so scenarios with such a choice have a tag:
``@needs-quality-of-service``, ``@needs-lasting-subscription``, ``@needs-subscription-ttl``, ``@needs-auto-confirm``.
"""

from __future__ import annotations

from msgspec.structs import replace
from pytest_bdd import given, then, when

from assay_adapters.ports.client import AckMode, Script
from assay_adapters.ports.faults import Arrival, At, BeforeAnswer, BlockWrite, Cut
from assay_sdk.driver import Durability
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.claims import Evidence, listed
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import Role, World
from assay_steps.vocabulary.clients.sending import producer_for, send
from assay_steps.vocabulary.observations.queue_inspections import inspect_for
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase
from assay_steps.words.send_options import SendOptions
from assay_steps.words.subscription_terms import Terms

_CHECK_MS = 50
"""The milliseconds between two checks for a lost connection.

The client waits longer before it reconnects (`Backoff`), so a cut that is armed after a check strikes the client's
second send of the message.
"""


def role_of(world: World, name: str, place: Place, terms: Terms) -> Role:
    """Make the role of a subscriber from its terms.

    The subscriber's name is also its client id.  A lasting subscription has this name, too, unless the terms name a
    shared subscription.
    """
    lasting = terms.durable or terms.ttl_ms > 0
    origin = world.subscription(
        world.address(place),
        durable=lasting,
        name=terms.share or (name if lasting else None),
        shared=terms.share is not None,
        ttl_ms=None if terms.durable else terms.ttl_ms,
        credit=terms.credit,
    )
    return Role(
        origin=origin,
        ack=AckMode.CLIENT if terms.auto_confirm is False else AckMode.AUTO,
        client_id=name,
        member=place.member,
        qos=terms.qos,
        auto_confirm=terms.auto_confirm,
    )


def _send_and_cut(
    world: World, label: str, place: Place, options: SendOptions, moment: type[Arrival | BeforeAnswer]
) -> None:
    """Send a message, and wait until every connection was cut at a moment of the send."""
    producer = producer_for(world, place, options)
    injection = world.faults.arm(Cut(), moment(world.coming_key(label)))
    send(world, producer, label, place, options)
    world.faults.wait_for(Cut(), injection)


@given(phrase("subscriber {name:Name} on {place:Place} with {terms:Terms}"))
@when(phrase("subscriber {name:Name} subscribes to {place:Place} with {terms:Terms}"))
def _(world: World, name: str, place: Place, terms: Terms) -> None:
    world.play(name, role_of(world, name, place, terms)).needed().listen(Script()).needed()


@when(phrase("subscriber {name:Name} tries to subscribe to {place:Place} with {terms:Terms}"))
def _(world: World, name: str, place: Place, terms: Terms) -> None:
    answer = world.play(name, role_of(world, name, place, terms))
    world.last = Answer(answer.ref, answer.outcome)


@given(phrase("subscriber {name:Name}, of the same client as {other:Name}, on {place:Place} with {terms:Terms}"))
@when(
    phrase("subscriber {name:Name}, of the same client as {other:Name}, subscribes to {place:Place} with {terms:Terms}")
)
def _(world: World, name: str, other: str, place: Place, terms: Terms) -> None:
    role = role_of(world, name, place, terms)
    session = world.consumers[other].session
    answer = world.consumer(name, role.origin, session=session, qos=role.qos, auto_confirm=role.auto_confirm)
    answer.needed().listen(Script()).needed()


@given(phrase("subscriber {name:Name}, which does not receive yet, on {place:Place} with {terms:Terms}"))
def _(world: World, name: str, place: Place, terms: Terms) -> None:
    world.play(name, role_of(world, name, place, terms)).needed()


@when(phrase("subscriber {name:Name} starts to receive"))
def _(world: World, name: str) -> None:
    world.consumers[name].listen(Script()).needed()


@when(phrase("subscriber {name:Name} comes back {span:Duration} after it left"))
@when(
    phrase(
        "subscriber {name:Name} comes back {span:Duration} after it left,"
        " with a subscription that lives for {ttl:Duration}"
    )
)
def _(world: World, name: str, span: int, ttl: int | None = None) -> None:
    role = world.roles[name]
    if ttl is not None:
        lasting = Durability.DURABLE if ttl else role.origin.durability
        role = replace(role, origin=replace(role.origin, ttl_ms=ttl, durability=lasting))
    world.wait_after(name, span)
    world.play(name, role).needed().listen(Script()).needed()


@when(phrase("subscriber {name:Name} comes back, and its connection is lost when {label:Name} is first seen"))
def _(world: World, name: str, label: str) -> None:
    consumer = world.play_again(name, world.roles[name])
    world.sightings.at_first_sight(world.coming_key(label), consumer.session.connection.abort)
    consumer.listen(Script()).needed()


@when(phrase("{span:Duration} have passed since subscriber {name:Name} left"))
def _(world: World, span: int, name: str) -> None:
    world.wait_after(name, span)


@then(phrase("the Persistence of {label:Name} on {queue:Place} is recorded"))
def _(world: World, evidence: Evidence, label: str, queue: Place) -> None:
    event = inspect_for(world, queue, label)
    evidence.claim("in-range", {"at": event, "field": "Persistence"}, {"least": 0, "most": 1})


@then(phrase("there is no subscription to {place:Place}"))
@then(phrase("there is {count:Number} subscription to {place:Place}"))
@then(phrase("there are {count:Number} subscriptions to {place:Place}"))
def _(world: World, evidence: Evidence, place: Place, count: int = 0) -> None:
    shown = world.administrator.subscriptions(place)
    evidence.claim("equal-fields", {"at": shown.ref, "field.subscriptions": str(count)})


@then(phrase("{name:Name} sees {labels:Names} at least once"))
def _(world: World, evidence: Evidence, name: str, labels: tuple[str, ...]) -> None:
    world.observe((name,), world.keys(labels))
    evidence.claim("delivered-at-least", {"kids": listed(world.keys(labels)), "actors": name}, {"times": 1})


# events during a send ----------------------------------------------------------------------------------------------


@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options}"
        " while the write to {queue:Place} waits for {span:Duration}"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions, queue: Place, span: int) -> None:
    producer = producer_for(world, place, options)
    blocked = BlockWrite(world.administrator.name_of(queue))
    injection = world.faults.arm(blocked)
    world.instance.runner.call_at(world.instance.clock.monotonic_ns() + span * NS_PER_MS, injection.heal)
    send(world, producer, label, place, options)
    world.faults.wait_for(blocked, injection)


@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options} and every connection"
        " is cut during the send"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions) -> None:
    producer = producer_for(world, place, options)
    injection = world.faults.arm(Cut(), At(world.instance.clock.monotonic_ns()))
    send(world, producer, label, place, options)
    world.faults.wait_for(Cut(), injection)


@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options}"
        " and every connection is cut right after the message was passed on"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions) -> None:
    _send_and_cut(world, label, place, options, Arrival)


@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options}"
        " and every connection is cut before the broker answers"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions) -> None:
    _send_and_cut(world, label, place, options, BeforeAnswer)


@when(
    phrase(
        "message {label:Name} is sent to {place:Place} with {options:Options}"
        " and every connection is cut before each of the broker's first two answers"
    )
)
def _(world: World, label: str, place: Place, options: SendOptions) -> None:
    producer = producer_for(world, place, options)
    before = BeforeAnswer(world.coming_key(label))
    injections = [world.faults.arm(Cut(), before)]
    deadline_ms = world.now_ms() + world.limits.expected_ms

    def arm_again() -> None:
        if any(connection.torn for connection in world.connections.values()):
            injections.append(world.faults.arm(Cut(), before))
        elif world.now_ms() < deadline_ms:
            world.instance.runner.call_at((world.now_ms() + _CHECK_MS) * NS_PER_MS, arm_again)

    arm_again()
    send(world, producer, label, place, options)
    for injection in injections:
        world.faults.wait_for(Cut(), injection)
