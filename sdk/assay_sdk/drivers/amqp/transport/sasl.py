"""The client's side of SASL (OASIS AMQP 1.0, 5.3).

Proton's SASL is not used, because its mechanisms depend on how Proton was compiled.

ANONYMOUS (RFC 4505) and PLAIN (RFC 4616) need no library; SCRAM-SHA-256 (RFC 5802, RFC 7677) uses scramp.  The client
prefers SCRAM, which sends no password and is therefore safe without TLS, and which verifies the broker.  This module
only transforms octets.  The caller computes a slow proof on a thread of its own (`SaslClient.prove`), so that no
connection waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import cast

from scramp import ScramClient, ScramException

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import SASL_FRAME, SASL_HEADER, Splitter, frame
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.driver import Login
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_MECHANISMS, _INIT, _CHALLENGE, _RESPONSE, _OUTCOME = 0x40, 0x41, 0x42, 0x43, 0x44
_OK, _AUTH = 0, 1

_MAX_FRAME = 65_536
"""Largest SASL frame that the client accepts, in octets.  AMQP's limit is 512 (AMQP 1.0, 5.3.1), but brokers with many
mechanisms exceed it."""


_MAX_ITERATIONS = 1_000_000
"""Largest number of hash iterations that the client accepts: about half a second of computing.  A hostile broker could
request iterations that take hours."""

_QUICK_ITERATIONS = 20_000
"""Largest number of hash iterations that the client computes without a separate thread; they take some milliseconds."""

_ANONYMOUS, _PLAIN, _SCRAM = "ANONYMOUS", "PLAIN", "SCRAM-SHA-256"


class Phase(StrEnum):
    """The phase of a SASL negotiation: what the client waits for, or the result."""

    HEADER = "header"
    """The client waits for the broker's protocol header."""
    MECHANISMS = "mechanisms"
    """The client waits for the broker's mechanisms."""
    PROVING = "proving"
    """The caller must call `SaslClient.prove` on any thread, and then `SaslClient.proved`."""
    OUTCOME = "outcome"
    """The client waits for a challenge or for the outcome."""
    DONE = "done"
    """The login has succeeded."""
    REFUSED = "refused"
    """The login has failed."""


