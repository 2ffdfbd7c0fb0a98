from __future__ import annotations

import re

import pytest
from tools.pages.processor import processor_page
from tools.pages.state_tables import diagram, listing

from assay_broker.core.states.processor import PROCESSOR, ProcessorState
from assay_broker.core.states.release import RELEASE, Step


@pytest.mark.parametrize("platform", PROCESSOR)
def test_every_cell_of_a_life_has_its_row_and_its_arrow(platform: str) -> None:
    table = PROCESSOR["zos" if platform == "zos" else "distributed"]
    drawn = diagram(table, ProcessorState.DOWN)
    assert len(re.findall(r"[a-z] / [a-z]", drawn)) == len(table)
    assert len(listing(table, ("a", "b", "c", "d")).splitlines()) == len(table) + 2


def test_a_diagram_begins_at_the_first_step_and_ends_where_nothing_leaves() -> None:
    drawn = diagram(RELEASE, Step.PUT)
    assert "[*] --> PUT\n" in drawn
    assert {line.split()[0] for line in drawn.splitlines() if line.endswith("--> [*]")} == {"OVER", "KEPT"}


def test_a_table_that_has_changed_changes_the_page() -> None:
    cells = {**RELEASE}
    cells.popitem()
    assert diagram(cells, Step.PUT) not in processor_page()
    assert diagram(RELEASE, Step.PUT) in processor_page()
