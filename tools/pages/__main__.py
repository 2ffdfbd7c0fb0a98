"""The command line ``python -m tools.pages``, which writes all generated pages.

It also prints how many cells of the tables of rules and traits have each state (`assay_features.dimensions`).
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from assay_features import load_catalogue
from assay_features.dimensions import table_of
from tools.pages import PAGES

DOCS = Path(__file__).parents[2] / "docs"

(DOCS / "rules").mkdir(exist_ok=True)
for name, page in PAGES.items():
    (DOCS / name).write_text(page(), encoding="utf-8")

cells = Counter(cell.state.value for rule in load_catalogue().rules if rule.observable for cell in table_of(rule))
sys.stdout.write(f"cells: {cells.total()} ({', '.join(f'{number} {state}' for state, number in cells.items())})\n")
