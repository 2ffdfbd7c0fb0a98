"""Steps that define, alter and delete objects of the queue manager, and claims about commands and objects.

If the broker refuses the command of a Given-step, the scenario is inconclusive.  Most When-steps store the answer, so
that a later step can make a claim about it; a refusal of any other command makes the scenario inconclusive.
"""

from __future__ import annotations

from pytest_bdd import given, then, when

from assay_adapters.ports.administration import ObjectKind, Scalar
from assay_sdk.model.reasons import Mqrc
from assay_steps.cast.claims import Evidence
from assay_steps.cast.recording import Answer
from assay_steps.cast.world import World
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase

NONE: dict[str, Scalar] = {}
INSPECTIONS = 30
"""The pause between two reads of an object is the time limit divided by this number."""


def _command(world: World, answer: Answer[None]) -> None:
    """Store a command's answer, so that a later step can make a claim about it."""
    world.administrator.last = Answer(answer.ref, answer.outcome)


def _last(world: World) -> str:
    """Return the reference of the last command.

    Raises:
        LookupError: No When-step has given a command.
    """
    if world.administrator.last is None:
        raise LookupError("No step before this one has given a command.")
    return world.administrator.last.ref


# definitions -------------------------------------------------------------------------------------------------------


@given(phrase("a queue with {attributes:Attributes}"))
@given(phrase("a queue {name:Name} with {attributes:Attributes}"))
def _(world: World, attributes: dict[str, Scalar], name: str = "queue") -> None:
    world.administrator.define(Place("queue", name), attributes).needed()


@given(phrase("a topic with {attributes:Attributes}"))
@given(phrase("a topic {name:Name} with {attributes:Attributes}"))
def _(world: World, attributes: dict[str, Scalar], name: str = "topic") -> None:
    world.administrator.define(Place("topic", name), attributes).needed()


@given(phrase("an alias {name:Name} for {target:Place}"))
@given(phrase("an alias {name:Name} for {target:Place} with {attributes:Attributes}"))
def _(world: World, name: str, target: Place, attributes: dict[str, Scalar] = NONE) -> None:
    if target.kind == "topic":
        attributes = {"TARGET": world.administrator.topic_object(target), "TARGTYPE": "TOPIC", **attributes}
    else:
        attributes = {"TARGET": world.administrator.name_of(target), **attributes}
    alias = Place("queue", name, member=target.member)
    world.administrator.define(alias, attributes, ObjectKind.ALIAS).needed()


@given(phrase("{place:Place} has been defined"))
@given(phrase("{place:Place} has been defined with {attributes:Attributes}"))
def _(world: World, place: Place, attributes: dict[str, Scalar] = NONE) -> None:
    world.administrator.define(place, attributes).needed()


@when(phrase("{place:Place} is defined"))
@when(phrase("{place:Place} is defined with {attributes:Attributes}"))
def _(world: World, place: Place, attributes: dict[str, Scalar] = NONE) -> None:
    _command(world, world.administrator.define(place, attributes))


@given(phrase("an administered subscription {name:Name} from {topic:Place} to {queue:Place}"))
def _(world: World, name: str, topic: Place, queue: Place) -> None:
    world.administrator.subscribe(name, topic, queue).needed()


@when(phrase("administered subscription {name:Name} is defined from {topic:Place} to {queue:Place}"))
def _(world: World, name: str, topic: Place, queue: Place) -> None:
    _command(world, world.administrator.subscribe(name, topic, queue))


@when(phrase("administered subscription {name:Name} is deleted"))
def _(world: World, name: str) -> None:
    _command(world, world.administrator.unsubscribe(name))


@given(phrase("the queues of durable subscriptions are made with {attributes:Attributes}"))
def _(world: World, attributes: dict[str, Scalar]) -> None:
    world.administrator.make_subscriptions_with(attributes).needed()


@given(phrase("a queue {name:Name} that is the dead-letter queue"))
@given(phrase("a queue {name:Name} that is the dead-letter queue, with {attributes:Attributes}"))
def _(world: World, name: str, attributes: dict[str, Scalar] = NONE) -> None:
    place = Place("queue", name)
    world.administrator.define(place, attributes).needed()
    world.administrator.make_dead_letter_queue(place).needed()


