"""Reads the references and bounds of claims, and phrases their findings."""

from __future__ import annotations

from collections.abc import Container, Iterable

from msgspec import Struct, structs

from assay_evidence.errors import ClaimError
from assay_evidence.events import Call, Claim, Event, RefusedInfo, Scalar
from assay_evidence.history import History
from assay_evidence.verdicts import Finding, Verdict
from assay_evidence.watching import NS_PER_MS

SEPARATOR = "|"
DEFAULT_QUIET_MS = 1
CONNECTION_LOST = "connection-lost"
UNSUPPORTED = "unsupported"
SECURITY = "security"
NOT_AUTHORIZED = 2035


def listed(claim: Claim, *names: str) -> tuple[str, ...]:
    """The entries of the first of these references that the claim has; empty if it has none."""
    for name in names:
        if value := claim.of.get(name):
            return tuple(value.split(SEPARATOR))
    return ()


def keys_of(claim: Claim) -> tuple[str, ...]:
    """The messages that a claim is about.

    Raises:
        ClaimError: It names none.
    """
    keys = listed(claim, "kids", "kid")
    if not keys:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) names no message.")
    return keys


def key_of(claim: Claim) -> str:
    """The one message that a claim is about.

    Raises:
        ClaimError: It names none, or several.
    """
    keys = keys_of(claim)
    if len(keys) != 1:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) names {len(keys)} messages where one is meant.")
    return keys[0]


def actors_of(claim: Claim) -> tuple[str, ...] | None:
    """The actors that a claim names; None for any."""
    return listed(claim, "actors", "actor") or None


def reference(claim: Claim, name: str) -> str:
    """A reference that a claim must have.

    Raises:
        ClaimError: It has none of this name.
    """
    value = claim.of.get(name)
    if not value:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) lacks the reference {name!r}.")
    return value


def number(claim: Claim, name: str) -> int:
    """A bound that a claim must have.

    Raises:
        ClaimError: It has none of this name.
    """
    value = claim.bounds.get(name)
    if value is None:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) lacks the bound {name!r}.")
    return value


def quiet_ns(claim: Claim) -> int:
    """How long a watch must be quiet, in nanoseconds."""
    return claim.bounds.get("quiet_ms", DEFAULT_QUIET_MS) * NS_PER_MS


def sends_of(claim: Claim, history: History) -> list[Call]:
    """The sends of a claim: those that it names, or else the accepted sends of each message, or else its last send."""
    named = listed(claim, "call")
    if named:
        return [history.call(ref) for ref in named]
    sends: list[Call] = []
    for key in keys_of(claim):
        tried = history.sends({key})
        answers = [(send, history.answer(send)) for send in tried]
        accepted = [send for send, answer in answers if answer is not None and answer.refused is None]
        sends += accepted or tried[-1:]
    return sends


def phrase(refusal: RefusedInfo) -> str:
    """Phrase a refusal."""
    reason = "" if refusal.mqrc is None else f", reason {refusal.mqrc}"
    return f"{refusal.kind}{reason}: {refusal.text}" if refusal.text else f"{refusal.kind}{reason}"


def as_text(value: Scalar) -> str:
    """A value as claims write it: ``none``, ``true``, ``false``, or its text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Saying(Struct, frozen=True):
    """Phrases findings of one claim.

    Args:
        claim: The claim.
        expected: What the rule demands, with figures.
    """

    claim: Claim
    expected: str

    def passed(self, reason: str, observed: str, disclosed: str = "", *, certain: bool = False) -> Finding:
        """The rule was tried and kept.

        Args:
            reason: Why, in one sentence.
            observed: What the journal holds, with figures.
            disclosed: Behaviour that a `may` rule leaves open and that was seen here.
            certain: Whether no delay of the harness can have caused it.
        """
        return self._say(Verdict.PASS, reason, observed, disclosed, certain=certain)

    def failed(
        self, reason: str, observed: str, disclosed: str = "", *, certain: bool = False, by: Iterable[Event] = ()
    ) -> Finding:
        """The rule was tried and broken.

        Args:
            reason: Why, in one sentence.
            observed: What the journal holds, with figures.
            disclosed: Behaviour that a `may` rule leaves open and that was seen here.
            certain: Whether no delay of the harness can have caused it.
            by: The events that break the rule; none if something did not happen.
        """
        finding = self._say(Verdict.FAIL, reason, observed, disclosed, certain=certain)
        return structs.replace(finding, offenders=tuple(event.ref for event in by))

    def held_up(self, meanwhile: str, observed: str) -> Finding:
        """The rule was tried, and a delay of the harness may hide that it was broken, or make a kept one look broken.

        Args:
            meanwhile: What may have happened during the delay, for ``The harness was held up: ...``.
            observed: What the journal holds, with figures.
        """
        return self.inconclusive(f"The harness was held up: {meanwhile}.", observed)

    def inconclusive(self, reason: str, observed: str) -> Finding:
        """The rule was tried, but the evidence does not decide."""
        return self._say(Verdict.INCONCLUSIVE, reason, observed, "")

    def not_demonstrated(self, reason: str, observed: str) -> Finding:
        """Nothing happened that could have broken the rule."""
        return self._say(Verdict.NOT_DEMONSTRATED, reason, observed, "")

    def error(self, reason: str, observed: str) -> Finding:
        """The kit or the environment is at fault."""
        return self._say(Verdict.ERROR, reason, observed, "")

    def _say(self, verdict: Verdict, reason: str, observed: str, disclosed: str, *, certain: bool = False) -> Finding:
        return Finding(
            claim=self.claim.ref,
            verdict=verdict,
            reason=reason,
            expected=self.expected,
            observed=observed,
            disclosed=disclosed,
            certain=certain,
        )

    def unless_accepted(
        self, history: History, sends: list[Call], *, unanswered: bool = False, delivered: Container[str] = ()
    ) -> Finding | None:
        """Inconclusive if a send of the claim was refused or did not return; otherwise None.

        Args:
            history: The evidence.
            sends: The sends.
            unanswered: Whether sends without an answer, or whose connection was lost, are allowed.
            delivered: Keys of messages that were delivered: the broker had taken them, although the connection of a
                sender was lost before its answer.
        """
        for send in sends:
            answer = history.answer(send)
            allowed = unanswered or (send.msg is not None and send.msg.key in delivered)
            if allowed and (answer is None or (answer.refused and answer.refused.kind == CONNECTION_LOST)):
                continue
            if answer is None:
                return self.inconclusive(f"The {send.op} {send.ref} has not come back.", "no answer")
            if answer.refused is not None:
                return self.inconclusive(f"The {send.op} was refused: {phrase(answer.refused)}.", "refused")
        return None
