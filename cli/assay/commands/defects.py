"""``assay defects``: switches on defects, to prove that the scenarios of every rule can fail."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from assay.exits import CannotRunError, Exit, NothingSelected, UsageProblem
from assay.progress import DefectProgress
from assay.terminal import Terminal, write_json
from assay_adapters.registry import names_with_defects, names_with_variants
from assay_evidence.figures import counted
from assay_features import load_catalogue
from assay_steps.defects import all_defects
from assay_steps.kill_matrix.matrix import KillMatrix, RuleKills, kill_matrix
from assay_steps.kill_matrix.tolerance import Tolerance, tolerance
from assay_steps.kill_matrix.trials import TrialError, UntriedError
from assay_steps.plugin.folder import JOURNALS, refuse_foreign, write_defects
from assay_steps.variants import all_variants


def defects(
    backend: Annotated[str, typer.Option(help="A backend that supports defects.")] = "reference",
    rule: Annotated[list[str] | None, typer.Option(help="Only defects of this rule; may be repeated.")] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Only defects of rules of this profile, or of several, such as delay,persistence."),
    ] = None,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="Also run each defect on other rules' scenarios, to measure how many it fails."
        ),
    ] = False,
    tolerated: Annotated[
        bool,
        typer.Option(
            "--tolerated",
            help="Instead, run all scenarios on the tolerated variants, which have another correct behaviour.",
        ),
    ] = False,
    listed: Annotated[
        bool,
        typer.Option("--list", help="Instead, list the defects (with --tolerated: the variants) and what they do."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of a run, for the kill matrix; assay report shows it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the kill matrix as JSON.")] = False,
) -> int:
    """Run the scenarios with each named defect, and show which scenario catches which defect."""
    if listed:
        return _list(tuple(rule or ()), _known(tuple(rule or ()), profile), tolerated=tolerated)
    if tolerated:
        return _tolerated(backend, tuple(rule or ()), _known(tuple(rule or ()), profile), as_json=as_json, out=out)
    breakable = names_with_defects()
    if backend not in breakable:
        raise UsageProblem(f"Backend {backend!r} does not support defects; these backends do: {', '.join(breakable)}.")
    profiles = _known(tuple(rule or ()), profile)
    if out is not None:
        refuse_foreign(out)
    with DefectProgress() as progress, _problems(rule or ()):
        matrix = kill_matrix(
            backend,
            tuple(rule or ()),
            profiles=profiles,
            everywhere=everywhere,
            told=progress.told,
        )
    written = None if out is None else write_defects(out, msgspec.json.format(msgspec.json.encode(matrix)))
    if as_json:
        write_json(matrix)
    else:
        show(matrix, Terminal(soft_wrap=True))
        if written is not None:
            show_place(written, Terminal(soft_wrap=True))
    return exit_code(matrix)


def _known(rules: tuple[str, ...], profile: str | None) -> tuple[str, ...]:
    """Check that the catalogue has the profiles and the rules, and return the names of the profiles.

    Raises:
        LookupError: The catalogue lacks a profile or a rule.
    """
    profiles = tuple(name.strip() for name in profile.split(",")) if profile else ()
    for name in profiles or (None,):
        load_catalogue().select(profile=name, ids=rules)
    return profiles


def _list(rules: tuple[str, ...], profiles: tuple[str, ...], *, tolerated: bool) -> Exit:
    """Print one line for each defect of the rules or, with ``tolerated``, for each of their tolerated variants."""
    catalogue = load_catalogue()
    chosen = {one.id for name in profiles or (None,) for one in catalogue.select(profile=name, ids=rules)}
    console = Terminal(soft_wrap=True)
    lines = (
        [(one, f"{one.text} {one.allowed_by}") for one in all_variants().values()]
        if tolerated
        else [(one, one.text) for one in all_defects().values()]
    )
    for one, told in lines:
        if chosen.intersection(one.rules):
            console.print(f"{one.name} ({', '.join(one.rules)}): {told}", markup=False)
    return Exit.AS_EXPECTED


@contextmanager
def _problems(rules: Sequence[str]) -> Generator[None]:
    """Turn errors that the trials raise in the block into errors of the command.

    Raises:
        NothingSelected: No scenario was tried.
        CannotRunError: A trial failed.
    """
    try:
        yield
    except UntriedError as problem:
        raise NothingSelected(rules) from problem
    except TrialError as problem:
        raise CannotRunError(str(problem)) from problem


def _tolerated(
    backend: str, rules: tuple[str, ...], profiles: tuple[str, ...], *, as_json: bool, out: Path | None
) -> Exit:
    """Run the scenarios of the rules on each tolerated variant of these rules, and print which scenarios fail on it."""
    varied = names_with_variants()
    if backend not in varied:
        raise UsageProblem(f"Backend {backend!r} does not support variants; these backends do: {', '.join(varied)}.")
    if out is not None:
        raise UsageProblem("A report shows only the kill matrix: leave out --out or --tolerated.")
    with DefectProgress() as progress, _problems(rules):
        found = tolerance(backend, rules, profiles=profiles, told=progress.told)
    if as_json:
        write_json(found)
    else:
        show_tolerance(found, Terminal(soft_wrap=True))
    return Exit.NOT_AS_EXPECTED if found.convicted else Exit.AS_EXPECTED


def show_tolerance(found: Tolerance, console: Console) -> None:
    """Print each variant with its behaviour and the scenarios that fail on it, and a summary."""
    known = all_variants()
    for variant in found.variants:
        console.print(f"{variant.name}: {known[variant.name].text} {known[variant.name].allowed_by}", markup=False)
        for scenario in variant.convicted_by:
            console.print(f"  convicted by {scenario}", markup=False, style="bold red")
    tried = counted(len(found.variants), "tolerated variant")
    console.print(
        f"{tried} on {counted(found.scenarios, 'scenario')}: "
        f"{len(found.variants) - len(found.convicted)} without a fail or an error, {len(found.convicted)} convicted.",
        markup=False,
    )


def exit_code(matrix: KillMatrix) -> Exit:
    """Return the exit code; an exception in a defect's own code counts as an error of the kit."""
    if matrix.wrong:
        return Exit.NOT_AS_EXPECTED
    return Exit.INCONCLUSIVE if matrix.errors else Exit.AS_EXPECTED


