"""What a log must tell so that a rule can be judged, and what one log tells.

A rule that is missing in `NEEDS` cannot be judged from an imported log: `assay import` does not write the events that
its invariant examines, such as batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from assay.importing.columns import Kind, Row
from assay.importing.mapping import LogMapping
from assay_evidence.events import Untold


class Told(StrEnum):
    """Something that a log may tell; the values are clauses for sentences and for the documentation."""

    ANSWERED = "the column answered"
    DELAY = "the column delay"
    TTL = "the column ttl"
    MODE = "the column mode"
    BODY = "the column body in every send and receive"
    REDELIVERED = "the column redelivered in every receive"
    ACKNOWLEDGED = "the column acknowledged, or rows commit with their transaction"
    OPEN = "rows open"
    DURABLE = "rows open with durable and subscription"
    KILLS = "rows fault with kill or restart"
    CONSUMERS = 'the statement complete = ["consumers"]'
    INCIDENTS = 'the statement complete = ["incidents"]'
    MATCHED = "a send for every receive"
    CLOCKS = "an uncertainty of the clocks of at most 100 ms"


class Needs(Struct, frozen=True):
    """What a rule needs.

    Args:
        decide: Without one of these, nothing in the log decides the rule.
        show: Without one of these, the log may show that the rule is broken, and cannot show that it is kept.
    """

    decide: tuple[Told, ...]
    show: tuple[Told, ...] = ()


STEADY_NS = 100_000_000
"""The largest uncertainty of the clocks with which a silence counts, in nanoseconds.

A consumer's silence of 1 s counts (`assay_pipeline.quiet.QUIET_MS`), and the uncertainty does not shorten it.  With
this uncertainty of each clock, the silence lasted for at least 0.8 s.
"""
_WHOLE = (Told.ANSWERED, Told.OPEN, Told.CONSUMERS, Told.INCIDENTS, Told.CLOCKS)
_SILENCE = (*_WHOLE, Told.ACKNOWLEDGED, Told.MATCHED)
_COPIES = (*_SILENCE, Told.MODE)
_MARKS = (*_COPIES, Told.REDELIVERED)
_BODIES = (*_WHOLE, Told.MODE, Told.REDELIVERED, Told.BODY)

NEEDS: Mapping[str, Needs] = {
    "DD-02": Needs((Told.DELAY,), (Told.OPEN,)),
    "DD-03": Needs((*_COPIES, Told.DELAY)),
    "DD-56": Needs((*_SILENCE, Told.TTL)),
    "PD-11": Needs(_SILENCE),
    "PD-13": Needs(_COPIES, (Told.DURABLE,)),
    "PD-18": Needs(_MARKS),
    "PD-20": Needs(_COPIES, (Told.KILLS,)),
    "PD-21": Needs(_MARKS),
    "PD-22": Needs(_BODIES, (Told.KILLS,)),
    "PD-23": Needs(_COPIES, (Told.DURABLE, Told.KILLS)),
    "PD-24": Needs(_COPIES, (Told.DURABLE,)),
    "PD-25": Needs(_COPIES, (Told.DURABLE,)),
    "PD-26": Needs(_COPIES),
    "PD-28": Needs(_COPIES, (Told.DURABLE,)),
    "PD-29": Needs(_BODIES, (Told.DURABLE,)),
    "PD-32": Needs(_BODIES),
    "PD-33": Needs(_COPIES),
    "QS-08": Needs((*_WHOLE, Told.ACKNOWLEDGED)),
}
"""The needs of each rule that an imported log can decide."""


class Telling:
    """Counts which rows of a log have which columns.

    Args:
        mapping: The mapping of the log, with its statements.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self._complete = frozenset(mapping.log.complete)
        self._is_steady = mapping.uncertainty_ns <= STEADY_NS
        self.rows: Counter[Kind] = Counter()
        """The number of rows of each kind."""
        self._found: Counter[Told] = Counter()
        self._in_units = 0
        self.orphans = 0
        """The number of receives without a send."""

    def note(self, row: Row) -> None:
        """Count a row."""
        self.rows[row.event] += 1
        if row.event is Kind.SEND:
            self._note_send(row)
        elif row.event is Kind.RECEIVE:
            self._found[Told.REDELIVERED] += row.redelivered is not None
            self._found[Told.ACKNOWLEDGED] += row.acknowledged is not None
            self._found[Told.BODY] += row.body is not None
            self._in_units += row.transaction is not None
        elif row.event is Kind.OPEN:
            self._found[Told.OPEN] += 1
            self._found[Told.DURABLE] += row.durable and row.subscription is not None
        elif row.event is Kind.FAULT:
            self._found[Told.KILLS] += row.fault in ("kill", "restart")

    def _note_send(self, row: Row) -> None:
        self._found[Told.ANSWERED] += row.answered is not None
        self._found[Told.DELAY] += row.delay is not None
        self._found[Told.TTL] += row.ttl is not None
        self._found[Told.MODE] += row.mode is not None
        self._found[Told.BODY] += row.body is not None

    def tells(self, told: Told) -> bool:
        """Return whether the log tells something."""
        sends, receives = self.rows[Kind.SEND], self.rows[Kind.RECEIVE]
        acknowledged = self._found[Told.ACKNOWLEDGED] or (self._in_units and self.rows[Kind.COMMIT]) or not receives
        special = {
            Told.CONSUMERS: "consumers" in self._complete,
            Told.INCIDENTS: "incidents" in self._complete,
            Told.CLOCKS: self._is_steady,
            Told.MATCHED: self.orphans == 0,
            Told.REDELIVERED: self._found[Told.REDELIVERED] == receives,
            Told.BODY: self._found[Told.BODY] == sends + receives,
            Told.ACKNOWLEDGED: bool(acknowledged),
        }
        return special.get(told, self._found[told] > 0)

    def decides(self) -> tuple[str, ...]:
        """Return the ids of the rules that the log can decide."""
        return tuple(rule for rule, needs in NEEDS.items() if not self._missing(needs.decide))

    def untold(self) -> tuple[Untold, ...]:
        """Return what the log does not tell, for each rule that needs it."""
        return tuple(
            Untold(rule, f"The log lacks {_listed(missing)}.")
            for rule, needs in NEEDS.items()
            if (missing := self._missing((*needs.decide, *needs.show)))
        )

    def lacks(self) -> dict[str, tuple[str, ...]]:
        """Return what the log does not tell, each with the rules that need it."""
        found: dict[str, tuple[str, ...]] = {}
        for rule, needs in NEEDS.items():
            for told in self._missing((*needs.decide, *needs.show)):
                found[told.value] = (*found.get(told.value, ()), rule)
        return found

    def _missing(self, needed: Iterable[Told]) -> list[Told]:
        return [told for told in needed if not self.tells(told)]


def _listed(missing: list[Told]) -> str:
    *first, last = (told.value for told in missing)
    return f"{'; '.join(first)}; and {last}" if first else last
