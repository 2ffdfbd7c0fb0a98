from __future__ import annotations

from pathlib import Path

import pytest

from assay_pipeline.session.java import ClassArchive, Java
from assay_pipeline.session.settings import SMALL_OCTETS, machine_settings


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "a.jar").write_bytes(b"classes")
    return folder


JAVA = Java(Path("/usr/bin/java"), "17")


def test_the_first_session_makes_the_archive_and_the_second_maps_it(jars: Path) -> None:
    first = ClassArchive(JAVA, jars)
    (making,) = first.options()
    fresh = Path(making.removeprefix("-XX:ArchiveClassesAtExit="))
    fresh.write_bytes(b"archive")
    first.keep()
    first.forget()
    second = ClassArchive(JAVA, jars)
    assert second.options() == (f"-XX:SharedArchiveFile={second.path}", "-Xshare:auto")
    assert list(second.path.parent.iterdir()) == [second.path]


def test_a_session_that_died_leaves_no_archive(jars: Path) -> None:
    archive = ClassArchive(JAVA, jars)
    archive.options()
    archive.forget()
    assert list(archive.path.parent.iterdir()) == []


def test_another_java_or_other_jars_have_another_archive(jars: Path) -> None:
    first = ClassArchive(JAVA, jars).path
    assert ClassArchive(Java(JAVA.program, "21"), jars).path != first
    (jars / "b.jar").write_bytes(b"")
    assert ClassArchive(JAVA, jars).path != first


def test_a_cache_that_cannot_be_written_costs_the_archive_only(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert ClassArchive(JAVA, jars).options() == ()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "with space"))
    assert ClassArchive(JAVA, jars).options() == ()


OPTIONS = "spark.driver.extraJavaOptions"


def test_a_small_judgement_has_a_collector_without_threads(tmp_path: Path) -> None:
    assert "-XX:+UseSerialGC" in machine_settings(0, (), tmp_path)[OPTIONS]
    assert machine_settings(SMALL_OCTETS, ("-Xshare:auto",), tmp_path)[OPTIONS] == "-Xshare:auto"


@pytest.mark.parametrize("name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"])
def test_the_users_collector_is_the_only_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "-Dsome=thing -XX:+UseG1GC")
    options = machine_settings(0, (), tmp_path)[OPTIONS]
    assert "GC" not in options
    assert "-XX:TieredStopAtLevel=1" in options
