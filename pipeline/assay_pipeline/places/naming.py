"""The names of places: paths, and URIs with or without percent encoding.

A user writes a URI with percent encoding, as ``Path.as_uri`` and file managers do.  Spark's form of a URI has no
percent encoding.  All names that Assay keeps, such as those in ``manifest.json``, are in Spark's form.

A URI with a user, a password, a query or a fragment is refused, because these may be secrets, and the names of places
appear in results, reports and errors.  For the same reason the error does not repeat them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes

from assay_pipeline.errors import PlaceError
from assay_pipeline.places.remote import SCHEMES, Place, RemotePlace

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://(?P<authority>[^/?#]*))?(?P<path>.*)", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9._-]+")
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")
_WITH_PORT = {"hdfs", "viewfs"}
_WITH_CONTAINER = {"abfs", "abfss"}
"""The schemes in which the text before ``@`` is the name of a container, not of a user."""


def place_of(name: Path | str) -> Place:
    """Return the place that a user named.

    Args:
        name: A path, or a URI with percent encoding. A URI of the scheme ``file`` becomes a path.

    Raises:
        PlaceError: The URI has an unknown scheme, is not valid, names no folder, or may contain a secret.
    """
    if isinstance(name, Path):
        return name
    uri = _URI.fullmatch(name)
    if uri is None or (uri["authority"] is None and not name.lower().startswith("file:/")):
        return Path(name)
    scheme, authority, path = uri["scheme"].lower(), uri["authority"] or "", uri["path"]
    shown = _without_secrets(name)
    if scheme != "file" and scheme not in SCHEMES:
        known = ", ".join(["file", *SCHEMES])
        raise PlaceError(shown, f"Assay knows no file system {scheme} (it knows {known})")
    if "?" in path or "#" in path:
        raise PlaceError(shown, "a URI of a folder has no query and no fragment (write ? as %3F and # as %23)")
    octets = unquote_to_bytes(path)
    if b"\0" in octets:
        raise PlaceError(shown, "it contains the character NUL")
    if scheme == "file":
        if authority not in {"", "localhost"}:
            raise PlaceError(shown, "it names a host, but a URI with file is a folder of this machine (file:///...)")
        return Path(os.fsdecode(octets))
    _check_authority(scheme, authority, shown)
    try:
        parts = _normal(octets.decode())
    except UnicodeDecodeError as error:
        raise PlaceError(shown, "its percent encoding is not UTF-8") from error
    if not parts:
        raise PlaceError(shown, f"it names no folder (write {scheme}://{authority}/FOLDER)")
    return RemotePlace(f"{scheme}://{authority}", "/" + "/".join(parts))


def place_at(name: str) -> Place:
    """Return the place with a name in Spark's form, as ``str(place)`` makes it."""
    scheme, separator, rest = name.partition("://")
    if not separator or scheme not in SCHEMES:
        return Path(name)
    authority, _, path = rest.partition("/")
    return RemotePlace(f"{scheme}://{authority}", f"/{path}")


def pattern_of(name: str) -> str:
    """Return the pattern that only this name matches, because Spark reads names of files and folders as patterns."""
    return "".join(f"\\{character}" if character in r"\{}[]*?" else character for character in name)


def _check_authority(scheme: str, authority: str, shown: str) -> None:
    container, at, host = authority.rpartition("@")
    if at and (scheme not in _WITH_CONTAINER or not _HOST.fullmatch(container)):
        raise PlaceError(
            shown, "it names a user or a password (set these by environment variables or settings of Spark)"
        )
    if not host:
        raise PlaceError(shown, f"it names no {'host' if scheme in _WITH_PORT else 'bucket'}")
    if not (_HOST_AND_PORT if scheme in _WITH_PORT else _HOST).fullmatch(host):
        raise PlaceError(f"{scheme}://***", f"its {'host' if scheme in _WITH_PORT else 'bucket'} is not a valid name")


def _normal(path: str) -> list[str]:
    """Return the parts of a path without empty parts, ``.`` and ``..``."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return parts


def _without_secrets(uri: str) -> str:
    """Return a URI without possible secrets: hide all text around ``@``, or cut the text from ``?`` or ``#`` on."""
    scheme, separator, rest = uri.partition("://")
    if "@" in rest:
        return f"{scheme}{separator}***"
    return re.split(r"[?#]", uri, maxsplit=1)[0]
