"""The Java that Spark runs on, and the class archive that makes later starts faster.

Most of Spark's start time goes into the loading of its classes.  A class-data-sharing archive holds the loaded classes.
The first session with a Java and a set of jars writes the archive at its end, and later sessions map it into memory.
The virtual machine ignores an archive that does not match, so an archive cannot change a result.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from msgspec import Struct

from assay_pipeline.errors import JavaMissingError

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""
_VERSION = re.compile(r'version "(\d+)')


class Java(Struct, frozen=True):
    """A Java that Spark can run on.

    Args:
        program: The path of the program ``java``.
        version: The output of ``java -version``, several lines.
    """

    program: Path
    version: str


def find_java() -> Java:
    """Find the Java that Spark's launcher would use: the one in JAVA_HOME, or else the first on the path.

    Raises:
        JavaMissingError: No Java was found, or the Java is too old.
    """
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if program is None:
        raise JavaMissingError("no java is on the path")
    try:
        shown = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.CalledProcessError):
        raise JavaMissingError(f"{program} cannot be run") from None
    match = _VERSION.search(shown.stderr)
    if match is None or int(match[1]) < OLDEST:
        raise JavaMissingError(f"{program} is older" if match else f"{program} does not say its version")
    return Java(Path(program), shown.stderr)


def cache_folder() -> Path:
    """Return the folder of the archives: ``assay`` in the user's cache folder (XDG_CACHE_HOME, or ``~/.cache``)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay"


class ClassArchive:
    """The class-data-sharing archive of Spark's classes, for one Java and one set of jars.

    Args:
        java: The Java that maps and writes the archive.
        jars: The folder of Spark's jars.
    """

    def __init__(self, java: Java, jars: Path) -> None:
        key = hashlib.sha256(f"{java.program.resolve()}\n{java.version}".encode())
        for jar in sorted(jars.glob("*.jar")):
            key.update(f"\n{jar}:{jar.stat().st_size}:{jar.stat().st_mtime_ns}".encode())
        self.path = cache_folder() / f"spark-{key.hexdigest()[:16]}.jsa"
        self._fresh: Path | None = None

    def options(self) -> tuple[str, ...]:
        """Return the options for the virtual machine, which map the archive if it exists, or else write it at exit.

        If the cache folder cannot be written or has a space in its name, no archive is used and starts stay slow.
        """
        if " " in str(self.path):
            return ()
        if self.path.exists():
            return (f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._fresh = Path(tempfile.mkdtemp(prefix="making-", dir=self.path.parent)) / self.path.name
        except OSError:
            return ()
        return (f"-XX:ArchiveClassesAtExit={self._fresh}",)

    def keep(self) -> None:
        """Move a new archive to its final path, atomically; call this after the virtual machine has ended."""
        if self._fresh is not None and self._fresh.exists():
            self._fresh.replace(self.path)

    def forget(self) -> None:
        """Remove the temporary files of the archive."""
        if self._fresh is not None:
            shutil.rmtree(self._fresh.parent, ignore_errors=True)
            self._fresh = None
