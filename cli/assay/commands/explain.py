"""``assay explain``: tells how a rule's scenarios came to their verdicts, from the evidence of an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from assay.exits import UsageProblem
from assay.tables import STYLES
from assay.terminal import Terminal
from assay_evidence.figures import counted
from assay_evidence.names import matches
from assay_evidence.verdicts import Verdict
from assay_features import load_catalogue
from assay_reports import read_run
from assay_reports.story import StoryLine, story
from assay_reports.text import visible
from assay_reports.views.arrangement import Alike, arranged
from assay_reports.views.pairs import Pair, pairs_of
from assay_reports.views.rules import RulePage, Tried, rule_page
from assay_reports.views.scenarios import ScenarioView, StepView, offenders_of
from assay_steps.plugin.folder import VERDICTS

_STYLES = {verdict.value: style for verdict, style in STYLES.items()}
_BREAKS = "bold red"
_QUIET = "dim"
_BOLD = "bold"


def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Id of a rule, such as DD-02.")],
    run: Annotated[Path, typer.Option(help="Output folder of assay run.")] = Path("assay-out"),
    backend: Annotated[str | None, typer.Option(help="Only this backend, if the folder holds runs on several.")] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only scenarios with this id or name, passed ones too; * and ? match any characters."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Tell every scenario of one cause in full, not the first alone.")
    ] = False,
    frames: Annotated[bool, typer.Option("--frames", help="Also show all frames that the connections kept.")] = False,
) -> None:
    """Tell for a rule what was sent, answered and seen in its failed scenarios, and which event breaks the rule."""
    catalogue = load_catalogue()
    (entry,) = catalogue.select(ids=(rule,))
    runs = [read_run(folder) for folder in folders_of(run, backend)]
    page = rule_page(entry, pairs_of(runs, catalogue), catalogue)
    tried = [one for one in page.tried if one.scenarios]
    if not tried:
        raise UsageProblem(f"{run} has no scenario of {entry.id}: run it first with `assay run --rule {entry.id}`.")
    told = Text()
    for line in _rule(page):
        told.append_text(line).append("\n")
    chosen = [(one, _asked(one, scenario)) for one in tried]
    if scenario and not any(views for _, views in chosen):
        known = tried[0].scenarios[0].name
        raise UsageProblem(f"No scenario of {entry.id} is named {scenario[0]!r}: name one such as {known!r}.")
    for one, views in chosen:
        for line in _pair(one, views, every=every or bool(scenario), asked=bool(scenario), frames=frames):
            told.append_text(line).append("\n")
    told.rstrip()
    Terminal().print(told, soft_wrap=True, highlight=False)


def folders_of(run: Path, backend: str | None) -> list[Path]:
    """Return the folders of runs in an output folder: itself, or its subfolders.

    Args:
        run: The output folder.
        backend: The wanted backend; None for all.

    Raises:
        UsageProblem: The folder holds no run, or none on this backend.
    """
    name = backend.removesuffix("+amqp") if backend else None
    found = [path.parent for path in (run / VERDICTS, *sorted(run.glob(f"*/{VERDICTS}"))) if path.is_file()]
    if not found:
        raise UsageProblem(f"{run} holds no run: name an output folder of assay run with --run.")
    backends = {folder: read_run(folder).verdicts.backend for folder in found} if name else {}
    wanted = [folder for folder in found if name in {None, backends.get(folder)}]
    if not wanted:
        raise UsageProblem(f"{run} holds no run on {name}, but on {', '.join(sorted(set(backends.values())))}.")
    return wanted


def _asked(tried: Tried, patterns: Sequence[str] | None) -> tuple[ScenarioView, ...]:
    if not patterns:
        return tried.scenarios
    return tuple(
        view
        for view in tried.scenarios
        if any(
            matches(pattern, name) for pattern in patterns for name in (view.verdict.scenario, view.name, view.title)
        )
    )


def _rule(page: RulePage) -> Iterator[Text]:
    """Yield the lines about the rule: title, text, and the document's place."""
    rule = page.rule
    yield _line((f"{rule.id}  {rule.title}", _BOLD))
    yield _line(f"  {rule.rule}")
    for basis in page.basis:
        yield _line(("  source: ", _QUIET), " ".join(filter(None, (basis.key, basis.place, basis.title, basis.url))))
    if rule.reading:
        yield _line(("  reading: ", _QUIET), rule.reading)
    yield _line(("  judges: ", _QUIET), f"{' and '.join(rule.judged)} ({rule.strength}: {page.strength})")


