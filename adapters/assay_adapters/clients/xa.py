"""The SDK's XA resource behind the `Client` port, which converts the port's names of branches to the SDK's xids."""

from __future__ import annotations

from assay_adapters.clients.links import attempt
from assay_adapters.clients.xids import is_ours, named
from assay_adapters.ports.outcome import Outcome
from assay_sdk import XaResource, XaVote
from assay_sdk.model.xa import XaEnd, XaStart


class SdkXaResource:
    """The XA resource of one session, in the classic or simplified face.

    Args:
        port: The SDK's XA resource.
    """

    def __init__(self, port: XaResource) -> None:
        self._port = port

    def start(self, xid: bytes, *, how: XaStart = XaStart.NEW) -> Outcome[None]:
        """Start work for a new branch, join a branch of another session, or resume a suspended branch."""
        return attempt(lambda: self._port.start(named(xid), how))

    def end(self, xid: bytes, *, how: XaEnd = XaEnd.SUCCESS) -> Outcome[None]:
        """End work for a branch, or suspend it."""
        return attempt(lambda: self._port.end(named(xid), how))

    def prepare(self, xid: bytes) -> Outcome[bool]:
        """Prepare a branch; return True if the branch is prepared, or False if it was read-only and has ended."""
        return attempt(lambda: self._port.prepare(named(xid)) is XaVote.PREPARED)

    def commit(self, xid: bytes, *, one_phase: bool = False) -> Outcome[None]:
        """Commit a branch."""
        return attempt(lambda: self._port.commit(named(xid), one_phase=one_phase))

    def rollback(self, xid: bytes) -> Outcome[None]:
        """Roll a branch back."""
        return attempt(lambda: self._port.rollback(named(xid)))

    def recover(self) -> Outcome[tuple[bytes, ...]]:
        """Return the names of the prepared branches that the kit has named."""
        return attempt(lambda: tuple(xid.global_id for xid in self._port.recover() if is_ours(xid)))
