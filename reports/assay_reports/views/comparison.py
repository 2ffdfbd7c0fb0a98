"""The matrix of brokers and clients: the content of the page `matrix.html` and of `matrix.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from assay_evidence.events import Unsupported
from assay_evidence.verdicts import RuleVerdict, Verdict
from assay_features import Catalogue, Role, Rule
from assay_reports.errors import SourceError
from assay_reports.text import visible
from assay_reports.views.matrix import cell
from assay_reports.views.pairs import Pair

SCHEMA = 1
"""The version of the form of `matrix.json`."""
PAGE = "matrix.html"
FORM = "matrix.json"
_UNDECIDED = frozenset({Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED})


class AbsenceState(StrEnum):
    """The reason why a backend has no column."""

    LEFT_OUT = "left-out"
    """The user asked for all backends, and this machine cannot start the backend."""
    MISSING = "missing"
    """The user asked for the backend by its name, and this machine cannot start it."""
    BROKEN = "broken"
    """The run on the backend ended before it had any verdict."""
    STOPPED = "stopped"
    """The user stopped the command before the backend had any verdict."""


ABSENT: dict[AbsenceState, str] = {
    AbsenceState.LEFT_OUT: "not available here",
    AbsenceState.MISSING: "not available here, but asked for by name",
    AbsenceState.BROKEN: "ended before its first verdict",
    AbsenceState.STOPPED: "stopped before its first verdict",
}
"""The states of absent backends, in words."""


class Absence(Struct, frozen=True):
    """A backend that has no column in the matrix.

    Args:
        backend: The backend's name.
        state: The reason as one word.
        reason: The reason in a sentence, with the remedy if the kit knows one.
    """

    backend: str
    state: AbsenceState
    reason: str


class PairLack(Struct, frozen=True):
    """A capability that a pair lacks.

    Args:
        capability: The capability, or a kind of queue manager.
        reason: The reason for the lack.
        rules: How many unsupported or partial rules of the column have a core scenario that needs the capability.
    """

    capability: str
    reason: str
    rules: int


class Totals(Struct, frozen=True):
    """The number of rules of a column, by the kind of verdict.

    Args:
        rules: All rules of the run.
        passed: The rules with the verdict pass.
        failed: The rules with the verdict fail.
        partial: The rules with the verdict partial.
        undecided: The rules with the verdict error, inconclusive or not-demonstrated.
        unsupported: The rules with the verdict unsupported.
    """

    rules: int
    passed: int
    failed: int
    partial: int
    undecided: int
    unsupported: int

    @property
    def decided(self) -> int:
        """The number of rules that passed or failed."""
        return self.passed + self.failed


class Column(Struct, frozen=True, kw_only=True):
    """A pair of broker and client: one run.

    Args:
        key: The key of the column's cells; also the anchor on each rule's page.
        backend: The backend's name; with the run's folder if another run has the same backend and client.
        client: The name, version and faces of the client.
        product: The name and version of the broker; empty if the journal does not hold them.
        run: The run's id.
        circumstances: The defect, variant, lateness and pace of the run, in sentences; empty for a usual run.
        planned: The number of scenarios that the run planned.
        not_run: The number of these scenarios without events, because the run was stopped or its journals are lost.
        totals: The totals of all rules of the run.
        of_no_product: The totals of the rules whose profile names no product.
        lacks: The capabilities that kept rules from being decided, the most frequent first.
        page: The address of the pair's page, relative to `matrix.json`.
    """

    key: str
    backend: str
    client: str
    product: str
    run: str
    circumstances: str
    planned: int
    not_run: int
    totals: Totals
    of_no_product: Totals
    lacks: tuple[PairLack, ...]
    page: str


class Entry(Struct, frozen=True, kw_only=True):
    """A cell: a rule on a pair.

    Args:
        state: The rule's verdict; ``not-run`` if it was not part of the run, ``note`` if no test can observe it.
        passed: The number of core scenarios that passed.
        asked: The number of scenarios that must pass for the rule to pass.
        evidence: The level of evidence in words; empty if no scenario passed or failed.
        lacks: For a partial or unsupported rule, the lacking capabilities that its core scenarios need.
        reason: The reason of a verdict that is no pass; empty if the verdict has none.
        known: Whether the run's known outcomes expect the verdict.
        page: The address of the rule's page at this pair, relative to `matrix.json`.
    """

    state: str
    passed: int
    asked: int
    evidence: str
    lacks: tuple[str, ...]
    reason: str
    known: bool
    page: str


class RuleRow(Struct, frozen=True, kw_only=True):
    """A row: one rule of the catalogue, with its cells by the key of their column."""

    id: str
    title: str
    profile: str
    strength: str
    judged: tuple[str, ...]
    cells: dict[str, Entry]


class Comparison(Struct, frozen=True, kw_only=True):
    """The matrix: the content of `matrix.json`.

    Args:
        schema: The version of the form.
        columns: The pairs, in the order of their runs.
        absent: The backends without a column.
        rules: The rules that at least one run tried, in the catalogue's order.
    """

    schema: int
    columns: tuple[Column, ...]
    absent: tuple[Absence, ...]
    rules: tuple[RuleRow, ...]


def compared(pairs: Sequence[Pair], catalogue: Catalogue, absent: Iterable[Absence] = ()) -> Comparison:
    """Make the matrix of some pairs.

    Args:
        pairs: The pairs.
        catalogue: The catalogue of the rules.
        absent: The backends without a run.
    """
    tried = [rule for rule in catalogue.rules if any(rule.id in pair.rules for pair in pairs)]
    told = (msgspec.structs.replace(one, reason=visible(one.reason)) for one in absent)
    return Comparison(
        schema=SCHEMA,
        columns=tuple(_column(pair, catalogue) for pair in pairs),
        absent=tuple(told),
        rules=tuple(_row(rule, pairs) for rule in tried),
    )


def form_of(comparison: Comparison) -> bytes:
    """Return the content of `matrix.json`."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=2) + b"\n"


