"""The predicate about transfers on the wire: transferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay_evidence.events import Claim, Frame
from assay_evidence.figures import counted
from assay_evidence.history import History
from assay_evidence.predicates.claims import Saying, actors_of, as_text, keys_of
from assay_evidence.predicates.fields import DIGEST, SENT, digest_sent, fields_of, wanted_of
from assay_evidence.verdicts import Finding

FIRST = "first"


def transferred(claim: Claim, history: History) -> Finding:
    """Decide whether each message had as many transfers as the claim demands, settled or unsettled as demanded.

    If the claim names an actor, the transfers to this actor count; otherwise the transfers that the client sent.
    Without a frame of any message, the finding is not-demonstrated.

    If the claim names fields, each transfer must have these values.  ``field.sha256 = sent`` means the body that was
    sent, and the value ``first`` means the field's value in the message's first transfer.
    """
    times, least, settled = (claim.bounds.get(name) for name in ("times", "least", "settled"))
    often = f"exactly {counted(times, 'time')}" if times is not None else f"{counted(least or 1, 'time')} or more"
    how = "" if settled is None else ", settled" if settled else ", not settled"
    keys = keys_of(claim)
    wanted = wanted_of(claim)
    having = f", with {', '.join(f'{name} = {value}' for name, value in wanted.items())}" if wanted else ""
    say = Saying(claim, f"each of {', '.join(keys)} is transferred {often}{how}{having}")
    transfers = _transfers(claim, history)
    if not transfers:
        return say.not_demonstrated("No observer watched the wire.", "no frame of a message")
    seen = {key: [frame.settled for frame in transfers.get(key, ())] for key in keys}
    observed = ", ".join(
        f"{key} {counted(len(flags), 'time')} ({sum(flag is True for flag in flags)} settled)"
        for key, flags in seen.items()
    )
    frames = [frame for key in keys for frame in transfers.get(key, ())]
    other = [frame for frame in frames if frame.settled is not bool(settled)] if settled is not None else []
    if other:
        return say.failed("A message was transferred with the other quality of service.", observed, by=other)
    if times is not None and any(len(flags) != times for flags in seen.values()):
        return say.failed("A message was transferred too often, or not often enough.", observed)
    if times is None and any(len(flags) < (least or 1) for flags in seen.values()):
        return say.failed("A message was not transferred often enough.", observed)
    if wanted and (changed := _unless_alike(wanted, frames, history, say)) is not None:
        return changed
    return say.passed("Each message was transferred as it must be.", observed, certain=True)


def _unless_alike(wanted: Mapping[str, str], frames: Sequence[Frame], history: History, say: Saying) -> Finding | None:
    """Return a finding if a transfer's message has another value than demanded, or shows no value; otherwise None."""
    firsts: dict[str, dict[str, str]] = {}
    for frame in frames:
        key = str(frame.key)
        shown = {name: as_text(value) for name, value in fields_of(frame.msg).items()}
        first = firsts.setdefault(key, shown)
        missing = [name for name in wanted if name not in shown]
        if missing:
            return say.not_demonstrated(f"The client does not show {', '.join(missing)} of what it sent.", frame.ref)
        for name, text in wanted.items():
            sent = digest_sent(key, history) if name == DIGEST and text == SENT else text
            value = first[name] if text == FIRST else sent
            if shown[name] != value:
                observed = f"{key}: {name} = {shown[name]}, and not {value}"
                return say.failed(f"A message was transferred with another {name}.", observed, by=[frame])
    return None


def _transfers(claim: Claim, history: History) -> Mapping[str, Sequence[Frame]]:
    """Return the transfers that count for the claim, by message key; empty if no observer watched the wire."""
    actors = actors_of(claim)
    if actors is None:
        return history.transfers
    return {
        key: [frame for frame in frames if frame.direction == "in" and not frame.disposition and frame.actor in actors]
        for key, frames in history.frames.items()
    }
