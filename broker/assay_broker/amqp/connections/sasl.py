"""The server's side of SASL (OASIS AMQP 1.0, 5.3), which runs before the engine starts.

The mechanisms are ANONYMOUS (RFC 4505), PLAIN (RFC 4616) and SCRAM-SHA-256 (RFC 5802, RFC 7677).  The functions take
and return octets; `Security` decides whether clients must log in.  A password check takes long, so the socket runs it
on a thread (`SaslServer.asked`).  `assay_sdk.drivers.amqp.transport.sasl` is the client's side.

The reaction to input, by phase:

========= ===================== ============================================
phase     input                 answer; next phase
========= ===================== ============================================
HEADER    SASL's header         SASL's header and the mechanisms; MECHANISM
HEADER    AMQP's header         if no login is needed: none; DONE
HEADER    any other input       SASL's header; REFUSED
MECHANISM sasl-init             the mechanism's first step
CHALLENGE sasl-response         the mechanism's next step
CHECKING  any octets            none; the octets are kept until the outcome
any       any other input       none; REFUSED
========= ===================== ============================================

A step ends with another challenge (CHALLENGE), with a password that the socket must check (CHECKING), or with an
outcome (DONE, REFUSED), after which the negotiation reads no more.  The server tells the client neither the reason of a
failed login nor whether the user exists.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum
from functools import lru_cache
from typing import cast

from msgspec import Struct
from scramp import ScramException, ScramMechanism

from assay_broker.security import ScramKeys, Security, Users
from assay_broker.security.security import ANONYMOUS, PLAIN, SCRAM
from assay_broker.security.users import prepared
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import HEADER_SIZE, PROTOCOL_HEADER, SASL_FRAME, SASL_HEADER, frame
from assay_sdk.amqp.types import DecodeError, Described

_MECHANISMS, _INIT, _CHALLENGE, _RESPONSE, _OUTCOME = 0x40, 0x41, 0x42, 0x43, 0x44
_OK, _AUTH = 0, 1
"""The codes of a sasl-outcome (AMQP 1.0, 5.3.3.6)."""

MAX_FRAME = 4_096
"""The most octets of a SASL frame.  The specification's 512 (AMQP 1.0, 5.3.1) are too few for some clients' tokens."""

MAX_ROUNDS = 8
"""The most responses that one client may send; SCRAM needs two, and PLAIN one."""

MAX_AHEAD = 32_768
"""The most octets that a client may send while the server checks its password."""


class Phase(StrEnum):
    """The state of the SASL negotiation."""

    HEADER = "header"
    MECHANISM = "mechanism"
    CHALLENGE = "challenge"
    CHECKING = "checking"
    """The socket must check the password in `SaslServer.asked` and pass the result to `SaslServer.checked`."""
    DONE = "done"
    REFUSED = "refused"


_OVER = frozenset((Phase.DONE, Phase.REFUSED))
_NOT_READING = _OVER | {Phase.CHECKING}


class _RefusedError(Exception):
    """The login has failed; the text gives the reason for the log."""


class Credentials(Struct, frozen=True):
    """The user's name and the password that a client has sent.

    Args:
        user: The name.
        password: The password.
    """

    user: str
    password: str

    def __repr__(self) -> str:
        """Return a text without the password."""
        return f"Credentials({self.user!r})"


_Steps = Generator[bytes, bytes, tuple[str | None, bytes | None] | Credentials]
"""The generator of a mechanism: it receives the client's responses and yields challenges.

