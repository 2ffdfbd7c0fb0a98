"""The attempts at a scenario: the suite tries a scenario again if circumstances of the run left it without a decision.

Each attempt has an id of its own in the journal, so no later event changes what an earlier attempt showed.  The verdict
on the scenario comes from this table, applied to the first attempt and then, if need be, to the next one:

============================================================  ===============================================
verdict of the attempt                                        the scenario's verdict
============================================================  ===============================================
inconclusive or not-demonstrated, and the scenario's own      the verdict of this attempt: no delay of the
broker stopped answering                                      harness explains a silence of 30 s
inconclusive, and a delay of the harness or a slow pair left  the verdict of the next attempt; without a next
the deciding finding open, or the harness was late by more    attempt, the verdict of this attempt
than `HELD_UP_NS` in all
inconclusive or not-demonstrated, and a period of the         as above
scenario was too short for the pair (`slow_pairs`)
inconclusive, and a call was refused because the broker had   as above
not answered for `UNANSWERED_NS`
inconclusive or not-demonstrated, and the broker needed more  as above
than `SLOW_RETURN_NS` for a restart or after a kill
error, because a fault failed that several scenarios shared,  as above; the next attempt has a broker of its own
or because their shared broker stopped answering
any other, such as pass, fail, or another error               the verdict of this attempt
============================================================  ===============================================

The suite makes no next attempt if a known outcome expects the verdict of an attempt.  By this table, a later attempt
never replaces a pass or a fail.  It never replaces an attempt with a damaged journal either, because the lost lines may
have shown a fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from assay_evidence.concluding.slow_pairs import short_periods
from assay_evidence.concluding.weighing import NS_PER_SECOND
from assay_evidence.events import FATAL, Call, Event, Fault, Return, ScenarioBegin, Step
from assay_evidence.events.pairs import paired
from assay_evidence.verdicts import ScenarioVerdict, Verdict

SLOW_RETURN_NS = 10 * NS_PER_SECOND
"""If the broker needs longer than this to come back, in nanoseconds, a scenario without a decision is tried again.

The messages of scenarios with a restart or kill have delays of about this length.  A broker that comes back later can
miss the time at which a claim expects a message.
"""


_RECEIVE = "receive"
"""The call that waits for a message; its duration does not show how fast the broker answers."""
UNANSWERED_NS = 30 * NS_PER_SECOND
"""If a client waits longer than this for an answer and then gives up, a scenario without a decision is tried again.

A working broker answers much faster, and the kit's client itself gives up only after 60 s.
"""


def attempt_id(scenario: str, attempt: int) -> str:
    """Return the id of an attempt in the journal.

    Args:
        scenario: The scenario's id.
        attempt: The number of the attempt, from 1; the id of the first attempt is the scenario's id.
    """
    return scenario if attempt == 1 else f"{scenario} (attempt {attempt})"


def grouped(names: Iterable[str], begins: Iterable[ScenarioBegin]) -> list[list[str]]:
    """Group the ids in a journal by scenario; each group has the scenario's id, then its later attempts in their order.

    Args:
        names: The ids that were planned or have events.
        begins: The starts of all attempts.  An attempt whose scenario is not in `names` gets a group of its own.
    """
    groups = {name: [name] for name in sorted(names)}
    repeats = sorted((begin.repeats, begin.attempt, begin.scenario or "") for begin in begins if begin.repeats)
    for scenario, _, name in repeats:
        if scenario in groups and scenario != name and groups.get(name) == [name]:
            groups[scenario].append(name)
            del groups[name]
    return list(groups.values())


def is_open(verdict: Verdict, trace: Sequence[Event], *, held_up: bool) -> bool:
    """Return whether circumstances of the run left an attempt without a decision, by the table of this module.

    Args:
        verdict: The verdict on the attempt.
        trace: The attempt's events.
        held_up: Whether delays of the harness, or of the pair's answers, left an inconclusive attempt open.
    """
    if verdict is Verdict.ERROR:
        return any(isinstance(event, Step) and event.shared_fault for event in trace)
    if any(isinstance(event, Step) and event.silent for event in trace):
        return False
    if verdict is Verdict.INCONCLUSIVE and (held_up or _has_unanswered_call(trace)):
        return True
    slow = _longest_fault_ns(trace) > SLOW_RETURN_NS or bool(short_periods(trace))
    return verdict in {Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED} and slow


def _has_unanswered_call(trace: Iterable[Event]) -> bool:
    events = tuple(trace)
    begun = {event.id: event.mono_ns for event in events if isinstance(event, Call) and event.op != _RECEIVE}
    refusals = (event for event in events if isinstance(event, Return) and event.refused is not None)
    return any(event.mono_ns - begun.get(event.call, event.mono_ns) > UNANSWERED_NS for event in refusals)


def _longest_fault_ns(trace: Iterable[Event]) -> int:
    faults = paired(event for event in trace if isinstance(event, Fault) and event.what in FATAL)
    return max((end.mono_ns - begin.mono_ns for begin, end in faults if end is not None), default=0)


def decided(attempts: Sequence[ScenarioVerdict]) -> ScenarioVerdict:
    """Return the verdict on a scenario, from the verdicts on its attempts, by the table of this module.

    Args:
        attempts: The verdicts on the attempts in their order; at least one.
    """
    first = attempts[0]
    number, chosen = next(
        ((number, one) for number, one in enumerate(attempts, 1) if not one.delayed), (len(attempts), attempts[-1])
    )
    if number == 1:
        return first
    # The tags come from `first`: only the plan has the tags of a foreign scenario, and it lists first attempts only.
    return structs.replace(chosen, scenario=first.scenario, tags=first.tags, attempt=number, ran_as=chosen.scenario)
