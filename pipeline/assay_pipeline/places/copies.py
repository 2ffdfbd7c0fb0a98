"""Local copies of remote files."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from assay_pipeline.errors import NoJournalError
from assay_pipeline.places.remote import Place, reason_of


@contextmanager
def local_copies(files: Iterable[Place]) -> Generator[list[Path], None, None]:
    """Provide local files with the names and the content of the given files; a local file stands for itself.

    The copies are removed at the end of the block.

    Args:
        files: The files; those of other file systems must have different names.

    Raises:
        NoJournalError: A file cannot be read.
    """
    with TemporaryDirectory(prefix="assay-journals-") as folder:
        paths: list[Path] = []
        for file in files:
            if isinstance(file, Path):
                paths.append(file)
                continue
            copy = Path(folder) / file.name
            try:
                with file.open() as source, copy.open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            except OSError as error:
                raise NoJournalError(str(file), f"it cannot be read ({reason_of(error)})") from error
            paths.append(copy)
        yield paths
