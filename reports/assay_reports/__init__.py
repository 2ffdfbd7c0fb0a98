"""Makes reports for people and machines from a run's output folder alone."""

from assay_reports.errors import OutputError, ReportError, SourceError
from assay_reports.junit import junit_xml
from assay_reports.machine import rules_json
from assay_reports.site import render_site
from assay_reports.sources import KillMatrix, KnownOutcome, RunEvidence, read_kills, read_known, read_run

__all__ = [
    "KillMatrix",
    "KnownOutcome",
    "OutputError",
    "ReportError",
    "RunEvidence",
    "SourceError",
    "junit_xml",
    "read_kills",
    "read_known",
    "read_run",
    "render_site",
    "rules_json",
]