def read_absent(path: Path) -> tuple[Absence, ...]:
    """Read the backends without a column from an earlier `matrix.json`; empty if there is no such file.

    Raises:
        SourceError: The file cannot be read or is malformed.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Comparison).absent
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError) as problem:
        raise SourceError(path, f"it cannot be read ({problem}); remove it and repeat the command.") from problem


def _column(pair: Pair, catalogue: Catalogue) -> Column:
    found = tuple(pair.rules.values())
    general = [one for one in found if not catalogue.rule(one.id).profile.names_product]
    return Column(
        key=pair.slug,
        backend=pair.backend,
        client=pair.client,
        product=pair.product,
        run=pair.evidence.verdicts.run,
        circumstances=pair.circumstances,
        planned=pair.planned,
        not_run=len(pair.untried),
        totals=_totals(found),
        of_no_product=_totals(general),
        lacks=tuple(_lacks(found, pair)),
        page=pair.href,
    )


def _totals(rules: Sequence[RuleVerdict]) -> Totals:
    tally = Counter(rule.verdict for rule in rules)
    return Totals(
        rules=len(rules),
        passed=tally[Verdict.PASS],
        failed=tally[Verdict.FAIL],
        partial=tally[Verdict.PARTIAL],
        undecided=sum(tally[verdict] for verdict in _UNDECIDED),
        unsupported=tally[Verdict.UNSUPPORTED],
    )


def _lacks(rules: Iterable[RuleVerdict], pair: Pair) -> Iterator[PairLack]:
    reasons: dict[str, str] = {}
    tally: Counter[str] = Counter()
    for rule in rules:
        lacking = _lacking(rule, pair)
        tally.update(lacking.keys())
        reasons = lacking | reasons
    for capability, count in sorted(tally.items(), key=lambda one: (-one[1], one[0])):
        yield PairLack(capability, reasons[capability], count)


def _lacking(rule: RuleVerdict, pair: Pair) -> dict[str, str]:
    """Return the capabilities that kept core scenarios of a partial or unsupported rule from running, with reasons."""
    if rule.verdict not in {Verdict.PARTIAL, Verdict.UNSUPPORTED}:
        return {}
    core = [one for one in rule.scenarios if one.role == Role.CORE and one.verdict is Verdict.UNSUPPORTED]
    wanting = [one for one in core if not one.apart] or core
    return {
        event.capability: event.reason
        for scenario in wanting
        for event in pair.events.get(scenario.trace, ())
        if isinstance(event, Unsupported)
    }


def _row(rule: Rule, pairs: Sequence[Pair]) -> RuleRow:
    return RuleRow(
        id=rule.id,
        title=rule.title,
        profile=rule.profile,
        strength=rule.strength,
        judged=rule.judged,
        cells={pair.slug: _entry(rule, pair) for pair in pairs},
    )


def _entry(rule: Rule, pair: Pair) -> Entry:
    shown, found = cell(rule, pair), pair.rules.get(rule.id)
    return Entry(
        state=shown.face.key,
        passed=found.passed if found else 0,
        asked=found.asked if found else 0,
        evidence=shown.evidence,
        lacks=tuple(sorted(_lacking(found, pair))) if found else (),
        reason=_reason(found) if found else "",
        known=shown.known,
        page=shown.href,
    )


def _reason(found: RuleVerdict) -> str:
    """Return the reason of a rule's verdict, or else the reason of the first scenario with the same verdict."""
    if found.verdict is Verdict.PASS or found.reason:
        return found.reason
    return next((one.reason for one in found.scenarios if one.verdict is found.verdict and one.reason), "")
