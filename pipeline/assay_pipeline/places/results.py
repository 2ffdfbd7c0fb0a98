"""The folder of the results, which a reader finds complete or recognizes as incomplete.

- **Local**: the results are written to a temporary folder in the same parent folder.  At the end, the temporary folder
  replaces an earlier judgement.
- **Other file systems**: an object store cannot rename a folder, so the results are written to their place.  The
  manifest, the sign of a complete judgement, is removed first and written last.  Meanwhile, the folder has the file
  ``_INCOMPLETE``.  If a kill of the process leaves this file behind, the next judgement may replace the folder.

After an error or Ctrl-C, nothing incomplete stays behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay_pipeline.errors import OutputError
from assay_pipeline.places.remote import Place, RemotePlace, reason_of

INCOMPLETE = "_INCOMPLETE"
"""The file beside results that are not complete."""
_INCOMPLETE_TEXT = b"assay judge writes this folder. Without manifest.json, the folder is incomplete.\n"


@contextmanager
def results_folder(out: Place, sign: str) -> Generator[Callable[[], Place], None, None]:
    """Provide a function that returns the empty folder for the results; at the end of the block, `out` has the results.

    Call the function only after all preparations, because on an object store it removes an earlier judgement.

    Args:
        out: The place of the results. It must be missing or empty, or hold an earlier judgement, which is replaced.
        sign: The name of the file that only complete results have; write it last.

    Raises:
        OutputError: The place holds something else, or cannot be written.
    """
    with _local(out, sign) if isinstance(out, Path) else _remote(out, sign) as begin:
        yield begin


def write_file(place: Place, octets: bytes) -> None:
    """Write a file, and make its folder if necessary."""
    if isinstance(place, Path):
        place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(octets)


def remove_folder(place: Place) -> None:
    """Remove a folder and everything in it."""
    if isinstance(place, Path):
        shutil.rmtree(place)
    else:
        place.remove()


@contextmanager
def _local(out: Path, sign: str) -> Generator[Callable[[], Place], None, None]:
    place: Path | None = None
    try:
        _refuse_foreign(out, sign)
        out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        place.chmod(0o777 & ~_umask())
    except OSError as error:
        raise OutputError(out, error.strerror or "it cannot be made") from error
    made = place
    try:
        yield lambda: made
        if out.exists():
            shutil.rmtree(out)
        place.rename(out)
    except OSError as error:
        raise OutputError(out, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _umask() -> int:
    """Return the process's umask; this sets and restores the umask, because the system has no call to read it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _refuse_foreign(out: Path, sign: str) -> None:
    if out.exists() and not out.is_dir():
        raise OutputError(out, "it is a file")
    if out.exists() and any(out.iterdir()) and not (out / sign).is_file():
        raise OutputError(out, "the folder holds files that are not an earlier judgement")
    if out.exists() and not os.access(out, os.W_OK):
        raise OutputError(out, "the folder cannot be written")


@contextmanager
def _remote(out: RemotePlace, sign: str) -> Generator[Callable[[], Place], None, None]:
    earlier = begun = complete = False

    def begin() -> Place:
        nonlocal begun
        begun = True
        (out / sign).remove()
        out.remove_entries(keep=INCOMPLETE)
        return out

    try:
        earlier = _has_earlier(out, sign)
        try:
            # Spark starts only after this write, so a folder that cannot be written is an error at once.
            (out / INCOMPLETE).write_bytes(_INCOMPLETE_TEXT)
            yield begin
            (out / INCOMPLETE).remove()
            complete = True
        finally:
            if not complete:
                with suppress(OSError):
                    (out / INCOMPLETE if earlier and not begun else out).remove()
    except OSError as error:
        raise OutputError(str(out), reason_of(error)) from error


def _has_earlier(out: RemotePlace, sign: str) -> bool:
    """Return whether the place holds an earlier judgement.

    Raises:
        OutputError: The place holds something else.
    """
    if out.is_file():
        raise OutputError(str(out), "it is a file")
    if out.is_empty():
        return False
    earlier = (out / sign).is_file()
    if not earlier and not (out / INCOMPLETE).is_file():
        raise OutputError(str(out), "the folder holds files that are not an earlier judgement")
    return earlier
