from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.stores.samples import DEFINED, TOPIC, stored

from assay_broker.core.records import KeptForTopic, MessageMarked, MessageStored, Record, RetainedSet, UnitPrepared
from assay_broker.stores.chunks import PIECE_BYTES, complete, shorten
from assay_sdk.model.message import Message

LONG = st.builds(
    lambda unit, count, end: unit * count + end,
    st.text(st.characters(codec=None), min_size=1, max_size=3),
    st.integers(15_000, 70_000),
    st.text(max_size=3),
)


@given(
    body=LONG | st.binary(max_size=5).map(lambda end: b"x" * 131_071 + end), encoded=st.none() | st.just(b"w" * 65_537)
)
def test_a_body_in_chunks_is_put_back_into_its_record(body: str | bytes, encoded: bytes | None) -> None:
    record = RetainedSet(topic=TOPIC, message=Message(body=body, encoded=encoded, subject="s"))
    shortened = shorten(record)
    if shortened is None:
        assert encoded is None
        assert len(body) <= PIECE_BYTES
        return
    pieces = [bytes(piece) for piece in shortened.pieces()]
    assert all(0 < len(piece) <= PIECE_BYTES for piece in pieces)
    assert sum(long.pieces for long in shortened.longs) == len(pieces)
    assert complete(shortened.record, shortened.longs, iter(pieces)) == record


@pytest.mark.parametrize(
    "record",
    [
        DEFINED,
        MessageMarked(1, 1),
        RetainedSet(topic=TOPIC, message=None),
        stored(1, "x" * PIECE_BYTES),
        stored(1, b"x" * PIECE_BYTES),
        stored(1, "€" * (PIECE_BYTES // 4)),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_short_body_stays_in_its_record(record: Record) -> None:
    assert shorten(record) is None


@pytest.mark.parametrize("body", ["x" * (PIECE_BYTES + 1), b"x" * (PIECE_BYTES + 1), "€" * (PIECE_BYTES // 3 + 1)])
def test_a_body_longer_than_a_chunk_leaves_its_record(body: str | bytes) -> None:
    shortened = shorten(stored(1, body))
    assert shortened is not None
    assert isinstance(shortened.record, MessageStored)
    assert shortened.record.message.body is None


def test_a_branch_in_doubt_lets_go_of_what_is_long_in_any_of_its_publications() -> None:
    bodies = ("short", "x" * 70_000, b"y" * 140_000)
    kept = tuple(KeptForTopic(TOPIC, Message(body=body, encoded=b"e" * 90_000), None, None) for body in bodies)
    record = UnitPrepared(number=1, xid=b"x", prepared_ms=1, kept=kept)
    shortened = shorten(record)
    assert shortened is not None
    assert [(long.message, long.field) for long in shortened.longs] == [
        (0, "encoded"),
        (1, "body"),
        (1, "encoded"),
        (2, "body"),
        (2, "encoded"),
    ]
    assert complete(shortened.record, shortened.longs, map(bytes, shortened.pieces())) == record


def test_octets_are_cut_without_a_copy() -> None:
    body = b"x" * (2 * PIECE_BYTES)
    shortened = shorten(stored(1, body))
    assert shortened is not None
    assert all(isinstance(piece, memoryview) and piece.obj is body for piece in shortened.pieces())


def test_a_missing_piece_is_missed() -> None:
    shortened = shorten(stored(1, b"x" * (2 * PIECE_BYTES)))
    assert shortened is not None
    with pytest.raises(ValueError, match="a piece is missing"):
        complete(shortened.record, shortened.longs, iter([b"x"]))
    with pytest.raises(ValueError, match="a message that it does not contain"):
        complete(DEFINED, shortened.longs, iter([]))
