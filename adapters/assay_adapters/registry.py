"""Backends by name: ``broker[+protocol]``; a bare name means ``+amqp``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.client import Endpoint
from assay_adapters.suggestions import unknown
from assay_sdk.driver import Driver


class BackendOptions(Struct, frozen=True, kw_only=True):
    """What a run asks of its backend.

    Args:
        seed: Seed of whatever is random.
        store: Which store the reference broker uses; None for its first.
        defect: A named defect of the reference broker; None for the unbroken one.
        wire: A filter between the SDK's engine and its driver, for a defect of the client; None for none.
        shared: Endpoint of an instance that the run's controller has started; None to start one.
    """

    seed: int = 0
    store: str | None = None
    defect: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    shared: Endpoint | None = None


def _reference(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend

    return ReferenceBackend(seed=options.seed, store=options.store, defect=options.defect, wire=options.wire)


def _reference_server(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.server.backend import ReferenceServerBackend

    return ReferenceServerBackend(shared=options.shared, defect=options.defect, wire=options.wire)


def _reference_container(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.reference.container.backend import ReferenceContainerBackend

    return ReferenceContainerBackend(shared=options.shared, defect=options.defect, wire=options.wire)


def _artemis(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.artemis.backend import ArtemisBackend

    return ArtemisBackend(shared=options.shared, wire=options.wire)


BACKENDS: Mapping[str, Callable[[BackendOptions], Backend]] = {
    "reference": _reference,
    "reference-server": _reference_server,
    "reference-container": _reference_container,
    "artemis": _artemis,
}
BREAKABLE = ("reference", "reference-server", "reference-container")
"""Backends that are ours: they know defects."""
WITH_STORES = ("reference",)
"""Those of them that know a choice of stores."""


class UnknownBackendError(LookupError):
    """No backend of that name; names the nearest."""

    def __init__(self, name: str) -> None:
        super().__init__(unknown("backend", name, BACKENDS))


class NotOursError(LookupError):
    """Something was asked of a real broker that only the reference broker has."""


def open_backend(name: str, options: BackendOptions | None = None) -> Backend:
    """The backend of that name, not started yet.

    Raises:
        UnknownBackendError: There is none.
        NotOursError: The options name a store or a defect, and the backend has neither.
        LookupError: The backend has no such store or defect.
    """
    plain = name.removesuffix("+amqp")
    make = BACKENDS.get(plain)
    if make is None:
        raise UnknownBackendError(name)
    asked = options or BackendOptions()
    if plain not in BREAKABLE and (asked.defect is not None or asked.wire is not None):
        raise NotOursError(f"Backend {name!r} has no defects to switch on; those with defects: {', '.join(BREAKABLE)}.")
    if plain not in WITH_STORES and asked.store is not None:
        raise NotOursError(f"Backend {name!r} brings its own store; only {', '.join(WITH_STORES)} lets you choose one.")
    return make(asked)
