"""The workloads: kinds of load, each with its destinations, messages and consumers.

A soak divides its time into slices.  In each slice, each workload is one scenario of the journals, with a destination
of its own.  So a fault touches few scenarios, and the judge compares a message only with the events of its slice.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_adapters.ports.client import AckMode, Script
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


class Reading(StrEnum):
    """How the consumers of a workload read."""

    LISTENER = "listener"
    """A listener for the whole slice."""
    BATCHES = "batches"
    """A batch listener for the whole slice."""
    AFTERWARDS = "afterwards"
    """A listener that comes after every message of the slice has expired."""
    VISITING = "visiting"
    """A durable subscriber that leaves and returns during the slice."""


class Workload(Struct, frozen=True, kw_only=True):
    """One kind of load.

    Args:
        name: The name in plans, destinations and scenarios.
        title: The load in a few words.
        rules: The ids of the rules that the load is meant to try; the judge examines every rule in every workload.
        kind: Whether the messages go to a queue or to a topic.
        share: The share of the messages, relative to the other workloads.
        delays: The distribution of the delays.
        expires: Whether the messages have a time to live, from 300 ms to `LONGEST_MS`.
        persistent_percent: The percentage of persistent messages.
        in_units: Whether the messages are sent in units of work; one in five is rolled back.
        together: The least and the greatest number of messages that a producer sends in one act.
        reading: How the consumers read.
        acknowledgements: The acknowledgement modes of the consumers, with their listeners' scripts; the consumers take
            them in turn.
        shared: Whether all consumers of a slice share one subscription.
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
    together: tuple[int, int] = (1, 1)
    reading: Reading = Reading.LISTENER
    acknowledgements: tuple[tuple[AckMode, Script], ...] = ((AckMode.AUTO, Script()),)
    shared: bool = False
    needs: frozenset[Capability] = frozenset()


_EACH = (AckMode.CLIENT, Script(acknowledge_each=True))
_AUTO = (AckMode.AUTO, Script())
_DUPS_OK = (AckMode.DUPS_OK, Script())
_DELAY = frozenset({Capability.QUEUE, Capability.DELIVERY_DELAY})
_TOPIC = frozenset({Capability.TOPIC})

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        name="uniform",
        title="delays of a uniform distribution, to a queue",
        rules=("DD-02", "DD-39", "PD-20"),
        share=3,
        delays=Delays.UNIFORM,
        persistent_percent=80,
        acknowledgements=(_AUTO, _EACH),
        needs=_DELAY,
    ),
    Workload(
        name="exponential",
        title="delays of an exponential distribution, to a queue",
        rules=("DD-02", "DD-39", "PD-20"),
        share=2,
        delays=Delays.EXPONENTIAL,
        persistent_percent=80,
        acknowledgements=(_EACH, _AUTO),
        needs=_DELAY,
    ),
    Workload(
        name="bursts",
        title="bursts of messages that are due at the same moment, to a queue",
        rules=("DD-02", "DD-39", "PD-20"),
        share=2,
        delays=Delays.BURST,
        together=(5, 20),
        acknowledgements=(_EACH, _DUPS_OK),
        needs=_DELAY,
    ),
    Workload(
        name="plain",
        title="persistent and non-persistent messages of all priorities, to a queue",
        rules=("PD-20",),
        share=2,
        persistent_percent=70,
        acknowledgements=(_AUTO, _EACH, _DUPS_OK),
        needs=frozenset({Capability.QUEUE}),
    ),
    Workload(
        name="expiry",
        title="messages that expire before a consumer comes to their queue",
        rules=("DD-56",),
        expires=True,
        reading=Reading.AFTERWARDS,
        needs=frozenset({Capability.QUEUE, Capability.TIME_TO_LIVE}),
    ),
    Workload(
        name="units",
        title="units of work of one to five messages, one in five rolled back, to a queue",
        rules=("PD-20", "DD-02"),
        share=2,
        delays=Delays.SOME,
        in_units=True,
        together=(1, 5),
        acknowledgements=(_EACH, _AUTO),
        needs=frozenset({*_DELAY, Capability.LOCAL_TRANSACTION}),
    ),
    Workload(
        name="batches",
        title="batch listeners in three acknowledgement modes, on a queue",
        rules=("BT-04",),
        share=2,
        together=(1, 12),
        reading=Reading.BATCHES,
        acknowledgements=(_AUTO, _EACH, _DUPS_OK),
        needs=frozenset({Capability.QUEUE, Capability.BATCH_LISTENER}),
    ),
    Workload(
        name="topic",
        title="publications for non-durable subscribers, some delayed",
        rules=("PD-11", "DD-02"),
        kind=AddressKind.TOPIC,
        share=2,
        delays=Delays.SOME,
        persistent_percent=50,
        needs=_TOPIC | _DELAY,
    ),
    Workload(
        name="durable",
        title="publications for durable subscribers that come and go",
        rules=("PD-11",),
        kind=AddressKind.TOPIC,
        reading=Reading.VISITING,
        acknowledgements=(_EACH,),
        needs=_TOPIC | {Capability.DURABLE_SUBSCRIPTION},
    ),
    Workload(
        name="shared",
        title="publications for one shared subscription of all consumers",
        rules=("PD-11",),
        kind=AddressKind.TOPIC,
        shared=True,
        needs=_TOPIC | {Capability.SHARED_SUBSCRIPTION},
    ),
)
"""All workloads.  A soak leaves out those whose capabilities the pair lacks, and says so."""


def scenario_id(workload: Workload, number: int) -> str:
    """Return the id of a workload's scenario in a slice; slices count from 1."""
    return f"soak/{workload.name}::{workload.title}[slice {number}]"


def place(workload: Workload, number: int, run: str) -> Address:
    """Return the queue or topic of a workload in a slice; its name contains the last characters of the run's id."""
    return Address(workload.kind, f"SOAK.{run[-4:].upper()}.{number}.{workload.name.upper()}")
