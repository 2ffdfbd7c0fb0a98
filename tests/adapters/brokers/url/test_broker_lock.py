"""Tests of the lock on a broker that scenarios share."""

from __future__ import annotations

import threading
import uuid

from tests.waiting import until

from assay_adapters.brokers.url.broker_lock import BrokerLock


def test_scenarios_run_together_and_one_that_ends_the_broker_alone() -> None:
    url = f"amqp://{uuid.uuid4()}"
    first, second, alone = BrokerLock(url, alone=False), BrokerLock(url, alone=False), BrokerLock(url, alone=True)
    first.acquire()
    second.acquire()
    waiting = threading.Thread(target=alone.acquire, daemon=True)
    waiting.start()
    first.release()
    waiting.join(0.2)
    assert waiting.is_alive()
    second.release()
    until(lambda: not waiting.is_alive(), "the lock of the scenario that is alone")
    later = threading.Thread(target=first.acquire, daemon=True)
    later.start()
    later.join(0.2)
    assert later.is_alive()
    alone.release()
    until(lambda: not later.is_alive(), "the lock of the next scenario")
    first.release()


def test_brokers_at_other_addresses_do_not_wait() -> None:
    one, other = BrokerLock(f"amqp://{uuid.uuid4()}", alone=True), BrokerLock(f"amqp://{uuid.uuid4()}", alone=True)
    one.acquire()
    other.acquire()
    one.release()
    other.release()
    one.release()