def _pair(tried: Tried, views: Sequence[ScenarioView], *, every: bool, asked: bool, frames: bool) -> Iterator[Text]:
    """Yield the lines about one pair: its verdict, and the stories of its scenarios."""
    product = tried.pair.product
    yield Text()
    yield _line(
        (f"{tried.pair.backend}: ", _BOLD),
        (tried.cell.face.word, _STYLES.get(tried.cell.face.key, _BOLD)),
        f"  {product}, {tried.client}" if product else f"  {tried.client}",
    )
    for ground in (tried.whose, tried.pair.circumstances, *tried.grounds):
        if ground:
            yield _line(f"  {ground}")
    arrangement = arranged(views)
    if not arrangement.causes and not asked:
        yield _line("  No scenario of this rule needs a look; --scenario NAME tells one that passed.")
    for cause in arrangement.causes:
        yield from _cause(cause, tried.pair, every=every, frames=frames)
    if asked:
        for view in arrangement.others:
            yield from _scenario(view, tried.pair, frames=frames)


def _cause(cause: Alike, pair: Pair, *, every: bool, frames: bool) -> Iterator[Text]:
    yield from _scenario(cause.first, pair, frames=frames)
    if every:
        for view in cause.rest:
            yield from _scenario(view, pair, frames=frames)
    elif cause.rest:
        yield Text()
        yield _line((f"  The same cause in {counted(len(cause.rest), 'more scenario')} (--all tells them):", _QUIET))
        for view in cause.rest:
            yield _line((f"    {view.face.symbol} {view.verdict.scenario}", _QUIET))


def _scenario(view: ScenarioView, pair: Pair, *, frames: bool) -> Iterator[Text]:
    """Yield the lines about one scenario: the verdict with its grounds, the story, and the command to run it again."""
    verdict = view.verdict
    yield Text()
    yield _line((f"{view.face.symbol} {view.face.word}  ", STYLES[verdict.verdict]), (verdict.scenario, _BOLD))
    levels = ", ".join(level.words for level in verdict.levels)
    facts = {
        "because": verdict.reason,
        "expected": verdict.expected,
        "observed": verdict.observed,
        "known": f"{view.known.reason} ({view.known.reference})" if view.known and view.as_known else "",
        "judged": f"{verdict.judged}, by the {verdict.role} scenario",
        "evidence": levels,
        "feature": f"{view.feature}:{view.line}" if view.line else view.feature,
    }
    for name, text in facts.items():
        if text:
            yield _line((f"  {name}: ", _QUIET), text)
    yield from _story(view, pair)
    yield from _frames(view, frames=frames)
    if view.again:
        yield _line(("  run it again: ", _QUIET), view.again)


def _story(view: ScenarioView, pair: Pair) -> Iterator[Text]:
    events = pair.events.get(view.verdict.scenario, ())
    told = view.story or story(events, offenders_of(view.verdict))
    steps = {id(one.step): one for one in view.steps}
    for chapter in told.chapters:
        if chapter.step is None:
            yield _line(("  After the last step", _QUIET))
        else:
            yield from _step(steps[id(chapter.step)])
        for line in chapter.lines:
            yield from _event(line)
    if view.verdict.verdict is Verdict.FAIL and not told.breaks:
        yield _line(("  No single event breaks the rule, so none is marked: see expected and observed.", _BREAKS))


def _frames(view: ScenarioView, *, frames: bool) -> Iterator[Text]:
    """Yield the frames that the scenario's connections kept, or their number."""
    number = len(view.frames) + view.frames_left_out
    if not number:
        return
    if not frames:
        yield _line(("  frames: ", _QUIET), f"{counted(number, 'frame')} in the journal; --frames shows them")
        return
    yield _line(("  frames on the wire, of the last ones that each connection kept", _BOLD))
    for one in view.frames:
        arrow = "<-" if one.direction == "in" else "->"
        yield _line((f"    {one.at:>10}", _QUIET), f"  {one.actor}  {arrow} {one.text}", (f"  {one.octets}", _QUIET))


def _step(view: StepView) -> Iterator[Text]:
    step = view.step
    outcome = "" if step.outcome == "done" else f"  {step.outcome}: {step.detail}"
    yield _line((f"  {step.keyword} {step.text}", _BOLD), outcome)
    for item in view.findings:
        if item.finding.verdict is not Verdict.PASS:
            yield _line(
                (f"    {item.face.symbol} {item.face.word}", STYLES[item.finding.verdict]), f" {item.finding.reason}"
            )


def _event(line: StoryLine) -> Iterator[Text]:
    if line.left_out:
        yield _line((f"      … {counted(line.left_out, 'line')} left out; the journal has all", _QUIET))
    at = f"{line.at:>10}"
    if line.breaks:
        yield _line((f"  ✕ {at}  {line.who}  {line.text}   <-- breaks the rule", _BREAKS))
    else:
        yield _line((f"    {at}", _QUIET), f"  {line.who}  {line.text}")


def _line(*parts: str | tuple[str, str]) -> Text:
    """Make a line of text; make characters visible that could hide or reorder it, or control the terminal."""
    line = Text()
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        line.append(" ".join(visible(text).split("\n")), style=style)
    return line
