"""The references and bounds that each predicate reads; a claim with any other name has a mistake."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import Claim, Predicate


class Shape(Struct, frozen=True):
    """The references and bounds that a predicate reads.

    Args:
        of: The names of references; a name that ends with a dot stands for all names with this beginning.
        bounds: The names of bounds.
    """

    of: frozenset[str]
    bounds: frozenset[str] = frozenset()

    def reads(self, name: str) -> bool:
        """Return whether the predicate reads a reference of this name."""
        return name in self.of or any(known.endswith(".") and name.startswith(known) for known in self.of)


_MESSAGE = frozenset({"kid", "kids"})
_WHO = frozenset({"actor", "actors"})
_CALL = frozenset({"call"})
_SENT = _MESSAGE | _WHO | _CALL

SHAPES: Mapping[Predicate, Shape] = {
    "accepted": Shape(_CALL),
    "refused-with": Shape(_CALL | {"kind"}, frozenset({"mqrc", "checked", "authority"})),
    "not-before": Shape(_SENT, frozenset({"delay_ms", "watched_percent"})),
    "by": Shape(_SENT | {"after", "like"}, frozenset({"delay_ms", "limit_ms"})),
    "delivered-exactly": Shape(_SENT, frozenset({"times", "unanswered", "quiet_ms"})),
    "delivered-at-most": Shape(_SENT, frozenset({"times", "unanswered", "quiet_ms"})),
    "never-seen": Shape(_SENT | {"from", "missed"}, frozenset({"window_ms", "quiet_ms"})),
    "delivered-at-least": Shape(_SENT, frozenset({"times", "quiet_ms"})),
    "redelivered": Shape(_SENT, frozenset({"times", "flagged", "quiet_ms"})),
    "in-order": Shape(_MESSAGE | _WHO),
    "equal-fields": Shape(_MESSAGE | _WHO | {"at", "which", "field."}),
    "mentions": Shape(_MESSAGE | _WHO | {"at", "which", "field."}, frozenset({"exactly", "absent", "any", "recorded"})),
    "in-range": Shape(
        _MESSAGE | _WHO | _CALL | {"at", "which", "field"}, frozenset({"least", "most", "lasts_ms", "measured"})
    ),
    "found-by-browse": Shape(_MESSAGE | _CALL, frozenset({"count"})),
    "flushed-before": Shape(_SENT, frozenset({"copies"})),
    "batch-shape": Shape(
        _MESSAGE | _WHO | {"like"},
        frozenset({"max", "min", "batches", "defer_ms", "limit_ms", "full_ms", "fill"}),
    ),
    "transferred": Shape(_MESSAGE | _WHO | {"field."}, frozenset({"times", "least", "settled"})),
    "disposed": Shape(_MESSAGE | _WHO | _CALL, frozenset({"times", "acknowledged", "accepted", "settled", "quiet_ms"})),
    "one-of": Shape(_WHO | {"option."}, frozenset({"mqrc", "authority", "given_up_ms", "within_ms", "quiet_ms"})),
    "all-or-nothing": Shape(_MESSAGE | _WHO | {"taken", "after"}, frozenset({"quiet_ms"})),
    "only-sent": Shape(_WHO),
    "comes-back": Shape(frozenset({"fault", "said"})),
    "queue-kept": Shape(_CALL),
    "own-check": Shape(frozenset({"said"}), frozenset({"held"})),
}


def check_shape(claim: Claim) -> None:
    """Check that a predicate reads every name in its claim, because an unread name would weaken the claim.

    Raises:
        ClaimError: The claim has a reference or bound that its predicate does not read, or a negative bound.
    """
    shape = SHAPES[claim.predicate]
    unread = [name for name in claim.of if not shape.reads(name)]
    unread += [name for name in claim.bounds if name not in shape.bounds]
    if unread:
        raise ClaimError(f"The claim {claim.ref} names {', '.join(unread)}, which {claim.predicate} does not read.")
    negative = [name for name, value in claim.bounds.items() if value < 0]
    if negative:
        raise ClaimError(f"The claim {claim.ref} has a negative {', '.join(negative)}.")
