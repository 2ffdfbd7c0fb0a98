"""The state tables of one queue manager, together: what a defect may replace a cell of."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_broker.core.clients.branches import BRANCHES, BranchTable
from assay_broker.core.clients.units import UNITS, UnitTable
from assay_broker.core.delay.dispositions import RELEASE, ReleaseTable
from assay_broker.core.delay.processor import PROCESSOR, ProcessorTable
from assay_broker.core.settings import Platform
from assay_broker.core.states.links import LINKS, LinkTable


class Tables(Struct, frozen=True, kw_only=True):
    """All state machines as data."""

    processor: Mapping[Platform, ProcessorTable] = PROCESSOR
    release: ReleaseTable = RELEASE
    units: UnitTable = UNITS
    branches: BranchTable = BRANCHES
    links: LinkTable = LINKS


TABLES = Tables()
