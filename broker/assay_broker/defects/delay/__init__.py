"""Defects of delayed delivery: features/assay_features/delay."""
