"""The workloads of a soak: the table."""

from __future__ import annotations

from collections.abc import Mapping

from assay.soak.workloads import Delays, Reader, Reading, Workload
from assay_adapters.ports.client import AckMode, Qos, Script
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import AddressKind

_AUTO = Reader()
_EACH = Reader(ack=AckMode.CLIENT, script=Script(acknowledge_each=True))
_DUPS_OK = Reader(ack=AckMode.DUPS_OK)
_FAILS_SOON = Reader(script=Script(fail_at=2, fail_times=4))
_FAILS_LATE = Reader(script=Script(fail_at=6, fail_times=2))
_ONCE = Reader(qos=Qos.AT_MOST_ONCE)
_CONFIRMS = Reader(ack=AckMode.CLIENT, script=Script(acknowledge_each=True), qos=Qos.AT_LEAST_ONCE)
_CONFIRMED = Reader(qos=Qos.AT_LEAST_ONCE)
_QUEUE = frozenset({Capability.QUEUE})
_DELAY = _QUEUE | {Capability.DELIVERY_DELAY}
_BATCH = _QUEUE | {Capability.BATCH_LISTENER}
_TOPIC = frozenset({Capability.TOPIC})
_LIGHT = _TOPIC | {Capability.QUALITY_OF_SERVICE, Capability.LASTING_SUBSCRIPTION}

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        name="uniform",
        title="delays of a uniform distribution, to a queue of two consumers",
        rules=("DD-02", "DD-03", "DD-39", "PD-18", "PD-20"),
        share=3,
        delays=Delays.UNIFORM,
        persistent_percent=80,
        readers=(_AUTO, _EACH),
        at_once=2,
        needs=_DELAY,
    ),
    Workload(
        name="exponential",
        title="delays of an exponential distribution, to a queue",
        rules=("DD-02", "DD-03", "DD-39", "PD-20"),
        share=2,
        delays=Delays.EXPONENTIAL,
        persistent_percent=80,
        readers=(_EACH, _AUTO),
        needs=_DELAY,
    ),
    Workload(
        name="bursts",
        title="bursts of messages that are due at the same moment, to a queue",
        rules=("DD-02", "DD-03", "DD-39", "PD-20"),
        share=2,
        delays=Delays.BURST,
        together=(5, 20),
        readers=(_EACH, _DUPS_OK),
        needs=_DELAY,
    ),
    Workload(
        name="plain",
        title="persistent and non-persistent messages of all priorities, to a queue",
        rules=("PD-20", "PD-21", "PD-22"),
        share=2,
        persistent_percent=40,
        readers=(_AUTO, _EACH, _DUPS_OK),
        needs=_QUEUE,
    ),
    Workload(
        name="parked",
        title="messages to a queue whose consumer comes later",
        rules=("PD-18", "PD-20", "PD-22", "PD-32"),
        share=2,
        persistent_percent=50,
        reading=Reading.AFTERWARDS,
        readers=(_AUTO, _EACH),
        needs=_QUEUE,
    ),
    Workload(
        name="returns",
        title="a queue whose consumers leave and return",
        rules=("QS-08", "QS-09", "QS-14", "PD-18", "PD-20"),
        share=2,
        persistent_percent=80,
        reading=Reading.VISITING,
        readers=(_EACH, _AUTO),
        needs=_QUEUE,
    ),
    Workload(
        name="expiry",
        title="messages that expire before a consumer comes to their queue",
        rules=("DD-56",),
        share=2,
        expires=True,
        reading=Reading.AFTERWARDS,
        needs=_QUEUE | {Capability.TIME_TO_LIVE},
    ),
    Workload(
        name="units",
        title="units of work of one to five messages, one in five rolled back, to a queue",
        rules=("PD-20", "DD-02", "DD-03", "DD-26", "DD-27"),
        share=2,
        delays=Delays.SOME,
        in_units=True,
        together=(1, 5),
        readers=(_EACH, _AUTO),
        needs=_DELAY | {Capability.LOCAL_TRANSACTION},
    ),
    Workload(
        name="takers",
        title="units of work of one to five received messages, one in five rolled back, on a queue",
        rules=("PD-20",),
        reading=Reading.UNITS,
        readers=(Reader(ack=AckMode.TRANSACTED),),
        needs=_QUEUE | {Capability.LOCAL_TRANSACTION},
    ),
    Workload(
        name="groups",
        title="message groups of two to six messages, to a queue of two consumers",
        rules=("PD-18", "PD-20"),
        grouped=True,
        together=(2, 6),
        readers=(_AUTO, _EACH),
        at_once=2,
        needs=_QUEUE,
    ),
    Workload(
        name="batches",
        title="batch listeners in three acknowledgement modes, on a queue",
        rules=("BT-04", "BT-07", "BT-08", "BT-10", "BT-16"),
        share=3,
        together=(1, 12),
        reading=Reading.BATCHES,
        readers=(_AUTO, _EACH, _DUPS_OK),
        at_once=3,
        needs=_BATCH,
    ),
    Workload(
        name="failing",
        title="batch listeners of which some callbacks fail, on a queue",
        rules=("BT-04", "BT-08", "BT-09", "BT-16"),
        share=3,
        together=(1, 12),
        reading=Reading.BATCHES,
        readers=(_FAILS_SOON, _FAILS_LATE),
        needs=_BATCH,
    ),
    Workload(
        name="topic",
        title="publications for non-durable subscribers, some delayed",
        rules=("PD-11", "PD-26", "PD-33", "DD-02", "DD-80"),
        kind=AddressKind.TOPIC,
        share=3,
        delays=Delays.SOME,
        persistent_percent=50,
        needs=_TOPIC | _DELAY,
    ),
    Workload(
        name="later",
        title="publications before their subscribers come, one in two delayed",
        rules=("DD-51", "PD-14", "PD-27", "PD-34"),
        kind=AddressKind.TOPIC,
        share=2,
        delays=Delays.LONG,
        persistent_percent=90,
        reading=Reading.LATER,
        at_once=5,
        needs=_TOPIC | {Capability.DELIVERY_DELAY},
    ),
    Workload(
        name="passing",
        title="publications for non-durable subscribers that come and go",
        rules=("PD-12", "PD-14", "PD-27"),
        kind=AddressKind.TOPIC,
        share=2,
        persistent_percent=80,
        reading=Reading.VISITING,
        needs=_TOPIC,
    ),
    Workload(
        name="durable",
        title="publications for durable subscribers of one name that come and go",
        rules=("PD-11", "PD-13", "PD-15", "PD-16", "PD-23", "PD-24", "PD-25", "PD-28", "PD-29", "PD-30", "QS-08"),
        kind=AddressKind.TOPIC,
        share=3,
        persistent_percent=60,
        reading=Reading.VISITING,
        readers=(_EACH, _AUTO),
        at_once=2,
        durable=True,
        needs=_TOPIC | {Capability.DURABLE_SUBSCRIPTION, Capability.CLIENT_ID},
    ),
    Workload(
        name="shared",
        title="publications for one shared subscription of all consumers",
        rules=("PD-11",),
        kind=AddressKind.TOPIC,
        at_once=2,
        shared=True,
        needs=_TOPIC | {Capability.SHARED_SUBSCRIPTION},
    ),
    Workload(
        name="qos0",
        title="MQ Light clients that send and receive at most once, and come and go",
        rules=("QS-03", "QS-06", "QS-07"),
        kind=AddressKind.TOPIC,
        share=3,
        qos=Qos.AT_MOST_ONCE,
        reading=Reading.VISITING,
        readers=(_ONCE,),
        durable=True,
        needs=_LIGHT,
    ),
    Workload(
        name="qos1",
        title="MQ Light clients that send and receive at least once, and come and go",
        rules=("QS-04", "QS-05", "QS-08"),
        kind=AddressKind.TOPIC,
        qos=Qos.AT_LEAST_ONCE,
        reading=Reading.VISITING,
        readers=(_CONFIRMS, _CONFIRMED),
        at_once=2,
        durable=True,
        needs=_LIGHT,
    ),
)
"""All workloads.  A soak leaves out a workload whose capabilities the pair lacks, and says so."""
UNTRIED: Mapping[str, str] = {
    "DD-55": "No workload's messages have a delay and a time to live.",
    "QS-10": "No workload has a shared durable subscription.",
    "QS-20": "No workload has subscriptions with a time to live.",
    "QS-21": "No workload has subscriptions with a time to live.",
    "QS-22": "No workload has subscriptions with a time to live.",
    "QS-31": "No workload's MQ Light clients have non-durable subscriptions.",
    "QS-32": "No workload has JMS senders and MQ Light subscribers.",
    "BT-11": "The scripts acknowledge in callbacks, and the journal does not record these calls.",
    "BT-12": "No workload has batch listeners in transacted sessions.",
    "BT-13": "No workload has global units of work.",
    "BT-15": "No workload's batches have messages with a delay or a time to live.",
}
"""The rules with an invariant that no workload tries, with the reasons."""
