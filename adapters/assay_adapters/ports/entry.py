"""The entry point of a backend, in the group ``assay.backends``.

A package adds a broker with these lines in its `pyproject.toml`::

    [project.entry-points."assay.backends"]
    mybroker = "my_package:BACKEND"

and a `BackendEntry` of that name in its code. Import large modules inside the entry's `open`, because `assay backends`
loads all entries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.client import Endpoint
from assay_sdk.driver import Driver

GROUP = "assay.backends"
"""The group of the entry points of backends."""


class BackendOptions(Struct, frozen=True, kw_only=True):
    """The options that a run gives its backend.

    Args:
        seed: The seed of all random choices.
        store: The name of the store that the reference broker uses; None for its default.
        defect: The name of a defect of the reference broker; None for the broker without defects.
        wire: A filter between the SDK's engine and its driver, for a defect of the client; None for no filter.
        variant: The name of a tolerated variant of the reference broker; None for the broker without a variant.
        shared: The endpoint of an instance that another process of the run has started; None to start a new one.
        meetings: The folder in which scenarios of several processes meet for a fault that they share. The backend makes
            the folder, and removes it in `Backend.close`. None if scenarios cannot share faults.
        file: The file after the colon of the backend's name; None for a backend that takes none.
    """

    seed: int = 0
    store: str | None = None
    defect: str | None = None
    wire: Callable[[Driver], Driver] | None = None
    variant: str | None = None
    shared: Endpoint | None = None
    meetings: Path | None = None
    file: Path | None = None


class BackendEntry(Struct, frozen=True):
    """An installed backend, before it is opened.

    Args:
        open: Makes the backend, without starting a broker.
        has_defects: Whether the backend supports `BackendOptions.defect` and `BackendOptions.wire`.
        has_stores: Whether the backend supports `BackendOptions.store`.
        has_variants: Whether the backend supports `BackendOptions.variant`.
        known: The files of the backend's known outcomes (docs/known-outcomes.md); two backends may share a file.
        takes_file: Whether a colon and a file follow the backend's name, as in ``url:acme.toml``.
        known_of: Returns the file of known outcomes that the file after the colon names, or None if that file names
            none.
        not_run_here: For ``assay backends``, a sentence that tells the user that the backend's authors have never run
            its broker; empty if they have. The environment of the backend's instances has the same sentence
            (`NOT_RUN_HERE`).
    """

    open: Callable[[BackendOptions], Backend]
    has_defects: bool = False
    has_stores: bool = False
    has_variants: bool = False
    known: tuple[Path, ...] = ()
    takes_file: bool = False
    known_of: Callable[[Path], Path | None] | None = None
    not_run_here: str = ""
