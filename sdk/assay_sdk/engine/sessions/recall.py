"""The recall of messages: a session pauses its consumers, and returns their undelivered messages to the broker."""

from __future__ import annotations

from collections.abc import Iterable

from assay_sdk.engine.deliveries.delivery import Recipient
from assay_sdk.engine.operations import Operation, Wait


def call_back(consumers: Iterable[Recipient]) -> Operation[None]:
    """Pause consumers, take their credit back from the broker, and give the messages of their buffers back.

    The caller ends the pause with `EngineConsumer.go_on`, unless the consumers are closed.
    """
    consumers = tuple(consumers)
    for consumer in consumers:
        consumer.pause()
    for drained in [consumer.drain() for consumer in consumers]:
        if not drained.done:
            yield Wait(drained)
    for consumer in consumers:
        consumer.release_buffer()
