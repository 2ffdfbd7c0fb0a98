"""Tests of the place of defects: from a feature file's name one finds the modules of its defects."""

from __future__ import annotations

from pathlib import PurePath

from assay.rule_guide import guide_to
from assay_features import feature_root, load_catalogue
from assay_steps.defects import all_defects
from assay_steps.plugin.checks import tagged_scenarios

PROFILES = ("batch", "delay", "persistence", "qos")
FEATURES = {
    (path.parent.name, path.stem): frozenset(tag for one in tagged_scenarios(path) for tag in one.tags)
    for profile in PROFILES
    for path in (feature_root() / profile).glob("*.feature")
}
"""The tags of each feature, by its folder and name."""
FILES = {proof.name: PurePath(proof.file) for rule in load_catalogue().rules for proof in guide_to(rule).defects}
"""The file of each defect, by the defect's name."""


def feature_of(file: PurePath) -> tuple[str, str] | None:
    """Return folder and name of the feature of a defect's file; None for a file outside of the profiles' folders.

    The file has the name of the feature, or a longer name that begins with the feature's name.
    """
    profile = next((part for part in file.parts if part in PROFILES), None)
    if profile is None:
        return None
    names = (name for folder, name in FEATURES if folder == profile and f"{file.stem}_".startswith(f"{name}_"))
    return profile, max(names, key=len, default="")


def test_a_module_with_the_name_of_a_feature_breaks_the_rules_of_the_feature() -> None:
    defects = all_defects()
    strange = {
        name: str(file)
        for name, file in FILES.items()
        if (feature := feature_of(file)) is not None and not FEATURES.get(feature, frozenset()) & {*defects[name].rules}
    }
    assert strange == {}


def test_each_feature_has_a_module_of_defects() -> None:
    assert FEATURES.keys() - {feature_of(file) for file in FILES.values()} == set()
