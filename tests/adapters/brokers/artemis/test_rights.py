"""Tests of rights on an address of Artemis, with roles as Artemis 2.56.0 shows them."""

from __future__ import annotations

import pytest

from assay_adapters.brokers.artemis.rights import Rights, Role, granted, revoked, rights_in, without_ordinary_users

ROLES: list[Role] = [
    {"name": "amq", "send": True, "consume": True, "browse": True, "manage": True},
    {"name": "ordinary", "send": True, "consume": True, "browse": True, "manage": False},
]
WITHHELD: Rights = {"send": ["amq"], "consume": ["amq"], "browse": ["amq"], "manage": ["amq"]}


def test_an_answer_has_the_roles_with_each_permission() -> None:
    both = ["amq", "ordinary"]
    assert rights_in(ROLES) == {"send": both, "consume": both, "browse": both, "manage": ["amq"]}
    assert rights_in([]) == {}


def test_only_ordinary_users_lose_their_rights() -> None:
    assert without_ordinary_users(rights_in(ROLES)) == WITHHELD


@pytest.mark.parametrize(
    ("authority", "permission"), [("PUT", "send"), ("PUB", "send"), ("GET", "consume"), ("BROWSE", "browse")]
)
def test_a_grant_and_its_revocation_concern_one_permission_of_one_user(authority: str, permission: str) -> None:
    given = granted(WITHHELD, "alice", (authority,))
    assert given == WITHHELD | {permission: ["amq", "alice"]}
    assert granted(given, "alice", (authority,)) == given
    assert revoked(given, "bob", (authority,)) == given
    assert revoked(given, "alice", (authority,)) == WITHHELD
    assert revoked(given, "alice", ("ALL",)) == WITHHELD
