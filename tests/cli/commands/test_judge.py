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


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("ftp://me:sEcReT@host/run", "Assay knows no file system ftp"),
        ("s3a://me:sEcReT@bucket/run", "The folder s3a://*** cannot be used: it names a user or a password"),
        ("s3a://bucket/run?X-Amz-Signature=sEcReT", "The folder s3a://bucket/run cannot be used"),
        ("s3a://bucket", "it names no folder"),
        ("file:///none/{a}%20b", "No journal to judge in /none/{a} b: the folder does not exist"),
    ],
)
@pytest.mark.parametrize("is_out", [False, True])
def test_a_uri_that_cannot_be_used_is_refused(
    folder: str,
    says: str,
    is_out: bool,
    assay: Assay,
    tmp_path: Path,
) -> None:
    if is_out and folder.startswith("file:"):
        pytest.skip("a folder for results need not exist")
    folders = [str(tmp_path), "--out", folder] if is_out else [folder, "--out", str(tmp_path / "out")]
    ended = assay("judge", *folders)
    assert ended.code == Exit.USAGE
    assert says in " ".join(ended.err.split())
    assert "sEcReT" not in ended.err + ended.out
    assert list(tmp_path.iterdir()) == []
