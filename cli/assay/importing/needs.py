"""States what each rule requires of a log, and finds which of these requirements a log meets.

No imported log can decide a rule that is missing in `NEEDS`, because `assay import` does not write the events that the
rule's invariant examines, such as batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from assay.importing.columns import Kind, Row
from assay.importing.mapping import LogMapping
from assay_evidence.events import FATAL, Untold


class Requirement(StrEnum):
    """A requirement of a rule on a log; the values are phrases for sentences and for the documentation."""

    ANSWERED = "the column answered"
    DELAY = "the column delay"
    TTL = "the column ttl"
    MODE = "the column mode"
    BODY = "the column body in every send and receive"
    REDELIVERED = "the column redelivered in every receive"
    ACKNOWLEDGED = "the column acknowledged, or rows commit with their transaction"
    OPEN = "rows open"
    DURABLE = "rows open with durable and subscription"
    KILLS = "rows fault with kill, powerloss or restart"
    CONSUMERS = 'the statement complete = ["consumers"]'
    INCIDENTS = 'the statement complete = ["incidents"]'
    MATCHED = "a send for every receive"
    CLOCKS = "an uncertainty of the clocks of at most 100 ms"


class Needs(Struct, frozen=True):
    """The requirements of a rule.

    Args:
        decide: If the log does not meet all of these, it does not decide the rule.
        show: If the log does not meet all of these, it may show that the rule is broken, but not that it is kept.
    """

    decide: tuple[Requirement, ...]
    show: tuple[Requirement, ...] = ()


STEADY_NS = 100_000_000
"""The largest uncertainty of the clocks with which a silence counts, in nanoseconds.

`assay judge` counts a consumer's silence of 1 s (`assay_pipeline.quiet.QUIET_MS`) without a deduction for the
uncertainty.  If both of its ends are uncertain by 100 ms, the real silence lasted for at least 0.8 s.
"""
_WHOLE = (Requirement.ANSWERED, Requirement.OPEN, Requirement.CONSUMERS, Requirement.INCIDENTS, Requirement.CLOCKS)
_SILENCE = (*_WHOLE, Requirement.ACKNOWLEDGED, Requirement.MATCHED)
_COPIES = (*_SILENCE, Requirement.MODE)
_MARKS = (*_COPIES, Requirement.REDELIVERED)
_BODIES = (*_WHOLE, Requirement.MODE, Requirement.REDELIVERED, Requirement.BODY)

NEEDS: Mapping[str, Needs] = {
    "DD-02": Needs((Requirement.DELAY,), (Requirement.OPEN,)),
    "DD-03": Needs((*_COPIES, Requirement.DELAY)),
    "DD-56": Needs((*_SILENCE, Requirement.TTL)),
    "PD-11": Needs(_SILENCE),
    "PD-13": Needs(_COPIES, (Requirement.DURABLE,)),
    "PD-18": Needs(_MARKS),
    "PD-20": Needs(_COPIES, (Requirement.KILLS,)),
    "PD-21": Needs(_MARKS),
    "PD-22": Needs(_BODIES, (Requirement.KILLS,)),
    "PD-23": Needs(_COPIES, (Requirement.DURABLE, Requirement.KILLS)),
    "PD-24": Needs(_COPIES, (Requirement.DURABLE,)),
    "PD-25": Needs(_COPIES, (Requirement.DURABLE,)),
    "PD-26": Needs(_COPIES),
    "PD-28": Needs(_COPIES, (Requirement.DURABLE,)),
    "PD-29": Needs(_BODIES, (Requirement.DURABLE,)),
    "PD-32": Needs(_BODIES),
    "PD-33": Needs(_COPIES),
    "QS-08": Needs((*_WHOLE, Requirement.ACKNOWLEDGED)),
}
"""The needs of each rule that an imported log can decide."""


class LogContent:
    """Counts the rows of a log that have each column, and finds the rules that the log can decide.

    Args:
        mapping: The mapping of the log, with its statements.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self._complete = frozenset(mapping.log.complete)
        self._is_steady = mapping.uncertainty_ns <= STEADY_NS
        self.rows: Counter[Kind] = Counter()
        """The number of rows of each kind."""
        self._found: Counter[Requirement] = Counter()
        self._in_units = 0
        self.orphans = 0
        """The number of receives without a send."""

    def note(self, row: Row) -> None:
        """Count a row."""
        self.rows[row.event] += 1
        if row.event is Kind.SEND:
            self._note_send(row)
        elif row.event is Kind.RECEIVE:
            self._found[Requirement.REDELIVERED] += row.redelivered is not None
            self._found[Requirement.ACKNOWLEDGED] += row.acknowledged is not None
            self._found[Requirement.BODY] += row.body is not None
            self._in_units += row.transaction is not None
        elif row.event is Kind.OPEN:
            self._found[Requirement.OPEN] += 1
            self._found[Requirement.DURABLE] += row.durable and row.subscription is not None
        elif row.event is Kind.FAULT:
            self._found[Requirement.KILLS] += row.fault in FATAL

    def _note_send(self, row: Row) -> None:
        self._found[Requirement.ANSWERED] += row.answered is not None
        self._found[Requirement.DELAY] += row.delay is not None
        self._found[Requirement.TTL] += row.ttl is not None
        self._found[Requirement.MODE] += row.mode is not None
        self._found[Requirement.BODY] += row.body is not None

    def meets(self, requirement: Requirement) -> bool:
        """Return whether the log meets a requirement."""
        sends, receives = self.rows[Kind.SEND], self.rows[Kind.RECEIVE]
        committed = self._in_units and self.rows[Kind.COMMIT]
        acknowledged = self._found[Requirement.ACKNOWLEDGED] or committed or not receives
        special = {
            Requirement.CONSUMERS: "consumers" in self._complete,
            Requirement.INCIDENTS: "incidents" in self._complete,
            Requirement.CLOCKS: self._is_steady,
            Requirement.MATCHED: self.orphans == 0,
            Requirement.REDELIVERED: self._found[Requirement.REDELIVERED] == receives,
            Requirement.BODY: self._found[Requirement.BODY] == sends + receives,
            Requirement.ACKNOWLEDGED: bool(acknowledged),
        }
        return special.get(requirement, self._found[requirement] > 0)

    def decides(self) -> tuple[str, ...]:
        """Return the ids of the rules that the log can decide."""
        return tuple(rule for rule, needs in NEEDS.items() if not self._missing(needs.decide))

    def untold(self) -> tuple[Untold, ...]:
        """Return, for each rule whose requirements the log does not meet, what the log lacks."""
        return tuple(
            Untold(rule, f"The log lacks {_listed(missing)}.")
            for rule, needs in NEEDS.items()
            if (missing := self._missing((*needs.decide, *needs.show)))
        )

    def lacks(self) -> dict[str, tuple[str, ...]]:
        """Return everything that the log lacks, each with the rules that need it."""
        found: dict[str, tuple[str, ...]] = {}
        for rule, needs in NEEDS.items():
            for one in self._missing((*needs.decide, *needs.show)):
                found[one.value] = (*found.get(one.value, ()), rule)
        return found

    def _missing(self, needed: Iterable[Requirement]) -> list[Requirement]:
        return [one for one in needed if not self.meets(one)]


def _listed(missing: list[Requirement]) -> str:
    *first, last = (one.value for one in missing)
    return f"{'; '.join(first)}; and {last}" if first else last
