"""The handler of ``/metrics``: the queue manager's metrics in Prometheus' text format (exposition format 0.0.4).

Each request fills its own registry, because several servers in one process would mix their metrics in a shared one.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from assay_broker.core.administration.changes import DisplayObjects
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.http.requests.request import ApiRequest
from assay_broker.wire import product_version

_NS_PER_S = 1e9
_PER_QUEUE = {
    "assay_queue_depth": ("Messages on a queue, uncommitted ones included.", "CURDEPTH"),
    "assay_queue_receivers": ("Receivers that have a queue open.", "IPPROCS"),
    "assay_queue_senders": ("Senders that have a queue open.", "OPPROCS"),
}
"""For each metric of a queue, by the metric's name: a description, and the attribute of the queue that it shows."""
_DEFAULT_SUBSCRIPTION = "SYSTEM.DEFAULT.SUB"


class Snapshot(Collector):
    """The metrics of one answer, as a collector for a registry.

    Args:
        families: The metrics.
    """

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics, for the registry."""
        return self._families


async def metrics(request: ApiRequest) -> Response:
    """Answer with the current metrics, if the user has the authority to display the queue manager."""
    async with request.connected() as asker:
        await asker.must(DisplayObjects(kinds=(Kind.QMGR,), name=""))
        queues = _definitions(await asker.must(DisplayObjects(kinds=(Kind.QLOCAL,), name="*")))
        subscriptions = _definitions(await asker.must(DisplayObjects(kinds=(Kind.SUB,), name="*")))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        Snapshot(
            (
                *_queue_manager(request),
                *_queues(queues, request.served.limits.rows),
                _subscriptions(one for one in subscriptions if one.name != _DEFAULT_SUBSCRIPTION),
                *_traffic(request),
            )
        )
    )
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def _queue_manager(request: ApiRequest) -> Iterator[Metric]:
    settings = request.served.queue_manager.settings
    info = InfoMetricFamily("assay_queue_manager", "The queue manager and its version.")
    platform = "zos" if settings.host.zos else "distributed"
    info.add_metric(
        (), {"name": request.manager, "platform": platform, "level": settings.level, "version": product_version()}
    )
    yield info
    connections = GaugeMetricFamily("assay_connections", "Open connections of clients.", labels=("protocol",))
    views = request.served.views()
    for protocol in ("amqp", "stomp"):
        count = sum(one.protocol.lower().startswith(protocol) for one in views)
        connections.add_metric((protocol,), count)
    yield connections


def _queues(queues: list[Definition], most: int) -> Iterator[Metric]:
    """Yield the metrics of the ``most`` deepest queues, and the metrics of all queues together.

    The limit keeps an answer short when clients create many queues.
    """
    deepest = sorted(queues, key=lambda one: (-one.number("CURDEPTH"), one.name))
    shown = [one for one in deepest if one.name != STAGING_QUEUE][:most]
    for name, (about, keyword) in _PER_QUEUE.items():
        family = GaugeMetricFamily(name, f"{about} The {most} deepest queues are shown.", labels=("queue",))
        for one in shown:
            family.add_metric((one.name,), one.number(keyword))
        yield family
    depths = {one.name: one.number("CURDEPTH") for one in queues}
    yield GaugeMetricFamily("assay_queues", "Local queues.", value=len(queues))
    yield GaugeMetricFamily("assay_staged_messages", "Delayed messages.", value=depths.pop(STAGING_QUEUE, 0))
    yield GaugeMetricFamily("assay_messages", "Messages on all other local queues.", value=sum(depths.values()))


def _subscriptions(subscriptions: Iterable[Definition]) -> Metric:
    counts = {"yes": 0, "no": 0}
    for one in subscriptions:
        counts["yes" if one.says("DURABLE", "YES") else "no"] += 1
    family = GaugeMetricFamily("assay_subscriptions", "Subscriptions.", labels=("durable",))
    for durable, count in counts.items():
        family.add_metric((durable,), count)
    return family


def _traffic(request: ApiRequest) -> Iterator[Metric]:
    manager = request.served.queue_manager
    flushes = manager.flushes
    for name, about, value in (
        ("assay_puts", "Messages that were sent to the queue manager, refused ones included.", manager.puts),
        ("assay_deliveries", "Deliveries to receivers, repeated ones included.", manager.deliveries),
        ("assay_store_flushes", "Flushes of the store to its disk.", flushes.count),
        ("assay_store_flushed_batches", "Batches of records in these flushes.", flushes.batches),
        ("assay_store_flush_seconds", "Time that these flushes took.", flushes.ns / _NS_PER_S),
    ):
        yield CounterMetricFamily(name, about, value=value)


def _definitions(value: object) -> list[Definition]:
    rows = value if isinstance(value, tuple) else ()
    return [one for one in rows if isinstance(one, Definition)]
