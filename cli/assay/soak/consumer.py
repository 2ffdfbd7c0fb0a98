"""A consumer process of a soak: the consumers of each workload in each slice (`assay.soak.slice_consumer`)."""

from __future__ import annotations

from collections import Counter
from multiprocessing.connection import Connection

from assay.soak.client import ClientOrder, ClientProcess, Report, Surroundings, take_part
from assay.soak.slice_consumer import EARLY_MS, QUIET_MS, SliceConsumer
from assay.soak.workloads import Workload
from assay_adapters.ports.client import Seen
from assay_sdk.model.message import AddressKind
from assay_sdk.time import NS_PER_MS

TURN_MS = 50
"""The time between two checks of the consumers, in milliseconds."""


class SoakConsumer(ClientProcess):
    """A consumer process of a soak, which has one or more `SliceConsumer` objects for each workload of each slice.

    `Workload.at_once` is their number.
    """

    _consumers: list[SliceConsumer]
    _closed: tuple[int, ...] = ()
    _unfinished = 0
    _calm_ns: int | None = 0
    """The end of the last fault; None during a fault."""
    _taken = 0

    def __init__(self, order: ClientOrder, around: Surroundings) -> None:
        super().__init__(order, around)
        self._seen_from: Counter[str] = Counter()
        self._keys: dict[int, set[str]] = {}
        """The keys of the messages from queues, by the number of the open slice."""

    def note(self, workload: Workload, number: int, seen: Seen | None) -> None:
        """Count a message that a consumer of a workload has received in a slice."""
        self._seen_from[workload.name] += 1
        if seen is not None and workload.kind is AddressKind.QUEUE and not workload.expires:
            keys = self._keys.setdefault(number, set())
            self._taken += seen.key not in keys
            keys.add(seen.key)

    def report(self) -> Report:
        """Return the number of messages so far, and the slices that have ended."""
        done = len(self._closed) == self.plan.slices
        return Report(
            seen=self._seen_from.total(),
            late_ns=self.late_ns,
            closed=self._closed,
            unfinished=self._unfinished,
            is_done=done,
            seen_from=dict(self._seen_from),
            taken=self._taken,
        )

    def disturbed(self, *, over: bool) -> None:
        """Note a fault: silence counts only from the end of the last fault."""
        self._calm_ns = self.clock.monotonic_ns() if over else None

    def is_calm(self, since_ns: int, now_ns: int) -> bool:
        """Return whether `QUIET_MS` have passed since a time and since the last fault; False during a fault."""
        return self._calm_ns is not None and now_ns - max(since_ns, self._calm_ns) >= QUIET_MS * NS_PER_MS

    def carry_out(self) -> None:
        """Make the consumers of each slice `EARLY_MS` before the slice, and run them until all have ended."""
        self._consumers = []
        coming = iter(range(1, self.plan.slices + 1))
        following = next(coming, None)
        while (following is not None or self._consumers) and self.wait_until(
            self.clock.monotonic_ns() + TURN_MS * NS_PER_MS
        ):
            now_ns = self.clock.monotonic_ns()
            if following is not None and now_ns >= self.at((following - 1) * self.plan.slice_ms - EARLY_MS):
                workloads = (self.workload(name) for name in self.plan.workloads)
                self._consumers += [
                    SliceConsumer(self, one, following, n) for one in workloads for n in range(1, one.at_once + 1)
                ]
                following = next(coming, None)
            for consumer in self._consumers:
                consumer.step(now_ns)
            self._clear()
        for consumer in self._consumers:
            consumer.end()

    def _clear(self) -> None:
        """Forget the consumers that have ended, and note the slices whose consumers have all ended."""
        before = {consumer.number for consumer in self._consumers}
        self._unfinished += sum(consumer.is_unfinished for consumer in self._consumers)
        self._consumers = [consumer for consumer in self._consumers if not consumer.is_done]
        for number in sorted(before - {consumer.number for consumer in self._consumers}):
            self._closed = (*self._closed, number)
            self._keys.pop(number, None)
            self.forget(number)


def consume(order: ClientOrder, control: Connection) -> None:
    """Run a consumer process; the main function of the process."""
    take_part(SoakConsumer, order, control)
