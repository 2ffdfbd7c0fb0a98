"""``assay clean``: removes the containers, processes and folders that killed runs have left on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from assay.terminal import Terminal
from assay_adapters.leftovers import Leftovers, remove_leftovers
from assay_evidence.figures import counted


def clean() -> None:
    """Remove the containers, volumes, processes and temporary folders that ended runs have left.

    The containers, processes and folders of running runs stay.
    """
    terminal = Terminal()
    for line in sentences(remove_leftovers()):
        terminal.print(line, markup=False, soft_wrap=True)


def sentences(removed: Leftovers) -> Iterator[str]:
    """List the removed things in sentences, or say that ended runs have left nothing."""
    if removed.containers:
        volumes = f" with {counted(removed.volumes, 'volume')}" if removed.volumes else ""
        names = ", ".join(one.name for one in removed.containers)
        yield f"Removed {counted(len(removed.containers), 'container')}{volumes}: {names}."
    if removed.processes:
        ids = ", ".join(map(str, removed.processes))
        yield f"Ended {counted(len(removed.processes), 'process', 'processes')}: {ids}."
    if removed.folders:
        paths = ", ".join(map(str, removed.folders))
        yield f"Removed {counted(len(removed.folders), 'temporary folder')}: {paths}."
    if not (removed.containers or removed.processes or removed.folders):
        yield "Ended runs have left no container, process, volume or temporary folder here."
    if removed.running:
        running = counted(removed.running, "running process", "running processes")
        yield f"Kept everything of {running} of Assay."
    if removed.unasked:
        yield f"Containers and volumes were not looked for: {removed.unasked}."
