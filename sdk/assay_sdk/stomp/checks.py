"""The headers that a client's frames must have, by version."""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.stomp.errors import RemoteError
from assay_sdk.stomp.frames import Frame
from assay_sdk.stomp.versions import Version

_OLD, _MIDDLE, _NEW = Version.V1_0, Version.V1_1, Version.V1_2
_ALL = (_OLD, _MIDDLE, _NEW)

REQUIRED: Mapping[str, Mapping[str, tuple[Version, ...]]] = {
    "SEND": {"destination": _ALL},
    "SUBSCRIBE": {"destination": _ALL, "id": (_MIDDLE, _NEW)},
    "UNSUBSCRIBE": {"id": (_MIDDLE, _NEW)},
    "ACK": {"message-id": (_OLD, _MIDDLE), "subscription": (_MIDDLE,), "id": (_NEW,)},
    "NACK": {"message-id": (_MIDDLE,), "subscription": (_MIDDLE,), "id": (_NEW,)},
    "BEGIN": {"transaction": _ALL},
    "COMMIT": {"transaction": _ALL},
    "ABORT": {"transaction": _ALL},
}
"""The headers that each command must have, with the versions that require them."""

_NEEDED: Mapping[tuple[str, Version], tuple[str, ...]] = {
    (command, version): tuple(name for name, versions in headers.items() if version in versions)
    for command, headers in REQUIRED.items()
    for version in _ALL
}


def check_frame(frame: Frame, version: Version) -> None:
    """Check that a client's frame has the headers that its command requires, and that the version has the command.

    Raises:
        RemoteError: A header is missing, or the version does not have the command.
    """
    headers = frame.headers
    for name in _NEEDED.get((frame.command, version), ()):
        if name not in headers:
            raise RemoteError(f"{frame.command} has no header {name}, which STOMP {version} requires", frame.receipt)
    if version is _OLD and frame.command == "NACK":
        raise RemoteError("STOMP 1.0 has no NACK: ask for version 1.1 or 1.2 in CONNECT", frame.receipt)
