from __future__ import annotations

import pytest
from tools.pages.vocabulary import PAGE, rewritten

TEXT = PAGE.read_text(encoding="utf-8")


def test_a_changed_table_is_made_anew() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| Given"))
    assert rewritten(TEXT.replace(row, "| changed |")) == TEXT


def test_a_topic_without_a_place_on_the_page_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for this"):
        rewritten(TEXT.replace("## Sending\n", "## Something else\n"))
