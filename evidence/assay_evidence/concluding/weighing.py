"""The weighing of findings: how the circumstances of a scenario or a history change a finding's verdict.

`assay_evidence.judge` weighs the findings of claims, and `assay_pipeline.verdicts` the findings of histories.  The
first circumstance in this table that applies, and has an entry for the finding's verdict, decides:

=============================================  ============  =============  =============
circumstance                                   pass becomes  fail becomes   others become
=============================================  ============  =============  =============
the journals of a claim are damaged            inconclusive  inconclusive   (1)
the journals of a history are damaged          inconclusive  inconclusive   inconclusive
the scenario did not end                       (stays)       error          (stay)
a `kit` rule, and the part is foreign          (stays)       unsupported    (stay)
a foreign broker ended a session with an       (stays)       inconclusive   (stay)
error, and the client alone is judged
a foreign broker lost messages when it         (stays)       inconclusive   (stay)
stopped, and the client alone is judged
the kit's client raised an unexpected          (stays)       inconclusive   (stay)
exception, and a foreign broker alone is
judged
the pair answered too slowly for the           (stays)       inconclusive   (stay)
scenario's times
a busy machine held up the harness             inconclusive  inconclusive   (stay)
=============================================  ============  =============  =============

(1) not-demonstrated and unsupported become inconclusive, errors stay.

- A claim names the evidence that it needs. A history names none: its messages are known only from the journal's lines.
  A lost line may have had the only message that breaks a rule, so damage to a history makes all its verdicts
  inconclusive.
- If a scenario did not end, the reason for that may have caused the fail.
- No document demands a rule of strength `kit`, so only the kit's own parts can fail it.
- If a foreign broker ends a session with an error, that broker may have caused the client's fail.  The kit's own broker
  ends a session only because of a mistake of the client, so a fail on this broker stays.
- If the kit's own client raises an exception that its API does not define, it has a mistake, which may have caused the
  broker's fail.
- `assay_evidence.predicates.lost_messages` says when the broker, and not the client, lost the messages.
- `assay_evidence.concluding.slow_pairs` says when a pair is too slow.
- In the last three circumstances, a pass or fail stays if nothing but the judged part can have caused it
  (`Finding.certain`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum, auto

import msgspec
from msgspec import Struct

from assay_evidence.concluding.slow_pairs import Period, too_short_for
from assay_evidence.events import Claim
from assay_evidence.verdicts import Finding, Verdict

NS_PER_SECOND = 1_000_000_000
HELD_UP_NS = 1_500_000_000
"""If the harness is delayed by more than this in a scenario, in nanoseconds, passes and fails become inconclusive.

