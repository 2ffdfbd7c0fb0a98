from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay_broker.core.delay.dispositions import RELEASE, Step
from assay_broker.core.delay.processor import PROCESSOR, ProcessorState
from assay_broker.processor_page import diagram, listing, processor_page

PAGE = Path(__file__).parents[2] / "docs" / "processor.md"


def test_the_page_of_the_processor_is_the_one_that_the_tables_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == processor_page(), (
        "docs/processor.md is stale; run: python -m assay_broker.processor_page docs/processor.md"
    )


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
