"""A folder or file on another file system, which pyarrow reaches."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Protocol, TypeAlias, cast

from msgspec import Struct

from assay_pipeline.packages import need

SCHEMES: Mapping[str, str] = MappingProxyType(
    {"s3a": "s3", "s3": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss", "hdfs": "hdfs", "viewfs": "viewfs"}
)
"""pyarrow's scheme for each scheme of Spark."""
_OPTIONS: Mapping[str, str] = MappingProxyType({"gs": "?retry_limit_seconds=30"})
"""pyarrow's options by scheme.  Without the option of ``gs``, pyarrow looks for Google's credentials for 15 minutes."""
_DEFAULT_REGION = "us-east-1"
_SENTENCE_END = re.compile(r"\.(?:\s|$)|\n")


class RemotePlace(Struct, frozen=True):
    """A folder or file on another file system.

    The methods raise `OSError` if the file system does not answer or refuses (`reason_of` gives the reason), and
    `PackageMissingError` if pyarrow is not installed.

    Args:
        root: The scheme and the bucket or host, such as ``s3a://bucket``.
        path: The path, without percent encoding; it begins with a slash and does not end with one.
    """

    root: str
    path: str

    def __str__(self) -> str:
        """Return the URI as Spark takes it, without percent encoding."""
        return f"{self.root}{self.path}"

    def __truediv__(self, name: str) -> RemotePlace:
        """Return a place in this folder."""
        return RemotePlace(self.root, f"{self.path}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def exists(self) -> bool:
        """Return whether a file or folder is here."""
        return self._kind() != "NotFound"

    def is_dir(self) -> bool:
        """Return whether a folder is here; in an object store, whether the name of an object begins with this path."""
        return self._kind() == "Directory"

    def is_file(self) -> bool:
        """Return whether a file is here."""
        return self._kind() == "File"

    def resolve(self) -> RemotePlace:
        """Return this place: its path is absolute, and no file system here has symbolic links."""
        return self

    def sizes(self) -> dict[str, int]:
        """Return the sizes in bytes of the files that are directly in this folder, by name."""
        return {entry.base_name: entry.size or 0 for entry in self._entries() if entry.is_file}

    def is_empty(self) -> bool:
        """Return whether this folder is missing or has no entry."""
        return not self._entries()

    def open(self) -> BinaryIO:
        """Open the file for reading."""
        with _plain_errors():
            system, base = _connected(self.root)
            # pyarrow would otherwise decompress a file by its name.
            stream = system.open_input_stream(f"{base}{self.path}", compression=None)
            return cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", stream)))

    def write_bytes(self, octets: bytes) -> None:
        """Write the file, and make its folder if necessary."""
        with _plain_errors():
            system, base = _connected(self.root)
            whole = f"{base}{self.path}"
            system.create_dir(whole.rpartition("/")[0], recursive=True)
            with system.open_output_stream(whole, compression=None) as stream:
                stream.write(octets)

    def remove(self) -> None:
        """Remove the file, or the folder with everything in it; nothing happens if it is missing."""
        kind = self._kind()
        with _plain_errors():
            system, base = _connected(self.root)
            whole = f"{base}{self.path}"
            if kind == "Directory":
                system.delete_dir(whole)
            elif kind != "NotFound":
                system.delete_file(whole)

    def remove_entries(self, keep: str) -> None:
        """Remove everything in this folder but one file.

        Args:
            keep: The file's name.
        """
        for entry in self._entries():
            if entry.base_name != keep:
                (self / entry.base_name).remove()

    def _kind(self) -> str:
        with _plain_errors():
            system, base = _connected(self.root)
            (info,) = system.get_file_info([f"{base}{self.path}"])
            return info.type.name

    def _entries(self) -> list[_Info]:
        with _plain_errors():
            from pyarrow.fs import FileSelector

            system, base = _connected(self.root)
            return system.get_file_info(FileSelector(f"{base}{self.path}", allow_not_found=True))


Place: TypeAlias = Path | RemotePlace
"""A folder or file of this machine, or of another file system."""


def reason_of(error: OSError) -> str:
    """Return the reason of an error as a clause."""
    return error.strerror or str(error)


class _Named(Protocol):
    name: str


class _Info(Protocol):
    """The properties of a file or folder, as pyarrow gives them."""

    base_name: str
    size: int | None
    is_file: bool
    type: _Named


class _FileSystem(Protocol):
    """The methods of pyarrow's file systems that are used here; pyarrow has no types."""

    def get_file_info(self, paths_or_selector: object) -> list[_Info]: ...
    def open_input_stream(self, path: str, *, compression: None) -> object: ...
    def open_output_stream(self, path: str, *, compression: None) -> BinaryIO: ...
    def create_dir(self, path: str, *, recursive: bool) -> None: ...
    def delete_dir(self, path: str) -> None: ...
    def delete_file(self, path: str) -> None: ...


@cache
def _connected(root: str) -> tuple[_FileSystem, str]:
    """Return pyarrow's file system of a root, and the text that pyarrow wants before a path.

    Raises:
        OSError: The file system cannot be used.
    """
    from pyarrow import fs

    scheme, _, authority = root.partition("://")
    if SCHEMES[scheme] == "s3":
        return _s3(authority), authority
    options = _OPTIONS.get(scheme, "")
    system, base = fs.FileSystem.from_uri(f"{SCHEMES[scheme]}://{authority}/{options}")
    return system, base.rstrip("/")


def _s3(bucket: str) -> _FileSystem:
    """Return the file system of an S3 bucket; credentials come from the environment or AWS's configuration files."""
    from pyarrow import fs

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    endpoint = os.environ.get("AWS_ENDPOINT_URL")  # Spark reads this variable, too
    if endpoint:
        scheme, _, host = endpoint.rstrip("/").rpartition("://")
        return cast(
            "_FileSystem",
            fs.S3FileSystem(endpoint_override=host, scheme=scheme or "https", region=region or _DEFAULT_REGION),
        )
    return cast("_FileSystem", fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket)))


@contextmanager
def _plain_errors() -> Generator[None, None, None]:
    """Raise each error of pyarrow as an `OSError` with a short reason.

    The reason is the system's text for the error number or, without a number, the first sentence of pyarrow's text.

    Raises:
        PackageMissingError: pyarrow is not installed.
    """
    need("A folder on another file system needs", "spark", "pyarrow")
    from pyarrow import ArrowException

    try:
        yield
    except (OSError, ArrowException) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else _SENTENCE_END.split(str(error).strip(), maxsplit=1)[0]
        raise OSError(number or 0, reason or "no reason was given") from error
