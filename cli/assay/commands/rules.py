"""``assay rules``: shows the catalogue of rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from assay.liveness.rules import PROFILE
from assay.rule_guide import Guide, guide_to
from assay.terminal import Terminal, write_json
from assay_features import feature_root, load_catalogue
from assay_features.dimensions import Cell, State, table_of
from assay_steps.plugin.checks import rule_counts

_UNEXPLAINED = "write a scenario that tries it, or a reason in features/assay_features/untried.toml"


def rules(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[RULE]...", help="Ids of rules to show in detail, such as DD-30.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="List only rules of this profile.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="List only this rule; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the catalogue's entries as JSON.")] = False,
) -> None:
    """List the rules of the catalogue; with --rule, print the text of the named rules.

    For rules that are arguments, show their scenarios, code, defects and invariant, and the traits under which
    scenarios test them.
    """
    if profile == PROFILE:
        from assay.commands.liveness import show_rules  # imports the SDK, which the other uses do not need

        show_rules()
        return
    chosen = load_catalogue().select(profile=profile, ids=(*(ids or ()), *(rule or ())))
    if as_json:
        write_json(chosen)
        return
    if ids:
        for entry in chosen:
            _show(guide_to(entry))
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


def _show(guide: Guide) -> None:
    """Print the guide to a rule: its text, scenarios, code, defects, invariant and traits."""
    rule = guide.rule
    shown = Text(f"{rule.id}  {rule.title}\n", style="bold")
    judged = " and ".join(part.value for part in rule.judged)
    shown.append(f"{rule.rule}\n{rule.strength.value} of {judged}, profile {rule.profile.value}", style="not bold")
    sections = (
        ("basis", rule.basis),
        ("scenarios", list(dict.fromkeys(f"{_place(one.feature)}:{one.line}  {one.name}" for one in guide.scenarios))),
        ("code", [f"{code.file}  {code.name}" for code in guide.code]),
        ("defects", [f"{proof.name}  {proof.text}  ({proof.file})" for proof in guide.defects]),
        ("invariant", [_invariant(guide)]),
    )
    for head, lines in sections:
        shown.append(f"\n\n{head}", style="bold")
        shown.append("".join(f"\n  {line}" for line in lines or ["none"]), style="not bold")
    _show_table(shown, table_of(rule))
    Terminal().print(shown, soft_wrap=True, highlight=False)


def _invariant(guide: Guide) -> str:
    """Return the text and file of a rule's invariant, or the reason why the rule has none."""
    if guide.invariant is not None:
        return f"{guide.invariant.text}  ({guide.invariant.file})"
    if guide.rule.history:
        return "none yet, although a history can show a breach of the rule"
    return "none: the catalogue does not say that a history can show a breach of the rule"


def _show_table(shown: Text, cells: Sequence[Cell]) -> None:
    """Add the traits under which scenarios test the rule, and then the other traits with the reasons."""
    if not cells:
        return
    tried = [f"{cell.trait} ({cell.scenarios})" for cell in cells if cell.state is State.TRIED]
    shown.append("\n\ntested circumstances (scenarios)", style="bold")
    shown.append(f"\n  {', '.join(tried) or 'nothing'}", style="not bold")
    for state, head in ((State.APART, "not applicable"), (State.OPEN, "not tested yet")):
        reasons: dict[str, list[str]] = {}
        for cell in cells:
            if cell.state is state:
                reasons.setdefault(cell.why, []).append(cell.trait)
        if reasons:
            shown.append(f"\n\n{head}", style="bold")
            lines = "".join(f"\n  {', '.join(traits)}: {why}" for why, traits in reasons.items())
            shown.append(lines, style="not bold")
    unexplained = [cell.trait for cell in cells if cell.state is State.UNEXPLAINED]
    if unexplained:
        shown.append("\n\nneither tested nor explained", style="bold")
        shown.append(f"\n  {', '.join(unexplained)}: {_UNEXPLAINED}", style="not bold")


def _place(feature: Path) -> str:
    return feature.relative_to(feature_root()).as_posix()
