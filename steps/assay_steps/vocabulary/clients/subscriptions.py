"""Steps about subscribers on topics: durable or not, shared or not, active or not.

A durable subscriber's name is also its client id and its subscription's name, unless the step names others.
"""

from __future__ import annotations

from msgspec.structs import replace
from pytest_bdd import given, then, when

from assay_adapters.ports.client import AckMode, Script
from assay_steps.cast.claims import Evidence
from assay_steps.cast.connections import AGAIN_MS
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import Role, World
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase


def _role(
    world: World,
    place: Place,
    *,
    durable: bool,
    subscription: str | None,
    client: str | None,
    shared: bool = False,
    ack: AckMode = AckMode.AUTO,
    selector: str | None = None,
    no_local: bool = False,
    style: str | None = None,
) -> Role:
    origin = world.subscription(
        world.address(place), durable=durable, name=subscription, shared=shared, selector=selector
    )
    if no_local:
        origin = replace(origin, no_local=True)
    return Role(origin=origin, ack=ack, client_id=client, member=place.member, face=style)


@given(phrase("a non-durable subscriber {name:Name} on {place:Place}"))
@given(phrase("a non-durable subscriber {name:Name} on {place:Place} in {ack:Ack} mode"))
@given(phrase("a non-durable subscriber {name:Name} on {place:Place} for messages with {selector:Name}"))
@given(phrase("a {style:Style} non-durable subscriber {name:Name} on {place:Place}"))
@when(phrase("a non-durable subscriber {name:Name} subscribes to {place:Place}"))
def _(
    world: World,
    name: str,
    place: Place,
    ack: AckMode = AckMode.AUTO,
    selector: str | None = None,
    style: str | None = None,
) -> None:
    role = _role(world, place, durable=False, subscription=None, client=None, ack=ack, selector=selector, style=style)
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("a non-durable subscriber {name:Name} of client {client:Name} on {place:Place}"))
@when(phrase("a non-durable subscriber {name:Name} of client {client:Name} subscribes to {place:Place}"))
def _(world: World, name: str, client: str, place: Place) -> None:
    role = _role(world, place, durable=False, subscription=None, client=client)
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("a non-durable subscriber {name:Name} on {place:Place} that does not receive yet"))
@given(phrase("a non-durable subscriber {name:Name} on {place:Place} in {ack:Ack} mode that does not receive yet"))
def _(world: World, name: str, place: Place, ack: AckMode = AckMode.AUTO) -> None:
    world.play(name, _role(world, place, durable=False, subscription=None, client=None, ack=ack)).needed()


@given(phrase("a durable subscriber {name:Name} on {place:Place} that does not receive yet"))
def _(world: World, name: str, place: Place) -> None:
    world.play(name, _role(world, place, durable=True, subscription=name, client=name)).needed()


@given(phrase("a durable subscriber {name:Name} on {place:Place}"))
@given(phrase("a durable subscriber {name:Name} on {place:Place} in {ack:Ack} mode"))
@given(phrase("a durable subscriber {name:Name} on {place:Place} for messages with {selector:Name}"))
@given(phrase("a {style:Style} durable subscriber {name:Name} on {place:Place}"))
@when(phrase("a durable subscriber {name:Name} subscribes to {place:Place}"))
def _(
    world: World,
    name: str,
    place: Place,
    ack: AckMode = AckMode.AUTO,
    selector: str | None = None,
    style: str | None = None,
) -> None:
    role = _role(world, place, durable=True, subscription=name, client=name, ack=ack, selector=selector, style=style)
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("a non-durable subscriber {name:Name} on {place:Place} that gets no messages of its own connection"))
def _(world: World, name: str, place: Place) -> None:
    role = _role(world, place, durable=False, subscription=None, client=None, no_local=True)
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("a durable subscriber {name:Name} on {place:Place} that gets no messages of its own connection"))
def _(world: World, name: str, place: Place) -> None:
    role = _role(world, place, durable=True, subscription=name, client=name, no_local=True)
    world.play(name, role).needed().listen(Script()).needed()


@given(
    phrase(
        "subscriber {name:Name} with durable subscription {subscription:Name} of client {client:Name} on {place:Place}"
    )
)
@given(
    phrase(
        "subscriber {name:Name} with durable subscription {subscription:Name} of client {client:Name} on {place:Place}"
        " in {ack:Ack} mode"
    )
)
@when(
    phrase(
        "subscriber {name:Name} opens durable subscription {subscription:Name} of client {client:Name} on {place:Place}"
    )
)
@given(
    phrase(
        "subscriber {name:Name} with durable subscription {subscription:Name} of client {client:Name} on {place:Place}"
        " for messages with {selector:Name}"
    )
)
@when(
    phrase(
        "subscriber {name:Name} opens durable subscription {subscription:Name} of client {client:Name} on {place:Place}"
        " for messages with {selector:Name}"
    )
)
def _(
    world: World,
    name: str,
    subscription: str,
    client: str,
    place: Place,
    ack: AckMode = AckMode.AUTO,
    selector: str | None = None,
) -> None:
    role = _role(world, place, durable=True, subscription=subscription, client=client, ack=ack, selector=selector)
    world.play(name, role).needed().listen(Script()).needed()


