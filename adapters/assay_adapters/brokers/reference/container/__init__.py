"""The reference broker in a container."""

from __future__ import annotations

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.container.backend import ReferenceContainerBackend

    return ReferenceContainerBackend(
        shared=options.shared, defect=options.defect, wire=options.wire, variant=options.variant
    )


BACKEND = BackendEntry(_open, has_defects=True, has_variants=True)
