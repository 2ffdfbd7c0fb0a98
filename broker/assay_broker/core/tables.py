"""The state tables of one queue manager, together: what a defect may replace a cell of."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.links import LINKS, LinkTable
from assay_broker.core.staging import PROCESSOR, ProcessorTable
from assay_broker.core.units import UNITS, UnitTable


class Tables(Struct, frozen=True, kw_only=True):
    """All state machines as data."""

    processor: ProcessorTable = PROCESSOR
    units: UnitTable = UNITS
    links: LinkTable = LINKS


TABLES = Tables()
