"""The reference broker as a server process of this machine."""

from __future__ import annotations

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.server.backend import ReferenceServerBackend

    return ReferenceServerBackend(
        shared=options.shared, defect=options.defect, wire=options.wire, variant=options.variant
    )


def _open_stomp(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.server.stomp import StompServerBackend

    return StompServerBackend(shared=options.shared, defect=options.defect, wire=options.wire, variant=options.variant)


BACKEND = BackendEntry(_open, has_defects=True, has_variants=True)
STOMP = BackendEntry(_open_stomp, has_defects=True, has_variants=True)
