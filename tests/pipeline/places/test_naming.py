"""Tests of the names of places."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from assay_pipeline.errors import PlaceError
from assay_pipeline.places.naming import place_at, place_of
from assay_pipeline.places.remote import RemotePlace

NAMES = ("plain", "two words", "Prüfung", "100%", "a+b", "a%20b", "{a} [b] *?", "a#b", "a:b", "a@b")
SECRET = "sEcReT"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_uri_is_the_path(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert place_of(path.as_uri()) == place_of(path) == place_of(str(path)) == path


@pytest.mark.parametrize("name", ["file:/tmp/run", "file:///tmp/run", "FILE:///tmp/run", "file://localhost/tmp/run"])
def test_a_file_uri_has_several_forms(name: str) -> None:
    assert place_of(name) == Path("/tmp/run")  # noqa: S108 - nothing is written there


@pytest.mark.parametrize("name", ["run", "a:b", "./s3a://bucket/run", "s3a:run", "file", "C:/run", "file:run"])
def test_other_names_are_paths(name: str) -> None:
    assert place_of(name) == Path(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("root", ["s3a://bucket", "abfss://container@account.dfs.core.windows.net", "hdfs://host:8020"])
def test_a_uri_loses_its_percent_encoding_once(root: str, name: str) -> None:
    place = place_of(f"{root}/{quote(name)}/run/")
    assert place == RemotePlace(root, f"/{name}/run")
    assert str(place) == f"{root}/{name}/run"
    assert place_at(str(place)) == place


def test_a_uri_has_one_form() -> None:
    assert place_of("S3A://bucket//runs/./x/../run/") == place_of("s3a://bucket/runs/run")
    assert place_of("gs://bucket/../run") == place_of("gs://bucket/run")


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        (f"ftp://me:{SECRET}@host/run", "Assay knows no file system ftp"),
        ("https://host/run", r"it knows file, s3a, s3, gs, abfs, abfss, hdfs, viewfs"),
        (f"s3a://me:{SECRET}@bucket/run", "it names a user or a password"),
        (f"s3a://{SECRET}@bucket/run", "it names a user or a password"),
        (f"s3a://me:{SECRET}/half@bucket/run", "its bucket is not a valid name"),
        (f"abfs://box:{SECRET}@account.dfs.core.windows.net/run", "it names a user or a password"),
        (f"hdfs://me:{SECRET}@host:8020/run", "it names a user or a password"),
        (f"abfs://box@account.dfs.core.windows.net/run?sig={SECRET}", "has no query and no fragment"),
        (f"gs://bucket/run?token={SECRET}", "has no query and no fragment"),
        (f"file:///tmp/run#{SECRET}", "has no query and no fragment"),
        ("s3a://bucket", "it names no folder"),
        ("s3a://bucket/./", "it names no folder"),
        ("s3a:///run", "it names no bucket"),
        ("hdfs:///run", "it names no host"),
        ("hdfs://host:port/run", "its host is not a valid name"),
        ("file://host/run", "it names a host"),
        ("s3a://bucket/%FF", "not UTF-8"),
        ("s3a://bucket/%00", "NUL"),
        ("file:///tmp/%00", "NUL"),
    ],
)
def test_a_uri_that_cannot_be_used_is_refused_without_its_secrets(uri: str, why: str) -> None:
    with pytest.raises(PlaceError, match=why) as caught:
        place_of(uri)
    assert SECRET not in str(caught.value)
    assert str(caught.value).startswith(f"The folder {uri.partition(':')[0]}:")
