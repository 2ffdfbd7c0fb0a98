"""The environment of the report's templates, which escapes every value."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay_evidence.figures import counted
from assay_evidence.levels import listed
from assay_reports.rows import rows
from assay_reports.text import visible
from assay_reports.views.arrangement import arranged

_FIT = (Markup, int, float)


@cache
def template_environment() -> Environment:
    """Return the environment of the templates; cached, so that each template is compiled only once."""
    environment = Environment(
        loader=PackageLoader("assay_reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {"rows": rows, "counted": counted, "arranged": arranged, "levels": listed}
    environment.filters.update(filters)
    return environment


def _finalize(value: object) -> object:
    """Make special characters in a template's value visible; the template escapes the result."""
    return value if isinstance(value, _FIT) else visible(str(value))
