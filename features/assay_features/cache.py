"""Caches values that are computed from the features, in files that later processes read.

Python caches compiled modules in the same way.  Computing the values takes more than a second, mostly in Gherkin's
parser.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from assay_features.folder import feature_root

T = TypeVar("T")


class _Cached(Struct, frozen=True):
    digest: str
    value: msgspec.Raw


def cached(kind: type[T], compute: Callable[[], T], sources: Iterable[Path], place: Path) -> T:
    """Return the value in a file; if the file is missing, damaged or out of date, compute the value and write the file.

    As with compiled modules, the file is not written if `sys.dont_write_bytecode` is set or if its folder cannot be
    written.

    Args:
        kind: The type of the value, which JSON can hold.
        compute: Computes the value.
        sources: The files that decide the value: features and modules. Gherkin's version decides it, too.
        place: The file in which the value is stored.
    """
    digest = _digest(sources)
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(place.read_bytes(), type=_Cached)
        if found.digest == digest:
            return msgspec.json.decode(found.value, type=kind)
    value = compute()
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _write(place, msgspec.json.encode(_Cached(digest, msgspec.Raw(msgspec.json.encode(value)))))
    return value


def package_features() -> list[Path]:
    """Return the feature files of this package, sorted."""
    return sorted(feature_root().rglob("*.feature"))


def beside(module: str, name: str) -> Path:
    """Return the path of a file in the folder that holds a module's compiled form (``__pycache__``).

    Args:
        module: The path of the module's source.
        name: The name of the file.
    """
    return Path(cache_from_source(module)).with_name(name)


def _digest(sources: Iterable[Path]) -> str:
    digest = sha256(version("gherkin-official").encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"\n{source.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _write(place: Path, content: bytes) -> None:
    """Write a file in one step, because other processes may read it at the same time."""
    place.parent.mkdir(exist_ok=True)
    new = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)
