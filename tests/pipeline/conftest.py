from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.judgement import Judgement, judge_everything

from assay_pipeline.errors import JavaMissingError, SparkMissingError
from assay_pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def spark() -> Iterator[SparkSession]:
    """Provide one Spark session for all tests here, because its start and end take seconds."""
    try:
        with spark_session() as session:
            yield session
    except (JavaMissingError, SparkMissingError) as error:
        if "spark" in os.environ.get("ASSAY_REQUIRE", ""):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="package")
def judgement(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    """Judge all miniature, random and damaged runs in one Spark job, because planning takes longer than running."""
    return judge_everything(spark, tmp_path_factory.mktemp("runs [all] +1 {a}"), tmp_path_factory.mktemp("out"))
