"""Errors of a store on a disk: one sentence each that says what, where, and what to do."""

from __future__ import annotations

from pathlib import Path

from assay_broker.stores import StoreError


class RefusedError(StoreError):
    """A folder cannot be opened; it is left as it was."""


class DamagedError(RefusedError):
    """A file was cut or altered by another program.

    Args:
        path: The file.
        detail: What shows it.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"{path} is damaged ({detail}); it is left as it is: restore its folder from a copy, "
            "or move the folder away to start with nothing."
        )


class NoDatabaseError(RefusedError):
    """The folder or its database is something else.

    Args:
        path: The file, or the folder.
        detail: What it is instead.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} is {detail}; give the queue manager a folder of its own, or move that away.")


class NewerError(RefusedError):
    """A newer version has written the file.

    Args:
        path: The file.
        found: Its schema's version.
        known: The newest version that is known here.
    """

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has version {found} of the schema, and this one knows none after {known}; "
            "start the version that wrote it, or a later one."
        )


class ForeignError(RefusedError):
    """The folder belongs to another queue manager.

    Args:
        path: The file.
        owner: Whose it is.
        asked: Who wants it.
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
        holder: Who has it, if that is known.
    """

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(
            f"{folder} is in use by {holder or 'another process'}; stop that one first, "
            "or give this queue manager a folder of its own."
        )


class ReadOnlyError(RefusedError):
    """The store has no permission to write.

    Args:
        path: Where it may not write.
        detail: What says so.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} cannot be written to ({detail}); make it writable for the user that runs this.")


class FullError(StoreError):
    """The disk is full.

    Args:
        folder: The store's folder.
        kept_bytes: How much is free and kept so for removals; 0 if nothing is free.
    """

    def __init__(self, folder: Path, kept_bytes: int = 0) -> None:
        kept = f" but for the {kept_bytes >> 20} MiB that are kept free for removals" if kept_bytes else ""
        remedy = "free some space, or let consumers take messages" if kept_bytes else "free some space"
        super().__init__(f"the disk of {folder} is full{kept}; {remedy}.")


class GoneError(StoreError):
    """A file was removed while the store was open.

    Args:
        path: The file that is gone, or is another one now.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was deleted or replaced while in use; stop the queue manager and restore its folder.")


class DiskError(StoreError):
    """The disk has failed.

    Args:
        path: The file.
        detail: What the disk says.
    """

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"the disk did not take what was written to {path} ({detail}); look after the disk.")
