"""Names of branches: bytes in the port, the global id of an xid in the SDK, text in journals."""

from __future__ import annotations

from assay_sdk.model.xa import Xid

_FORMAT = int.from_bytes(b"KIT", "big")


def named(xid: bytes) -> Xid:
    """The SDK's name for a branch that the port calls so."""
    return Xid(_FORMAT, xid)


def name_of(encoded: bytes) -> str:
    """What the port calls a branch, for journals."""
    return Xid.decoded(encoded).global_id.decode(errors="replace")


def is_ours(xid: Xid) -> bool:
    """Whether the kit has named a branch so."""
    return xid.format_id == _FORMAT
