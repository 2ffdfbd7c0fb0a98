"""The causes of verdicts that a person must examine: the verdict, the claim's rule and predicate, and the reason.

The reason is compared without names and numbers, because names and numbers differ between scenarios with the same
cause.  Reason codes are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from assay_evidence.events import AnyEvent, Call, Claim, MessageRef
from assay_evidence.names import plain
from assay_evidence.verdicts import ScenarioVerdict, Verdict

SETTLED = frozenset({Verdict.PASS, Verdict.UNSUPPORTED})
"""The verdicts that need no attention from the reader."""
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)|`[^`]*`")
_WORD = re.compile(r"[\w./:@+-]+")
_CODES = frozenset({"reason", "mqrc"})
_ANY = "…"


class Cause(Struct, frozen=True):
    """The cause of a scenario's verdict; the report shows scenarios with equal causes as one group.

    Args:
        verdict: The verdict.
        rule: The rule of the deciding claim; empty if a step or the journal decided.
        predicate: The predicate of the deciding claim; empty if a step or the journal decided.
        wording: The reason without names and numbers.
    """

    verdict: Verdict
    rule: str = ""
    predicate: str = ""
    wording: str = ""


def cause_of(verdict: ScenarioVerdict, events: Sequence[AnyEvent]) -> Cause:
    """Find the cause of a scenario's verdict.

    Args:
        verdict: The verdict, with readable names.
        events: The scenario's events.
    """
    if verdict.verdict in SETTLED:
        return Cause(verdict.verdict)
    refs = [
        finding.claim
        for finding in verdict.findings
        if finding.verdict is verdict.verdict and finding.reason == verdict.reason
    ]
    claim = next((event for event in events if isinstance(event, Claim) and event.ref in refs[:1]), None)
    wording = wording_of(verdict.reason, _names(verdict.trace, events))
    if claim is None:
        return Cause(verdict.verdict, wording=wording)
    return Cause(verdict.verdict, claim.rule, claim.predicate, wording)


def wording_of(reason: str, names: Iterable[str] = ()) -> str:
    """Return a reason with an ellipsis for each quotation, name and word with a digit, except MQ reason codes.

    Args:
        reason: The reason, a sentence.
        names: The names that the scenario uses.
    """
    known = frozenset(names)
    before = ""

    def general(found: re.Match[str]) -> str:
        nonlocal before
        word, after = found[0], before
        before = word.lower()
        core = word.rstrip(".:")
        varies = core in known or any(character.isdigit() for character in core)
        return _ANY + word[len(core) :] if varies and after not in _CODES else word

    return " ".join(_WORD.sub(general, _QUOTED.sub(_ANY, reason)).split())


def _names(scenario: str, events: Sequence[AnyEvent]) -> frozenset[str]:
    """Collect the names of messages and destinations, except lower-case words, which a reason may use as words."""
    found: set[str] = set()
    for event in events:
        if isinstance(event, Call) and event.destination:
            found.add(plain(event.destination, scenario).partition("://")[2] or plain(event.destination, scenario))
        message: MessageRef | None = getattr(event, "msg", None)
        if message is not None:
            found.add(plain(message.key, scenario))
    return frozenset(name for name in found if name and not (name.isalpha() and name.islower()))
