"""The evidence pipeline: from journals to verdicts on Spark, on one machine or a cluster.

``bronze`` (every line accounted for) → ``history`` (what became of each message) → ``rules`` (each invariant's
subjects) → ``verdicts``.  `judge_runs` does all of it; `assay judge` calls it.
"""

from assay_pipeline.errors import (
    JavaMissingError,
    NoJournalError,
    OutputError,
    PipelineError,
    SparkFailedError,
    SparkMissingError,
)
from assay_pipeline.job import Result, judge_runs

__all__ = [
    "JavaMissingError",
    "NoJournalError",
    "OutputError",
    "PipelineError",
    "Result",
    "SparkFailedError",
    "SparkMissingError",
    "judge_runs",
]