class SaslClient:
    """The client's side of one SASL negotiation.

    Args:
        login: User and password; None for an anonymous login.
        private: Whether the connection is on loopback or uses TLS, so that the client may send a password.
    """

    def __init__(self, login: Login | None, *, private: bool) -> None:
        self._login = login
        self._private = private
        self._scram: Scram | None = None
        self._received = bytearray()
        self.phase = Phase.HEADER
        self.prove: Callable[[], bytes] | None = None
        """In phase PROVING, a function that computes the proof for the broker; the call takes up to half a second."""
        self.refused: Refused | None = None
        """In phase REFUSED, the reason of the failure."""
        self.rest = b""
        """In phase DONE, the octets that arrived after the negotiation and belong to AMQP."""

    def is_done(self) -> bool:
        """Return whether the login has succeeded."""
        return self.phase is Phase.DONE

    def start(self) -> bytes:
        """Return the first octets to send."""
        return SASL_HEADER

    def receive(self, octets: bytes) -> bytes:
        """Read octets from the broker, and return the octets to send in answer.

        The caller calls this method until `phase` is DONE or REFUSED.
        """
        self._received += octets
        answer = b""
        if self.phase is Phase.PROVING:
            if len(self._received) > _MAX_FRAME:
                self._refuse(_broken("it sends more frames before the client has answered its challenge"))
            return answer
        try:
            for part in self._parts():
                answer += self._take(part)
                if self.phase in {Phase.DONE, Phase.REFUSED, Phase.PROVING}:
                    break
        except DecodeError as error:
            self._refuse(_broken(f"it does not speak AMQP 1.0 with SASL: {error}"))
        except ScramException as error:
            why = (
                f"the broker does not prove that it knows user {self._user()!r} ({error.args[0]}):"
                " check the broker's address"
            )
            self._refuse(refused(Mqrc.NOT_AUTHORIZED, why))
        if self.phase is Phase.DONE:
            self.rest = bytes(self._received)
            self._received.clear()
        return answer

    def proved(self, proof: bytes) -> bytes:
        """Return the octets that send a proof to the broker; empty in phases other than PROVING.

        Args:
            proof: Result of `prove`.
        """
        if self.phase is not Phase.PROVING:
            return b""
        self.prove = None
        self.phase = Phase.OUTCOME
        return _response(proof) + self.receive(b"")

    def _parts(self) -> Iterator[bytes]:
        """Yield the complete headers and frames in the buffer, and remove them from it."""
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
                if self._scram is not None and _descriptor(part) == _CHALLENGE:
                    return self._take_challenge(self._scram, _performative(part, _CHALLENGE))
                return self._take_outcome(_performative(part, _OUTCOME))

    def _take_header(self, part: bytes) -> bytes:
        if part == SASL_HEADER:
            self.phase = Phase.MECHANISMS
        else:
            self._refuse(_broken(f"it does not speak AMQP 1.0 with SASL, but answers {part!r}"))
        return b""

    def _take_mechanisms(self, fields: list[object]) -> bytes:
        first = fields[0] if fields else None
        offered = [str(name) for name in cast("list[object]", first)] if isinstance(first, list) else [str(first)]
        mechanism = self._choose(offered)
        if mechanism is None:
            return b""
        try:
            first = self._first(mechanism)
        except ScramException as error:
            text = f"the login of user {self._user()!r} is invalid ({error.args[0]}): correct the name or the password"
            self._refuse(refused(Mqrc.NOT_AUTHORIZED, text))
            return b""
        self.phase = Phase.OUTCOME
        init = types.fields((types.symbol(mechanism), types.binary(first)))
        return frame(types.described(_INIT, init), sasl=True)

    def _choose(self, offered: list[str]) -> str | None:
        """Return the best mechanism that both sides support; if both support none, refuse the login and return None."""
        wanted = (_ANONYMOUS,) if self._login is None else (_SCRAM, _PLAIN) if self._private else (_SCRAM,)
        for mechanism in wanted:
            if mechanism in offered:
                return mechanism
        if self._login is not None and _PLAIN in offered:
            text = (
                "the client sends no password in clear text to another machine: connect with amqps://, "
                f"or make the broker offer {_SCRAM}"
            )
        else:
            hint = "give a user and a password" if self._login is None else f"this driver has {_SCRAM} and {_PLAIN}"
            if self._login is not None and set(offered) == {_ANONYMOUS}:
                hint = "it has no users, so leave the login out"
            text = f"the broker offers the SASL mechanisms {', '.join(offered)}, but not {' or '.join(wanted)}: {hint}"
        self._refuse(refused(Mqrc.NOT_AUTHORIZED, text))
        return None

    def _first(self, mechanism: str) -> bytes:
        """Return the initial response of a mechanism."""
        if self._login is None:
            return b"anonymous"
        if mechanism == _PLAIN:
            return f"\0{self._login.user}\0{self._login.password}".encode()
        self._scram = Scram(self._login)
        return self._scram.first()

    def _take_challenge(self, scram: Scram, fields: list[object]) -> bytes:
        if not scram.challenged(_octets(fields, 0) or b""):
            return _response(b"")
        if scram.iterations <= _QUICK_ITERATIONS:
            return _response(scram.prove())
        self.prove = scram.prove
        self.phase = Phase.PROVING
        return b""

    def _take_outcome(self, fields: list[object]) -> bytes:
        code = fields[0] if fields else None
        if code == _OK:
            if self._scram is not None:
                self._scram.verify(_octets(fields, 1))
            self.phase = Phase.DONE
        elif code == _AUTH:
            who = "an anonymous client" if self._login is None else f"user {self._login.user!r}"
            self._refuse(refused(Mqrc.NOT_AUTHORIZED, f"the broker refused the login of {who}: wrong name or password"))
        else:
            self._refuse(_broken(f"it could not check the login (SASL outcome {code})"))
        return b""

    def _user(self) -> str:
        return "" if self._login is None else self._login.user

    def _refuse(self, why: Refused) -> None:
        self.refused = why
        self.prove = None
        self.phase = Phase.REFUSED


