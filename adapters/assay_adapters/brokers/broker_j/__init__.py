"""Apache Qpid Broker-J in a container."""

from __future__ import annotations

from pathlib import Path

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.amqp.backend import ProductBackend
    from assay_adapters.brokers.broker_j.product import BROKER_J

    return ProductBackend(BROKER_J, shared=options.shared, wire=options.wire, meetings=options.meetings)


BACKEND = BackendEntry(_open, known=(Path(__file__).with_name("known.toml"),))