@given(
    phrase(
        "subscriber {name:Name} of client {client:Name} on {place:Place}, with a durable subscription named exactly"
        " {subscription:Name}"
    )
)
def _(world: World, name: str, client: str, place: Place, subscription: str) -> None:
    role = _role(world, place, durable=True, subscription=None, client=client)
    # On a shared broker, the client id alone makes the subscription unique.
    exact = replace(role, origin=replace(role.origin, name=subscription))
    world.play(name, exact).needed().listen(Script()).needed()


@given(phrase("subscriber {name:Name} shares durable subscription {subscription:Name} on {place:Place}"))
@given(
    phrase(
        "subscriber {name:Name} of client {client:Name} shares durable subscription {subscription:Name}"
        " on {place:Place}"
    )
)
@when(phrase("subscriber {name:Name} joins shared durable subscription {subscription:Name} on {place:Place}"))
@given(
    phrase(
        "subscriber {name:Name} shares durable subscription {subscription:Name} on {place:Place}"
        " for messages with {selector:Name}"
    )
)
@given(
    phrase(
        "a {style:Style} subscriber {name:Name} that shares durable subscription {subscription:Name} on {place:Place}"
    )
)
def _(
    world: World,
    name: str,
    subscription: str,
    place: Place,
    client: str | None = None,
    selector: str | None = None,
    style: str | None = None,
) -> None:
    role = _role(
        world,
        place,
        durable=True,
        subscription=subscription,
        client=client,
        shared=True,
        selector=selector,
        style=style,
    )
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("subscriber {name:Name} shares non-durable subscription {subscription:Name} on {place:Place}"))
@given(
    phrase(
        "subscriber {name:Name} shares non-durable subscription {subscription:Name} on {place:Place}"
        " for messages with {selector:Name}"
    )
)
@given(
    phrase(
        "a {style:Style} subscriber {name:Name} that shares non-durable subscription {subscription:Name}"
        " on {place:Place}"
    )
)
def _(
    world: World,
    name: str,
    subscription: str,
    place: Place,
    selector: str | None = None,
    style: str | None = None,
) -> None:
    role = _role(
        world, place, durable=False, subscription=subscription, client=None, shared=True, selector=selector, style=style
    )
    world.play(name, role).needed().listen(Script()).needed()


@given(phrase("subscriber {name:Name} is inactive"))
@when(phrase("subscriber {name:Name} goes away"))
def _(world: World, name: str) -> None:
    world.consumers[name].session.connection.close().needed()


@when(phrase("subscriber {name:Name} comes back"))
def _(world: World, name: str) -> None:
    world.play_again(name, world.roles[name]).listen(Script()).needed()


@when(phrase("subscriber {name:Name} tries to come back"))
def _(world: World, name: str) -> None:
    answer = world.play(name, world.roles[name])
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("subscriber {name:Name} comes back to take batches of at most {size:Number} within {timeout:Duration}"))
def _(world: World, name: str, size: int, timeout: int) -> None:
    world.play_again(name, world.roles[name]).listen_batch(Script(), size, timeout).needed()


@when(phrase("subscriber {name:Name} unsubscribes"))
def _(world: World, name: str) -> None:
    _unsubscribe(world, name).needed()


@when(phrase("subscriber {name:Name} tries to unsubscribe"))
def _(world: World, name: str) -> None:
    answer = _unsubscribe(world, name)
    world.last = Answer(answer.ref, answer.outcome)


def _unsubscribe(world: World, name: str) -> Answer[None]:
    role = world.roles[name]
    session = world.consumers[name].session
    closed = world.consumers[name].close()
    if not closed.accepted:  # for example because the client has stopped
        return closed
    return session.unsubscribe(str(role.origin.name), shared=role.origin.shared)


@when(phrase("a durable subscription {subscription:Name} is opened on {place:Place} without a client id"))
@when(
    phrase("a {style:Style} client opens durable subscription {subscription:Name} on {place:Place} without a client id")
)
def _(world: World, subscription: str, place: Place, style: str | None = None) -> None:
    _open_nameless(world, _role(world, place, durable=True, subscription=subscription, client=None), style)


@when(
    phrase(
        "a {style:Style} client opens shared durable subscription {subscription:Name}"
        " on {place:Place} without a client id"
    )
)
def _(world: World, subscription: str, place: Place, style: str) -> None:
    role = _role(world, place, durable=True, subscription=subscription, client=None, shared=True)
    _open_nameless(world, role, style)


def _open_nameless(world: World, role: Role, style: str | None) -> None:
    answer = world.consumer("nameless", role.origin, session=world.session("nameless", face=style))
    world.last = Answer(answer.ref, answer.outcome)


@given(phrase("a connection {name:Name} with client id {client:Name}"))
def _(world: World, name: str, client: str) -> None:
    world.connections.connect(name, client_id=client).needed()


@when(phrase("a connection {name:Name} asks for client id {client:Name}"))
def _(world: World, name: str, client: str) -> None:
    answer = world.connections.connect(name, client_id=client)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("connection {name:Name} is closed"))
def _(world: World, name: str) -> None:
    world.connections[name].close().needed()


@then(phrase("no subscription to {place:Place} remains"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    deadline_ms = world.now_ms() + world.limits.expected_ms
    shown = world.administrator.subscriptions(place)
    while shown.needed() and world.now_ms() < deadline_ms:  # the broker may notice a lost connection late
        world.pass_time(AGAIN_MS)
        shown = world.administrator.subscriptions(place)
    evidence.claim("equal-fields", {"at": shown.ref, "field.subscriptions": "0"})
