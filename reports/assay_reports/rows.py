"""Makes the rows of the HTML table that shows an excerpt of the journal.

About 90 % of a report's values are in these rows.  So this module builds the rows without a template, which would take
longer.  A line without special characters needs only one check.  In other lines, the module replaces invisible
characters and escapes the result, as templates do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from assay_reports.excerpts import Line
from assay_reports.text import visible

_SPECIAL = re.compile(r"""[^ -~·µ]|[&<>"']""")
"""The characters that HTML must escape, or that may need a visible replacement."""


def rows(lines: Iterable[Line]) -> Markup:
    """Return the lines of an excerpt as table rows in escaped HTML.

    Args:
        lines: The lines of the excerpt.
    """
    return Markup("".join(map(_row, lines)))  # noqa: S704 - `_row` escapes every value


def _row(line: Line) -> str:
    at, ref, kind = line.at, line.ref, line.kind
    if _SPECIAL.search(f"{at}{ref}{kind}"):
        at, ref, kind = _fit(at), _fit(ref), _fit(kind)
    text = _fit(line.text) if _SPECIAL.search(line.text) else line.text
    if line.breaks:
        kind = f'<span aria-hidden="true">✕</span> {kind}'
        text = f"<strong>Breaks the rule:</strong> <bdi>{text}</bdi>"
        return f'<tr class="breaks"><td class="number">{at}</td><td>{ref}</td><td>{kind}</td><td>{text}</td></tr>\n'
    return f'<tr><td class="number">{at}</td><td>{ref}</td><td>{kind}</td><td><bdi>{text}</bdi></td></tr>\n'


def _fit(text: str) -> str:
    return escape(visible(text))
