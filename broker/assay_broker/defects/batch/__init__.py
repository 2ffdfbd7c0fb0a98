"""Defects that break the rules of batches and units of work (features/assay_features/batch)."""
