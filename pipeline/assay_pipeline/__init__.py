"""The evidence pipeline, which computes verdicts from journals with Spark, on one machine or a cluster.

``bronze`` (checks every line) → ``history`` (tables of each message's events) → ``rules`` (each invariant's subjects)
→ ``verdicts``.  `judge_runs` does all of this; `assay judge` calls it.
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
