from __future__ import annotations

import re

from tools.pages.state_tables import diagram, listing
from tools.pages.units import units_page

from assay_broker.core.states.branches import BRANCHES, FAILURES, BranchState
from assay_broker.core.states.units import UNITS, UnitState


def test_every_cell_has_its_row_and_its_arrow() -> None:
    page = units_page()
    for drawn, cells in ((diagram(UNITS, UnitState.OPEN), UNITS), (diagram(BRANCHES, BranchState.ACTIVE), BRANCHES)):
        assert drawn in page
        assert len(re.findall(r"[a-z] / [a-z]", drawn)) == len(cells)
        assert drawn.count("ENDED --> [*]") == 1
    assert len(listing(BRANCHES, ("a", "b", "c", "d")).splitlines()) == len(BRANCHES) + 2


def test_every_answer_to_a_failing_store_is_on_the_page() -> None:
    assert all(f"| {code.name} |" in units_page() for code in FAILURES.values())
