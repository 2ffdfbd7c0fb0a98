"""The page of the messages, copies and batches that broke a rule in a history, each with its story."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from markupsafe import Markup

from assay_evidence.histories.offences import Offence
from assay_features import load_catalogue
from assay_reports.story import story
from assay_reports.templating import template_environment


def offences_page(offences: Sequence[Offence]) -> str:
    """Make the page as one HTML document, which needs no other file.

    Args:
        offences: The offending subjects, in the order of the page.
    """
    style = resources.files("assay_reports").joinpath("assets", "style.css").read_text("utf-8")
    catalogue = load_catalogue()
    told = [(one, catalogue.rule(one.rule), story(one.events, (one.ref,))) for one in offences]
    template = template_environment().get_template("offences.html")
    return template.render(offences=told, style=Markup(style))  # noqa: S704 - our own file
