from __future__ import annotations

from pathlib import Path

import pytest
from tools.pages import PAGES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_the_code_gives(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), f"docs/{name} is stale; run: make pages"
