"""What is wrong with how a server is secured: one sentence that says what, where, and what to do.

SecurityError
├── UsersError    the file of users
├── TlsError      certificate and key
└── ExposedError  an address that nobody may listen at without users
"""

from __future__ import annotations


class SecurityError(Exception):
    """A server cannot be secured as it was asked to be."""


class UsersError(SecurityError):
    """A file of users cannot be used; or a user cannot be added."""


class TlsError(SecurityError):
    """A certificate or its key cannot be used."""


class ExposedError(SecurityError):
    """Without users only clients of this machine are let in."""
