"""Predicates about the fields of messages and answers: equal-fields, mentions, in-range, found-by-browse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay_evidence.errors import ClaimError
from assay_evidence.events import Admin, AnyEvent, Call, Claim, MessageRef, RefusedInfo, Return, Scalar, Seen
from assay_evidence.figures import counted, duration
from assay_evidence.history import History, distance
from assay_evidence.predicates.claims import (
    SEPARATOR,
    Saying,
    actors_of,
    as_text,
    key_of,
    keys_of,
    number,
    reference,
)
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Finding
from assay_evidence.watching import was_prompt

FIELD = "field."
SENT = "sent"
DIGEST = "sha256"

_VERBS = {
    "exactly": "lists just",
    "absent": "does not contain",
    "any": "contains any of",
    "recorded": "contains any, or none, of",
}
"""The verb for the expectation of a `mentions` claim, by the claim's bound."""


def equal_fields(claim: Claim, history: History) -> Finding:
    """Decide whether an event's fields have the values that the claim names.

    Values are compared as text (`assay_evidence.predicates.claims.as_text`); ``field.sha256 = sent`` means the body
    that was sent.  The fields of a call include the fields of its answer; if both have a field, the answer's value
    counts.

    Raises:
        ClaimError: The claim names no field, or an event without fields.
    """
    wanted = wanted_of(claim)
    if not wanted:
        raise ClaimError(f"The claim {claim.ref} (equal-fields) names no field.")
    say = Saying(claim, ", ".join(f"{name} = {value}" for name, value in wanted.items()))
    event = _event(claim, history)
    if event is None:
        return say.not_demonstrated("The evidence has no such event.", "nothing")
    if wanted.get(DIGEST) == SENT:
        sent = _digest_sent(event, history)
        if sent is None:
            return say.not_demonstrated("The message was never sent, so its body cannot be compared.", event.ref)
        wanted[DIGEST] = sent
    shown = _shown(event, history)
    observed = _listing(wanted, shown)
    if (open_call := _unless_shown(event, history, wanted, shown, say)) is not None:
        return open_call
    wrong = [name for name, value in wanted.items() if shown.get(name) != value]
    if wrong:
        return say.failed(f"Not as expected: {', '.join(wrong)}.", observed, by=[event])
    return say.passed("All fields have the demanded values.", observed, certain=_is_timely(event, history))


def wanted_of(claim: Claim) -> dict[str, str]:
    """Return the values that a claim demands, by the name of the field."""
    return {name.removeprefix(FIELD): value for name, value in claim.of.items() if name.startswith(FIELD)}