It returns either the user and the data of the outcome, or credentials whose check decides the login.
"""


class SaslServer:
    """The SASL negotiation with one client.

    Args:
        security: The users, and the mechanisms to offer.
        private: Whether the client may send its password in clear text (see `Security.is_private`).
    """

    def __init__(self, security: Security, *, private: bool) -> None:
        self._security = security
        self._offered = security.mechanisms(private=private)
        self._rounds_left = MAX_ROUNDS
        self._received = bytearray()
        self._steps: _Steps | None = None
        self.asked: Credentials | None = None
        """In phase CHECKING, the credentials that the socket must check."""
        self.phase = Phase.HEADER
        self.user: str | None = None
        """The user's name, in phase DONE; None for an anonymous client."""
        self.refusal: str | None = None
        """In phase REFUSED, the reason, which the server logs and does not tell the client."""
        self.rest = b""
        """In phase DONE, the client's octets that follow the negotiation."""

    def receive(self, octets: bytes) -> bytes:
        """Handle octets from the client.

        Send the client the octets that this method returns, and then look at `phase`.  In phase DONE pass `rest` to the
        engine.  In phase REFUSED close the socket.  In phase CHECKING check `asked` and call `checked`.

        Returns:
            The octets to send; empty for none.
        """
        return self._go_on(octets, None)

    def checked(self, right: bool) -> bytes:
        """Handle the result of a password check; outside phase CHECKING do nothing.

        Args:
            right: Whether the password is the user's password.

        Returns:
            The octets to send to the client; empty for none.
        """
        return self._go_on(b"", right)

    def _go_on(self, octets: bytes, right: bool | None) -> bytes:
        self._received += octets
        answer = b""
        try:
            if right is not None:
                answer += self._take_check(right)
            while self.phase not in _NOT_READING:
                part = self._part()
                if part is None:
                    break
                answer += self._take(part)
            self._check_ahead()
        except DecodeError as error:
            # A client that does not speak SASL gets no outcome frame; after a wrong header it gets SASL's header.
            answer += SASL_HEADER if self.phase is Phase.HEADER else b""
            self._refuse(str(error))
        except _RefusedError as error:
            answer += _outcome(_AUTH)
            self._refuse(str(error))
        if self.phase is Phase.DONE:
            self.rest = bytes(self._received)
        if self.phase in _OVER:
            self._received.clear()
        return answer

    def _check_ahead(self) -> None:
        if self.phase is Phase.CHECKING and len(self._received) > MAX_AHEAD:
            raise DecodeError(f"more than {MAX_AHEAD} octets before the login's outcome")

    def _part(self) -> bytes | None:
        """Remove and return the next header or frame of the input; None if it is not complete yet.

        AMQP's header stays in the input, because the engine needs it.

        Raises:
            DecodeError: The input does not begin like a header of AMQP, or a SASL frame is too short or too long.
        """
        received = self._received
        if self.phase is Phase.HEADER:
            size = HEADER_SIZE
            if not SASL_HEADER.startswith(bytes(received[:4])):  # refused at once, even if the header is incomplete
                raise DecodeError("the client does not speak AMQP")
        elif len(received) < HEADER_SIZE:
            return None
        else:
            size = int.from_bytes(received[:4])
            if not HEADER_SIZE <= size <= MAX_FRAME:
                raise DecodeError(f"a SASL frame of {size} octets")
        if len(received) < size:
            return None
        part = bytes(received[:size])
        if part != PROTOCOL_HEADER or self.phase is not Phase.HEADER:
            del received[:size]
        return part

    def _take(self, part: bytes) -> bytes:
        match self.phase:
            case Phase.HEADER:
                return self._take_header(part)
            case Phase.MECHANISM:
                return self._take_init(_performative(part, _INIT))
            case _:
                return self._respond(_octets(_performative(part, _RESPONSE), 0) or b"")

    def _take_header(self, part: bytes) -> bytes:
        if part == PROTOCOL_HEADER and self._security.anonymous:
            self.phase = Phase.DONE
            return b""
        if part != SASL_HEADER:
            raise DecodeError(f"the client begins with {part!r} instead of SASL's header")
        self.phase = Phase.MECHANISM
        return _offer(self._offered)

    def _take_init(self, fields: list[object]) -> bytes:
        mechanism = fields[0] if fields else None
        if not isinstance(mechanism, str):
            raise DecodeError("a sasl-init without a mechanism")
        if mechanism not in self._offered:
            raise _RefusedError(f"the mechanism {mechanism[:40]!r} is not offered")
        self._steps = _steps(mechanism, self._security.users)
        self.phase = Phase.CHALLENGE
        try:
            next(self._steps)
        except StopIteration as end:
            return self._end(end)
        first = _octets(fields, 1)
        return _challenge(b"") if first is None else self._respond(first)

    def _respond(self, response: bytes) -> bytes:
        if self._rounds_left <= 0 or self._steps is None:
            raise _RefusedError("the login takes too many rounds")
        self._rounds_left -= 1
        try:
            return _challenge(self._steps.send(response))
        except StopIteration as end:
            return self._end(end)

    def _end(self, end: StopIteration) -> bytes:
        value = cast("tuple[str | None, bytes | None] | Credentials", end.value)
        if isinstance(value, Credentials):
            self.asked, self.phase = value, Phase.CHECKING
            users = self._security.users
            remembered = users is not None and users.remembers(value.user, value.password)
            return self._take_check(right=True) if remembered else b""
        self.user, last = value
        self.phase = Phase.DONE
        return _LET_IN if last is None else _outcome(_OK, last)

    def _take_check(self, right: bool) -> bytes:
        asked, self.asked = self.asked, None
        if asked is None:
            return b""
        if not right:
            raise _RefusedError(f"wrong name or password of {asked.user[:40]!r}")
        self.user = prepared(asked.user)
        self.phase = Phase.DONE
        return _LET_IN

    def _refuse(self, why: str) -> None:
        self.refusal = why
        self.asked = None
        self.phase = Phase.REFUSED


