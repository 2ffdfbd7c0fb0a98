"""Probes: `features/probes`."""

from __future__ import annotations

from pytest_bdd import scenarios

from assay_features import feature_root

scenarios(str(feature_root() / "probes"))
