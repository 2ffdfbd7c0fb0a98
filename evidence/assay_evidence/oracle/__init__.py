"""The oracle: examines journals in plain Python, to check the results of the pipeline.

The pipeline joins tables of all scenarios; the oracle examines one scenario after the other.  The two share no code:
`assay_pipeline.rules` has each invariant twice, once for the pipeline and once for the oracle.  A test and ``assay
judge --oracle`` compare the subjects that both find.
"""

from assay_evidence.oracle.examination import Examined, InPython, examine
from assay_evidence.oracle.story import Story

__all__ = ["Examined", "InPython", "Story", "examine"]