def _challenge(octets: bytes) -> bytes:
    return frame(types.described(_CHALLENGE, types.fields((types.binary(octets),))), sasl=True)


def _outcome(code: int, last: bytes | None = None) -> bytes:
    fields = (types.ubyte(code), types.null() if last is None else types.binary(last))
    return frame(types.described(_OUTCOME, types.fields(fields)), sasl=True)


_LET_IN = _outcome(_OK)


@lru_cache(maxsize=8)
def _offer(mechanisms: tuple[str, ...]) -> bytes:
    """Encode the SASL header and the mechanisms; cached, because all clients get them (`bench/broker.py connect`)."""
    offer = types.described(_MECHANISMS, types.fields((types.symbols(mechanisms),)))
    return SASL_HEADER + frame(offer, sasl=True)


# --- mechanisms, as generators that receive the client's responses


def _steps(mechanism: str, users: Users | None) -> _Steps:
    if mechanism == ANONYMOUS or users is None:
        return _anonymous()
    return _plain() if mechanism == PLAIN else _scram(users)


def _anonymous() -> _Steps:
    """Run ANONYMOUS (RFC 4505): accept any client, and ignore its trace information."""
    yield from ()
    return None, None


def _plain() -> _Steps:
    """Run PLAIN (RFC 4616): read the authorization identity, the user and the password, separated by NUL."""
    response = yield b""
    try:
        parts = response.decode().split("\0")
    except UnicodeDecodeError:
        raise _RefusedError("a PLAIN response that is not UTF-8") from None
    if len(parts) != 3:  # noqa: PLR2004  the three parts that the docstring names
        raise _RefusedError("PLAIN without two NUL octets")
    act_for, user, password = parts
    if act_for not in {"", user}:
        raise _RefusedError(f"{user[:40]!r} may not act for {act_for[:40]!r}")
    return Credentials(user, password)


def _scram(users: Users) -> _Steps:
    """Run SCRAM-SHA-256 (RFC 7677): exchange nonces, salt and iterations, and then the proofs of both sides."""
    who: list[str] = []

    def keys(user: str) -> tuple[bytes, bytes, bytes, int]:
        who.append(user)
        found: ScramKeys = users.scram(user) or users.decoy(user)
        return found.salt, found.stored_key, found.server_key, found.iterations

    server = ScramMechanism(SCRAM).make_server(keys)
    response = yield b""
    try:
        server.set_client_first(_text(response))
        response = yield str(server.get_server_first()).encode()
        server.set_client_final(_text(response))
        last = str(server.get_server_final()).encode()
    except ScramException as error:
        name = f" of {who[0][:40]!r}" if who else ""
        raise _RefusedError(f"SCRAM{name}: {error.args[0]}") from None
    return who[0], last


def _text(response: bytes) -> str:
    try:
        return response.decode()
    except UnicodeDecodeError:
        raise _RefusedError("a SCRAM response that is not UTF-8") from None


# --- frames


def _performative(part: bytes, wanted: int) -> list[object]:
    """Return the fields of a SASL performative.

    Args:
        part: The frame.
        wanted: The descriptor's code of the expected performative.

    Raises:
        DecodeError: The frame contains another performative, or is not a SASL frame.
    """
    start = part[4] * 4
    if part[5] != SASL_FRAME or not HEADER_SIZE <= start <= len(part):
        raise DecodeError("a frame that is not a SASL frame")
    value = types.decode(part[start:])
    if not isinstance(value, Described) or value.descriptor != wanted or not isinstance(value.value, list):
        raise DecodeError(f"another frame instead of 0x{wanted:02x}")
    return cast("list[object]", value.value)


def _octets(fields: list[object], position: int) -> bytes | None:
    value = fields[position] if position < len(fields) else None
    if value is not None and not isinstance(value, bytes):
        raise DecodeError("a response that is not binary")
    return value