def _listing(names: Iterable[str], shown: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {shown.get(name, 'absent')}" for name in names)


def _unless_shown(
    event: AnyEvent, history: History, wanted: Iterable[str], shown: Mapping[str, str], say: Saying
) -> Finding | None:
    """Return an inconclusive finding if a field is missing because a call was refused or did not return; else None."""
    if all(name in shown for name in wanted):
        return None
    answer = history.answer(event) if isinstance(event, Call) else event
    observed = _listing(wanted, shown)
    if answer is None:
        return say.inconclusive("The call did not return.", observed)
    if isinstance(answer, Return) and answer.refused is not None:
        return say.inconclusive(f"The call was refused: {answer.refused.phrase}.", observed)
    return None


def mentions(claim: Claim, history: History) -> Finding:
    """Decide whether an event's fields contain the entries that the claim lists for each field.

    - Without a bound, a field must contain all entries.
    - With the bound `exactly`, it must be a list of these entries and no others, in any order.
    - With `absent`, it must contain none of them; with `any`, at least one.
    - With `recorded`, it must exist, and the finding discloses the entries that it contains.

    Raises:
        ClaimError: The claim names no field, an event without fields, or more than one of these bounds.
    """
    wanted = {
        name.removeprefix(FIELD): tuple(value.split(SEPARATOR))
        for name, value in claim.of.items()
        if name.startswith(FIELD)
    }
    asked = [bound for bound in _VERBS if claim.bounds.get(bound)]
    if not wanted:
        raise ClaimError(f"The claim {claim.ref} (mentions) names no field.")
    if len(asked) > 1:
        raise ClaimError(
            f"The claim {claim.ref} (mentions) has the bounds {' and '.join(asked)}, but may have only one."
        )
    verb = _VERBS[asked[0]] if asked else "contains"
    say = Saying(claim, "; ".join(f"{name} {verb} {', '.join(entries)}" for name, entries in wanted.items()))
    event = _event(claim, history)
    if event is None:
        return say.not_demonstrated("The evidence has no such event.", "nothing")
    shown = _shown(event, history)
    observed = _listing(wanted, shown)
    if (open_call := _unless_shown(event, history, wanted, shown, say)) is not None:
        return open_call
    wrong = [name for name, entries in wanted.items() if name not in shown or not _fits(shown[name], entries, claim)]
    if wrong:
        return say.failed(f"{', '.join(wrong)} has other content, or is absent.", observed, by=[event])
    if claim.bounds.get("recorded"):
        named = [entry for name, entries in wanted.items() for entry in entries if entry in shown[name]]
        disclosed = ", ".join(named) or "none"
        return say.passed(
            "The content of the fields is recorded.", observed, disclosed, certain=_is_timely(event, history)
        )
    return say.passed("All fields have the demanded content.", observed, certain=_is_timely(event, history))


def _fits(text: str, entries: tuple[str, ...], claim: Claim) -> bool:
    if claim.bounds.get("exactly"):
        return sorted(text.split(SEPARATOR)) == sorted(entries)
    if claim.bounds.get("recorded"):
        return True
    contained = [entry in text for entry in entries]
    if claim.bounds.get("any"):
        return any(contained)
    return not any(contained) if claim.bounds.get("absent") else all(contained)


def in_range(claim: Claim, history: History) -> Finding:
    """Decide whether a field of an event is a number from `least` to `most`, and disclose its value.

    The bound `lasts_ms` is the time, in milliseconds since the start of the send (`call`), after which the message may
    have expired.  If an inspection after this time does not show the field, the finding is inconclusive.

    With the bound `measured`, a step has computed the other bounds from the recorded times of the events.  So a pass
    does not depend on delays of the harness.
    """
    name, least, most = reference(claim, "field"), claim.bounds.get("least", 0), claim.bounds.get("most")
    say = Saying(claim, f"{name} is at least {least}" + ("" if most is None else f" and at most {most}"))
    event = _event(claim, history)
    if event is None:
        return say.not_demonstrated("The evidence has no such event.", "nothing")
    shown = _shown(event, history)
    observed = _listing((name,), shown)
    if (open_call := _unless_shown(event, history, (name,), shown, say)) is not None:
        return open_call
    if name not in shown and (expired := _unless_alive(claim, event, history, say, observed)) is not None:
        return expired
    try:
        value = int(shown[name])
    except (KeyError, ValueError):
        return say.failed(f"{name} is no number, or absent.", observed, by=[event])
    if value < least or (most is not None and value > most):
        return say.failed(f"{name} is out of range.", observed, by=[event])
    certain = bool(claim.bounds.get("measured")) or _is_timely(event, history)
    return say.passed(f"{name} is in range.", observed, disclosed=str(value), certain=certain)


def _unless_alive(claim: Claim, event: AnyEvent, history: History, say: Saying, observed: str) -> Finding | None:
    """Return an inconclusive finding if the claim's message may have expired before an event; otherwise None."""
    if "lasts_ms" not in claim.bounds or not isinstance(event, Admin):
        return None
    lived = distance(event, history.call(reference(claim, "call")))
    if lived.ns + lived.unc_ns < number(claim, "lasts_ms") * NS_PER_MS:
        return None
    return say.inconclusive(
        "The message's time to live was over, or nearly over, before the inspection: the broker may have removed it.",
        f"{observed}, {duration(lived.ns)} after the send",
    )


def _event(claim: Claim, history: History) -> AnyEvent | None:
    if ref := claim.of.get("at"):
        return history.event(ref)
    seen = history.sightings({key_of(claim)}, actors_of(claim))
    which = claim.of.get("which", "first")
    if which not in {"first", "last"}:
        raise ClaimError(
            f"The claim {claim.ref} ({claim.predicate}) names the {which!r} sighting, but must name first or last."
        )
    return (seen[0] if which == "first" else seen[-1]) if seen else None


def _is_timely(event: AnyEvent, history: History) -> bool:
    """Return whether no delay of the harness can have changed the event's fields.

    A delay can change only an administrator's answer, because this answer shows the broker at the moment of the
    command.
    """
    return not isinstance(event, Admin) or was_prompt(event, history)


def _digest_sent(event: AnyEvent, history: History) -> str | None:
    message = event.msg if isinstance(event, (Seen, Call, Return)) else None
    if message is None:
        return None
    return digest_sent(message.key, history)


def digest_sent(key: str, history: History) -> str | None:
    """Return the digest of the body with which a message was last sent; None for a message that was never sent."""
    sends = history.sends({key})
    return sends[-1].msg.sha256 if sends and sends[-1].msg else None


def _shown(event: AnyEvent, history: History) -> dict[str, str]:
    values: dict[str, Scalar] = {}
    match event:
        case Seen():
            values = {
                "actor": event.actor,
                "link": event.link,
                "destination": event.destination,
                "count": event.count,
                "redelivered": event.redelivered,
                "batch": event.batch,
                **fields_of(event.msg),
            }
        case Call():
            values = {"actor": event.actor, "op": event.op, "destination": event.destination, "unit": event.unit}
            values |= fields_of(event.msg) | event.args
            answer = history.answer(event)
            values |= _of_answer(answer) if answer else {}
        case Return():
            values = _of_answer(event)
        case Admin():
            values = {"command": event.command, **event.answer}
        case _:
            raise ClaimError(f"The event {event.ref} has no fields to examine.")
    return {name: as_text(value) for name, value in values.items()}


def _of_answer(answer: Return) -> dict[str, Scalar]:
    return {**_of_refusal(answer.refused), **fields_of(answer.msg), **answer.value}


def _of_refusal(refusal: RefusedInfo | None) -> dict[str, Scalar]:
    if refusal is None:
        return {}
    return {
        "kind": refusal.kind,
        "checked": refusal.checked,
        "mqrc": refusal.mqrc,
        "objects": SEPARATOR.join(refusal.objects),
        "text": refusal.text,
        "says": f"{refusal.text} {refusal.mqrc or ''}".lower(),
    }


def fields_of(message: MessageRef | None) -> dict[str, Scalar]:
    """Return the fields of a message by the names that claims use; none without a message."""
    if message is None:
        return {}
    return {
        "kid": message.key,
        DIGEST: message.sha256,
        "bytes": message.bytes,
        "broker_id": message.broker_id,
        **message.fields,
    }


def found_by_browse(claim: Claim, history: History) -> Finding:
    """Decide whether a browse lists each message exactly ``count`` times; 0 means not at all."""
    call = history.call(reference(claim, "call"))
    keys = keys_of(claim)
    count = claim.bounds.get("count", 1)
    say = Saying(claim, f"the browse lists each of {', '.join(keys)} {counted(count, 'time')}")
    if unanswered := say.unless_accepted(history, [call]):
        return unanswered
    answer = history.answer(call)
    found = answer.keys if answer else ()
    observed = ", ".join(f"{key} {counted(found.count(key), 'time')}" for key in keys) + f", of {len(found)} listed"
    if any(found.count(key) != count for key in keys):
        return say.failed("The browse lists a message too often, or not often enough.", observed, by=[answer or call])
    return say.passed("The browse lists each message as often as it must.", observed, certain=was_prompt(call, history))
