"""Errors of a store on a disk; each error's text names the problem, the file or folder, and a remedy."""

from __future__ import annotations

from pathlib import Path

from assay_broker.stores import StoreError


class RefusedError(StoreError):
    """A store cannot open a folder, and leaves it unchanged."""


class DamagedError(RefusedError):
    """A file is missing, or another program has cut or altered it.

    Args:
        path: The missing or damaged file.
        detail: A clause that describes the damage.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"{path} is damaged ({detail}); it is left as it is: restore its folder from a copy, "
            "or move the folder away to start with nothing."
        )


class NoDatabaseError(RefusedError):
    """The folder or its database does not belong to a store.

    Args:
        path: The file or the folder.
        detail: A noun phrase that completes "PATH is …".
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} is {detail}; give the queue manager a folder of its own, or move this one away.")


class NewerError(RefusedError):
    """A newer version of the broker has written the file.

    Args:
        path: The file.
        found: The file's version of the schema.
        known: The newest version of the schema that this broker knows.
    """

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has version {found} of the schema, and this broker knows versions up to {known}; "
            "start the release that wrote the file, or a later one."
        )


class ForeignError(RefusedError):
    """The folder belongs to another queue manager.

    Args:
        path: The file.
        owner: The name of the queue manager that owns the folder.
        asked: The name of the queue manager that was to use it.
    """

    def __init__(self, path: Path, owner: str, asked: str) -> None:
        super().__init__(
            f"{path} belongs to queue manager {owner}, not to {asked}; give {asked} a folder of its own, "
            f"or start it as {owner}."
        )


class InUseError(RefusedError):
    """Another process uses the folder.

    Args:
        folder: The folder.
        holder: The process that uses it, such as "process 42"; "" if it is not known.
    """

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(
            f"{folder} is in use by {holder or 'another process'}; stop that process first, "
            "or give this queue manager a folder of its own."
        )


class ReadOnlyError(RefusedError):
    """The store has no permission to write a file or folder.

    Args:
        path: The file or folder.
        detail: The reason, such as the system's error text.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} cannot be written to ({detail}); make it writable for the user that runs the broker.")


class FullError(StoreError):
    """The disk is full.

    Args:
        folder: The store's folder.
        kept_bytes: The free space that the store reserves for removals, in octets; 0 if the disk has no free space.
    """

    def __init__(self, folder: Path, kept_bytes: int = 0) -> None:
        kept = f" except for {kept_bytes >> 20} MiB that are kept free for removals" if kept_bytes else ""
        remedy = "free some space, or let consumers take messages" if kept_bytes else "free some space"
        super().__init__(f"the disk of {folder} is full{kept}; {remedy}.")


class GoneError(StoreError):
    """A file was deleted or replaced while the store was open.

    Args:
        path: The path of the file or its folder.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was deleted or replaced while in use; stop the queue manager and restore its folder.")


class DiskError(StoreError):
    """The disk has failed.

    Args:
        path: The file.
        detail: The error text of the system or of SQLite.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"the disk failed at {path} ({detail}); check the disk.")
