"""The examination of one open scenario: which breaches its lines seem to show, and which of them have become alarms.

| breach | at the last examination | now | then |
|---|---|---|---|
| new | absent | present | it is suspected |
| confirmed | suspected | present | it is an alarm, once |
| excused | suspected | absent | it is forgotten |
| known | an alarm | present or absent | it stays an alarm, and is not reported again |

A scenario is over when it has ended and another examination would find nothing new.  Its lines are then removed.
Further lines of the scenario are ignored, because without the removed lines they could seem to show breaches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from assay_evidence.errors import LineError
from assay_evidence.events import AnyEvent, ScenarioEnd
from assay_evidence.lines import decode_line
from assay_evidence.oracle import examine
from assay_evidence.subjects import Outcome, Subject
from assay_pipeline.rules import invariants_of

Name = tuple[str, str]
"""A rule and the name of its subject."""


class Examination(Struct, frozen=True):
    """The state of a scenario after an examination.

    Args:
        suspected: The breaches that the next examination may confirm.
        told: The breaches that are alarms.
        lines: How many lines were examined.
        ended: Whether the scenario's end was among these lines.
        over: Whether the scenario is over, so that its lines are removed.
    """

    suspected: frozenset[Name] = frozenset()
    told: frozenset[Name] = frozenset()
    lines: int = 0
    ended: bool = False
    over: bool = False

    def is_settled(self, lines: int) -> bool:
        """Return whether another examination would find nothing new.

        Args:
            lines: How many lines the scenario has now.
        """
        return lines == self.lines and not self.suspected

    def next(self, lines: Collection[str], rules: Collection[str]) -> tuple[Examination, list[Subject]]:
        """Examine the scenario's lines again.

        Args:
            lines: All lines of the scenario, in any order.
            rules: The ids of the rules to watch.

        Returns:
            The state after this examination, and the breaches that have become alarms.
        """
        events = list(_events(lines))
        forms = {rule: invariant.in_python for rule, invariant in invariants_of(rules).items()}
        broken = {(one.rule, one.subject): one for one in examine(events, forms) if one.outcome is Outcome.BROKEN}
        confirmed = self.suspected & broken.keys()
        told = self.told | confirmed
        ended = any(isinstance(event, ScenarioEnd) for event in events)
        after = Examination(frozenset(broken.keys() - told), told, len(lines), ended)
        return after, [broken[name] for name in sorted(confirmed)]


def _events(lines: Iterable[str]) -> Iterator[AnyEvent]:
    """Decode lines; damaged lines are left out, because `assay judge` counts and names them."""
    for line in lines:
        try:
            yield decode_line(line.encode())
        except LineError:
            continue
