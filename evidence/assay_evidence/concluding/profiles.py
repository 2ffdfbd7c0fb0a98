"""Profiles as claims, as in ISO 9646: what a backend claims, and what of it the pair does not declare.

A capability that a claimed profile requires and the pair does not declare is *not claimed*.  It changes no verdict: the
rules are tried all the same, and a scenario that needs the capability is unsupported.  Probes
(`assay_evidence.concluding.probes`) say whether the declarations are true.
"""

from __future__ import annotations

from assay_evidence.events import Begin
from assay_evidence.verdicts import ProfileStatement
from assay_features import Catalogue

NO_REASON = "The adapter gives no reason."


def statements(begin: Begin | None, catalogue: Catalogue) -> tuple[ProfileStatement, ...]:
    """What the backend says of each profile, in the catalogue's order; empty if the journal does not tell.

    Args:
        begin: The begin of the run's journal.
        catalogue: The rules, with their profiles.
    """
    if begin is None or begin.profiles is None:
        return ()
    found: list[ProfileStatement] = []
    for definition in catalogue.profiles:
        claimed = definition.key in begin.profiles
        lacking = [name for name in definition.requires if name not in begin.capabilities] if claimed else []
        reasons = {name: begin.lacks.get(name, NO_REASON) for name in lacking}
        found.append(ProfileStatement(definition.key.value, claimed, definition.requires, reasons))
    return tuple(found)
