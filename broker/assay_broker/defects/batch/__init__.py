"""Defects of batches and units of work: features/assay_features/batch."""
