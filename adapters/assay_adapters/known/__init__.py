"""Known outcomes of a backend: scenarios for which the backend expects another verdict than pass, with the reasons.

These scenarios still run. A run has an unexpected result if an entry has expired, matches no scenario, or names
another verdict than its scenario has in the run.
"""

from assay_adapters.known.outcomes import (
    KnownOutcome,
    KnownOutcomes,
    KnownOutcomesError,
    Surprise,
    known_outcomes,
    read_outcomes,
)

__all__ = ["KnownOutcome", "KnownOutcomes", "KnownOutcomesError", "Surprise", "known_outcomes", "read_outcomes"]
