"""The server's side of SASL (OASIS AMQP 1.0, 5.3), in front of the engine and without it.

ANONYMOUS (RFC 4505), PLAIN (RFC 4616) and SCRAM-SHA-256 (RFC 5802, RFC 7677).  The functions
take octets and return octets; `Security` says whether clients must log in.  A password check takes long, so the caller
runs it on a thread (`SaslServer.asked`).  `assay_sdk.drivers.amqp.transport.sasl` is the client's side.

Input by phase, and what follows it:

========= ====================== =============================================
HEADER    SASL's header          the same and the mechanisms; MECHANISM
HEADER    AMQP's header          DONE if no login is needed, else REFUSED
MECHANISM sasl-init              the mechanism's first step
CHALLENGE sasl-response          the mechanism's next step
CHECKING  input of a client that does not wait for the outcome: kept
any       anything else          REFUSED
========= ====================== =============================================

A step ends in another challenge (CHALLENGE), in a password for the caller to check (CHECKING), or in an outcome (DONE,
REFUSED), after which nothing is read.  The client does not learn why a login failed, nor whether the user exists.
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
"""Codes of a sasl-outcome (5.3.3.6)."""

MAX_FRAME = 4_096
"""Octets of a SASL frame.  The specification's 512 (5.3.1) are too few for some tokens that clients send."""

MAX_ROUNDS = 8
"""Responses that one client may send. SCRAM needs two, or three with an empty first one."""

MAX_AHEAD = 32_768
"""Octets that a client may send before it has the outcome, while its password is checked."""


class Phase(StrEnum):
    """The state of the negotiation."""

    HEADER = "header"
    MECHANISM = "mechanism"
    CHALLENGE = "challenge"
    CHECKING = "checking"
    """The caller must check the password in `SaslServer.asked` and pass the result to `SaslServer.checked`."""
    DONE = "done"
    REFUSED = "refused"


_OVER = frozenset((Phase.DONE, Phase.REFUSED))
_NOT_READING = _OVER | {Phase.CHECKING}


class _RefusedError(Exception):
    """The login has failed."""


class Credentials(Struct, frozen=True):
    """A password that a client has sent.

    Args:
        user: Whose it is said to be.
        password: The password.
    """

    user: str
    password: str

    def __repr__(self) -> str:
        """Return a text without the password."""
        return f"Credentials({self.user!r})"


_Steps = Generator[bytes, bytes, tuple[str | None, bytes | None] | Credentials]
"""A mechanism: takes responses, gives challenges, and returns the user and what goes with the outcome, or a password
that decides."""


class SaslServer:
    """The negotiation with one client.

    Args:
        security: The users, and the mechanisms that they may use.
        private: Whether a clear-text password is safe: the client is on this machine, or the socket uses TLS.
    """

    def __init__(self, security: Security, *, private: bool) -> None:
        self._security = security
        self._offered = security.mechanisms(private=private)
        self._rounds_left = MAX_ROUNDS
        self._received = bytearray()
        self._steps: _Steps | None = None
        self.asked: Credentials | None = None
        """The credentials to check, in phase CHECKING."""
        self.phase = Phase.HEADER
        self.user: str | None = None
        """The user, in phase DONE; None for anonymous."""
        self.refusal: str | None = None
        """The reason, in phase REFUSED; for the log, not for the client."""
        self.rest = b""
        """The octets after the negotiation, in phase DONE."""

    def receive(self, octets: bytes) -> bytes:
        """Take octets of the client.

        Call it until `phase` is DONE or REFUSED; then send what it returned, and go on with `rest` or close.  In phase
        CHECKING have `asked` checked, and call `checked`.

        Returns:
            What to answer.
        """
        return self._go_on(octets, None)

    def checked(self, right: bool) -> bytes:
        """Take the result of a password check; ignored outside phase CHECKING.

        Args:
            right: Whether the password is the user's.

        Returns:
            What to answer.
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
            # Octets other than SASL get no outcome frame: before the header only our header, later nothing.
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
        """Return the next header or frame once it is complete."""
        received = self._received
        if self.phase is Phase.HEADER:
            size = HEADER_SIZE
            if not SASL_HEADER.startswith(bytes(received[:4])):  # no header begins like this
                raise DecodeError("the client speaks no AMQP")
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
            raise DecodeError(f"the client begins with {part!r} where SASL is asked for")
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
    """Encode our header and mechanisms; cached, since all clients get the same."""
    offer = types.described(_MECHANISMS, types.fields((types.symbols(mechanisms),)))
    return SASL_HEADER + frame(offer, sasl=True)


# --- mechanisms: each is started, and then sent the client's responses


def _steps(mechanism: str, users: Users | None) -> _Steps:
    if mechanism == ANONYMOUS or users is None:
        return _anonymous()
    return _plain() if mechanism == PLAIN else _scram(users)


def _anonymous() -> _Steps:
    """ANONYMOUS (RFC 4505): accept any client and ignore its trace information."""
    yield from ()
    return None, None


def _plain() -> _Steps:
    """PLAIN (RFC 4616): authorization identity, user and password, separated by NUL."""
    response = yield b""
    try:
        parts = response.decode().split("\0")
    except UnicodeDecodeError:
        raise _RefusedError("PLAIN without text") from None
    if len(parts) != 3:  # noqa: PLR2004  as said above
        raise _RefusedError("PLAIN without two zeros")
    act_for, user, password = parts
    if act_for not in {"", user}:
        raise _RefusedError(f"{user[:40]!r} may not act for {act_for[:40]!r}")
    return Credentials(user, password)


def _scram(users: Users) -> _Steps:
    """SCRAM-SHA-256 (RFC 7677): the client's nonce, the server's with salt and iterations, and both proofs."""
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
        raise _RefusedError("SCRAM without text") from None


# --- frames


def _performative(part: bytes, wanted: int) -> list[object]:
    """Return the fields of a SASL performative."""
    start = part[4] * 4
    if part[5] != SASL_FRAME or not HEADER_SIZE <= start <= len(part):
        raise DecodeError("no SASL frame")
    value = types.decode(part[start:])
    if not isinstance(value, Described) or value.descriptor != wanted or not isinstance(value.value, list):
        raise DecodeError(f"no frame 0x{wanted:02x} where one must come")
    return cast("list[object]", value.value)


def _octets(fields: list[object], position: int) -> bytes | None:
    value = fields[position] if position < len(fields) else None
    if value is not None and not isinstance(value, bytes):
        raise DecodeError("a response that is no octets")
    return value
