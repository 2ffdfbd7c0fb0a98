"""A pair's claims: the claimed profiles, the required capabilities that are not claimed, and the probes' verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts
from assay_reports.presentation import FACES, Face

_TRUE = frozenset({Verdict.PASS, Verdict.UNSUPPORTED})
"""The verdicts of probes that confirm the backend's declaration."""


class NotClaimed(Struct, frozen=True):
    """A capability that claimed profiles require and the pair does not declare."""

    capability: str
    profiles: tuple[str, ...]
    reason: str


class Claims(Struct, frozen=True):
    """A backend's claims about its product, and the verdicts of the probes.

    Args:
        told: Whether the journal has any claims of profiles or any probes.
        profiles: The claimed profiles.
        other_profiles: The profiles that the backend does not claim.
        not_claimed: The capabilities that claimed profiles require and the pair does not declare.
        probes: The verdicts of the probes.
        found: A text with the number of probes that had each verdict.
    """

    told: bool
    profiles: tuple[str, ...]
    other_profiles: tuple[str, ...]
    not_claimed: tuple[NotClaimed, ...]
    probes: tuple[ScenarioVerdict, ...]
    found: str

    @property
    def wrong(self) -> tuple[ScenarioVerdict, ...]:
        """The probes that found a declaration to be wrong, or that could not decide about it."""
        return tuple(probe for probe in self.probes if probe.verdict not in _TRUE)

    def face(self, probe: ScenarioVerdict) -> Face:
        """Return the presentation of a probe's verdict."""
        return FACES[probe.verdict]


def claims_of(verdicts: Verdicts) -> Claims:
    """Collect the claims of a run."""
    claimed = [one for one in verdicts.profiles if one.claimed]
    requiring: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for statement in claimed:
        for capability, reason in statement.not_claimed.items():
            requiring.setdefault(capability, []).append(statement.profile)
            reasons[capability] = reason
    return Claims(
        told=bool(verdicts.profiles or verdicts.probes),
        profiles=tuple(one.profile for one in claimed),
        other_profiles=tuple(one.profile for one in verdicts.profiles if not one.claimed),
        not_claimed=tuple(NotClaimed(name, tuple(requiring[name]), reason) for name, reason in reasons.items()),
        probes=verdicts.probes,
        found=_found(verdicts.probes),
    )


def _found(probes: Sequence[ScenarioVerdict]) -> str:
    tally = Counter(probe.verdict for probe in probes)
    words = {
        Verdict.PASS: "as declared",
        Verdict.UNSUPPORTED: "rightly not declared",
        Verdict.FAIL: "declared and not found",
        Verdict.ERROR: "in error",
        Verdict.INCONCLUSIVE: "undecided",
    }
    return ", ".join(f"{tally[verdict]} {word}" for verdict, word in words.items() if tally[verdict])
