"""Tests that the capabilities that a profile requires follow from the features."""

from __future__ import annotations

import pytest
from tools.pages.profiles import presupposed

from assay_features import Profile, load_catalogue
from assay_sdk.model.capabilities import Capability

CATALOGUE = load_catalogue()


def test_every_profile_is_defined() -> None:
    assert [one.key for one in CATALOGUE.profiles] == list(Profile)


@pytest.mark.parametrize("profile", Profile)
def test_a_profile_requires_what_its_rules_presuppose(profile: Profile) -> None:
    definition = CATALOGUE.definition(profile)
    assert definition is not None
    assert definition.requires == presupposed()[profile], "`make pages` writes these lines of rules.toml"
    assert definition.requires
    assert set(definition.requires) <= set(Capability)
