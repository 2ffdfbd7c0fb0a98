"""The type of a workload: a kind of load with its destinations, messages and consumers (`assay.soak.loads`).

A soak divides its time into slices.  In each slice, each workload is one scenario of the journals, with a destination
of its own.  So a fault touches few scenarios, and the judge compares a message only with the events of its slice.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_adapters.ports.client import AckMode, Qos, Script
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind

LONGEST_MS = 3_000
"""The longest delay and the longest time to live of a message, in milliseconds."""


class Delays(StrEnum):
    """The distribution of the delays of a workload's messages."""

    NONE = "none"
    UNIFORM = "uniform"
    """Uniform between 100 ms and `LONGEST_MS`."""
    EXPONENTIAL = "exponential"
    """Exponential with the mean 600 ms, and at most `LONGEST_MS`."""
    BURST = "burst"
    """The messages of one act are due at the same moment, 500 ms to `LONGEST_MS` after the act begins."""
    SOME = "some"
    """One message of three has a uniform delay."""
    LONG = "long"
    """Uniform between two thirds of `LONGEST_MS` and `LONGEST_MS`."""
    SOME_LONG = "some-long"
    """One message of two has a long delay, and the others have none."""


class Reading(StrEnum):
    """How the consumers of a workload receive messages."""

    LISTENER = "listener"
    """A listener for the whole slice."""
    BATCHES = "batches"
    """A batch listener for the whole slice."""
    AFTERWARDS = "afterwards"
    """A listener that attaches when no message of the slice can become due or expire any more."""
    VISITING = "visiting"
    """A listener that leaves and returns during the slice, and once more after it."""
    LATER = "later"
    """A listener that attaches during the slice, each consumer of a process at another moment."""
    UNITS = "units"
    """Units of work of received messages; one in three is rolled back."""
    ENDED = "ended"
    """A batch listener; its client acknowledges, commits or rolls back outside of the callbacks."""
    STORED = "stored"
    """A listener that subscribes before the slice, leaves when the slice begins, and returns after the slice."""


class Reader(Struct, frozen=True, kw_only=True):
    """The settings of one consumer of a workload.

    Args:
        ack: The acknowledgement mode of the consumer's session.
        script: The behaviour of the consumer's listener.
        qos: The quality of service of an MQ Light subscription; None for a JMS client.
    """

    ack: AckMode = AckMode.AUTO
    script: Script = Script()
    qos: Qos | None = None


class Workload(Struct, frozen=True, kw_only=True):
    """One kind of load.

    Args:
        name: The name in plans, destinations and scenarios.
        title: The load in a few words.
        rules: The ids of the rules that the load is meant to try; the judge examines every rule in every workload.
        kind: Whether the messages go to a queue or to a topic.
        share: The share of the messages, relative to the other workloads.
        delays: The distribution of the delays.
        expires: Whether the messages have a time to live: as long as their delay, or 300 ms to `LONGEST_MS` without a
            delay.
        persistent_percent: The percentage of persistent messages.
        in_units: Whether the messages are sent in units of work; one in three is rolled back.
        grouped: Whether the messages of one act form a message group.
        together: The smallest and the largest number of messages that a producer sends in one act.
        qos: The quality of service of an MQ Light producer; None for a JMS client.
        reading: How the consumers receive messages.
        readers: The settings of the consumers, used in turn: the next process, slice or consumer of a process gets the
            next settings.
        at_once: The number of consumers that each process has in each slice.
        durable: Whether the subscriptions are durable. Each consumer has a subscription of its own, unless `shared`.
        shared: Whether all consumers of a slice share one subscription.
        subscription_ttl_ms: The time to live of a subscription, in milliseconds; None for the default.
        drops: Whether a consumer that leaves drops its connection instead of closing it.
        needs: The capabilities that the pair must have.
    """

    name: str
    title: str
    rules: tuple[str, ...]
    kind: AddressKind = AddressKind.QUEUE
    share: int = 1
    delays: Delays = Delays.NONE
    expires: bool = False
    persistent_percent: int = 100
    in_units: bool = False
    grouped: bool = False
    together: tuple[int, int] = (1, 1)
    qos: Qos | None = None
    reading: Reading = Reading.LISTENER
    readers: tuple[Reader, ...] = (Reader(),)
    at_once: int = 1
    durable: bool = False
    shared: bool = False
    subscription_ttl_ms: int | None = None
    drops: bool = False
    needs: frozenset[Capability] = frozenset()


def scenario_id(workload: Workload, number: int) -> str:
    """Return the id of a workload's scenario in a slice; slices count from 1."""
    return f"soak/{workload.name}::{workload.title}[slice {number}]"


def place(workload: Workload, number: int, run: str) -> Address:
    """Return the queue or topic of a workload in a slice; its name contains the last characters of the run's id."""
    return Address(workload.kind, f"SOAK.{run[-4:].upper()}.{number}.{workload.name.upper()}")
