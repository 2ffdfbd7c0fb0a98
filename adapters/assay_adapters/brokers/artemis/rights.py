"""The rights of users on an address of Artemis: the roles that have each permission, as in its security settings.

Each user of the scenarios has two roles: `ORDINARY`, and a role with the user's own name.  By default, ordinary users
have all permissions except management.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

ORDINARY = "ordinary"
"""The role of all ordinary users."""

_SUBSCRIBE = ("consume", "createDurableQueue", "deleteDurableQueue", "createNonDurableQueue", "deleteNonDurableQueue")
_PERMISSIONS: Mapping[str, tuple[str, ...]] = {
    "PUT": ("send",),
    "GET": ("consume",),
    "BROWSE": ("browse",),
    "PUB": ("send",),
    "SUB": _SUBSCRIBE,
}
"""Artemis's permissions for each authority of IBM MQ."""
_ALL = "ALL"

Role = dict[str, str | bool]
"""A role as Artemis shows it: its ``name``, and whether it has each permission."""
Rights = dict[str, list[str]]
"""The names of the roles that have each permission."""


def rights_in(roles: Sequence[Role]) -> Rights:
    """Return the rights that roles have; Artemis shows the same permissions, held or not, for each role."""
    permissions = [name for role in roles[:1] for name, value in role.items() if isinstance(value, bool)]
    return {name: [str(role.get("name", "")) for role in roles if role.get(name)] for name in permissions}


def without_ordinary_users(rights: Rights) -> Rights:
    """Return the rights without the role of all ordinary users; a user's own role keeps its permissions."""
    return {name: [role for role in roles if role != ORDINARY] for name, roles in rights.items()}


def granted(rights: Rights, user: str, authorities: Collection[str]) -> Rights:
    """Return the rights, with authorities added for the role of one user.

    Raises:
        KeyError: Artemis has no permission for an authority.
    """
    given = {permission for authority in authorities for permission in _PERMISSIONS[authority]}
    return {name: [*_others(roles, user), user] if name in given else roles for name, roles in rights.items()}


def revoked(rights: Rights, user: str, authorities: Collection[str]) -> Rights:
    """Return the rights, with authorities removed from the role of one user; ``ALL`` stands for all authorities.

    Raises:
        KeyError: Artemis has no permission for an authority.
    """
    if _ALL in authorities:
        return {name: _others(roles, user) for name, roles in rights.items()}
    taken = {permission for authority in authorities for permission in _PERMISSIONS[authority]}
    return {name: _others(roles, user) if name in taken else roles for name, roles in rights.items()}


def _others(roles: list[str], user: str) -> list[str]:
    return [role for role in roles if role != user]
