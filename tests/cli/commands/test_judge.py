"""Tests of ``assay judge``: mistakes in its options, which it finds before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("spark.driver.memory", "'spark.driver.memory' is no setting of Spark: write spark.NAME=VALUE"),
        ("memory=4g", "'memory=4g' is no setting of Spark"),
        ("spark.master=local", "name Spark's master with --master"),
    ],
)
def test_a_setting_that_spark_would_not_understand_is_refused(
    setting: str, says: str, assay: Assay, tmp_path: Path
) -> None:
    ended = assay("judge", str(tmp_path), "--out", str(tmp_path / "out"), "--conf", setting)
    assert ended.code == Exit.USAGE
    assert says in " ".join(ended.err.split())
    assert list(tmp_path.iterdir()) == []
