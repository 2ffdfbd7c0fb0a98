"""The oracle: examines journals in plain Python, to check the pipeline.

Where the pipeline joins tables, the oracle goes through one scenario after the other.  The two share no code: each
invariant has both forms (`assay_pipeline.rules`).  A test and ``assay judge --oracle`` compare their subjects.
"""

from assay_evidence.oracle.examine import Examined, InPython, examine
from assay_evidence.oracle.story import Story

__all__ = ["Examined", "InPython", "Story", "examine"]
