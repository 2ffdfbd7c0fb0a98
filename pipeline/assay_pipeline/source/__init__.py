"""The data source ``assay``, and its registration with a Spark session."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from assay_pipeline.errors import ArrowMissingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Register the data source, so that ``spark.read.format("assay").load(RUN)`` reads the journals of a run.

    Spark's Python processes (PYSPARK_PYTHON) need this package, too.  A second call has no further effect.

    Args:
        spark: The session, which keeps the registration until its end.

    Raises:
        ArrowMissingError: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise ArrowMissingError
    from assay_pipeline.source.journals import JournalSource

    spark.dataSource.register(JournalSource)
