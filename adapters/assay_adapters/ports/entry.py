"""The entry point of a backend, in the group ``assay.backends``.

A package adds a broker with two lines of its own `pyproject.toml`::

    [project.entry-points."assay.backends"]
    mybroker = "my_package:BACKEND"

and a `BackendEntry` of that name. Import large modules inside its `open`, because `assay backends` loads every entry.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.client import Endpoint
from assay_sdk.driver import Driver

GROUP = "assay.backends"
"""The group of entry points."""


class BackendOptions(Struct, frozen=True, kw_only=True):
    """The options that a run gives its backend.

    Args:
        seed: Seed of every random choice.
        store: The store that the reference broker uses; None for its default.
        defect: A named defect of the reference broker; None for the unbroken broker.
        wire: A filter between the SDK's engine and its driver, for a defect of the client; None for no filter.
        variant: A tolerated variant of the reference broker; None for the reference broker as it is.
        shared: Endpoint of an instance that the run's controller has started; None to start one.
    """

    seed: int = 0
    store: str | None = None
    defect: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    variant: str | None = None
    shared: Endpoint | None = None


class BackendEntry(Struct, frozen=True):
    """A backend that can be opened.

    Args:
        open: Makes the backend; starts nothing.
        has_defects: Whether it takes `BackendOptions.defect` and `BackendOptions.wire`.
        has_stores: Whether it takes `BackendOptions.store`.
        has_variants: Whether it takes `BackendOptions.variant`.
    """

    open: Callable[[BackendOptions], Backend]
    has_defects: bool = False
    has_stores: bool = False
    has_variants: bool = False
