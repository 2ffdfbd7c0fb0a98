"""``assay rules``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from assay.terminal import Terminal, write_json
from assay_features import load_catalogue


def rules(
    profile: Annotated[str | None, typer.Option(help="Only rules of this profile.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The catalogue's entries as JSON.")] = False,
) -> None:
    """List the rules that can be tried."""
    chosen = load_catalogue().select(profile=profile, ids=tuple(rule or ()))
    if as_json:
        write_json(chosen)
        return
    table = Table("rule", "strength", "judged", "profile", "title", box=None, pad_edge=False)
    for entry in chosen:
        judged = "+".join(part.value for part in entry.judged)
        table.add_row(entry.id, entry.strength.value, judged, entry.profile.value, entry.title)
    Terminal().print(table)
