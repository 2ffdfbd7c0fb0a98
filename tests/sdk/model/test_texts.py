"""Tests of names and selectors that every wire carries unchanged."""

from __future__ import annotations

import pytest

from assay_sdk.model.texts import LONGEST_NAME, LONGEST_SELECTOR, TextError, check_name, check_selector_text


@pytest.mark.parametrize("name", ["x", " ", "ä" * (LONGEST_NAME // 2), "a b", "\u200b", "😀"])
def test_a_name_of_any_printed_characters_is_valid(name: str) -> None:
    check_name(name, "client_id")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (None, "client_id is None: give text"),
        ("", "client_id is empty: give at least one character"),
        ("n\0A", r"client_id 'n\x00A' is not valid: character 2 is U+0000; leave it out"),
        ("ä\x85", "character 2 is U+0085"),
        ("x\udfff", "character 2 is U+DFFF"),
        ("ä" * (LONGEST_NAME // 2) + "x", "ä'… is not valid: it has 10241 bytes of UTF-8, and 10240 are allowed"),
    ],
)
def test_any_other_name_is_refused_with_a_sentence(name: object, said: str) -> None:
    with pytest.raises(TextError) as refusal:
        check_name(name, "client_id")
    assert said in str(refusal.value)


def test_a_selector_may_have_control_characters() -> None:
    check_selector_text("a = 'x\n\0'")
    check_selector_text("x" * LONGEST_SELECTOR)
