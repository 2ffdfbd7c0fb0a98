"""Defects that break the rules of qualities of service (features/assay_features/qos)."""
