"""Defects that break the rules of delayed delivery (features/assay_features/delay)."""
