"""Batch listeners (BATCH:24-40) and what they do with their batches."""

from __future__ import annotations

from pytest_bdd import given, when

from assay_adapters.client import Script
from assay_steps.actors import Answer
from assay_steps.parsing import phrase
from assay_steps.vocabulary.receiving import RECEIVER
from assay_steps.world import World


@given(phrase("the receiver takes batches of at most {size:Number} within {timeout:Duration}"))
@given(phrase("{name:Name} takes batches of at most {size:Number} within {timeout:Duration}"))
@when(phrase("{name:Name} starts to take batches of at most {size:Number} within {timeout:Duration}"))
@when(phrase("the receiver starts to take batches of at most {size:Number} within {timeout:Duration}"))
def _(world: World, size: int, timeout: int, name: str = RECEIVER) -> None:
    world.consumers[name].listen_batch(Script(), size, timeout).needed()


@given(
    phrase(
        "{name:Name} takes batches of at most {size:Number} within {timeout:Duration} "
        "and fails in callback {nth:Number}"
    )
)
@when(
    phrase(
        "{name:Name} starts to take batches of at most {size:Number} within {timeout:Duration} "
        "and fails in callback {nth:Number}"
    )
)
def _(world: World, size: int, timeout: int, name: str, nth: int) -> None:
    world.consumers[name].listen_batch(Script(fail_at=nth), size, timeout).needed()


@when(phrase("a batch listener of size {size:Number} and timeout {timeout:Number} ms is set on {name:Name}"))
def _(world: World, size: int, timeout: int, name: str) -> None:
    answer = world.consumers[name].listen_batch(Script(), size, timeout)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("a message listener is set on {name:Name}"))
def _(world: World, name: str) -> None:
    answer = world.consumers[name].listen(Script())
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("the message listener of {name:Name} is taken away"))
def _(world: World, name: str) -> None:
    world.consumers[name].listen(None).needed()


@when(phrase("the batch listener of {name:Name} is taken away"))
def _(world: World, name: str) -> None:
    world.consumers[name].listen_batch(None, 1, 0).needed()


@when(phrase("{name:Name} asks for a message"))
def _(world: World, name: str) -> None:
    answer = world.consumers[name].receive(0)
    world.last = Answer(answer.ref, answer.outcome)
