"""The names of branches of global units of work in the port, in the SDK and in journals.

The port names a branch with bytes. The SDK uses an xid whose global id is these bytes; journals contain them as text.
"""

from __future__ import annotations

from assay_sdk.model.xa import Xid

_FORMAT = int.from_bytes(b"KIT", "big")


def named(xid: bytes) -> Xid:
    """Return the SDK's xid for the port's name of a branch."""
    return Xid(_FORMAT, xid)


def name_of(encoded: bytes) -> str:
    """Return the name of a branch for journals: the global id of an encoded xid, as text."""
    return Xid.decoded(encoded).global_id.decode(errors="replace")


def is_ours(xid: Xid) -> bool:
    """Return whether the kit has named a branch."""
    return xid.format_id == _FORMAT
