"""Tests of turns at a broker that scenarios share."""

from __future__ import annotations

import threading
import uuid

from tests.waiting import until

from assay_adapters.brokers.url.turns import Turn


def test_scenarios_run_together_and_one_that_ends_the_broker_alone() -> None:
    url = f"amqp://{uuid.uuid4()}"
    first, second, alone = Turn(url, alone=False), Turn(url, alone=False), Turn(url, alone=True)
    first.take()
    second.take()
    waiting = threading.Thread(target=alone.take, daemon=True)
    waiting.start()
    first.give_back()
    waiting.join(0.2)
    assert waiting.is_alive()
    second.give_back()
    until(lambda: not waiting.is_alive(), "the turn of the scenario that is alone")
    later = threading.Thread(target=first.take, daemon=True)
    later.start()
    later.join(0.2)
    assert later.is_alive()
    alone.give_back()
    until(lambda: not later.is_alive(), "the turn of the next scenario")
    first.give_back()


def test_brokers_at_other_addresses_do_not_wait() -> None:
    one, other = Turn(f"amqp://{uuid.uuid4()}", alone=True), Turn(f"amqp://{uuid.uuid4()}", alone=True)
    one.take()
    other.take()
    one.give_back()
    other.give_back()
    one.give_back()
