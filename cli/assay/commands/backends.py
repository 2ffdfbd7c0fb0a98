"""``assay backends``: lists the backends, and why some cannot run here, or shows the capabilities of named backends."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec import Struct
from rich.text import Text

from assay.terminal import Terminal, write_json
from assay_adapters.ports.backend import Available
from assay_adapters.ports.client import Source
from assay_adapters.registry import (
    FileOfBackendError,
    UnusableBackendError,
    backend_names,
    not_run_here,
    open_backend,
)


class BackendReport(Struct, frozen=True):
    """A backend, as ``assay backends`` shows it.

    Args:
        name: The backend's name for ``--backend``.
        available: Whether this machine can start it.
        detail: The description of the backend, or the missing software and the way to install it.
        capabilities: The capabilities of the backend, each with its source.
        lacks: The capabilities that the backend lacks, each with the reason.
        not_run_here: A sentence that says that the backend's authors have never run its broker; empty if they have.
    """

    name: str
    available: bool
    detail: str
    capabilities: dict[str, Source]
    lacks: dict[str, Source]
    not_run_here: str = ""


def backends(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Show these only, with their capabilities and the reason for each lack."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with capabilities and lacks.")] = False,
) -> None:
    """List the brokers that can be tested here, and why the others cannot."""
    try:
        reports = [report_on(name) for name in names or backend_names()]
    except LookupError as problem:
        raise typer.BadParameter(str(problem)) from problem
    if as_json:
        write_json(reports)
        return
    console = Terminal(soft_wrap=True)
    for report in reports:
        _show(console, report)
        if names:
            _show_capabilities(console, report)
    if not names:
        console.print("`assay backends NAME` shows what a backend can do, and the reason for each lack.", markup=False)


def _show(console: Terminal, report: BackendReport) -> None:
    state = "available" if report.available else "not available"
    console.print(Text.assemble((report.name, "bold"), f"  {state}: {report.detail}"))
    if report.not_run_here:
        console.print(f"  {report.not_run_here}", markup=False)


def _show_capabilities(console: Terminal, report: BackendReport) -> None:
    console.print(f"  can: {', '.join(sorted(report.capabilities))}", markup=False)
    for capability, source in sorted(report.lacks.items()):
        console.print(f"  cannot: {capability}: {source.text}", markup=False)


def report_on(name: str) -> BackendReport:
    """Report on a backend without starting it.

    Raises:
        LookupError: No installed backend has the name.
    """
    try:
        backend = open_backend(name)
    except (UnusableBackendError, FileOfBackendError) as problem:
        return BackendReport(name=name, available=False, detail=str(problem), capabilities={}, lacks={})
    probe = backend.probe()
    available = isinstance(probe, Available)
    return BackendReport(
        name=name,
        available=available,
        detail=probe.detail if isinstance(probe, Available) else f"{probe.reason}; {probe.remedy}.",
        capabilities={capability.value: source for capability, source in backend.capabilities.items()},
        lacks={capability.value: source for capability, source in backend.lacks.items()},
        not_run_here=not_run_here(name),
    )
