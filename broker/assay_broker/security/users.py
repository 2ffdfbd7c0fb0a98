"""The users' file: TOML with SCRAM-SHA-256 keys made from passwords (RFC 5802, RFC 7677), never the passwords.

.. code-block:: toml

    [users.alice]
    salt = "…"
    iterations = 600000
    stored_key = "…"
    server_key = "…"

Salt and keys are base64.  An attacker can guess passwords with the help of a stored key, so only the server should be
able to read the file (`Users.exposed`).  The server refuses a file that every user of the machine may write to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct
from scramp import ScramException, ScramMechanism
from scramp.utils import saslprep

from assay_broker.security.errors import UsersError

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 600_000
"""The number of hash iterations for new entries: OWASP's Password Storage Cheat Sheet for PBKDF2-HMAC-SHA256.

The hashing takes 0.1 to 0.4 seconds of processor time.  RFC 7677 demands at least 4096 iterations.  With SCRAM the
client hashes the password.  With PLAIN and HTTP the server does, so listeners check passwords on threads
(`PasswordChecks`).
"""

MOST_ITERATIONS = 1_000_000
LEAST_ITERATIONS = 4_096
_SALT_BYTES = 16
_LEAST_SALT_BYTES = 12
_KEY_BYTES = 32


class ScramKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys that a server stores instead of a password.

    Args:
        salt: Random octets that no other user shares.
        iterations: How often the password is hashed.
        stored_key: The key with which the server checks the client's proof (``StoredKey`` of RFC 5802).
        server_key: The key with which the server proves to the client that it has the user's keys (``ServerKey``).
    """

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __repr__(self) -> str:
        """Return a text without the keys."""
        return f"ScramKeys(iterations={self.iterations})"


class Users:
    """The users of a server, with the keys made from their passwords.

    Args:
        keys: Each user's keys, by the user's name.
        exposed: Whether other users of this machine can read the file that holds the keys.

    Raises:
        UsersError: A name is empty or has characters that no client may send (RFC 4013).
    """

    def __init__(self, keys: Mapping[str, ScramKeys], *, exposed: bool = False) -> None:
        self._keys = {_usable(name): kept for name, kept in keys.items()}
        self._secret = secrets.token_bytes(_KEY_BYTES)
        self._counts = tuple(kept.iterations for kept in self._keys.values()) or (ITERATIONS,)
        self._seen: dict[str, bytes] = {}
        self.exposed = exposed
        """Whether other users of this machine can read the file; the server then logs a warning."""

    @property
    def is_empty(self) -> bool:
        """Whether the file has no user, so that no client can log in."""
        return not self._keys

    @classmethod
    def read(cls, path: Path) -> Users:
        """Read a users' file.

        Raises:
            UsersError: The file cannot be read, everyone may write to it, or an entry is not valid.
        """
        try:
            mode = path.stat().st_mode
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UsersError(
                f"the file of users {path} cannot be read ({error.strerror}); correct its path."
            ) from error
        except UnicodeDecodeError as error:
            raise UsersError(f"the file of users {path} is not UTF-8; save it as UTF-8.") from error
        if mode & stat.S_IWOTH:
            raise UsersError(f"all users may write to the file of users {path}; remove that permission (chmod o-w).")
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsersError(f"the file of users {path} is not valid TOML: {error}; correct it there.") from error
        return cls(_entries(path, found), exposed=bool(mode & stat.S_IROTH))

    def check(self, user: str, password: str) -> bool:
        """Return whether a user has this password; an unknown user and a wrong password take the same time.

        A keyed hash of each accepted password stays in memory, so a user's later logins need no slow hashing.
        Any thread may call this.
        """
        if self.remembers(user, password):
            return True
        user = prepared(user)
        kept = self._keys.get(user) or self.decoy(user)
        right = hmac.compare_digest(_stored_key(password, kept), kept.stored_key)
        if right and user in self._keys:
            self._seen[user] = self._proof(user, password)
            return True
        return False

    def remembers(self, user: str, password: str) -> bool:
        """Return, within microseconds, whether `check` has accepted this user's password before."""
        user = prepared(user)
        return hmac.compare_digest(self._seen.get(user, b""), self._proof(user, password))

    def scram(self, user: str) -> ScramKeys | None:
        """Return a user's keys; None for an unknown user."""
        return self._keys.get(user)

    def decoy(self, user: str) -> ScramKeys:
        """Return keys for an unknown user, so that a client cannot find out which users exist.

        All calls for a name return the same salt and iterations.  The iterations are copied from one of the users,
        because a count that no user has would show that the name is unknown.
        """
        made = hmac.digest(self._secret, b"salt" + user.encode(errors="surrogatepass"), "sha256")
        salt, chance = made[:_SALT_BYTES], int.from_bytes(made[_SALT_BYTES:])
        iterations = self._counts[chance % len(self._counts)]
        return ScramKeys(salt, iterations, secrets.token_bytes(_KEY_BYTES), secrets.token_bytes(_KEY_BYTES))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all users."""
        return tuple(self._keys)

    def _proof(self, user: str, password: str) -> bytes:
        return hmac.digest(self._secret, f"{len(user)}:{user}{password}".encode(errors="surrogatepass"), "sha256")


def keys_of(password: str, iterations: int = ITERATIONS) -> ScramKeys:
    """Make the keys of a password, with a new random salt.

    Args:
        password: The password.
        iterations: How often the password is hashed.

    Raises:
        UsersError: The password is empty or has characters that no client may send (RFC 4013).
    """
    try:
        if not saslprep(password):
            raise UsersError("the password is empty; choose one.")
        salt, stored_key, server_key, count = ScramMechanism(MECHANISM).make_auth_info(
            password, iteration_count=iterations, salt=secrets.token_bytes(_SALT_BYTES)
        )
    except ScramException as error:
        raise UsersError(f"the password cannot be used ({error.args[0]}); choose another.") from error
    return ScramKeys(bytes(salt), int(count), bytes(stored_key), bytes(server_key))


def entry(user: str, password: str, iterations: int = ITERATIONS) -> str:
    """Return a user's entry for a users' file, as lines of TOML.

    Args:
        user: The user's name.
        password: The password; the entry holds only keys made from it.
        iterations: How often the password is hashed.

    Raises:
        UsersError: The name or the password is empty or has characters that no client may send (RFC 4013).
    """
    name, keys = _usable(user), keys_of(password, iterations)
    fields = cast("dict[str, str | int]", msgspec.to_builtins(keys))
    lines = [f"{field} = {json.dumps(value)}" for field, value in fields.items()]
    return "\n".join((f"[users.{json.dumps(name, ensure_ascii=False)}]", *lines, ""))


def prepared(name: str) -> str:
    """Return a user's name in its normal form (RFC 4013), or an empty string if no client may send the name."""
    try:
        return str(saslprep(name))
    except ScramException:
        return ""


