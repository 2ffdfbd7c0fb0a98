"""The backend for any broker that speaks AMQP 1.0 and that a TOML file describes (docs/url.md)."""

from __future__ import annotations

from pathlib import Path

from assay_adapters.ports.backend import Backend
from assay_adapters.ports.entry import BackendEntry, BackendOptions


def _open(options: BackendOptions) -> Backend:
    from assay_adapters.brokers.url.backend import UrlBackend

    file = options.file or Path()
    return UrlBackend(file, shared=options.shared, wire=options.wire)


def _known(file: Path) -> Path | None:
    from assay_adapters.brokers.url.checks import described

    named = described(file).known
    return None if named is None else file.parent / named


BACKEND = BackendEntry(_open, known_of=_known, takes_file=True)
