"""Errors in users' files, certificates and addresses: one sentence that says what, where, and what to do.

SecurityError
├── UsersError    the file of users
├── TlsError      certificate and key
└── ExposedError  an address that needs users
"""

from __future__ import annotations


class SecurityError(Exception):
    """A server cannot be secured as asked."""


class UsersError(SecurityError):
    """A users' file cannot be used, or a user cannot be added."""


class TlsError(SecurityError):
    """A certificate or its key cannot be used."""


class ExposedError(SecurityError):
    """Without users the server takes clients of this machine only."""
