"""SASL frames of a client (OASIS AMQP 1.0, 5.3), in front of the engine and without it.

What proton can do depends on how it was compiled; ANONYMOUS (RFC 4505) and PLAIN (RFC 4616) need no library.  Pure:
octets in, octets out.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import cast

from assay_sdk.driver import Login
from assay_sdk.drivers.amqp import types
from assay_sdk.drivers.amqp.frames import SASL_FRAME, SASL_HEADER, Splitter, frame
from assay_sdk.drivers.amqp.types import DecodeError, Described
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_MECHANISMS, _INIT, _OUTCOME = 0x40, 0x41, 0x44
_OK, _AUTH = 0, 1

_MAX_FRAME = 65_536
"""A SASL frame has at most 512 octets (5.3.1); brokers with many mechanisms have been seen to exceed that."""


class Phase(StrEnum):
    """How far the negotiation has come."""

    HEADER = "header"
    MECHANISMS = "mechanisms"
    OUTCOME = "outcome"
    DONE = "done"
    REFUSED = "refused"


class SaslClient:
    """One negotiation.

    Args:
        login: Who logs in, with PLAIN; None logs in with ANONYMOUS.
        private: Whether nobody can listen in: the connection stays on this machine or is encrypted.
    """

    def __init__(self, login: Login | None, *, private: bool) -> None:
        self._login = login
        self._private = private
        self._received = bytearray()
        self.phase = Phase.HEADER
        self.refused: Refused | None = None
        """Why it failed, in phase REFUSED."""
        self.rest = b""
        """What followed the negotiation: AMQP's own octets, in phase DONE."""

    def is_done(self) -> bool:
        """Whether the broker has let the client in."""
        return self.phase is Phase.DONE

    def start(self) -> bytes:
        """The octets to send first; none when the login must not be sent over this line, which is then `refused`."""
        if self._login is not None and not self._private:
            self._refuse(
                refused(
                    Mqrc.NOT_AUTHORIZED,
                    "a password is not sent in clear text beyond this machine: connect to a loopback address",
                )
            )
            return b""
        return SASL_HEADER

    def receive(self, octets: bytes) -> bytes:
        """Take octets of the peer; returns what to answer.

        Call it until `phase` is DONE or REFUSED.
        """
        self._received += octets
        answer = b""
        try:
            for part in self._parts():
                answer += self._take(part)
                if self.phase in {Phase.DONE, Phase.REFUSED}:
                    break
        except DecodeError as error:
            self._refuse(_broken(f"its SASL frames are malformed: {error}"))
        if self.phase is Phase.DONE:
            self.rest = bytes(self._received)
            self._received.clear()
        return answer

    def _parts(self) -> Iterator[bytes]:
        """Complete headers and frames, leaving in place what comes after the one in hand."""
        while len(self._received) >= 8:  # noqa: PLR2004  a header's and a frame head's octets
            size = 8 if self._received.startswith(b"AMQP") else int.from_bytes(self._received[:4])
            if size > _MAX_FRAME:
                raise DecodeError(f"a frame of {size} octets")
            parts = list(Splitter().feed(bytes(self._received[: max(size, 8)])))
            if not parts:
                return
            del self._received[:size]
            yield parts[0]

    def _take(self, part: bytes) -> bytes:
        match self.phase:
            case Phase.HEADER:
                return self._take_header(part)
            case Phase.MECHANISMS:
                return self._take_mechanisms(_performative(part, _MECHANISMS))
            case _:
                return self._take_outcome(_performative(part, _OUTCOME))

    def _take_header(self, part: bytes) -> bytes:
        if part == SASL_HEADER:
            self.phase = Phase.MECHANISMS
        else:
            self._refuse(_broken(f"it answers {part!r} where AMQP 1.0 with SASL was asked for"))
        return b""

    def _take_mechanisms(self, fields: list[object]) -> bytes:
        first = fields[0] if fields else None
        offered = [str(name) for name in cast("list[object]", first)] if isinstance(first, list) else [str(first)]
        mechanism = "ANONYMOUS" if self._login is None else "PLAIN"
        if mechanism not in offered:
            hint = "give a user and a password" if self._login is None else "this driver knows PLAIN and ANONYMOUS only"
            text = f"the broker offers the logins {', '.join(offered)} and not {mechanism}: {hint}"
            self._refuse(refused(Mqrc.NOT_AUTHORIZED, text))
            return b""
        self.phase = Phase.OUTCOME
        response = b"anonymous" if self._login is None else f"\0{self._login.user}\0{self._login.password}".encode()
        init = types.fields((types.symbol(mechanism), types.binary(response)))
        return frame(types.described(_INIT, init), sasl=True)

    def _take_outcome(self, fields: list[object]) -> bytes:
        code = fields[0] if fields else None
        if code == _OK:
            self.phase = Phase.DONE
        elif code == _AUTH:
            who = "an anonymous client" if self._login is None else f"user {self._login.user!r}"
            self._refuse(refused(Mqrc.NOT_AUTHORIZED, f"the broker refused the login of {who}: wrong name or password"))
        else:
            self._refuse(_broken(f"its login service fails (SASL outcome {code})"))
        return b""

    def _refuse(self, why: Refused) -> None:
        self.refused = why
        self.phase = Phase.REFUSED


def _performative(part: bytes, wanted: int) -> list[object]:
    """The fields of a SASL performative."""
    if part.startswith(b"AMQP") or part[5] != SASL_FRAME:
        raise DecodeError("no SASL frame")
    value = types.decode(part[part[4] * 4 :])
    if not isinstance(value, Described) or value.descriptor != wanted or not isinstance(value.value, list):
        raise DecodeError(f"no frame 0x{wanted:02x} where one must come")
    return cast("list[object]", value.value)


def _broken(text: str) -> Refused:
    return Refused(
        JmsErrorKind.CONNECTION_LOST, f"the broker cannot be talked to: {text}", mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE)
    )
