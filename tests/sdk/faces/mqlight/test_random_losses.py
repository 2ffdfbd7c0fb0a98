"""Random tests of lost connections: each at-least-once message arrives; other and confirmed ones never arrive twice."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from assay_broker.inprocess import InProcessBroker, in_process_broker
from assay_sdk import Client, Delivery, MessagingError, connect_mqlight
from assay_sdk.observer import FrameSeen, SdkEvent

MS = 1_000_000
HOUR_MS = 3_600_000

cuts = st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.integers(0, 6)), max_size=2)
"""The times at which the test drops all connections.

A time is a number of milliseconds after the beginning of a step, and then a number of rounds of jobs.  A flush of the
disk takes one millisecond.
"""


class World:
    """A sender and a subscriber, whose connections the test drops."""

    def __init__(self, broker: InProcessBroker, seed: int, confirms: float) -> None:
        self.broker = broker
        self.chance = random.Random(seed)  # noqa: S311  repeatable losses in virtual time; they protect nothing
        self.confirms = confirms
        self.transferred: Counter[str | None] = Counter()
        self.got: list[str] = []
        self.confirmed: dict[str, int] = {}
        """The number of arrivals of each confirmed message when the broker answered the confirmation."""
        self.sender = self.client("sender")
        self.subscriber = self.client("subscriber")
        self.subscriber.subscribe("t", qos=1, auto_confirm=False, ttl=HOUR_MS, on_message=self.handle)

    def client(self, client_id: str) -> Client:
        return connect_mqlight(
            self.broker.url,
            client_id=client_id,
            driver=self.broker.driver,
            runner=self.broker.runner,
            chance=self.chance,
            observer=self.observe,
            on_error=lambda _error: None,
            trace=True,
        )

    def observe(self, event: SdkEvent) -> None:
        if isinstance(event, FrameSeen) and event.frame.direction == "out" and event.frame.transfer is not None:
            self.transferred[event.frame.transfer.message.message_id] += 1

    def handle(self, delivery: Delivery) -> None:
        body = str(delivery.data)
        self.got.append(body)
        if self.chance.random() < self.confirms:
            try:
                delivery.confirm()
            except MessagingError:
                return
            self.confirmed.setdefault(body, self.got.count(body))

    def let(self, span_ms: int) -> None:
        self.broker.runner.run_until(lambda: False, self.now_ns + span_ms * MS)

    def cut_after(self, rounds: int) -> None:
        """Drop every connection after a number of rounds of jobs."""
        if rounds:
            self.broker.runner.call_soon(partial(self.cut_after, rounds - 1))
        else:
            self.broker.queue_manager.cut()

    @property
    def now_ns(self) -> int:
        return self.broker.runner.clock.monotonic_ns()


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    confirms=st.sampled_from([0.0, 0.5, 1.0]),
    steps=st.lists(st.tuples(st.integers(0, 1), cuts, st.sampled_from([0, 1, 5_000])), min_size=4, max_size=16),
)
def test_at_least_once_arrives_and_at_most_once_never_twice(
    seed: int, confirms: float, steps: list[tuple[int, list[tuple[int, int]], int]]
) -> None:
    with in_process_broker() as broker:
        world = World(broker, seed, confirms)
        sent: list[tuple[int, str, str]] = []
        for number, (qos, lost, pause_ms) in enumerate(steps):
            for after_ms, rounds in lost:
                broker.runner.call_at(world.now_ns + after_ms * MS, partial(world.cut_after, rounds))
            message_id = world.sender.send("t", f"{qos}-{number}", qos=qos)
            sent.append((qos, f"{qos}-{number}", message_id))
            answered = world.transferred[message_id]
            world.let(pause_ms)
            assert world.transferred[message_id] == answered, "what was answered, or settled, is not sent again"
        world.confirms = 1.0
        broker.queue_manager.cut()
        world.let(HOUR_MS // 2)
        for qos, body, message_id in sent:
            if qos:
                assert body in world.got, "at least once arrives"
                assert world.transferred[message_id] >= 1
            else:
                assert world.transferred[message_id] <= 1, "at most once is never sent twice"
        for _, body, message_id in sent:
            if body in world.confirmed and world.transferred[message_id] == 1:  # one of two copies may be unconfirmed
                assert world.got.count(body) == world.confirmed[body], "what was confirmed stays away"
        assert world.sender.state == world.subscriber.state == "started"
        world.sender.close()
        world.subscriber.close()
