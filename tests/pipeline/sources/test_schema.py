from __future__ import annotations

import typing

import pytest

from assay_evidence import events

pytest.importorskip("pyspark", reason="pyspark is not installed")

from assay_pipeline.schema import event_schema, kinds, parsing_schema, required_fields


def test_every_field_of_every_kind_is_a_column() -> None:
    columns = event_schema().fieldNames()
    expected = {"kind"}.union(*(kind.__struct_encode_fields__ for kind in typing.get_args(events.AnyEvent)))
    assert set(columns) == expected
    assert len(columns) == len(set(columns))


def test_the_schema_of_columns_is_the_one_agreed_upon() -> None:
    """The types are written by hand, to show a mistake in their derivation."""
    types = {field.name: field.dataType.simpleString() for field in event_schema().fields}
    assert types["seq"] == types["mono_ns"] == types["batch"] == "bigint"
    assert types["args"] == types["value"] == types["of"] == "map<string,string>"
    assert types["bounds"] == "map<string,bigint>"
    assert types["redelivered"] == "boolean"
    assert types["kids"] == types["writers"] == "array<string>"
    assert types["outcome"] == types["scenario"] == types["phase"] == "string"
    assert types["msg"].startswith("struct<kid:string,sha256:string,bytes:bigint")
    assert types["scenarios"].startswith("array<struct<id:string,rules:array<string>")


def test_a_field_without_default_is_required() -> None:
    assert "actor" in required_fields()["seen"]
    assert "batch" not in required_fields()["seen"]
    assert {"v", "run", "writer", "seq"} <= set(required_fields()["end"])


def test_every_kind_is_known_by_its_tag() -> None:
    assert set(kinds().values()) == set(typing.get_args(events.AnyEvent))


def test_the_line_is_read_with_checksum_and_a_place_for_misfits() -> None:
    assert parsing_schema().fieldNames() == [*event_schema().fieldNames(), "sum", "_corrupt_record"]


def test_two_types_for_one_field_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strange(events.Event, frozen=True, kw_only=True, tag="strange"):
        actor: int

    monkeypatch.setattr(events, "AnyEvent", events.Seen | Strange)
    kinds.cache_clear()
    event_schema.cache_clear()
    try:
        with pytest.raises(TypeError, match="'actor' has another type"):
            event_schema()
    finally:
        monkeypatch.undo()
        kinds.cache_clear()
        event_schema.cache_clear()
