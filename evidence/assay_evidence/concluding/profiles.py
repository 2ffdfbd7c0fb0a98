"""The profiles that a backend claims (as in ISO 9646), and the capabilities that the pair lacks for them.

A capability that a claimed profile requires and the pair does not declare is *not claimed*.  A capability that is not
claimed changes no verdict: the run still tries all rules, and a scenario that needs the capability is unsupported.
Probes (`assay_evidence.concluding.probes`) show whether the declarations are true.
"""

from __future__ import annotations

from assay_evidence.events import Begin
from assay_evidence.verdicts import ProfileStatement
from assay_features import Catalogue

NO_REASON = "The adapter gives no reason."


def statements(begin: Begin | None, catalogue: Catalogue) -> tuple[ProfileStatement, ...]:
    """Return, in the catalogue's order, whether the backend claims each profile, and what the pair lacks for it.

    Args:
        begin: The `Begin` of the run's journal; None if the journal lost it.
        catalogue: The rules, with their profiles.

    Returns:
        The statements; none if the journal does not record claims of profiles.
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