It equals the shortest silence that decides a claim in real time.  On a machine that is not busy, the delays are much
smaller.
"""
KIT = "kit"
CLIENT, BROKER = "client", "broker"
"""The two parts of a tested pair."""
STEP_VERDICTS: Mapping[str, Verdict] = {"broken": Verdict.ERROR, "refused": Verdict.INCONCLUSIVE}
"""The verdict on a scenario by the outcome of a step, the worst first; other outcomes of steps have no effect."""


class Kind(Enum):
    """The kinds of circumstances, in the order in which they decide."""

    DAMAGED_CLAIM = auto()
    DAMAGED_HISTORY = auto()
    UNFINISHED = auto()
    FOREIGN_KIT = auto()
    SESSION_ENDED = auto()
    BROKER_LOST = auto()
    CLIENT_RAISED = auto()
    SLOW_PAIR = auto()
    HELD_UP = auto()


RESTS_ON_WHOLE_JOURNAL = frozenset({*Verdict} - {Verdict.INCONCLUSIVE, Verdict.ERROR})
"""The verdicts that a lost line of a journal could change."""
TABLE: Mapping[tuple[Kind, Verdict], Verdict] = {
    **{(Kind.DAMAGED_CLAIM, verdict): Verdict.INCONCLUSIVE for verdict in RESTS_ON_WHOLE_JOURNAL},
    **{(Kind.DAMAGED_HISTORY, verdict): Verdict.INCONCLUSIVE for verdict in Verdict},
    (Kind.UNFINISHED, Verdict.FAIL): Verdict.ERROR,
    (Kind.FOREIGN_KIT, Verdict.FAIL): Verdict.UNSUPPORTED,
    (Kind.SESSION_ENDED, Verdict.FAIL): Verdict.INCONCLUSIVE,
    (Kind.BROKER_LOST, Verdict.FAIL): Verdict.INCONCLUSIVE,
    (Kind.CLIENT_RAISED, Verdict.FAIL): Verdict.INCONCLUSIVE,
    (Kind.SLOW_PAIR, Verdict.FAIL): Verdict.INCONCLUSIVE,
    (Kind.HELD_UP, Verdict.PASS): Verdict.INCONCLUSIVE,
    (Kind.HELD_UP, Verdict.FAIL): Verdict.INCONCLUSIVE,
}
"""The new verdict of a finding, by circumstance and old verdict."""
_ORDER = tuple(Kind)
_DELAYS = frozenset({Kind.SLOW_PAIR, Kind.HELD_UP})
"""The kinds after which a scenario is tried again."""
_OVERRULED = _DELAYS | {Kind.CLIENT_RAISED}
"""The kinds that change no certain finding."""


class Circumstance(Struct, frozen=True):
    """A circumstance that may change verdicts.

    Args:
        kind: The circumstance's kind.
        text: The reason for a change of the verdict. For damage, the changed finding has only this reason; for other
            kinds, its own reason follows this text.
    """

    kind: Kind
    text: str


def weigh(finding: Finding, circumstances: Iterable[Circumstance]) -> Finding:
    """Apply the table of this module to one finding.

    Args:
        finding: The finding, as the evidence alone gives it.
        circumstances: The circumstances that apply, in any order.

    Returns:
        The finding if no circumstance changes it, or else a copy with the new verdict and reason.
    """
    for one in sorted(circumstances, key=lambda one: _ORDER.index(one.kind)):
        verdict = TABLE.get((one.kind, finding.verdict))
        if verdict is None or (one.kind in _OVERRULED and finding.certain):
            continue
        if one.kind in {Kind.DAMAGED_CLAIM, Kind.DAMAGED_HISTORY}:
            return msgspec.structs.replace(finding, verdict=verdict, reason=one.text)
        reason = f"{one.text}: {finding.reason}"
        if one.kind is Kind.FOREIGN_KIT:
            disclosed = finding.disclosed or f"not kept: {finding.observed}"
            return msgspec.structs.replace(finding, verdict=verdict, reason=reason, disclosed=disclosed)
        return msgspec.structs.replace(finding, verdict=verdict, reason=reason, delayed=one.kind in _DELAYS)
    return finding


def unfinished() -> Circumstance:
    """Return the circumstance of a scenario whose end is not in the journal."""
    return Circumstance(Kind.UNFINISHED, "The scenario began and did not end; the finding was")


def foreign_kit(strength: str, judged: str, ours: Collection[str]) -> Circumstance | None:
    """Return the circumstance that a judged part is foreign and no document demands the rule.

    Args:
        strength: The rule's strength: must, may or kit.
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).

    Returns:
        The circumstance; None if a document demands the rule, or if all judged parts are the kit's own.
    """
    foreign = [part for part in judged.split("+") if part not in ours]
    if strength != KIT or not foreign:
        return None
    return Circumstance(Kind.FOREIGN_KIT, f"No document demands this of a {' or '.join(foreign)} that is not ours")


def session_ended(judged: str, ours: Collection[str], error: str | None) -> Circumstance | None:
    """Return the circumstance that a foreign broker ended a session with an error, and that only the client is judged.

    Args:
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).
        error: The text of the broker's error; None if the broker ended no session with an error.

    Returns:
        The circumstance; None if the broker ended no session, is the kit's own, or is judged, too.
    """
    if error is None or judged != CLIENT or BROKER in ours:
        return None
    text = f"The broker ended a session of the client with an error, which may have caused the finding ({error})"
    return Circumstance(Kind.SESSION_ENDED, f"{text}; the finding was")


def broker_lost(judged: str, ours: Collection[str], lost: Callable[[], bool]) -> Circumstance | None:
    """Return the circumstance that a foreign broker lost messages when it stopped, and that only the client is judged.

    Args:
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).
        lost: Returns whether messages are missing that the broker had to keep (`lost_messages.lost_by_broker`).

    Returns:
        The circumstance; None if no message was lost in this way, or if the broker is the kit's own or judged, too.
    """
    if judged != CLIENT or BROKER in ours or not lost():
        return None
    why = "it had answered their sends before it stopped, and no client had accepted them"
    return Circumstance(Kind.BROKER_LOST, f"The broker lost the missing messages: {why}; the finding was")


def client_raised(judged: str, ours: Collection[str], error: Callable[[], str | None]) -> Circumstance | None:
    """Return the circumstance that the kit's client failed unexpectedly, and that a foreign broker alone is judged.

    Args:
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).
        error: Returns the text of the exception; None if the client raised none.

    Returns:
        The circumstance; None if the client raised none, is foreign or is judged, too, or if the broker is the kit's
        own.
    """
    if judged != BROKER or BROKER in ours or CLIENT not in ours or (text := error()) is None:
        return None
    text = f"The kit's client has failed, which may have caused the finding ({text.rstrip('.')})"
    return Circumstance(Kind.CLIENT_RAISED, f"{text}; the finding was")


def slow_pair(periods: Iterable[Period], claim: Claim) -> Circumstance | None:
    """Return the circumstance that a period was too short for the pair, and was over before a claim.

    Args:
        periods: The periods of the scenario that are too short for the pair.
        claim: The claim.

    Returns:
        The circumstance; None if no such period can have caused a fail (`too_short_for`).
    """
    ended = too_short_for(claim, periods)
    if ended is None:
        return None
    return Circumstance(Kind.SLOW_PAIR, f"The pair was too slow for the scenario: {ended}; the finding was")


def held_up(late_ns: int, elapsed_ns: int) -> Circumstance | None:
    """Return the circumstance that the harness was delayed too long; None for a delay of at most `HELD_UP_NS`.

    Args:
        late_ns: The total delay of the harness in the scenario, in nanoseconds.
        elapsed_ns: The duration of the scenario, in nanoseconds.
    """
    if late_ns <= HELD_UP_NS:
        return None
    late, elapsed = (f"{ns / NS_PER_SECOND:.1f} s" for ns in (late_ns, elapsed_ns))
    text = f"The machine was too busy: the harness was {late} late in {elapsed} (use fewer --workers)"
    return Circumstance(Kind.HELD_UP, f"{text}; the finding was")


def deciding(findings: Iterable[Finding]) -> Finding | None:
    """Return the finding that decides a scenario: the first with the worst verdict; None without findings."""
    return max(findings, key=lambda finding: finding.verdict.badness, default=None)
