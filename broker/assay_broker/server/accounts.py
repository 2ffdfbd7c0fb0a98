"""Write users' files: they hold SCRAM keys made from passwords, never the passwords."""

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
    """Write a user into a file, which is created if it is missing; other entries stay unchanged.

    Args:
        path: The file.
        user: The name; an entry of that name is replaced.
        password: The password.
        iterations: How often it is hashed.

    Returns:
        Whether there was an entry of that name.

    Raises:
        OptionsError: The file, the name or the password cannot be used.
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
    except tomllib.TOMLDecodeError as error:  # the user's entry is in another form of TOML than ours
        raise OptionsError(f"{path} holds {user} in a form that cannot be replaced; take that entry out") from error
    except OSError as error:
        raise MachineError(f"{path} cannot be written: {error.strerror}; name another file") from error
    return user in known


def users_text(passwords: Mapping[str, str], iterations: int = ITERATIONS) -> str:
    """Read a users' file.

    Args:
        passwords: By the users' names.
        iterations: How often each is hashed.

    Raises:
        SecurityError: A name or a password cannot be used.
    """
    return "\n".join(entry(user, password, iterations) for user, password in passwords.items())


def _without(text: str, user: str) -> str:
    """Return the text without a user's table; comments and other tables stay unchanged."""
    kept: list[str] = []
    keeping = True
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            keeping = _user_of(line) != user
        if keeping:
            kept.append(line)
    return "\n".join(kept).strip()


def _user_of(header: str) -> str | None:
    """Return the user whose table a line begins; None for any other line."""
    users = tomllib.loads(header).get("users")
    return next(iter(users), None) if isinstance(users, dict) else None


def _write(path: Path, text: str) -> None:
    """Write the file atomically. Only its owner can read a new one."""
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
    except BaseException:  # Ctrl-C too: half a file with passwords in it is not left behind
        beginning.unlink(missing_ok=True)
        raise
