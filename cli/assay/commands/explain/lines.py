"""The lines that show why a rule's scenarios have their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from rich.text import Text

from assay.exits import UsageProblem
from assay.tables import STYLES
from assay_evidence.figures import counted
from assay_evidence.levels import listed
from assay_evidence.names import matches
from assay_evidence.verdicts import Verdict
from assay_reports import KnownOutcome
from assay_reports.story import StoryLine, story
from assay_reports.text import visible
from assay_reports.views.arrangement import Alike, arranged
from assay_reports.views.pairs import Pair
from assay_reports.views.rules import RulePage, Tried
from assay_reports.views.scenarios import ScenarioView, StepView, offenders_of

_STYLES = {verdict.value: style for verdict, style in STYLES.items()}
_BREAKS = "bold red"
_QUIET = "dim"
_BOLD = "bold"


class Choice(Struct, frozen=True, kw_only=True):
    """The options that choose what ``assay explain`` shows.

    Args:
        every: Whether to show every scenario of a cause in full.
        scenarios: Patterns for the names of the scenarios to show; empty for those that failed or were undecided.
        untriaged: Whether to show only fails that no known outcome expects.
        frames: Whether to show all kept frames.
        log: Whether to show all kept lines of the broker's log.
    """

    every: bool
    scenarios: tuple[str, ...]
    untriaged: bool
    frames: bool
    log: bool

    def among(self, views: Sequence[ScenarioView]) -> tuple[ScenarioView, ...]:
        """Return the chosen scenarios."""
        return tuple(view for view in self.named(views) if view.untriaged or not self.untriaged)

    def named(self, views: Sequence[ScenarioView]) -> tuple[ScenarioView, ...]:
        """Return the scenarios whose id or name the user gave, also those that `untriaged` leaves out."""
        return tuple(view for view in views if not self.scenarios or self._names(view))

    def _names(self, view: ScenarioView) -> bool:
        names = (view.verdict.scenario, view.name, view.title)
        return any(matches(pattern, name) for pattern in self.scenarios for name in names)


def told_of(page: RulePage, choice: Choice, run: Path) -> Iterator[Text]:
    """Yield the lines about a rule on every pair.

    Raises:
        UsageProblem: The run has no scenario of the rule, or none with the chosen name.
    """
    rule = page.rule.id
    tried = [one for one in page.tried if one.scenarios]
    if not tried:
        raise UsageProblem(f"{run} has no scenario of {rule}: run it first with `assay run --rule {rule}`.")
    if not any(choice.named(one.scenarios) for one in tried):
        known = tried[0].scenarios[0].name
        raise UsageProblem(f"No scenario of {rule} is named {choice.scenarios[0]!r}: name one such as {known!r}.")
    yield from _rule(page)
    for one in tried:
        yield from _pair(one, choice.among(one.scenarios), choice)


def _rule(page: RulePage) -> Iterator[Text]:
    """Yield the lines about the rule: its title, text, sources, reading and judged parts."""
    rule = page.rule
    yield _line((f"{rule.id}  {rule.title}", _BOLD))
    yield _line(f"  {rule.rule}")
    for basis in page.basis:
        yield _line(("  source: ", _QUIET), " ".join(filter(None, (basis.key, basis.place, basis.title, basis.url))))
    if rule.reading:
        yield _line(("  reading: ", _QUIET), rule.reading)
    yield _line(("  judges: ", _QUIET), f"{' and '.join(rule.judged)} ({rule.strength}: {page.strength})")


def _pair(tried: Tried, views: Sequence[ScenarioView], choice: Choice) -> Iterator[Text]:
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
    for lack in tried.lacks:
        source = f" (source: {lack.source})" if lack.source else ""
        yield _line(
            ("  could not run: ", _QUIET),
            f"{counted(lack.scenarios, 'scenario')}, because the pair lacks {lack.capability}: {lack.reason}{source}",
        )
    arrangement = arranged(views)
    if not arrangement.causes and choice.untriaged and choice.scenarios:
        yield _line("  The chosen scenarios of this rule have no untriaged fail.")
    elif not arrangement.causes and choice.untriaged:
        yield _line("  Every fail of this rule has a known outcome.")
    elif not arrangement.causes and not choice.scenarios:
        yield _line("  No scenario of this rule failed or was undecided; --scenario NAME tells one that passed.")
    for cause in arrangement.causes:
        yield from _cause(cause, tried.pair, choice)
    if choice.scenarios:
        for view in arrangement.others:
            yield from _scenario(view, tried.pair, choice)


def _cause(cause: Alike, pair: Pair, choice: Choice) -> Iterator[Text]:
    yield from _scenario(cause.first, pair, choice)
    if choice.every:
        for view in cause.rest:
            yield from _scenario(view, pair, choice)
    elif cause.rest:
        yield Text()
        yield _line((f"  The same cause in {counted(len(cause.rest), 'more scenario')} (--all tells them):", _QUIET))
        for view in cause.rest:
            yield _line((f"    {view.face.symbol} {view.verdict.scenario}", _QUIET))


def _scenario(view: ScenarioView, pair: Pair, choice: Choice) -> Iterator[Text]:
    """Yield the lines about one scenario: the verdict with its grounds, the story, and the command to run it again."""
    verdict = view.verdict
    yield Text()
    yield _line((f"{view.face.symbol} {view.face.word}  ", STYLES[verdict.verdict]), (verdict.scenario, _BOLD))
    facts = {
        "because": verdict.reason,
        "expected": verdict.expected,
        "observed": verdict.observed,
        "known": _known(view.known) if view.known and view.as_known else "",
        "judged": f"{verdict.judged}, by the {verdict.role} scenario",
        "evidence": listed(verdict.levels) if verdict.levels else "",
        "feature": f"{view.feature}:{view.line}" if view.line else view.feature,
        "names": f"on the broker they begin with {view.prefix}, which all texts here leave out" if view.prefix else "",
    }
    for name, text in facts.items():
        if text:
            yield _line((f"  {name}: ", _QUIET), text)
    yield from _story(view, pair)
    yield from _frames(view, frames=choice.frames)
    yield from _broker(view, log=choice.log)
    if view.again:
        yield _line(("  run it again: ", _QUIET), view.again)


def _story(view: ScenarioView, pair: Pair) -> Iterator[Text]:
    events = pair.events.get(view.verdict.trace, ())
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
    """Yield the lines about frames: one line for each kept frame or, without `frames`, only the number of frames."""
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


def _known(known: KnownOutcome) -> str:
    """Return a known outcome in one line: reason, frequency, references and expiry."""
    sometimes = f", in {known.sometimes} runs" if known.sometimes else ""
    references = ", ".join(filter(None, (known.reference, known.tracker)))
    return f"{known.reason} ({references}; {known.owner or 'no owner'}; expires {known.expires or 'never'}{sometimes})"


def _broker(view: ScenarioView, *, log: bool) -> Iterator[Text]:
    """Yield the lines about the broker: objects, past, and log; without `log`, only the log's lines near the breach."""
    found = view.background
    if found is None:
        return
    yield _line(("  the broker: ", _QUIET), found.source or "its process is not known")
    for said in found.inspected:
        yield _line((f"    after the scenario, {said.object}: ", _QUIET), said.text)
    for one in found.past:
        if one.omitted:
            yield _line((f"      … {counted(one.omitted, 'earlier event')} left out", _QUIET))
        during = f"  ({one.during})" if one.during else ""
        yield _line((f"    {one.when:>14}", _QUIET), f"  {one.what}", (during, _QUIET))
    if not found.log:
        yield _line(("  its log: ", _QUIET), "no line could be read from the time of the scenario, or it wrote none")
        return
    shown = [line for line in found.log if log or line.near]
    rest = len(found.log) - len(shown)
    more = f" ({counted(rest, 'more kept line')}: --log shows them)" if rest else ""
    yield _line(("  its log during the scenario", _BOLD), (more, _QUIET))
    for line in shown:
        if line.omitted:
            yield _line((f"      … {counted(line.omitted, 'line')} that the run did not keep", _QUIET))
        yield _line((f"    {line.at:>10}", _QUIET), f"  {line.text}")


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
