"""Defects of persistence and subscriptions: features/assay_features/persistence."""
