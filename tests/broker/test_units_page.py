from __future__ import annotations

import re
from pathlib import Path

from assay_broker.core.clients.branches import BRANCHES, FAILURES, BranchState
from assay_broker.core.clients.units import UNITS, UnitState
from assay_broker.table_pages import diagram, listing
from assay_broker.units_page import units_page

PAGE = Path(__file__).parents[2] / "docs" / "units.md"


def test_the_page_of_units_of_work_is_the_one_that_the_tables_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == units_page(), (
        "docs/units.md is stale; run: python -m assay_broker.units_page docs/units.md"
    )


def test_every_cell_has_its_row_and_its_arrow() -> None:
    page = units_page()
    for drawn, cells in ((diagram(UNITS, UnitState.OPEN), UNITS), (diagram(BRANCHES, BranchState.ACTIVE), BRANCHES)):
        assert drawn in page
        assert len(re.findall(r"[a-z] / [a-z]", drawn)) == len(cells)
        assert drawn.count("ENDED --> [*]") == 1
    assert len(listing(BRANCHES, ("a", "b", "c", "d")).splitlines()) == len(BRANCHES) + 2


def test_every_answer_to_a_failing_store_is_on_the_page() -> None:
    assert all(f"| {code.name} |" in units_page() for code in FAILURES.values())
