"""The predicate about transfers on the wire: transferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay_evidence.events import Claim, Frame
from assay_evidence.figures import counted
from assay_evidence.history import History
from assay_evidence.predicates.claims import Saying, actors_of, keys_of
from assay_evidence.verdicts import Finding


def transferred(claim: Claim, history: History) -> Finding:
    """Decide whether each message had as many transfers as the claim demands, settled or unsettled as demanded.

    If the claim names an actor, the transfers to this actor count; otherwise the transfers that the client sent.
    Without a frame of any message, the finding is not-demonstrated.
    """
    times, least, settled = (claim.bounds.get(name) for name in ("times", "least", "settled"))
    often = f"exactly {counted(times, 'time')}" if times is not None else f"{counted(least or 1, 'time')} or more"
    how = "" if settled is None else ", settled" if settled else ", not settled"
    keys = keys_of(claim)
    say = Saying(claim, f"each of {', '.join(keys)} is transferred {often}{how}")
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
    return say.passed("Each message was transferred as it must be.", observed, certain=True)


def _transfers(claim: Claim, history: History) -> Mapping[str, Sequence[Frame]]:
    """Return the transfers that count for the claim, by message key; empty if no observer watched the wire."""
    actors = actors_of(claim)
    if actors is None:
        return history.transfers
    return {
        key: [frame for frame in frames if frame.direction == "in" and not frame.disposition and frame.actor in actors]
        for key, frames in history.frames.items()
    }
