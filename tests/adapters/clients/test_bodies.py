from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_adapters.clients.bodies import sized

BODY = "k1 The quick brown fox"


@given(st.integers(2, 10_000))
def test_a_body_has_the_size_that_was_asked_for_and_keeps_the_kits_id(size: int) -> None:
    made = sized(BODY, "k1", size)
    assert len(made.encode()) == size
    assert made.startswith("k1")
    assert made.startswith(BODY[:size])


def test_a_body_may_be_empty_or_left_as_it_is() -> None:
    assert sized(BODY, "k1", 0) == ""
    assert sized(BODY, "k1", None) is BODY


@pytest.mark.parametrize("size", [-1, 1])
def test_a_body_too_small_for_the_kits_id_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="cannot hold the kit's id 'k1'"):
        sized(BODY, "k1", size)


def test_a_size_that_would_cut_a_character_in_two_is_refused() -> None:
    with pytest.raises(ValueError, match="cut a character"):
        sized("k1 ü", "k1", 4)
    assert sized("k1 ü", "k1", 5) == "k1 ü"
