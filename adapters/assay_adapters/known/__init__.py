"""Known outcomes of a backend, beside its adapter: what is expected to differ from a pass, and why.

They still run.  An entry that no longer holds (the scenario now passes, or fails otherwise), that matches no scenario,
or that is past its day, makes the run end as not expected.
"""

from assay_adapters.known.outcomes import KnownOutcome, KnownOutcomes, KnownOutcomesError, known_outcomes

__all__ = ["KnownOutcome", "KnownOutcomes", "KnownOutcomesError", "known_outcomes"]
