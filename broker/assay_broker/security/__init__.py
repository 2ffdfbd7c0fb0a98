"""The security of a server: users, passwords and TLS."""

from __future__ import annotations

from assay_broker.security.addresses import is_loopback
from assay_broker.security.checking import PasswordChecks
from assay_broker.security.errors import ExposedError, SecurityError, TlsError, UsersError
from assay_broker.security.security import Security
from assay_broker.security.tls import server_context
from assay_broker.security.users import ScramKeys, Users, entry, keys_of

__all__ = [
    "ExposedError",
    "PasswordChecks",
    "ScramKeys",
    "Security",
    "SecurityError",
    "TlsError",
    "Users",
    "UsersError",
    "entry",
    "is_loopback",
    "keys_of",
    "server_context",
]
