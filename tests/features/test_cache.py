"""Tests of the files that keep values computed from features."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay_features import feature_root
from assay_features.cache import beside, cached
from assay_features.dimensions._table import _of_this_package, counts_of
from assay_features.dimensions._texts import scenario_texts
from assay_features.titles import titles


class Lengths:
    """A computation that counts its calls: the length of each source."""

    def __init__(self, folder: Path) -> None:
        self.calls = 0
        self.sources = [folder / "a.feature", folder / "b.feature"]
        self.place = folder / "kept" / "lengths.json"
        for source in self.sources:
            source.write_text("some text")

    def compute(self) -> dict[str, int]:
        self.calls += 1
        return {source.name: len(source.read_text()) for source in self.sources}

    def get(self) -> dict[str, int]:
        return cached(dict[str, int], self.compute, self.sources, self.place)


@pytest.fixture
def lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lengths:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return Lengths(tmp_path)


def test_a_kept_value_is_not_computed_again(lengths: Lengths) -> None:
    assert lengths.get() == lengths.get() == {"a.feature": 9, "b.feature": 9}
    assert lengths.calls == 1
    assert [path.name for path in lengths.place.parent.iterdir()] == ["lengths.json"]


@pytest.mark.parametrize("text", ["other tex", "a longer text", ""])
def test_a_changed_source_is_read_again(lengths: Lengths, text: str) -> None:
    lengths.get()
    lengths.sources[1].write_text(text)
    assert lengths.get() == lengths.get() == {"a.feature": 9, "b.feature": len(text)}
    assert lengths.calls == 2


def test_a_removed_or_renamed_source_counts(lengths: Lengths) -> None:
    lengths.get()
    lengths.sources[1] = lengths.sources[1].rename(lengths.sources[1].with_name("c.feature"))
    assert lengths.get().keys() == {"a.feature", "c.feature"}
    del lengths.sources[1]
    assert lengths.get().keys() == {"a.feature"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"\xff",
        lambda _: b"{}",
        lambda whole: whole[:-10],
        lambda whole: whole.replace(b"9", b'"nine"'),
    ],
    ids=["empty", "no JSON", "without a value", "cut off", "of another type"],
)
def test_a_damaged_file_is_replaced(lengths: Lengths, damage: Callable[[bytes], bytes]) -> None:
    lengths.get()
    whole = lengths.place.read_bytes()
    lengths.place.write_bytes(damage(whole))
    assert lengths.get() == {"a.feature": 9, "b.feature": 9}
    assert lengths.place.read_bytes() == whole


def test_a_process_that_writes_no_bytecode_writes_no_file(lengths: Lengths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert lengths.get() == {"a.feature": 9, "b.feature": 9}
    assert not lengths.place.parent.exists()


def test_a_folder_that_cannot_be_written_does_no_harm(lengths: Lengths) -> None:
    lengths.place.parent.write_text("this is no folder")
    assert lengths.get() == {"a.feature": 9, "b.feature": 9}


def test_the_files_are_with_the_compiled_modules() -> None:
    assert beside(__file__, "x.json").parent == Path(__file__).parent / "__pycache__"


def test_the_values_of_this_package_are_those_of_its_features() -> None:
    assert titles() == titles(feature_root())
    assert _of_this_package() == counts_of(scenario_texts())
