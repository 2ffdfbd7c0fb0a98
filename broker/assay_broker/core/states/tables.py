"""The state tables of one queue manager, together; a defect may replace single cells."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_broker.core.settings import Platform
from assay_broker.core.states.branches import BRANCHES, BranchTable
from assay_broker.core.states.links import LINKS, LinkTable
from assay_broker.core.states.processor import PROCESSOR, ProcessorTable
from assay_broker.core.states.release import RELEASE, ReleaseTable
from assay_broker.core.states.units import UNITS, UnitTable


class Tables(Struct, frozen=True, kw_only=True):
    """All state tables of one queue manager; the table of the delay processor depends on the platform."""

    processor: Mapping[Platform, ProcessorTable] = PROCESSOR
    release: ReleaseTable = RELEASE
    units: UnitTable = UNITS
    branches: BranchTable = BRANCHES
    links: LinkTable = LINKS


TABLES = Tables()
