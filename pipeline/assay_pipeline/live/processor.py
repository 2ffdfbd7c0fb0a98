"""The stateful processor of Structured Streaming: one group for each scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from assay_evidence.subjects import Subject
from assay_pipeline.live.examination import Examination
from assay_pipeline.rules import INVARIANTS

EXAMINE_MS = 5_000
"""The time between two examinations of a scenario that has new lines or suspected breaches."""
ALARMS = "rule string, run string, scenario string, subject string, text string, ref string"
"""The columns of the processor's output: a subject, with its figure as text."""


class ScenarioProcessor(StatefulProcessor):
    """Stores the lines of a scenario until the scenario is over, and examines them whenever its timer expires.

    Args:
        rules: The ids of the rules to watch.
    """

    def __init__(self, rules: tuple[str, ...]) -> None:
        self._rules = rules

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of this partition's scenarios."""
        self._handle = handle
        self._lines = handle.getListState("lines", "line string")
        self._examined = handle.getValueState("examined", "state string")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803 - Spark's names
        """Store the new lines, unless the scenario is over; set the timer if it is not set."""
        del key
        if self._state().over:
            return iter(())
        self._lines.appendList([(row.line,) for row in rows])
        if next(iter(self._handle.listTimers()), None) is None:
            self._set_timer(timerValues)
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803 - Spark's names
        """Yield new alarms; remove the scenario's lines if it has ended and nothing is left to find."""
        del key, expiredTimerInfo
        lines = [line for (line,) in self._lines.get()]
        before = self._state()
        if not before.is_settled(len(lines)):
            after, alarms = before.next(lines, self._rules)
            self._keep(after)
            self._set_timer(timerValues)
            yield from map(_row, alarms)
        elif before.ended:
            self._lines.clear()
            self._keep(Examination(over=True))

    def close(self) -> None:
        """Do nothing: Spark closes the state."""

    def _state(self) -> Examination:
        stored = self._examined.get() if self._examined.exists() else None
        return Examination() if stored is None else msgspec.json.decode(stored[0], type=Examination)

    def _keep(self, state: Examination) -> None:
        self._examined.update((msgspec.json.encode(state).decode(),))

    def _set_timer(self, times: Any) -> None:
        self._handle.registerTimer(times.getCurrentProcessingTimeInMs() + EXAMINE_MS)


def _row(alarm: Subject) -> Row:
    text = INVARIANTS[alarm.rule].wording.of(alarm)
    return Row(rule=alarm.rule, run=alarm.run, scenario=alarm.scenario, subject=alarm.subject, text=text, ref=alarm.ref)
