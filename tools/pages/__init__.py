"""Pages of `docs/` that are made from the code.

``make pages`` writes all of them anew. A test holds each file equal to what is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tools.pages.processor import processor_page
from tools.pages.reasons import reasons_page
from tools.pages.units import units_page

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {"processor.md": processor_page, "reasons.md": reasons_page, "units.md": units_page}
)
"""What makes each page, by its name in `docs/`."""
