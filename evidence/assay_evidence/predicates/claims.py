"""Functions that read the references and bounds of claims, and `Saying`, which makes the claims' findings."""

from __future__ import annotations

from collections.abc import Container, Iterable

from msgspec import Struct, structs

from assay_evidence.errors import ClaimError
from assay_evidence.events import Call, Claim, Event, Scalar
from assay_evidence.history import History
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Finding, Verdict

SEPARATOR = "|"
DEFAULT_QUIET_MS = 1
UNSUPPORTED = "unsupported"
SECURITY = "security"
NOT_AUTHORIZED = 2035


def listed(claim: Claim, *names: str) -> tuple[str, ...]:
    """Return the values of the first of these references that the claim has; empty if it has none of them."""
    for name in names:
        if value := claim.of.get(name):
            return tuple(value.split(SEPARATOR))
    return ()


def keys_of(claim: Claim) -> tuple[str, ...]:
    """Return the keys of the messages that a claim names.

    Raises:
        ClaimError: The claim names no message.
    """
    keys = listed(claim, "kids", "kid")
    if not keys:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) names no message.")
    return keys


def key_of(claim: Claim) -> str:
    """Return the key of the only message that a claim names.

    Raises:
        ClaimError: The claim names no message, or several.
    """
    keys = keys_of(claim)
    if len(keys) != 1:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) names {len(keys)} messages, but must name one.")
    return keys[0]


def actors_of(claim: Claim) -> tuple[str, ...] | None:
    """Return the actors that a claim names; None for a claim without names, which is about all actors."""
    return listed(claim, "actors", "actor") or None


def reference(claim: Claim, name: str) -> str:
    """Return a reference that a claim must have.

    Raises:
        ClaimError: The claim has no reference of this name.
    """
    value = claim.of.get(name)
    if not value:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) lacks the reference {name!r}.")
    return value


def number(claim: Claim, name: str) -> int:
    """Return a bound that a claim must have.

    Raises:
        ClaimError: The claim has no bound of this name.
    """
    value = claim.bounds.get(name)
    if value is None:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) lacks the bound {name!r}.")
    return value


def quiet_ns(claim: Claim) -> int:
    """Return the duration that a quiet watch must have for a claim, in nanoseconds."""
    return claim.bounds.get("quiet_ms", DEFAULT_QUIET_MS) * NS_PER_MS


def sends_of(claim: Claim, history: History) -> list[Call]:
    """Return the sends of a claim.

    If the claim names calls, these are the sends.  Otherwise the sends are all accepted sends of each message; for a
    message without an accepted send, its last send.
    """
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


def as_text(value: Scalar) -> str:
    """Return a value as claims write it: ``none``, ``true``, ``false``, or its text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Saying(Struct, frozen=True):
    """An object that makes the findings for one claim.

    In all methods, `reason` is the reason of the verdict in one sentence, and `observed` describes the evidence, with
    figures.

    Args:
        claim: The claim.
        expected: The demand of the claim, with figures.
    """

    claim: Claim
    expected: str

    def passed(self, reason: str, observed: str, disclosed: str = "", *, certain: bool = False) -> Finding:
        """Return a pass: the scenario tried the rule, and the pair kept it.

        Args:
            reason: The reason.
            observed: The evidence.
            disclosed: The outcome that occurred where the rule permits several.
            certain: Whether no delay of the harness can have caused the pass.
        """
        return self._say(Verdict.PASS, reason, observed, disclosed, certain=certain)

    def failed(
        self, reason: str, observed: str, disclosed: str = "", *, certain: bool = False, by: Iterable[Event] = ()
    ) -> Finding:
        """Return a fail: the scenario tried the rule, and the pair broke it.

        Args:
            reason: The reason.
            observed: The evidence.
            disclosed: The outcome that occurred where the rule permits several.
            certain: Whether no delay of the harness can have caused the fail.
            by: The events that break the rule; none if a missing event breaks it.
        """
        finding = self._say(Verdict.FAIL, reason, observed, disclosed, certain=certain)
        return structs.replace(finding, offenders=tuple(event.ref for event in by))

    def held_up(self, meanwhile: str, observed: str) -> Finding:
        """Return an inconclusive finding, because a delay of the harness may have hidden or feigned a breach.

        Args:
            meanwhile: The end of the reason, after ``The harness was held up:``.
            observed: The evidence.
        """
        return structs.replace(self.inconclusive(f"The harness was held up: {meanwhile}.", observed), delayed=True)

    def inconclusive(self, reason: str, observed: str) -> Finding:
        """Return an inconclusive finding: the scenario tried the rule, but the evidence does not decide."""
        return self._say(Verdict.INCONCLUSIVE, reason, observed, "")

    def not_demonstrated(self, reason: str, observed: str) -> Finding:
        """Return a not-demonstrated finding: in this scenario, the pair had no occasion to break the rule."""
        return self._say(Verdict.NOT_DEMONSTRATED, reason, observed, "")

    def error(self, reason: str, observed: str) -> Finding:
        """Return a finding with the verdict error: the kit or its environment is at fault."""
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
        """Return an inconclusive finding if a call was refused or did not return; otherwise None.

        Args:
            history: The evidence.
            sends: The calls that must be accepted, such as the claim's sends.
            unanswered: Whether calls without an answer, or with a lost connection, are permitted.
            delivered: The keys of delivered messages. The broker has accepted their sends, even if the connection was
                lost before the answer.
        """
        for send in sends:
            answer = history.answer(send)
            allowed = unanswered or (send.msg is not None and send.msg.key in delivered)
            if allowed and (answer is None or (answer.refused and answer.refused.leaves_open)):
                continue
            if answer is None:
                return self.inconclusive(f"The {send.op} {send.ref} did not return.", "no answer")
            if answer.refused is not None:
                return self.inconclusive(f"The {send.op} was refused: {answer.refused.phrase}.", "refused")
        return None

    def unless_committed(self, history: History, sends: list[Call], observed: str) -> Finding | None:
        """Return an inconclusive finding if the commit of a send's unit of work was refused; otherwise None.

        A message of such a unit does not exist, so its absence breaks no rule about deliveries.

        Args:
            history: The evidence.
            sends: The sends of the missing messages.
            observed: The evidence, for the finding.
        """
        for send in sends:
            commit = history.refused_commit(send)
            if commit is not None and commit.refused is not None:
                why = f"The commit of the message's unit of work was refused: {commit.refused.phrase}."
                return self.inconclusive(why, observed)
        return None
