"""The errors in users' files, certificates and addresses that prevent the start of a server.

Each error's text names the problem, its place and a remedy.

SecurityError
├── UsersError    the users' file or a user is not valid
├── TlsError      the certificate or its key is not usable
└── ExposedError  other machines can reach the address, and no users are defined
"""

from __future__ import annotations


class SecurityError(Exception):
    """A server cannot start with the given users, certificate or address."""


class UsersError(SecurityError):
    """A users' file cannot be used, or a user cannot be added."""


class TlsError(SecurityError):
    """A certificate or its key cannot be used."""


class ExposedError(SecurityError):
    """Other machines can reach the address, and no users are defined."""
