"""Backends by name: ``broker[+protocol]``; a bare name means ``+amqp``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from msgspec import Struct

from assay_adapters.backend import Backend
from assay_adapters.client import Endpoint
from assay_sdk.driver import Driver


class BackendOptions(Struct, frozen=True, kw_only=True):
    """What a run asks of its backend.

    Args:
        seed: Seed of whatever is random.
        store: Which store the reference broker uses.
        defect: A named defect of the reference broker; None for the unbroken one.
        wire: A filter between the SDK's engine and its driver, for a defect of the client; None for none.
        shared: Endpoint of an instance that the run's controller has started; None to start one.
    """

    seed: int = 0
    store: str = "memory"
    defect: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    shared: Endpoint | None = None


def _reference(options: BackendOptions) -> Backend:
    from assay_adapters.reference import ReferenceBackend

    return ReferenceBackend(seed=options.seed, store=options.store, defect=options.defect, wire=options.wire)


def _artemis(options: BackendOptions) -> Backend:
    from assay_adapters.artemis import ArtemisBackend

    return ArtemisBackend(shared=options.shared, wire=options.wire)


BACKENDS: Mapping[str, Callable[[BackendOptions], Backend]] = {"reference": _reference, "artemis": _artemis}


class UnknownBackendError(LookupError):
    """No backend of that name; names the nearest."""

    def __init__(self, name: str) -> None:
        near = difflib.get_close_matches(name, BACKENDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(BACKENDS)}."
        super().__init__(f"There is no backend {name!r}; {hint}")


def open_backend(name: str, options: BackendOptions | None = None) -> Backend:
    """The backend of that name, not started yet.

    Raises:
        UnknownBackendError: There is none.
    """
    make = BACKENDS.get(name.removesuffix("+amqp"))
    if make is None:
        raise UnknownBackendError(name)
    return make(options or BackendOptions())
