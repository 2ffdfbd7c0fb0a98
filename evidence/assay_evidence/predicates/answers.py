"""Predicates about answers to calls (accepted, refused-with, one-of) and about users' own checks (own-check)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_evidence.errors import ClaimError
from assay_evidence.events import CONNECTION_LOST, Claim, RefusedInfo, Return
from assay_evidence.history import History, distance
from assay_evidence.predicates.claims import (
    NOT_AUTHORIZED,
    SECURITY,
    UNSUPPORTED,
    Saying,
    actors_of,
    number,
    quiet_ns,
    reference,
)
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis, release_marks, was_prompt, watchers_of

OPTION = "option."
_TIMELESS = frozenset({"accepted", "refused"})
"""The options of a one-of claim that no delay of the harness can make true or false."""


def accepted(claim: Claim, history: History) -> Finding:
    """Decide whether the claim's call was accepted."""
    call = history.call(reference(claim, "call"))
    say = Saying(claim, f"the {call.op} is accepted")
    answer = history.answer(call)
    if answer is None:
        return say.inconclusive("The call did not return.", "no answer")
    refusal = answer.refused
    if refusal is None:
        return say.passed("The call was accepted.", "accepted", certain=True)
    if refusal.kind == CONNECTION_LOST:
        return say.inconclusive("The connection was lost during the call.", refusal.phrase)
    if refusal.kind == UNSUPPORTED:
        return say.error("The pair lacks a capability that it declares.", refusal.phrase)
    return say.failed(_reason(refusal), f"refused: {refusal.phrase}", by=[answer])


def _reason(refusal: RefusedInfo) -> str:
    """Return the reason why a refused call breaks a claim that it is accepted."""
    if refusal.failure:
        return "The client failed instead of answering the call."
    return "The broker did not answer the call in time." if refusal.unanswered else "The call was refused."


def own_check(claim: Claim, history: History) -> Finding:
    """Decide whether a Then-step of a user passed: the step's own code examined something and recorded the result."""
    del history
    say = Saying(claim, "the step's own check holds")
    if number(claim, "held"):
        return say.passed("The step's own check holds.", "no assertion failed")
    said = reference(claim, "said")
    return say.failed(f"The step's own check does not hold: {said.rstrip('.')}.", said)


def refused_with(claim: Claim, history: History) -> Finding:
    """Decide whether the claim's call was refused, for the reason that the claim names."""
    call = history.call(reference(claim, "call"))
    wanted = _wanted(claim)
    asked = ", ".join(f"{part} {value}" for part, value in wanted.items())
    say = Saying(claim, f"the {call.op} is refused" + (f" with {asked}" if asked else ""))
    answer = history.answer(call)
    if answer is None:
        return say.inconclusive("The call did not return.", "no answer")
    refusal = answer.refused
    if refusal is None:
        return say.failed("The call was accepted.", "accepted", by=[answer])
    if refusal.failure:
        return say.failed("The client failed instead of refusing the call.", refusal.phrase, by=[answer])
    if beside := _beside(claim, refusal, say):
        return beside
    had = _parts(refusal)
    wrong = [part for part, value in wanted.items() if had[part] != value]
    observed = f"refused: {refusal.phrase} ({had['exception']} exception)"
    if wrong:
        return say.failed(f"The call was refused with another {' and '.join(wrong)}.", observed, by=[answer])
    return say.passed("The call was refused as it must be.", observed, certain=True)


def _beside(claim: Claim, refusal: RefusedInfo, say: Saying) -> Finding | None:
    """Return a finding if the call was refused for a reason that does not concern the claim; otherwise None.

    Such reasons are a lost connection, a missing capability and a lack of authority, unless the claim is about one of
    them.
    """
    if refusal.unanswered and refusal.kind != CONNECTION_LOST:
        return say.inconclusive("The broker did not answer the call in time.", refusal.phrase)
    if refusal.kind == claim.of.get("kind"):
        return None
    if refusal.kind == CONNECTION_LOST:
        return say.inconclusive("The connection was lost during the call.", refusal.phrase)
    if refusal.kind == UNSUPPORTED:
        return say.error("The pair lacks a capability that it declares.", refusal.phrase)
    if refusal.kind == SECURITY and not _is_about_authority(claim):
        reason = "The call was refused for lack of authority, which does not decide the claim."
        return say.inconclusive(reason, refusal.phrase)
    return None


def _is_about_authority(claim: Claim) -> bool:
    """Return whether the claim is about a refusal for lack of authority."""
    return (
        bool(claim.bounds.get("authority"))
        or claim.of.get("kind") == SECURITY
        or claim.bounds.get("mqrc") == NOT_AUTHORIZED
    )


def _wanted(claim: Claim) -> dict[str, str]:
    wanted: dict[str, str] = {}
    if kind := claim.of.get("kind"):
        wanted["kind"] = kind
    if (mqrc := claim.bounds.get("mqrc")) is not None:
        wanted["reason"] = str(mqrc)
    if (checked := claim.bounds.get("checked")) is not None:
        wanted["exception"] = "checked" if checked else "runtime"
    return wanted


