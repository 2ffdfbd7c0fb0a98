"""The oracle: the five invariants of the pipeline a second time, in plain Python and with no line of code in common.

Where the pipeline joins tables, this walks through one scenario after the other.  Both give `Subject`s, and a test
and ``assay judge --oracle`` hold them equal.  The rules' definitions stand in the pipeline's modules
(``assay_pipeline.rules``), one a module.
"""

from assay_evidence.oracle.examine import INVARIANTS, examine
from assay_evidence.oracle.subjects import LIMITS, Limits, Outcome, Subject

__all__ = ["INVARIANTS", "LIMITS", "Limits", "Outcome", "Subject", "examine"]
