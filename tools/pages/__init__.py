"""Makes the pages of `docs/` that are generated from code, and the lines of the catalogue that depend on the features.

``make pages`` writes all these files.  A test compares each file with the result of its generator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from assay_features import load_catalogue
from tools.pages.imports import architecture_page
from tools.pages.liveness import liveness_page
from tools.pages.processor import processor_page
from tools.pages.profiles import catalogue_text
from tools.pages.reasons import reasons_page
from tools.pages.rules import rule_page, rules_index
from tools.pages.stomp import stomp_page
from tools.pages.units import units_page
from tools.pages.vocabulary import vocabulary_page

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "../features/assay_features/rules.toml": catalogue_text,
        "architecture.md": architecture_page,
        "processor.md": processor_page,
        "reasons.md": reasons_page,
        "stomp.md": stomp_page,
        "stomp-liveness.md": liveness_page,
        "units.md": units_page,
        "vocabulary.md": vocabulary_page,
        "rules/README.md": rules_index,
        **{f"rules/{rule.id}.md": partial(rule_page, rule) for rule in load_catalogue().rules},
    }
)
"""The function that makes each page, by the page's name in `docs/`."""