def _parts(refusal: RefusedInfo) -> dict[str, str]:
    return {
        "kind": refusal.kind,
        "reason": "none" if refusal.mqrc is None else str(refusal.mqrc),
        "exception": "checked" if refusal.checked else "runtime",
    }


def one_of(claim: Claim, history: History) -> Finding:
    """Decide which of the permitted outcomes occurred; the finding discloses the first option that holds.

    If no option holds, the finding is not-demonstrated if the evidence leaves an option open, and a fail if it rules
    out all options.

    Raises:
        ClaimError: The claim names no option, or an unknown one.
    """
    options = {name.removeprefix(OPTION): text for name, text in claim.of.items() if name.startswith(OPTION)}
    if not options:
        raise ClaimError(f"The claim {claim.ref} (one-of) names no option.")
    say = Saying(claim, "one of: " + ", ".join(options))
    states: dict[str, bool | None] = {}
    for name, text in options.items():
        states[name] = _holds(claim, history, text)
        if states[name]:
            certain = was_prompt(claim, history) or text.partition(" ")[0] in _TIMELESS
            return say.passed(f"The outcome is permitted: {name}.", text, disclosed=name, certain=certain)
    observed = ", ".join(f"{name}: {'open' if state is None else 'no'}" for name, state in states.items())
    if None in states.values():
        return say.not_demonstrated(
            "The evidence neither proves a permitted outcome nor rules out all of them.", observed
        )
    return say.failed("None of the permitted outcomes occurred.", observed)


def _holds(claim: Claim, history: History, text: str) -> bool | None:
    """Return whether an option holds; None if the evidence does not decide."""
    kind, _, subject = text.partition(" ")
    decide = _OPTIONS.get(kind)
    if decide is None or not subject:
        raise ClaimError(f"The claim {claim.ref} (one-of) has the unknown option {text!r}.")
    return decide(claim, history, subject)


def _answered(history: History, ref: str) -> Return | None:
    answer = history.answer(history.call(ref))
    lost = answer is not None and answer.refused is not None and answer.refused.unanswered
    return None if lost else answer


def _is_accepted(_claim: Claim, history: History, ref: str) -> bool | None:
    answer = _answered(history, ref)
    return None if answer is None else answer.refused is None


def _is_refused(claim: Claim, history: History, ref: str) -> bool | None:
    answer = _answered(history, ref)
    if answer is None:
        return None
    mqrc, refusal = claim.bounds.get("mqrc"), answer.refused
    if refusal is not None and (
        refusal.kind == UNSUPPORTED or (refusal.kind == SECURITY and not _is_about_authority(claim))
    ):
        return None
    return refusal is not None and not refusal.failure and (mqrc is None or refusal.mqrc == mqrc)


def _is_given_up(claim: Claim, history: History, ref: str) -> bool | None:
    """Return whether a call failed because the client lost its connection, at least `given_up_ms` after the call began.

    None if the call has no answer, or may have failed earlier.
    """
    call = history.call(ref)
    answer = history.answer(call)
    if answer is None:
        return None
    if answer.refused is None or answer.refused.kind != CONNECTION_LOST:
        return False
    waited_ns = number(claim, "given_up_ms") * NS_PER_MS
    return True if Axis(history, call, claim).earliest(answer) >= waited_ns else None


def _is_seen(claim: Claim, history: History, key: str) -> bool | None:
    """Return whether the actors received a message; None if the evidence does not decide.

    With the bound `within_ms`, only a sighting within this time after the start of the send counts.
    """
    seen = history.sightings({key}, actors_of(claim))
    within_ms = claim.bounds.get("within_ms")
    if seen and within_ms is None:
        return True
    if seen:
        sends = history.sends({key})
        spans = [(distance(seen[0], send).ns, Axis(history, send, claim).earliest(seen[0])) for send in sends]
        if any(noted_ns <= number(claim, "within_ms") * NS_PER_MS for noted_ns, _ in spans):
            return True
        return None if any(could_ns <= number(claim, "within_ms") * NS_PER_MS for _, could_ns in spans) else False
    return False if _silence(claim, history, key) else None


def _is_unseen(claim: Claim, history: History, key: str) -> bool | None:
    seen = _is_seen(claim, history, key)
    return None if seen is None else not seen


def _silence(claim: Claim, history: History, key: str) -> bool:
    """Return whether the actors watched long enough without the message, after the time from which it could come."""
    marks = release_marks(history, (key,))
    if not marks:
        return False
    watchers = watchers_of(history, actors_of(claim), (key,))
    return Axis(history, claim, claim).quiet(watchers, marks, quiet_ns(claim)).span is not None


_OPTIONS: Mapping[str, Callable[[Claim, History, str], bool | None]] = {
    "accepted": _is_accepted,
    "refused": _is_refused,
    "given-up": _is_given_up,
    "seen": _is_seen,
    "unseen": _is_unseen,
}
