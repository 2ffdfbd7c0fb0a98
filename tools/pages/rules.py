"""The pages of the rules: the text of each rule, its scenarios, its code, its defects and its invariant."""

from __future__ import annotations

from collections.abc import Sequence

from assay.rule_guide import Guide, guide_to
from assay_features import feature_root, load_catalogue
from assay_features.dimensions import Cell, State, table_of
from assay_features.rule import Rule

_UP = "../.."
"""The relative path from a page to the project's folder."""
_ROOTS = {
    "assay_broker": "broker",
    "assay_sdk": "sdk",
    "assay_steps": "steps",
    "assay_pipeline": "pipeline",
}
"""The folder that holds each package."""

_INDEX = """# Rules

Each rule has a page with

- the rule's text,
- the scenarios that test it,
- the code that names it, such as the code that enforces it,
- the defects that prove that its scenarios can fail,
- the invariant that judges histories by it,
- the circumstances (traits) under which scenarios test it, and for other traits the reasons why none does.

`make pages` writes these pages; `assay rules DD-30` shows the page of a rule in a terminal. The rules themselves are in
`features/assay_features/rules.toml`, the reasons for untested traits in `untried.toml` beside it.

The column *invariant* says whether `assay judge` judges the rule from the history of a run. *None yet* means that a
history can show a breach, but the rule has no invariant ([how to add one](../how-to/add-an-invariant.md)).

| rule | title | strength | profile | invariant |
|---|---|---|---|---|
"""


def rules_index() -> str:
    """Return the list of all rules as Markdown."""
    rows = (
        f"| [{rule.id}]({rule.id}.md) | {rule.title} | {rule.strength.value} | {rule.profile.value}"
        f" | {_invariant(rule)} |\n"
        for rule in load_catalogue().rules
    )
    return _INDEX + "".join(rows)


def _invariant(rule: Rule) -> str:
    if guide_to(rule).invariant is not None:
        return "yes"
    return "none yet" if rule.history else ""


def rule_page(rule: Rule) -> str:
    """Return the page of one rule as Markdown."""
    guide = guide_to(rule)
    judged = " and ".join(part.value for part in rule.judged)
    parts = [
        f"# {rule.id}: {rule.title}",
        rule.rule,
        f"Strength: *{rule.strength.value}*. Judges: {judged}. Profile: *{rule.profile.value}*.",
        f"Basis: {', '.join(rule.basis)}.",
    ]
    if rule.note:
        parts.append(rule.note)
    parts += [
        _section("Scenarios", _scenarios(guide)),
        _section("Code that names the rule", [_linked(code.file, code.name) for code in guide.code]),
        _section(
            "Defects that break the rule",
            [f"`{proof.name}`: {proof.text} {_linked(proof.file)}" for proof in guide.defects],
        ),
    ]
    if guide.invariant is not None:
        parts.append(_section("Invariant", [f"{guide.invariant.text} {_linked(guide.invariant.file)}"]))
    cells = table_of(rule)
    if cells:
        parts.append(_across(cells))
    return "\n\n".join(parts) + "\n"


def _across(cells: Sequence[Cell]) -> str:
    """Return the Markdown table of a rule's traits: whether scenarios test the rule under a trait, and if not, why."""
    rows = []
    for cell in cells:
        said = {State.TRIED: "yes", State.OPEN: f"not yet. {cell.why}"}
        rows.append(f"| {cell.dimension} | {cell.trait} | {said.get(cell.state, f'no. {cell.why}')} |")
    return "\n".join(("## Tested circumstances", "", "| dimension | trait | tested |", "|---|---|---|", *rows))


def _scenarios(guide: Guide) -> list[str]:
    names: dict[str, dict[str, None]] = {}
    for one in guide.scenarios:
        names.setdefault(one.feature.relative_to(feature_root()).as_posix(), {})[one.name] = None
    return [
        "\n  - ".join([f"[{file}]({_UP}/features/assay_features/{file})", *map(_plain, titles)])
        for file, titles in names.items()
    ]


def _section(head: str, lines: Sequence[str]) -> str:
    return f"## {head}\n\n" + ("\n".join(f"- {line}" for line in lines) or "None.")


def _linked(file: str, name: str = "") -> str:
    package = file.partition("/")[0]
    shown = f"{file.partition('/')[2]}" + (f": `{name}`" if name else "")
    return f"[{shown}]({_UP}/{_ROOTS[package]}/{file})"


def _plain(name: str) -> str:
    return name.replace("<", "&lt;")
