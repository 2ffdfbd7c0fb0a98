"""The writing of users' files, which contain SCRAM keys made from passwords, never the passwords."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from assay_broker.security import SecurityError, Users, entry
from assay_broker.security.users import ITERATIONS
from assay_broker.server.errors import MachineError, OptionsError

_MODE = 0o600


def add_user(path: Path, user: str, password: str, iterations: int = ITERATIONS) -> bool:
    """Add a user to a users' file, or replace the user's entry; create the file if it does not exist.

    Args:
        path: The users' file.
        user: The user's name.
        password: The user's password.
        iterations: How often the password is hashed.

    Returns:
        True if the file had an entry of this user before.

    Raises:
        OptionsError: The file, the name or the password is not valid.
        MachineError: The file cannot be written.
    """
    try:
        there = path.exists()
        known = Users.read(path).names if there else ()
        text = path.read_text(encoding="utf-8") if there else ""
        kept, lines = _without(text, user), entry(user, password, iterations)
        new = f"{kept}\n\n{lines}" if kept else lines
        tomllib.loads(new)
        _write(path, new)
    except SecurityError as error:
        raise OptionsError(str(error)) from error
    except tomllib.TOMLDecodeError as error:  # the user's entry is not a table [users.NAME]
        raise OptionsError(f"{path} holds {user} in a form that cannot be replaced; remove that entry") from error
    except OSError as error:
        raise MachineError(f"{path} cannot be written: {error.strerror}; name another file") from error
    return user in known


def users_text(passwords: Mapping[str, str], iterations: int = ITERATIONS) -> str:
    """Return the text of a users' file.

    Args:
        passwords: The passwords, by the users' names.
        iterations: How often each password is hashed.

    Raises:
        SecurityError: A name or a password is empty or has characters that no client may send.
    """
    return "\n".join(entry(user, password, iterations) for user, password in passwords.items())


def _without(text: str, user: str) -> str:
    """Return the text of a users' file without one user's table; all other lines stay unchanged."""
    kept: list[str] = []
    keeping = True
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            keeping = _user_of(line) != user
        if keeping:
            kept.append(line)
    return "\n".join(kept).strip()


def _user_of(header: str) -> str | None:
    """Return the user whose table begins at this line; None if the line begins another table."""
    users = tomllib.loads(header).get("users")
    return next(iter(users), None) if isinstance(users, dict) else None


def _write(path: Path, text: str) -> None:
    """Write a file atomically.  Only the owner can read a file that this call creates."""
    beginning = path.with_name(f".{path.name}.{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if path.exists() else _MODE
    descriptor = os.open(beginning, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(descriptor, mode)
            file.flush()
            os.fsync(descriptor)
        beginning.replace(path)
    except BaseException:  # also on Ctrl-C, because a partial file holds keys made from passwords
        beginning.unlink(missing_ok=True)
        raise
