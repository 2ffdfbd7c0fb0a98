"""Known outcomes of a backend: scenarios with an expected verdict other than pass, and why.

These scenarios still run. A run ends as not expected if an entry no longer holds (the scenario passes, or fails
otherwise), matches no scenario, or has expired.
"""

from assay_adapters.known.outcomes import KnownOutcome, KnownOutcomes, KnownOutcomesError, known_outcomes

__all__ = ["KnownOutcome", "KnownOutcomes", "KnownOutcomesError", "known_outcomes"]
