"""Assay's Gherkin features, and the catalogue of the rules that the features test."""

from assay_features.catalogue import Catalogue, load_catalogue
from assay_features.errors import CatalogueError, FeaturesError, UnknownProfileError, UnknownRuleError
from assay_features.folder import feature_root
from assay_features.role import Role
from assay_features.rule import Citation, CitedBy, Document, Family, Judged, Profile, ProfileDefinition, Rule, Strength

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Citation",
    "CitedBy",
    "Document",
    "Family",
    "FeaturesError",
    "Judged",
    "Profile",
    "ProfileDefinition",
    "Role",
    "Rule",
    "Strength",
    "UnknownProfileError",
    "UnknownRuleError",
    "feature_root",
    "load_catalogue",
]
