"""``assay rules``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from assay.terminal import Terminal, write_json
from assay_features import feature_root, load_catalogue
from assay_steps.plugin.checks import rule_counts


def rules(
    profile: Annotated[str | None, typer.Option(help="Only rules of this profile.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The catalogue's entries as JSON.")] = False,
) -> None:
    """List the rules that can be tried; those named by --rule with what they say."""
    chosen = load_catalogue().select(profile=profile, ids=tuple(rule or ()))
    if as_json:
        write_json(chosen)
        return
    tried = rule_counts(feature_root().rglob("*.feature"))
    table = Table("rule", "strength", "judged", "profile", "scenarios", "title", box=None, pad_edge=False)
    for entry in chosen:
        judged = "+".join(part.value for part in entry.judged)
        title = Text(entry.title)
        if rule:
            title.append(f"\n{entry.rule}", style="dim")
            if entry.beyond_one_server:
                title.append(f"\nBeyond one server: {entry.beyond_one_server}", style="dim")
        scenarios = str(tried[entry.id] or "none yet") if entry.observable else "none needed"
        table.add_row(entry.id, entry.strength.value, judged, entry.profile.value, scenarios, title)
    Terminal().show(table)
