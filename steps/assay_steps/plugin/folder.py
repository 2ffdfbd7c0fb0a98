"""The output folder of a run: its parts, and the removal of an earlier run's output.

A run on one backend writes its files directly into the folder.  A run on several backends makes a subfolder for each
backend, with the same files, and writes one report into the folder itself.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay_evidence.files.parts import COMPRESSED, SUFFIX

JOURNALS = "journals"
VERDICTS = "verdicts.json"
JUNIT = "junit.xml"
REPORT = "report"
LOG = "pytest.log"
KNOWN = "known.json"
UNJUDGED = "unjudged.json"
"""The file with the failed tests that the kit does not judge; a run without such failures has none."""
DEFECTS = "defects.json"
EARLIER = ".earlier"
"""The subfolder in which a new run keeps an earlier run's output until the new run has verdicts."""
SITE = "site.json"
"""The file in which the report lists its own files (`assay_reports.site`)."""
GROUPS = "groups.json"
PLAN = "plan.json"
"""The file with the plan of a soak (`assay soak`)."""
MEETINGS = "meetings"
"""The subfolder in which scenarios of several processes meet for a fault that they share; removed at the run's end."""
PARTS = frozenset({JOURNALS, VERDICTS, JUNIT, REPORT, LOG, KNOWN, UNJUDGED, DEFECTS, EARLIER, GROUPS, MEETINGS, PLAN})
KEPT = frozenset({DEFECTS, EARLIER})
"""Parts that a run does not remove, because other commands or `room` write them."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP})
"""The errors of a file system without locks; on such a file system, two runs may use one folder at once."""


class FolderError(ValueError):
    """A folder cannot take a run's output; `out` is the folder and `why` the reason."""

    def __init__(self, out: Path, why: str) -> None:
        super().__init__(out, why)
        self.out = out
        self.why = why

    def __str__(self) -> str:
        return self.told("--out")

    def told(self, option: str) -> str:
        """Return the error as one sentence for the user.

        `option` is the option of the caller's command with which the user named the folder.
        """
        return f"{self.out} cannot take the run's output ({self.why}): name an empty or a new folder with {option}."


def make_room(out: Path) -> None:
    """Make the folder for a run's output, and remove an earlier run's output from it.

    Args:
        out: The folder.

    Raises:
        FolderError: The folder is a file, cannot be written, or holds a file that is not a run's output.
    """
    with _told(out):
        out.mkdir(parents=True, exist_ok=True)
        for part in _written(out):
            if part.name == LOG:
                continue  # this run already writes to its log
            _remove(part)
        (out / JOURNALS).mkdir()


def refuse_foreign(out: Path) -> None:
    """Refuse a folder that holds other files than a run's output, without writing to it.

    Raises:
        FolderError: The folder is a file, cannot be read, or holds a file that is not a run's output.
    """
    with _told(out):
        if out.exists():
            _written(out)


def write_defects(out: Path, octets: bytes) -> Path:
    """Write a kill matrix into a run's folder or a new folder, for the report; later runs leave the file there.

    Raises:
        FolderError: The folder is a file, cannot be written, or holds a file that is not a run's output.
    """
    with _told(out):
        out.mkdir(parents=True, exist_ok=True)
        _written(out)
        path = out / DEFECTS
        path.write_bytes(octets)
    return path


@contextmanager
def room(out: Path) -> Generator[None, None, None]:
    """Reserve the output folder for one `assay` command while the `with` block runs.

    If an error ends the block, or if Ctrl-C ends it before the run has verdicts, this function restores the earlier
    run's output and removes a folder that this run created.

    Args:
        out: The folder.

    Raises:
        FolderError: The folder is a file, cannot be written, is used by another run, or holds a file that is not a
            run's output.
    """
    with _told(out):
        made = _make(out)
    with _locked(out):
        with _told(out):
            earlier = out / EARLIER
            if earlier.exists():  # left by a run that was killed
                shutil.rmtree(earlier)
            written = _written(out)
            earlier.mkdir()
            for part in written:
                part.rename(earlier / part.name)
        try:
            yield
        except BaseException as problem:  # Ctrl-C too; after Ctrl-C, this run's output stays if it has verdicts
            if isinstance(problem, Exception) or not _decided(out):
                _put_back(out, earlier, made)
            raise
        finally:
            shutil.rmtree(earlier, ignore_errors=True)


@contextmanager
def _locked(out: Path) -> Generator[None, None, None]:
    """Lock a folder while the `with` block runs, so that no other `assay` command uses it.

    Forked processes inherit the lock.  The lock is on the folder itself, so that no lock file is needed.

    Raises:
        FolderError: Another run has locked the folder.
    """
    with _told(out):
        folder = os.open(out, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _told(out):
            _lock(folder, out)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, out: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        raise FolderError(out, "another run is writing to it, or its processes have not ended yet") from problem
    except OSError as problem:
        if problem.errno not in _NO_LOCKS:
            raise


def _decided(out: Path) -> bool:
    """Return whether this run has written verdicts for at least one backend."""
    return any((folder / VERDICTS).exists() for folder in (out, *_written(out)))


def _put_back(out: Path, earlier: Path, made: list[Path]) -> None:
    with suppress(FolderError), _told(out):  # the user needs the error that ended the run, not this one
        for part in _written(out):
            _remove(part)
        for part in earlier.iterdir():
            part.rename(out / part.name)
        earlier.rmdir()
    for folder in made:
        with suppress(OSError):  # another program has written into the folder
            folder.rmdir()


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)
    else:
        part.unlink()


def _make(out: Path) -> list[Path]:
    """Make the folder; return the folders that were created, innermost first."""
    made: list[Path] = []
    folder = out
    while not folder.exists():
        made.append(folder)
        folder = folder.parent
    out.mkdir(parents=True, exist_ok=True)
    return made


def _written(out: Path) -> list[Path]:
    """List the parts of earlier runs' output in a folder, except the parts in `KEPT`.

    Raises:
        FolderError: The folder holds a file that is not a run's output.
    """
    entries = sorted(out.iterdir())
    for entry in entries:
        if entry.name not in PARTS and not _of_a_backend(entry):
            raise FolderError(out, f"it holds {entry.name!r}, which no run wrote")
        for folder in (entry, *(entry.iterdir() if _of_a_backend(entry) else ())):
            if (foreign := _foreign(folder)) is not None:
                raise FolderError(out, f"it holds {str(foreign.relative_to(out))!r}, which no run wrote")
    return [entry for entry in entries if entry.name not in KEPT]


def _foreign(part: Path) -> Path | None:
    """Return a path in a run's journals or report that the kit did not write; None if there is no such path."""
    if not part.is_dir() or not any(part.iterdir()):
        return None
    if part.name == JOURNALS:
        return next((one for one in part.iterdir() if not one.name.endswith((SUFFIX, COMPRESSED))), None)
    if part.name == REPORT and not (part / SITE).is_file():
        return next(part.iterdir())
    return None


def _of_a_backend(entry: Path) -> bool:
    """Return whether a path is the subfolder of one backend, from a run on several backends."""
    if not entry.is_dir() or entry.is_symlink():
        return False
    names = {inner.name for inner in entry.iterdir()}
    return JOURNALS in names and names <= PARTS


@contextmanager
def _told(out: Path) -> Generator[None, None, None]:
    """Turn operating-system errors in the block into `FolderError`."""
    try:
        yield
    except FileExistsError as problem:
        raise FolderError(out, "it is a file") from problem
    except OSError as problem:
        raise FolderError(out, problem.strerror or str(problem)) from problem
