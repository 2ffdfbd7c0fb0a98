"""The reference broker in this process, under a virtual clock."""

from __future__ import annotations

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend

    return ReferenceBackend(
        seed=options.seed,
        store=options.store,
        defect=options.defect,
        wire=options.wire,
        variant=options.variant,
    )


BACKEND = BackendEntry(_open, has_defects=True, has_stores=True, has_variants=True)
