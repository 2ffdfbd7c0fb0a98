"""The pace of a run: how many times as long as written its scenarios take, for a pair that answers slowly.

No document says how fast a broker answers.  The kit sends a few messages before the first scenario and measures answers
and deliveries on the backend's clock.  The shortest counts, because a broker is slow in its first second and a busy
machine is slow now and then; what makes every answer slow makes the shortest slow.

| shortest answer and delivery | pace |
|---|---|
| below 0.1 s | 1: as written |
| 0.1 s to below 0.2 s | 2 |
| 2 s and more | 20 |
"""

from __future__ import annotations

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import AckMode, Client, ClientConnection, Draft, Origin
from assay_adapters.ports.outcome import Refused
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.time import StalledError

LARGEST = 20
"""The largest pace; with it, the longest duration that is multiplied becomes an hour."""

_STEP_NS = 100_000_000
_MESSAGES = 5
_WAIT_MS = 5_000


def measured_pace(instance: Instance, client: Client, name: str) -> int:
    """Measure how fast a pair answers; 1 if it refuses something, because then its speed is not known.

    Args:
        instance: The broker.
        client: The client.
        name: A name for the queue of the measurement, which no other client uses.

    Returns:
        The pace, from 1 to `LARGEST`.
    """
    connection = client.connect(instance.endpoint("amqp"))
    if isinstance(connection, Refused):
        return 1
    try:
        longest_ns = _answer_ns(instance, connection.value, Address(AddressKind.QUEUE, name))
    except StalledError:  # a broken broker may leave a call without an answer
        connection.value.abort()
        return 1
    connection.value.close()
    return max(1, min(LARGEST, longest_ns // _STEP_NS + 1))


def _answer_ns(instance: Instance, connection: ClientConnection, queue: Address) -> int:
    """The shortest time of an answer to a send, or that of a delivery if that is longer; 0 if neither is known."""
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
