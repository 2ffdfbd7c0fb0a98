"""``assay import``: turns logs of sends and receives into journals; `assay judge` judges them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from assay.exits import Exit
from assay.importing.importer import Imported, import_logs
from assay.importing.mapping import read_mapping
from assay.terminal import Terminal
from assay_evidence.figures import counted


def importing(
    logs: Annotated[
        list[Path], typer.Argument(help="Logs: .jsonl, .ndjson, .json, .csv, each also with .gz, or .parquet.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the journals.")],
    mapping: Annotated[
        Path | None, typer.Option(help="TOML file with the log's own names and units, and statements about the log.")
    ] = None,
) -> int:
    """Import logs of sends and receives, so that assay judge can judge the traffic of any broker."""
    imported = import_logs(logs, out, read_mapping(mapping))
    Terminal(soft_wrap=True).print("\n".join(summary(imported, out)), markup=False)
    return Exit.INCONCLUSIVE if imported.left_out else Exit.AS_EXPECTED


def summary(imported: Imported, out: Path) -> Iterator[str]:
    """Yield the lines that the command prints about an import."""
    rows = ", ".join(f"{number} {kind.value}" for kind, number in sorted(imported.rows.items()))
    yield f"{counted(imported.lines, 'line')}, {counted(imported.journals, 'journal')}: {rows}"
    if imported.left_out:
        yield f"{counted(imported.left_out, 'line')} left out, so assay judge finds every rule inconclusive:"
        yield from (f"  {sentence}" for sentence in imported.why)
    if imported.orphans:
        yield f"{counted(imported.orphans, 'receive')} without a send in the log:"
        yield from (f"  {one.log}:{one.line}: message {one.message}" for one in imported.first_orphans)
    if imported.lacks:
        yield "the log lacks (with the rules that need it):"
        yield from (f"  {missing}: {', '.join(rules)}" for missing, rules in imported.lacks.items())
    yield f"rules that the log can decide: {', '.join(imported.decides) or 'none'}"
    yield f"judge it: assay judge {out} --out {out}-judged"
