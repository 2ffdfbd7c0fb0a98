"""Tests that the users in the scenarios are the users that a broker under test is asked to know."""

from __future__ import annotations

import re
from pathlib import Path

from assay_adapters.ports.administration import ORDINARY_USERS
from assay_features.folder import feature_root

ROOT = Path(__file__).parents[2]


def test_scenarios_have_no_other_users() -> None:
    texts = [file.read_text(encoding="utf-8") for file in feature_root().rglob("*.feature")]
    assert {user for text in texts for user in re.findall(r'\buser "(\w+)"', text)} == set(ORDINARY_USERS)


def test_the_page_about_files_names_every_user() -> None:
    page = (ROOT / "docs" / "url.md").read_text(encoding="utf-8")
    assert all(f"`{user}`" in page for user in ORDINARY_USERS)


def test_the_image_of_artemis_has_every_user_with_both_roles() -> None:
    etc = ROOT / "images" / "artemis" / "etc"
    users, roles = (
        dict(re.findall(r"^(\w+) = (.*)$", (etc / f"artemis-{name}.properties").read_text("utf-8"), re.MULTILINE))
        for name in ("users", "roles")
    )
    assert {user: users.get(user) for user in ORDINARY_USERS} == {user: user for user in ORDINARY_USERS}
    assert {user: roles.get(user) for user in ORDINARY_USERS} == {user: user for user in ORDINARY_USERS}
    assert roles["ordinary"].split(",") == list(ORDINARY_USERS)
