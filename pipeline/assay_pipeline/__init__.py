"""The evidence pipeline, which computes verdicts from journals with Spark, on one machine or a cluster.

The stages are ``bronze`` (checks every line), ``history`` (makes tables of each message's events), ``rules`` (finds the
subjects of each invariant) and ``verdicts``.  `judge_runs` runs all stages; `assay judge` calls it.

`register` makes journals a data source of the user's own Spark session (``docs/notebook.md``).
"""

from assay_pipeline.errors import (
    JavaMissingError,
    JournalGoneError,
    NoInvariantError,
    NoJournalError,
    OutputError,
    PackageMissingError,
    PipelineError,
    PlaceError,
    SparkFailedError,
    SparkMissingError,
    UnreachableMasterError,
)
from assay_pipeline.job import Options, Pages, Result, judge_runs
from assay_pipeline.source import register

__all__ = [
    "JavaMissingError",
    "JournalGoneError",
    "NoInvariantError",
    "NoJournalError",
    "Options",
    "OutputError",
    "PackageMissingError",
    "Pages",
    "PipelineError",
    "PlaceError",
    "Result",
    "SparkFailedError",
    "SparkMissingError",
    "UnreachableMasterError",
    "judge_runs",
    "register",
]
