"""Apache ActiveMQ Classic in a container."""

from __future__ import annotations

from pathlib import Path

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.activemq.product import ACTIVEMQ
    from assay_adapters.brokers.amqp.backend import ProductBackend

    return ProductBackend(ACTIVEMQ, shared=options.shared, wire=options.wire, meetings=options.meetings)


def _open_stomp(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.activemq.stomp import ACTIVEMQ_STOMP
    from assay_adapters.brokers.amqp.backend import ProductBackend

    return ProductBackend(ACTIVEMQ_STOMP, shared=options.shared, wire=options.wire, meetings=options.meetings)


_SCHEDULER = Path(__file__).with_name("known_scheduler.toml")
"""The file of known outcomes that the broker's scheduler causes, over either protocol."""

BACKEND = BackendEntry(_open, known=(_SCHEDULER, Path(__file__).with_name("known.toml")))
STOMP = BackendEntry(_open_stomp, known=(_SCHEDULER, Path(__file__).with_name("known_stomp.toml")))