@given(phrase("there is no dead-letter queue"))
@when(phrase("the queue manager no longer has a dead-letter queue"))
def _(world: World) -> None:
    world.administrator.make_dead_letter_queue(None).needed()


@when(phrase("{place:Place} becomes the dead-letter queue"))
def _(world: World, place: Place) -> None:
    world.administrator.make_dead_letter_queue(place).needed()


# changes -----------------------------------------------------------------------------------------------------------


@given(phrase("{place:Place} has been altered to {attributes:Attributes}"))
def _(world: World, place: Place, attributes: dict[str, Scalar]) -> None:
    world.administrator.alter(place, attributes).needed()


@when(phrase("{place:Place} is altered to {attributes:Attributes}"))
def _(world: World, place: Place, attributes: dict[str, Scalar]) -> None:
    _command(world, world.administrator.alter(place, attributes))


@when(phrase("alias {name:Name} is re-pointed to {target:Place}"))
def _(world: World, name: str, target: Place) -> None:
    alias = Place("queue", name, member=target.member)
    world.administrator.alter(alias, {"TARGET": world.administrator.name_of(target)}).needed()


@given(phrase("the queue manager is altered to {attributes:Attributes}"))
@when(phrase("the queue manager is altered to {attributes:Attributes}"))
def _(world: World, attributes: dict[str, Scalar]) -> None:
    world.administrator.alter_manager(attributes).needed()


@given(phrase("{place:Place} has been deleted"))
def _(world: World, place: Place) -> None:
    world.administrator.delete(place).needed()


@when(phrase("{place:Place} is deleted"))
def _(world: World, place: Place) -> None:
    _command(world, world.administrator.delete(place))


@when(phrase("{place:Place} is cleared"))
def _(world: World, place: Place) -> None:
    _command(world, world.administrator.clear(place))


# claims ------------------------------------------------------------------------------------------------------------


@then(phrase("the command is accepted"))
def _(world: World, evidence: Evidence) -> None:
    evidence.claim("equal-fields", {"at": _last(world), "field.refused": "false"})


@then(phrase("the command is refused"))
@then(phrase("the command is refused with {mqrc:Mqrc}"))
def _(world: World, evidence: Evidence, mqrc: Mqrc | None = None) -> None:
    reason = {} if mqrc is None else {"field.mqrc": str(int(mqrc))}
    evidence.claim("equal-fields", {"at": _last(world), "field.refused": "true"} | reason)


@then(phrase("the command's answer names {word:Name}"))
def _(world: World, evidence: Evidence, word: str) -> None:
    evidence.claim("mentions", {"at": _last(world), "field.text": word})


@then(phrase("{place:Place} exists"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    evidence.claim("equal-fields", {"at": world.administrator.show(place).ref, "field.refused": "false"})


@then(phrase("{place:Place} does not exist"))
def _(world: World, evidence: Evidence, place: Place) -> None:
    refused = {"field.refused": "true", "field.mqrc": str(int(Mqrc.UNKNOWN_OBJECT_NAME))}
    evidence.claim("equal-fields", {"at": world.administrator.show(place).ref} | refused)


@then(phrase("{place:Place} has {attributes:Attributes}"))
def _(world: World, evidence: Evidence, place: Place, attributes: dict[str, Scalar]) -> None:
    shown = {f"field.{keyword}": str(value) for keyword, value in attributes.items()}
    evidence.claim("equal-fields", {"at": world.administrator.show(place).ref} | shown)


@then(phrase("the depth of {place:Place} is {depth:Number}"))
def _(world: World, evidence: Evidence, place: Place, depth: int) -> None:
    deadline = world.now_ms() + world.limits.expected_ms
    shown = world.administrator.show(place)
    while shown.accepted and shown.needed()["CURDEPTH"] != depth and world.now_ms() < deadline:
        world.pass_time(max(1, world.limits.expected_ms // INSPECTIONS))
        shown = world.administrator.show(place)
    evidence.claim("equal-fields", {"at": shown.ref, "field.CURDEPTH": str(depth)})
