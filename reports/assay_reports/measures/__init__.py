"""The measures of a judgement as a page with plots."""

from assay_reports.measures.page import measures_page

__all__ = ["measures_page"]
