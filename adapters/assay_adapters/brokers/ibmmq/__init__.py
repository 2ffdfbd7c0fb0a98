"""IBM MQ in a container, by its AMQP channel and its REST interface; never run by the kit's authors."""

from __future__ import annotations

from pathlib import Path

from assay_adapters.brokers.ibmmq.not_run import NOT_RUN
from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.amqp.backend import ProductBackend
    from assay_adapters.brokers.ibmmq.product import IBM_MQ

    return ProductBackend(IBM_MQ, shared=options.shared, wire=options.wire, meetings=options.meetings)


BACKEND = BackendEntry(_open, known=(Path(__file__).with_name("known.toml"),), not_run_here=NOT_RUN)
