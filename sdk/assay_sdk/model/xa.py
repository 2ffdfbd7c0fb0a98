"""Identifiers, flags and return codes of XA transactions, as in X/Open XA (C193, chapters 4 and 5) and in JTA."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from reprlib import repr as short
from types import MappingProxyType

from msgspec import Struct

from assay_sdk.model.reasons import JmsErrorKind, Refused

_MAX_PART = 64  # XA, 4.2: MAXGTRIDSIZE, MAXBQUALSIZE
_FORMAT_BYTES = 4
_HEAD = _FORMAT_BYTES + 1

XID_BYTES = _HEAD + 2 * _MAX_PART
"""Size of the longest encoded xid, in bytes."""


class XaCode(IntEnum):
    """Return codes of a resource manager, with XA's numbers (XA, 4.3: xa.h); XA_OK and some others are left out."""

    XA_HEURHAZ = 8
    XA_HEURCOM = 7
    XA_HEURRB = 6
    XA_HEURMIX = 5
    XA_RETRY = 4
    XA_RDONLY = 3
    XA_RBROLLBACK = 100
    XA_RBCOMMFAIL = 101
    XA_RBOTHER = 104
    XAER_RMERR = -3
    XAER_NOTA = -4
    XAER_INVAL = -5
    XAER_PROTO = -6
    XAER_RMFAIL = -7
    XAER_DUPID = -8
    XAER_OUTSIDE = -9


KINDS: Mapping[XaCode, JmsErrorKind] = MappingProxyType(
    {
        XaCode.XA_HEURHAZ: JmsErrorKind.MESSAGING,
        XaCode.XA_HEURCOM: JmsErrorKind.MESSAGING,
        XaCode.XA_HEURRB: JmsErrorKind.MESSAGING,
        XaCode.XA_HEURMIX: JmsErrorKind.MESSAGING,
        XaCode.XA_RETRY: JmsErrorKind.RESOURCE_ALLOCATION,
        XaCode.XA_RDONLY: JmsErrorKind.MESSAGING,
        XaCode.XA_RBROLLBACK: JmsErrorKind.TRANSACTION_ROLLED_BACK,
        XaCode.XA_RBCOMMFAIL: JmsErrorKind.TRANSACTION_ROLLED_BACK,
        XaCode.XA_RBOTHER: JmsErrorKind.TRANSACTION_ROLLED_BACK,
        XaCode.XAER_RMERR: JmsErrorKind.RESOURCE_ALLOCATION,
        XaCode.XAER_NOTA: JmsErrorKind.ILLEGAL_STATE,
        XaCode.XAER_INVAL: JmsErrorKind.ILLEGAL_STATE,
        XaCode.XAER_PROTO: JmsErrorKind.ILLEGAL_STATE,
        XaCode.XAER_RMFAIL: JmsErrorKind.RESOURCE_ALLOCATION,
        XaCode.XAER_DUPID: JmsErrorKind.ILLEGAL_STATE,
        XaCode.XAER_OUTSIDE: JmsErrorKind.ILLEGAL_STATE,
    }
)
"""The JMS error kind that is nearest to each code, for callers that do not use XA's codes."""


def xa_refused(code: XaCode, why: str) -> Refused:
    """Return a refusal with an XA code; the refusal's text begins with the name of the code.

    Args:
        code: The return code.
        why: The reason, in words.
    """
    return Refused(kind=KINDS[code], text=f"{code.name}: {why}", xa=int(code))


class XaStart(StrEnum):
    """Flag of xa_start: a new branch, an existing one, or a suspended one (TMNOFLAGS, TMJOIN, TMRESUME; XA, 3.3.1)."""

    NEW = "new"
    JOIN = "join"
    RESUME = "resume"


class XaEnd(StrEnum):
    """Flag of xa_end: the work succeeded, failed, or is suspended (TMSUCCESS, TMFAIL, TMSUSPEND; XA, 3.3.1)."""

    SUCCESS = "success"
    FAIL = "fail"
    SUSPEND = "suspend"


class XaVote(StrEnum):
    """Positive answer of the resource manager to xa_prepare."""

    PREPARED = "prepared"
    """The resource manager can commit the branch or roll it back (XA_OK)."""
    READ_ONLY = "read-only"
    """The branch has changed nothing, and has ended (XA_RDONLY)."""


class Xid(Struct, frozen=True):
    """Identifier of a branch (XA, 4.2).

    Args:
        format_id: Format of the identifier: 0 to 2147483647.  In XA a negative format means the null xid.
        global_id: Id of the global transaction: 1 to 64 bytes.
        branch: Id of the branch: at most 64 bytes.
    """

    format_id: int
    global_id: bytes
    branch: bytes = b""

    def __post_init__(self) -> None:
        """Check the parts against XA's limits.

        Raises:
            ValueError: A part has a wrong type or is too long, the global id is empty, or the format id is invalid.
        """
        _check_type("format id", self.format_id, int, "an integer")
        _check_type("global id", self.global_id, bytes, "bytes")
        _check_type("branch", self.branch, bytes, "bytes")
        if not 0 <= self.format_id < 2**31:
            raise ValueError(f"An xid's format id is 0 to 2147483647, not {self.format_id}.")
        if not 1 <= len(self.global_id) <= _MAX_PART or len(self.branch) > _MAX_PART:
            raise ValueError(
                f"An xid has a global id of 1 to {_MAX_PART} bytes and a branch of at most {_MAX_PART}, "
                f"not {len(self.global_id)} and {len(self.branch)}."
            )

    def encoded(self) -> bytes:
        """Return the xid as bytes, for drivers: format id, length of the global id, global id, branch."""
        head = self.format_id.to_bytes(_FORMAT_BYTES, "big") + bytes([len(self.global_id)])
        return head + self.global_id + self.branch

    @classmethod
    def decoded(cls, octets: bytes) -> Xid:
        """Return the xid from its encoded form, which `encoded` returns.

        Raises:
            ValueError: The bytes are not an encoded xid.
        """
        if len(octets) <= _HEAD or len(octets) < _HEAD + octets[_FORMAT_BYTES]:
            raise ValueError(f"These {len(octets)} bytes are no xid.")
        cut = _HEAD + octets[_FORMAT_BYTES]
        return cls(int.from_bytes(octets[:_FORMAT_BYTES], "big"), octets[_HEAD:cut], octets[cut:])


def _check_type(what: str, part: object, kind: type, remedy: str) -> None:
    if not isinstance(part, kind):
        raise ValueError(f"An xid's {what} is {short(part)}; give {remedy}.")
