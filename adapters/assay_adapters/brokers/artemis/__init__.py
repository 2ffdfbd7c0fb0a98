"""Apache Artemis in a container."""

from __future__ import annotations

from pathlib import Path

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.amqp.backend import ProductBackend
    from assay_adapters.brokers.artemis.product import ARTEMIS

    return ProductBackend(ARTEMIS, shared=options.shared, wire=options.wire, meetings=options.meetings)


def _open_stomp(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.amqp.backend import ProductBackend
    from assay_adapters.brokers.artemis.stomp import ARTEMIS_STOMP

    return ProductBackend(ARTEMIS_STOMP, shared=options.shared, wire=options.wire, meetings=options.meetings)


BACKEND = BackendEntry(_open, known=(Path(__file__).with_name("known.toml"),))
STOMP = BackendEntry(_open_stomp, known=(Path(__file__).with_name("known_stomp.toml"),))
