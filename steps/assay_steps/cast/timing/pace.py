"""The pace of a run: the factor by which the kit multiplies durations in scenarios for a slow pair.

No document says how fast a broker answers.  The kit sends a few messages before the first scenario and measures answers
and deliveries on the backend's clock.  The shortest time counts: a starting broker or a busy machine delays only some
answers, but a slow pair delays all of them.

| the shortest answer or the shortest delivery, whichever is longer | pace |
|---|---|
| below 0.1 s | 1: as written |
| from 0.1 s, below 0.2 s | 2 |
| from 0.2 s, below 0.3 s | 3, and so on |
| from 2 s | 20 |
"""

from __future__ import annotations

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import AckMode, Client, ClientConnection, Draft, Origin
from assay_adapters.ports.outcome import Refused
from assay_sdk.model.message import Address, AddressKind

LARGEST = 20
"""The largest pace.  With it, the longest duration that the pace multiplies becomes an hour."""

_STEP_NS = 100_000_000
_MESSAGES = 5
_WAIT_MS = 5_000


def measured_pace(instance: Instance, client: Client, name: str) -> int:
    """Measure how fast a pair answers, and return the pace for it.

    Args:
        instance: The broker.
        client: The client.
        name: A name for the queue of the measurement, which no other client uses.

    Returns:
        The pace, from 1 to `LARGEST`. If the pair refuses the connection, the set-up or the first send, or leaves a
        call without an answer, its speed is unknown and the pace is 1.
    """
    connection = client.connect(instance.endpoint(instance.protocol))
    if isinstance(connection, Refused):
        return 1
    longest_ns = _answer_ns(instance, connection.value, Address(AddressKind.QUEUE, name))
    connection.value.close()
    return max(1, min(LARGEST, longest_ns // _STEP_NS + 1))


def _answer_ns(instance: Instance, connection: ClientConnection, queue: Address) -> int:
    """Measure the shortest answer to a send and the shortest delivery; return the longer of the two in nanoseconds.

    The result is 0 if the pair refuses the first send, or the set-up for the measurement.
    """
    session = connection.session(AckMode.AUTO)
    if isinstance(session, Refused):
        return 0
    consumer = session.value.consumer(Origin(address=queue), actor="pace")
    producer = session.value.producer(queue)
    if isinstance(consumer, Refused) or isinstance(producer, Refused):
        return 0
    answers: list[int] = []
    deliveries: list[int] = []
    for number in range(_MESSAGES):
        begin_ns = instance.clock.monotonic_ns()
        if isinstance(producer.value.send(Draft(key=f"pace-{number}", body=f"pace-{number}")), Refused):
            break
        answers.append(instance.clock.monotonic_ns() - begin_ns)
        seen = consumer.value.receive(_WAIT_MS)
        if isinstance(seen, Refused) or seen.value is None:
            break
        deliveries.append(instance.clock.monotonic_ns() - begin_ns)
    return max(min(answers, default=0), min(deliveries, default=0))