def show(matrix: KillMatrix, console: Console) -> None:
    """Print the kill matrix by rule, and then its problems."""
    for rule in matrix.rules:
        _show_rule(rule, console)
    _show_wrong(matrix, console)
    if matrix.unsupported:
        console.print(f"{counted(len(matrix.unsupported), 'scenario')} cannot be run on this backend.", markup=False)
    for name, why in matrix.beyond.items():
        console.print(f"beyond this backend: {name}: {why}", markup=False)
    for name in matrix.unkilled if matrix.real_time else ():
        console.print(f"no defect that this backend can show breaks {name}", markup=False)
    for title, these in (("caught", matrix.caught), ("missed", matrix.missed)):
        console.print(f"{title}: {', '.join(sorted(these)) or 'none'}", markup=False)
    if matrix.variants:
        passed = sorted(variant.name for variant in matrix.variants if not variant.convicted_by)
        console.print(f"tolerated variants that pass: {', '.join(passed) or 'none'}", markup=False)
    console.print(_summary(matrix), markup=False)


def _summary(matrix: KillMatrix) -> str:
    """Return one line with the numbers of proven rules and caught defects, and each reason for a failure."""
    proven = sum(rule.proven for rule in matrix.rules)
    tried = len(matrix.caught) + len(matrix.missed) + len(matrix.errors)
    parts = [
        f"{proven} of {counted(len(matrix.rules), 'rule')} proven able to fail",
        f"{len(matrix.caught)} of {counted(tried, 'defect')} caught",
    ]
    for number, noun, what in (
        (len(matrix.errors), "defect", "in error"),
        (len(matrix.too_broad), "defect", "too broad to count"),
        (len(matrix.unbroken), "scenario", "broken by no defect"),
        (len(matrix.alarms), "scenario", "without a pass when no defect is on"),
        (len(matrix.convicted), "tolerated variant", "failed"),
    ):
        if number:
            parts.append(f"{counted(number, noun)} {what}")
    return f"{'; '.join(parts)}."


def _show_rule(rule: RuleKills, console: Console) -> None:
    unproven = "NO DEFECT OF THIS RULE IS CAUGHT" if rule.defects else "THIS RULE HAS NO DEFECT"
    console.print(f"{rule.id}{'' if rule.proven else f'  {unproven}'}", style="bold")
    for defect in rule.defects:
        console.print(f"  {defect.name}: caught by {len(defect.caught_by)}", markup=False)
        for scenario in defect.caught_by:
            console.print(f"    {scenario}", markup=False, style="dim")


def _show_wrong(matrix: KillMatrix, console: Console) -> None:
    for title, names in (
        (
            "Defects whose own code raises an error, so that they prove nothing",
            [f"{error.name}: {error.reason} ({error.scenario})" for error in matrix.errors],
        ),
        ("Scenarios that do not pass without a defect", matrix.alarms),
        ("Scenarios that no defect breaks", matrix.unbroken),
        (
            "Scenarios that a tolerated variant does not pass",
            [f"{scenario} ({variant.name})" for variant in matrix.variants for scenario in variant.convicted_by],
        ),
        ("Defects that fail too many scenarios", [f"{name} ({share:.0%})" for name, share in matrix.too_broad.items()]),
    ):
        if names:
            console.print(title, style="bold red")
            for name in names:
                console.print(f"  {name}", markup=False)


def show_place(written: Path, console: Console) -> None:
    """Print the path of the kill matrix, and the command that adds it to a report."""
    console.print(f"kill matrix: {written}", markup=False)
    if (written.parent / JOURNALS).is_dir():
        console.print(f"`assay report {written.parent}` shows it in the run's report.", markup=False)
    else:
        console.print(f"`assay run --out {written.parent}` keeps it, and shows it in its report.", markup=False)
