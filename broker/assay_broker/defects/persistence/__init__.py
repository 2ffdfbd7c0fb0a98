"""Defects that break the rules of persistence and subscriptions (features/assay_features/persistence)."""
