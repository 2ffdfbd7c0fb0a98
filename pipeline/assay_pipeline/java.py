"""The Java that Spark runs on, and the archive of classes that makes its second start quick.

Loading Spark's classes takes most of its start.  A class-data-sharing archive holds them ready to be mapped: it is
made once for a Java and a set of jars, by the first session as it ends, and every later session maps it.  An archive
that does not fit is passed over by the virtual machine, so it can never change a result.
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
    """A Java that can be used.

    Args:
        program: Its launcher.
        version: What it says of itself, several lines.
    """

    program: Path
    version: str


def find_java() -> Java:
    """Find the Java that Spark's launcher would take: JAVA_HOME's, or else the first on the path.

    Raises:
        JavaMissingError: There is none, or it is too old.
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
    """Where archives are kept: ``assay`` in the user's cache folder (XDG_CACHE_HOME, or ``~/.cache``)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay"


class ClassArchive:
    """The archive for one Java and one set of jars.

    Args:
        java: The Java.
        jars: The folder of Spark's jars.
    """

    def __init__(self, java: Java, jars: Path) -> None:
        key = hashlib.sha256(f"{java.program.resolve()}\n{java.version}".encode())
        for jar in sorted(jars.glob("*.jar")):
            key.update(f"\n{jar}:{jar.stat().st_size}:{jar.stat().st_mtime_ns}".encode())
        self.path = cache_folder() / f"spark-{key.hexdigest()[:16]}.jsa"
        self._fresh: Path | None = None

    def options(self) -> tuple[str, ...]:
        """Options for the virtual machine: map the archive where there is one, or else write one at exit.

        Where the cache folder cannot be written, or has a space in its name, there is no archive, and starts are slow.
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
        """After the virtual machine has ended well: put the archive that it wrote in its place, whole or not at all."""
        if self._fresh is not None and self._fresh.exists():
            self._fresh.replace(self.path)

    def forget(self) -> None:
        """Take away what was made on the way."""
        if self._fresh is not None:
            shutil.rmtree(self._fresh.parent, ignore_errors=True)
            self._fresh = None