def _usable(name: str) -> str:
    found = prepared(name)
    if not found:
        raise UsersError(f"the user name {name!r} is empty or has characters that no client may send; choose another.")
    return found


def _stored_key(password: str, kept: ScramKeys) -> bytes:
    """Return the stored key of a password, made with the salt and iterations of a user's keys.

    A password that no client may send gets the key of the empty password, which is no user's password.
    """
    try:
        octets = str(saslprep(password)).encode()
    except ScramException:
        octets = b""
    salted = hashlib.pbkdf2_hmac("sha256", octets, kept.salt, kept.iterations)
    return hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()


def _entries(path: Path, found: dict[str, object]) -> dict[str, ScramKeys]:
    users = found.pop("users", {})
    if found or not isinstance(users, dict):
        what = next(iter(found), "users")
        raise UsersError(f"the file of users {path} has {what!r}, and only tables [users.NAME] are allowed; remove it.")
    return {name: _entry(path, name, fields) for name, fields in cast("dict[str, object]", users).items()}


def _entry(path: Path, name: str, fields: object) -> ScramKeys:
    where = f"users.{name} in {path}"
    if isinstance(fields, dict) and "password" in fields:
        raise UsersError(f"{where} holds a password; remove it, and let `assay broker` write the entry.")
    try:
        keys = msgspec.convert(fields, ScramKeys)
    except msgspec.ValidationError as error:
        raise UsersError(f"{where} is not a valid entry ({error}); let `assay broker` write the entry.") from error
    if len(keys.stored_key) != _KEY_BYTES or len(keys.server_key) != _KEY_BYTES:
        raise UsersError(f"{where} has a key that is not {_KEY_BYTES} octets long; write a new entry.")
    if len(keys.salt) < _LEAST_SALT_BYTES:
        raise UsersError(f"{where} has a salt shorter than {_LEAST_SALT_BYTES} octets; write a new entry.")
    if not LEAST_ITERATIONS <= keys.iterations <= MOST_ITERATIONS:
        raise UsersError(
            f"{where} has {keys.iterations} iterations, not {LEAST_ITERATIONS} to {MOST_ITERATIONS}; write a new entry."
        )
    return keys
