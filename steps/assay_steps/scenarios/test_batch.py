"""Scenarios of `features/batch`."""

from __future__ import annotations

from assay_features import feature_root
from pytest_bdd import scenarios

scenarios(str(feature_root() / "batch"))
