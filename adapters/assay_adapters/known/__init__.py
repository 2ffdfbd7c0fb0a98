"""Known outcomes of a backend: scenarios for which the backend expects another verdict than pass, with the reasons.

These scenarios still run. A run has an unexpected result in these cases:

- A scenario without an entry has another verdict than pass or unsupported.
- An entry has expired, or names another verdict than its scenario has in the run.
- The run covers all rules, and an entry matches no scenario.
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
