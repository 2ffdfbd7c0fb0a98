"""The data source ``assay``, and its registration with a Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_pipeline.packages import need

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Register the data source, so that ``spark.read.format("assay").load(RUN)`` reads the journals of a run.

    Spark's Python processes (PYSPARK_PYTHON) need this package, too.  A second call has no further effect.

    Args:
        spark: The session, which keeps the registration until its end.

    Raises:
        PackageMissingError: pyarrow is not installed.
    """
    need("To read journals as a data source, Spark needs", "spark", "pyarrow")
    from assay_pipeline.source.journals import JournalSource

    spark.dataSource.register(JournalSource)
