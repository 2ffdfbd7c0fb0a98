"""The command line ``python -m tools.pages``, which writes all generated pages."""

from __future__ import annotations

from pathlib import Path

from tools.pages import PAGES

DOCS = Path(__file__).parents[2] / "docs"

(DOCS / "rules").mkdir(exist_ok=True)
for name, page in PAGES.items():
    (DOCS / name).write_text(page(), encoding="utf-8")
