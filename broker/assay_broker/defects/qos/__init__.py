"""Defects of qualities of service: features/assay_features/qos."""
