"""Steps about queues and topics, and steps that wait."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_steps.cast.world import World
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase


@given("an empty queue")
@given(phrase("an empty queue {name:Name}"))
def _(world: World, name: str = "queue") -> None:
    world.address(Place("queue", name))


@given("a topic")
@given(phrase("a topic {name:Name}"))
def _(world: World, name: str = "topic") -> None:
    world.address(Place("topic", name))


@given("the client's own checks are switched off")
def _(world: World) -> None:
    world.connections.checks = False


@when(phrase("{span:Duration} pass"))
def _(world: World, span: int) -> None:
    world.pass_time(span)


@when(phrase("{label:Name} is overdue"))
def _(world: World, label: str) -> None:
    world.wait_until_overdue(label)


@when(phrase("{span:Duration} have passed since {label:Name} was sent"))
def _(world: World, span: int, label: str) -> None:
    world.wait_since(label, span)
