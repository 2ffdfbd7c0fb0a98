"""The page of a judgement's measures: tables, and a plot beside each table that has one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from importlib.util import find_spec

from markupsafe import Markup

from assay_evidence.histories.measures import PERCENTILES, Measures
from assay_reports.templating import template_environment


def measures_page(measures: Sequence[Measures]) -> str:
    """Make the page as one HTML document, which needs no other file.

    Without the package matplotlib, the page has the tables only, and says so.

    Args:
        measures: The measures of the runs.
    """
    style = resources.files("assay_reports").joinpath("assets", "style.css").read_text("utf-8")
    template = template_environment().get_template("measures.html")
    return template.render(
        runs=[(run, *_plots(run)) for run in measures],
        percentiles=PERCENTILES,
        style=Markup(style),  # noqa: S704 - our own file
        drawn=_can_draw(),
    )


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _plots(run: Measures) -> tuple[Markup | None, Markup | None]:
    if not _can_draw():
        return None, None
    from assay_reports.histories.plots import lateness_plot, rates_plot

    return rates_plot(run), lateness_plot(run)
