from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import cast

import pytest

from assay_broker.core.clients.branches import Branch
from assay_broker.core.clients.units import Unit
from assay_broker.core.delay.processor import Processor
from assay_broker.core.refusals import RefusalError
from assay_broker.core.settings import Platform
from assay_broker.core.states.branches import BRANCHES, BranchInput, BranchState
from assay_broker.core.states.links import LINKS, Link, LinkInput, LinkState
from assay_broker.core.states.processor import PROCESSOR, ProcessorInput, ProcessorState
from assay_broker.core.states.units import UNITS, UnitInput, UnitState
from assay_sdk.model.stepper import ImpossibleError, words
from assay_sdk.model.xa import XaCode

CELLS = (
    *product(["link"], LinkState, LinkInput),
    *product(["unit"], UnitState, UnitInput),
    *product(["branch"], BranchState, BranchInput),
    *product(PROCESSOR, ProcessorState, ProcessorInput),
)


@pytest.fixture(scope="module", autouse=True)
def _count() -> Iterator[None]:
    yield
    known = len(LINKS) + len(UNITS) + len(BRANCHES) + sum(map(len, PROCESSOR.values()))
    print(f"\n{len(CELLS)} cells tried: {known} transitions, {len(CELLS) - known} refused")  # noqa: T201 - the count is asked for


@pytest.mark.parametrize(("machine", "state", "happened"), CELLS)
def test_every_state_takes_every_input_as_its_table_says(
    machine: str,
    state: LinkState | UnitState | BranchState | ProcessorState,
    happened: LinkInput | UnitInput | BranchInput | ProcessorInput,
) -> None:
    if isinstance(state, LinkState) and isinstance(happened, LinkInput):
        link = Link(1, 1, None, state, LINKS)
        if (state, happened) not in LINKS:
            with pytest.raises(RefusalError, match=words(happened)):
                link.step(happened)
            assert link.state is state
            return
        assert (link.state, link.step(happened))[1] is LINKS[state, happened][1]
        assert link.state is LINKS[state, happened][0]
    elif isinstance(state, UnitState) and isinstance(happened, UnitInput):
        unit = Unit(1, 1, UNITS)
        unit.state = state
        if (state, happened) not in UNITS:
            with pytest.raises(RefusalError, match=words(happened)):
                unit.step(happened)
            assert unit.state is state
            return
        assert unit.step(happened) is UNITS[state, happened][1]
        assert unit.state is UNITS[state, happened][0]
    elif isinstance(state, BranchState) and isinstance(happened, BranchInput):
        branch = Branch(b"x", 1, BRANCHES)
        branch.state = state
        if (state, happened) not in BRANCHES:
            with pytest.raises(RefusalError, match=words(happened)) as refusal:
                branch.step(happened)
            assert refusal.value.refused.xa == XaCode.XAER_PROTO
            assert branch.state is state
            return
        assert branch.step(happened) is BRANCHES[state, happened][1]
        assert branch.state is BRANCHES[state, happened][0]
    elif isinstance(state, ProcessorState) and isinstance(happened, ProcessorInput):
        table = PROCESSOR[cast("Platform", machine)]
        processor = Processor(table)
        processor.state = state
        if (state, happened) not in table:
            with pytest.raises(ImpossibleError, match=words(happened)):
                processor.step(happened)
            assert processor.state is state
            return
        assert processor.step(happened) is table[state, happened][1]
        assert processor.state is table[state, happened][0]
    else:
        pytest.fail(f"{machine} mixes tables")
