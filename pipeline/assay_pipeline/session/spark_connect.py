"""A session on a Spark Connect server, which must already be running."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay_pipeline.errors import SparkFailedError, reason
from assay_pipeline.packages import need
from assay_pipeline.session.environment import environment
from assay_pipeline.session.settings import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = ("grpc", "grpc_status", "pandas", "pyarrow", "zstandard")
"""The packages that pyspark's client of Spark Connect imports."""


@contextmanager
def connect_session(url: str, octets: int, conf: Mapping[str, str]) -> Generator[SparkSession, None, None]:
    """Provide a session of a Spark Connect server, and end the session at the end of the block.

    Args:
        url: The server's address: ``sc://HOST:PORT``.
        octets: The size of the journals' lines in bytes, which decides some settings.
        conf: Settings of the user, which override the pipeline's own settings.

    Raises:
        PackageMissingError: A package that Spark Connect needs is not installed.
        SparkFailedError: The server refuses the session, or a setting.
    """
    need("A Spark Connect server needs", "connect", *_NEEDED)
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    # pyspark sets these variables. While they are set, each function of pyspark makes columns for Spark Connect.
    with environment({"SPARK_REMOTE": None, "SPARK_CONNECT_MODE_ENABLED": None}):
        builder = SparkSession.builder.remote(url)
        for name, value in {**session_settings(octets), **conf}.items():
            builder = builder.config(name, value)
        try:
            session = builder.create()
        except PySparkException as error:
            raise SparkFailedError(reason(str(error))) from error
        try:
            yield session
        finally:
            session.stop()
