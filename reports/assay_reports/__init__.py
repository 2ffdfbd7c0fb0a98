"""Makes reports for people and machines, from the output folders of runs and from judgements of histories."""

from assay_reports.errors import OutputError, ReportError, SourceError
from assay_reports.histories.measures import measures_page
from assay_reports.histories.offences import offences_page
from assay_reports.junit import junit_xml
from assay_reports.machine import rules_json
from assay_reports.site import render_site
from assay_reports.sources import KillMatrix, KnownOutcome, RunEvidence, read_kills, read_known, read_run
from assay_reports.views.comparison import FORM as MATRIX_FORM
from assay_reports.views.comparison import PAGE as MATRIX_PAGE
from assay_reports.views.comparison import Absence, AbsenceState, Comparison, read_absent

__all__ = [
    "MATRIX_FORM",
    "MATRIX_PAGE",
    "Absence",
    "AbsenceState",
    "Comparison",
    "KillMatrix",
    "KnownOutcome",
    "OutputError",
    "ReportError",
    "RunEvidence",
    "SourceError",
    "junit_xml",
    "measures_page",
    "offences_page",
    "read_absent",
    "read_kills",
    "read_known",
    "read_run",
    "render_site",
    "rules_json",
]
