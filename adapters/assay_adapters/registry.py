"""The installed backends, by name.

A name has the form ``broker[+protocol]``; without a protocol it means ``+amqp``. If files describe the brokers of a
backend, a colon and a file follow its name: ``url:acme.toml``. Each backend, ours too, has an entry point
(`assay_adapters.ports.entry`), so another package can add a broker.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from msgspec import structs

from assay_adapters.members import lacking
from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import GROUP, BackendEntry, BackendOptions
from assay_adapters.suggestions import unknown


class UnknownBackendError(LookupError):
    """The error for a name that no installed backend has; it names the closest known name, or else the known names."""

    def __init__(self, name: str) -> None:
        known = backend_names()
        super().__init__(
            unknown("backend", name, known) if known else "No backend is installed; run `pip install assay-mq`."
        )


class UnusableBackendError(LookupError):
    """The error for a backend that cannot be loaded, lacks a member, or has the name of another package's backend."""


class FileOfBackendError(LookupError):
    """The error for a name without the file that its backend needs, or with a file that its backend does not take."""


class NotOursError(LookupError):
    """The error for options that name a defect, a store or a variant, although the backend has no such choice."""


def backend_names() -> tuple[str, ...]:
    """Return the names of all installed backends, in alphabetical order."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def names_with_defects() -> tuple[str, ...]:
    """Return the names of the installed backends that have defects, in alphabetical order.

    Backends of other packages that cannot be loaded are left out.
    """
    return tuple(name for name in backend_names() if (entry := _loadable(name)) is not None and entry.has_defects)


def names_with_variants() -> tuple[str, ...]:
    """Return the names of the installed backends that have tolerated variants, in alphabetical order.

    Backends of other packages that cannot be loaded are left out.
    """
    return tuple(name for name in backend_names() if (entry := _loadable(name)) is not None and entry.has_variants)


def names_without_file() -> tuple[str, ...]:
    """Return the names of the installed backends that need no file, in alphabetical order.

    Backends of other packages that cannot be loaded are included.
    """
    return tuple(name for name in backend_names() if (entry := _loadable(name)) is None or not entry.takes_file)


def known_files(name: str) -> tuple[Path, ...]:
    """Return a backend's files of known outcomes: those that its entry names, or the one that its own file names.

    Raises:
        UnknownBackendError: No backend has that name.
        UnusableBackendError: The backend's package cannot be used.
        LookupError: The name contains a file, and the file cannot be used.
    """
    entry, file = _load(name), _file(name)
    if file is not None and entry.known_of is not None:
        named = entry.known_of(file)
        return () if named is None else (named,)
    return entry.known


def not_run_here(name: str) -> str:
    """Return a sentence that says that a backend's authors have never run its broker; empty if they have.

    Raises:
        UnknownBackendError: No backend has that name.
        UnusableBackendError: The backend's package cannot be used.
    """
    return _load(name).not_run_here


def open_backend(name: str, options: BackendOptions | None = None) -> Backend:
    """Return the backend with a name, without starting a broker.

    Args:
        name: The backend's name: ``broker``, ``broker+protocol`` or ``broker:file``.
        options: The run's options; None for the defaults.

    Raises:
        UnknownBackendError: No installed backend has the name.
        UnusableBackendError: The backend cannot be loaded or lacks a member, or two packages have the name.
        FileOfBackendError: The name lacks the file that the backend needs, or has one that the backend does not take.
        NotOursError: The options name a store, a defect or a variant, and the backend has no such choice.
        LookupError: The backend has no store, defect or variant of the name in the options.
    """
    entry, file = _load(name), _file(name)
    asked = structs.replace(options or BackendOptions(), file=file)
    if entry.takes_file and file is None:
        raise FileOfBackendError(
            f"Backend {name!r} needs a file: write {name}:FILE; `assay adapter new NAME` writes a file to fill in."
        )
    if file is not None and not entry.takes_file:
        raise FileOfBackendError(f"Backend {name.partition(':')[0]!r} takes no file; leave ':{file}' out.")
    if not entry.has_defects and (asked.defect is not None or asked.wire is not None):
        others = ", ".join(names_with_defects())
        raise NotOursError(f"Backend {name!r} has no defects to switch on; those with defects: {others}.")
    if not entry.has_stores and asked.store is not None:
        others = ", ".join(other for other in backend_names() if (one := _loadable(other)) and one.has_stores)
        raise NotOursError(f"Backend {name!r} brings its own store; only {others} lets you choose one.")
    if not entry.has_variants and asked.variant is not None:
        others = ", ".join(names_with_variants())
        raise NotOursError(f"Backend {name!r} has no variants; those with variants: {others}.")
    backend = entry.open(asked)
    if lack := lacking(backend, Backend):
        raise UnusableBackendError(f"Backend {name!r}: {lack}")
    return backend


def _load(name: str) -> BackendEntry:
    wanted = name.partition(":")[0].removesuffix("+amqp")
    points = [point for point in entry_points(group=GROUP) if point.name == wanted]
    if not points:
        raise UnknownBackendError(name)
    if len(points) > 1:
        packages = " and ".join(sorted(map(_package, points)))
        raise UnusableBackendError(f"Both {packages} bring a backend {name!r}; uninstall one of them.")
    (point,) = points
    try:
        entry = point.load()
    except Exception as error:  # the module of another package may raise any exception
        raise UnusableBackendError(
            f"Backend {name!r} of {_package(point)} cannot be loaded ({error}); install what it needs, or remove it."
        ) from error
    if not isinstance(entry, BackendEntry):
        raise UnusableBackendError(
            f"Backend {name!r} of {_package(point)} is no BackendEntry but a {type(entry).__name__}; "
            "correct its entry point."
        )
    return entry


def _file(name: str) -> Path | None:
    """Return the file after the colon of a backend's name; None for a name without a file."""
    file = name.partition(":")[2]
    return Path(file) if file else None


def _loadable(name: str) -> BackendEntry | None:
    try:
        return _load(name)
    except UnusableBackendError:
        return None


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
