"""A producer of a soak: sends the messages of its plan at their times."""

from __future__ import annotations

from collections import Counter
from multiprocessing.connection import Connection

from msgspec.structs import replace

from assay.campaign.connection import ClientConnection, LostError
from assay.soak.client import ClientOrder, ClientProcess, Report, Surroundings, take_part
from assay.soak.plan import Act, acts
from assay.soak.workloads import Delays, Workload, place
from assay_adapters.ports.client import AckMode, Draft, Setting
from assay_sdk.model.message import AddressKind
from assay_sdk.time import NS_PER_MS

LATE_MS = 1_000
"""A producer skips an act that is late by more than this many milliseconds, so that an outage causes no backlog."""
HOLD_MS = 100
"""How long a producer keeps a unit of work open after its last send, in milliseconds.

So the journal shows whether the broker counts delays from the send or from the commit.
"""


class SoakProducer(ClientProcess):
    """Sends the messages of the plan.

    A refused send, or a lost connection, ends the act.  The unit of work of the act is then lost or in doubt.
    """

    _sent = 0
    _refused = 0
    _skipped = 0
    _is_done = False
    _slice = 0
    _queued = 0
    _connections: dict[str, ClientConnection]

    def __init__(self, order: ClientOrder, around: Surroundings) -> None:
        super().__init__(order, around)
        self._sent_to: Counter[str] = Counter()

    def disturbed(self, *, over: bool) -> None:
        """Do nothing: a producer notices a fault by its refused sends."""

    def report(self) -> Report:
        """Return the number of messages so far."""
        return Report(
            sent=self._sent,
            refused=self._refused,
            skipped=self._skipped,
            late_ns=self.late_ns,
            is_done=self._is_done,
            sent_to=dict(self._sent_to),
            queued=self._queued,
        )

    def carry_out(self) -> None:
        """Carry out each act at its time, and skip the acts that are late by more than `LATE_MS`."""
        self._connections = {}
        for act in acts(self.plan, self.order.number):
            if not self.wait_until(self.at(act.at_ms)):
                break
            if act.slice != self._slice:
                self._turn_to(act.slice)
            if self.clock.monotonic_ns() > self.at(act.at_ms + LATE_MS):
                self._skipped += len(act.messages)
                continue
            self._attempt(act)
        self._turn_to(0)
        self._is_done = True

    def _turn_to(self, number: int) -> None:
        """Close the connections of the current slice, and go on with the slice of this number; 0 for none."""
        for connection in self._connections.values():
            connection.leave()
        self._connections.clear()
        self.forget(self._slice)
        self._slice = number

    def _attempt(self, act: Act) -> None:
        before, workload = self._sent, self.workload(act.workload)
        try:
            self._perform(act, workload)
            self.reached()
        except LostError as error:
            self.missed(error)
            if act.commits is not None:  # the whole unit of work is lost
                self._sent = before
            self._refused += len(act.messages) - (self._sent - before)
        self._sent_to[act.workload] += self._sent - before
        if workload.kind is AddressKind.QUEUE and not workload.expires and act.commits is not False:
            self._queued += self._sent - before

    def _perform(self, act: Act, workload: Workload) -> None:
        to = place(workload, act.slice, self.order.run)
        connection = self._connection(workload, act.slice)
        producer = connection.producer(to, workload.qos)
        begun_ns = self.clock.monotonic_ns()
        for index, message in enumerate(act.messages):
            if workload.delays is not Delays.NONE:
                is_burst = workload.delays is Delays.BURST
                passed_ms = (self.clock.monotonic_ns() - begun_ns) // NS_PER_MS if is_burst else 0
                delay_ms = max(message.delay_ms - passed_ms, min(message.delay_ms, 1))
                connection.done(producer.set(Setting.DELAY, delay_ms))
            key = f"{self.order.name}-{act.number}-{index + 1}"
            draft = Draft(key=key, body=f"{key} to {to}", size=message.size)
            if workload.grouped:
                draft = replace(draft, group_id=f"{self.order.name}-{act.number}", group_sequence=index + 1)
            if workload.qos is not None:
                sent = producer.send(draft)
            else:
                sent = producer.send(draft, mode=message.mode, priority=message.priority, ttl_ms=message.ttl_ms or None)
            connection.done(sent)
            self._sent += 1
        if act.commits is not None:
            self.wait_until(self.clock.monotonic_ns() + HOLD_MS * NS_PER_MS)
            connection.done(connection.session.commit() if act.commits else connection.session.rollback())

    def _connection(self, workload: Workload, number: int) -> ClientConnection:
        if workload.name not in self._connections:
            ack = AckMode.TRANSACTED if workload.in_units else AckMode.AUTO
            name = f"{self.order.name}.{workload.name}"
            self._connections[workload.name] = self.connection(
                name, workload, number, ack, light=workload.qos is not None
            )
        return self._connections[workload.name]


def produce(order: ClientOrder, control: Connection) -> None:
    """Run a producer; the main function of its process."""
    take_part(SoakProducer, order, control)