class Scram:
    """The client's side of SCRAM-SHA-256.

    Args:
        login: User and password.

    Raises:
        ScramException: The name or the password has characters that RFC 4013 forbids.
    """

    def __init__(self, login: Login) -> None:
        self._client = ScramClient([_SCRAM], login.user, login.password)
        self._rounds = 0
        self._verified = False

    def first(self) -> bytes:
        """Return the client's first message: the user's name and a nonce."""
        return str(self._client.get_client_first()).encode()

    @property
    def iterations(self) -> int:
        """Number of hash iterations that the broker requests."""
        return int(self._client.iterations)

    def challenged(self, challenge: bytes) -> bool:
        """Read a challenge.

        The first challenge contains the salt.  A second one contains the broker's proof, if the outcome does not.

        Returns:
            Whether the client must answer with a proof.

        Raises:
            ScramException: The challenge is malformed, requests too many iterations, or has a wrong proof.
            DecodeError: The challenge is not UTF-8.
        """
        self._rounds += 1
        if self._rounds > 1:
            self.verify(challenge)
            return False
        self._client.set_server_first(_text(challenge))
        if self.iterations > _MAX_ITERATIONS:
            raise ScramException(f"it requests {self.iterations} iterations")
        return True

    def prove(self) -> bytes:
        """Compute the client's proof; hashing releases the interpreter's lock, so other threads can run."""
        return str(self._client.get_client_final()).encode()

    def verify(self, proof: bytes | None) -> None:
        """Check the broker's proof.

        Args:
            proof: Proof in the outcome or in a challenge; None if the outcome has none.

        Raises:
            ScramException: The proof is wrong, or neither the outcome nor a challenge had one.
            DecodeError: The proof is not UTF-8.
        """
        if self._verified and not proof:
            return
        if not proof:
            raise ScramException("it gives no proof")
        self._client.set_server_final(_text(proof))
        self._verified = True


def _response(octets: bytes) -> bytes:
    return frame(types.described(_RESPONSE, types.fields((types.binary(octets),))), sasl=True)


def _text(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise DecodeError("SCRAM without text") from error


def _octets(fields: list[object], position: int) -> bytes | None:
    value = fields[position] if position < len(fields) else None
    if value is not None and not isinstance(value, bytes):
        raise DecodeError("a challenge that is no octets")
    return value


def _descriptor(part: bytes) -> object:
    value = types.decode(part[part[4] * 4 :])
    return value.descriptor if isinstance(value, Described) else None


def _performative(part: bytes, wanted: int) -> list[object]:
    """Return the fields of a SASL performative.

    Args:
        part: A frame or protocol header.
        wanted: Descriptor that the performative must have.

    Raises:
        DecodeError: The part is not a SASL frame with this performative.
    """
    if part.startswith(b"AMQP") or part[5] != SASL_FRAME:
        raise DecodeError("a part that is no SASL frame")
    value = types.decode(part[part[4] * 4 :])
    if not isinstance(value, Described) or value.descriptor != wanted or not isinstance(value.value, list):
        raise DecodeError(f"another frame in place of 0x{wanted:02x}")
    return cast("list[object]", value.value)


def _broken(text: str) -> Refused:
    return Refused(
        JmsErrorKind.CONNECTION_LOST, f"the login at the broker failed: {text}", mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE)
    )
