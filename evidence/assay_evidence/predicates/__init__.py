"""The predicates, which decide claims from the evidence of their scenario (`docs/what-a-pass-means.md`)."""

from __future__ import annotations

from assay_evidence.predicates.shapes import SHAPES, Shape
from assay_evidence.predicates.table import PREDICATES, Decide

__all__ = ["PREDICATES", "SHAPES", "Decide", "Shape"]
