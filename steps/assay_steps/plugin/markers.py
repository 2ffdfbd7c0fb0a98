"""The kit's tags as pytest's markers, because pytest's strict markers refuse unknown tags."""

from __future__ import annotations

from collections.abc import Iterator

from assay_features import Catalogue, Role
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.cases import JUDGED_TAGS, OWN_INSTANCE, STRENGTH_TAGS, kind_tags
from assay_steps.words.mistakes import NEEDS_PREFIX, PROBE_PREFIX


def marker_lines(catalogue: Catalogue) -> Iterator[str]:
    """List pytest's marker lines, one for each tag of the kit."""
    for rule in catalogue.rules:
        yield f"{rule.id}: {rule.title}"
    for profile in sorted({rule.profile.value for rule in catalogue.rules}):
        yield f"{profile}: rules of this profile"
    for role in Role:
        yield f"{role}: the scenario's role: {role.meaning}"
    for strength in sorted({*STRENGTH_TAGS} - {*Role}):
        yield f"{strength}: the scenario's strength, if it differs from its rule's"
    for tag in JUDGED_TAGS:
        yield f"{tag}: the part that the scenario judges, if it differs from its rule's"
    for capability in Capability:
        yield f"{NEEDS_PREFIX}{capability.value}: the scenario needs this capability of client and broker"
        yield f"{PROBE_PREFIX}{capability.value}: the scenario looks for this capability"
    for tag in kind_tags():
        yield f"{tag}: the scenario is about a queue manager of this kind"
    yield f"{OWN_INSTANCE}: the scenario disturbs all other scenarios on its broker"
