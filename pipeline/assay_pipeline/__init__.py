"""The evidence pipeline, which computes verdicts from journals with Spark, on one machine or a cluster.

The stages are ``bronze`` (checks every line), ``history`` (makes tables of each message's events), ``rules`` (finds the
subjects of each invariant) and ``verdicts``.  `judge_runs` runs all stages; `assay judge` calls it.
"""

from assay_pipeline.errors import (
    JavaMissingError,
    NoInvariantError,
    NoJournalError,
    OutputError,
    PipelineError,
    SparkFailedError,
    SparkMissingError,
)
from assay_pipeline.job import Result, judge_runs

__all__ = [
    "JavaMissingError",
    "NoInvariantError",
    "NoJournalError",
    "OutputError",
    "PipelineError",
    "Result",
    "SparkFailedError",
    "SparkMissingError",
    "judge_runs",
]
