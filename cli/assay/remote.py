"""A client for IBM MQ's REST interface, which the reference broker's server offers, too."""

from __future__ import annotations

import json
import os
import ssl
import sys
from base64 import b64encode
from getpass import getpass
from http import HTTPStatus
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

import msgspec
import typer
from msgspec import Struct

from assay.exits import CannotRunError, Exit, UsageProblem
from assay_broker.core.messages.descriptor import native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk import Login

PASSWORD = "ASSAY_PASSWORD"  # noqa: S105 - the variable's name
"""The environment variable that holds a user's password."""

User = Annotated[str | None, typer.Option(help=f"User's name; the password comes from ${PASSWORD} or the terminal.")]
"""The ``--user`` option of all commands that log in."""

Authority = Annotated[
    Path | None, typer.Option("--ca", help="Certificates (PEM) that verify the server's certificate.")
]
"""The ``--ca`` option of all commands that can use TLS."""

T = TypeVar("T")


_OTHER_NAMES = frozenset({62, 64})
"""OpenSSL's codes for a certificate that does not name the host or address of the URL (``X509_V_ERR_*_MISMATCH``)."""


class ForbiddenError(CannotRunError):
    """The queue manager refuses the request, because the user lacks the authority (MQWB0103E)."""

    code = Exit.NOT_AS_EXPECTED


_PATH = "/ibmmq/rest/v2/admin"
_NOT_AUTHORISED = "MQWB0103E"
_MESSAGING = "/ibmmq/rest/v2/messaging"
_TIMEOUT_S = 60.0
_MOST = 256 * 1024 * 1024


def login(user: str | None) -> Login | None:
    """Return the login of a user, with a password from the environment or the terminal; None without a user.

    Raises:
        UsageProblem: No password is set, and no terminal can ask for it.
    """
    if user is None:
        return None
    given = os.environ.get(PASSWORD)
    if given is None and not sys.stdin.isatty():
        raise UsageProblem(f"The password of {user} is unknown: put it into the environment variable {PASSWORD}.")
    return Login(user, getpass(f"Password of {user}: ") if given is None else given)


class Item(Struct, frozen=True, rename="camel", kw_only=True):
    """One item of the answer to a command.

    Args:
        completion_code: The MQCC value; 0 if the command succeeded.
        reason_code: The MQRC or MQRCCF value.
        text: The lines that runmqsc would print.
        column: The column of the error in the command, from 1; 0 if unknown.
        syntax_error: Whether the error is in the command's syntax.
    """

    completion_code: int
    reason_code: int
    text: tuple[str, ...] = ()
    column: int = 0
    syntax_error: bool = False


class Answer(Struct, frozen=True, rename="camel", kw_only=True):
    """The answer to a command.

    Args:
        command_response: One item for each displayed object; one item for any other command.
        overall_completion_code: The MQCC value; 0 if the command succeeded.
    """

    command_response: tuple[Item, ...]
    overall_completion_code: int


class _Fault(Struct, frozen=True, rename="camel"):
    message: str = ""
    msg_id: str = ""


class _Faults(Struct, frozen=True):
    error: tuple[_Fault, ...]


class _Manager(Struct, frozen=True):
    name: str


class _Managers(Struct, frozen=True):
    qmgr: tuple[_Manager, ...]


class RemoteManager:
    """A queue manager that the command reaches over one persistent HTTP connection.

    Args:
        url: ``http://host:port`` or ``https://host:port``.
        name: The name of the queue manager; None if the server has only one.
        login: User and password; None to send requests without a login.
        authority: The file with the certificates of the authorities that sign the server's certificate; None for the
            authorities that the system trusts.

    Raises:
        UsageProblem: The URL is invalid, or the certificates cannot be read.
    """

    def __init__(
        self, url: str, *, name: str | None = None, login: Login | None = None, authority: Path | None = None
    ) -> None:
        place = _place(url)
        self._url = url
        self._name = name
        self._headers = {"Content-Type": "application/json", "ibm-mq-rest-csrf-token": "assay"}
        if login is not None:
            octets = f"{login.user}:{login.password}".encode()
            self._headers["Authorization"] = f"Basic {b64encode(octets).decode()}"
        self._line = _line(place, authority)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._line.close()

    @property
    def name(self) -> str:
        """The queue manager's name.

        Raises:
            CannotRunError: No server answers, the server refuses the request, or it is not IBM MQ's REST interface.
            UsageProblem: The server has no queue manager, or several.
        """
        if self._name is None:
            found = self._decoded(self._ask("GET", f"{_PATH}/qmgr"), _Managers).qmgr
            match [one.name for one in found]:
                case [name]:
                    self._name = name
                case []:
                    raise UsageProblem(f"{self._url} names no queue manager: start one there, or name one with --name.")
                case names:
                    several = _plain(", ".join(names))
                    raise UsageProblem(f"{self._url} has several queue managers ({several}): choose one with --name.")
        return self._name

    def run(self, command: str) -> Answer:
        """Execute an MQSC command on the queue manager.

        Raises:
            CannotRunError: No server answers, the server refuses the request, or it is not IBM MQ's REST interface.
            UsageProblem: No queue manager was named, and the server has none or several.
        """
        body = json.dumps({"type": "runCommand", "parameters": {"command": command}})
        name = quote(self.name, safe="").replace(".", "%2E")
        return self._decoded(self._ask("POST", f"{_PATH}/action/qmgr/{name}/mqsc", body), Answer)

    def take_staged(self, handle: str) -> bool:
        """Take all copies of a delayed message off the staging queue, as an administrator does (DD-38).

        Args:
            handle: The message id that the sender got; its bytes are the CorrelId on the staging queue (DD-37).

        Returns:
            Whether the staging queue held a copy.

        Raises:
            CannotRunError: No server answers, the server refuses the request, or it is not IBM MQ's REST interface.
            ForbiddenError: The user is not an administrator.
            UsageProblem: No queue manager was named, and the server has none or several.
        """
        name, queue = quote(self.name, safe="").replace(".", "%2E"), quote(STAGING_QUEUE, safe="")
        wanted = native_id(handle).hex()
        path = f"{_MESSAGING}/qmgr/{name}/queue/{queue}/message?correlationId={wanted}"
        taken = False
        while self._ask("DELETE", path) is not None:
            taken = True
        return taken

    def _ask(self, method: str, path: str, body: str | None = None) -> bytes | None:
        """Send a request and return the answer's body; None for status 204, which has no body."""
        try:
            self._line.request(method, path, None if body is None else body.encode(), self._headers)
            answer = self._line.getresponse()
            octets = answer.read(_MOST)
        except (OSError, HTTPException) as error:
            if isinstance(error, BadStatusLine) and str(error).startswith("AMQP"):
                raise CannotRunError(
                    f"{self._url} is the server's AMQP port: administration is over HTTP, so give the HTTP URL "
                    "that the server prints when it starts (assay broker --http HOST:PORT)."
                ) from error
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise CannotRunError(f"{self._url} does not answer ({_plain(why)}): {self._remedy(error)}.") from error
        if answer.status == HTTPStatus.OK:
            return octets
        if answer.status == HTTPStatus.NO_CONTENT:
            return None
        what = f"{self._url} has refused the request ({answer.status}): {_said(octets, answer.reason)}"
        if answer.status == HTTPStatus.UNAUTHORIZED and "Authorization" not in self._headers:
            what = f"{what.removesuffix('.')}; log in with --user NAME."
        raise (ForbiddenError if _is_forbidden(octets) else CannotRunError)(what)

    def _remedy(self, error: Exception) -> str:
        """Return the advice for the user if no server answers over HTTP."""
        from assay_sdk.drivers.certificates import OUT_OF_DATE

        if isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in _OTHER_NAMES:
            return "its certificate is for another name: connect with a name in the certificate"
        if isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in OUT_OF_DATE:
            return OUT_OF_DATE[error.verify_code]
        if isinstance(error, ssl.SSLCertVerificationError):
            return "name the certificates that verify the server's certificate with --ca FILE"
        if isinstance(error, ssl.SSLError):
            return "the port may not use TLS: try http://"
        if isinstance(error, RemoteDisconnected | BadStatusLine) and self._url.startswith("http://"):
            return "the port may use TLS: try https://"
        return "check that the server runs, and its address"

    def _decoded(self, octets: bytes | None, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(octets or b"", type=kind)
        except msgspec.DecodeError as error:
            raise CannotRunError(
                f"{self._url} does not answer as IBM MQ's REST interface does ({error}): check the URL."
            ) from error


def _is_forbidden(octets: bytes) -> bool:
    """Return whether a refusal's body reports a lack of authority instead of a wrong login."""
    try:
        return any(one.msg_id == _NOT_AUTHORISED for one in msgspec.json.decode(octets, type=_Faults).error)
    except msgspec.DecodeError:
        return False


def _said(octets: bytes, reason: str) -> str:
    try:
        return _plain(" ".join(one.message for one in msgspec.json.decode(octets, type=_Faults).error) or reason)
    except msgspec.DecodeError:
        return f"{_plain(reason) or 'without a reason'}."


def _plain(text: str) -> str:
    """Return a server's text as one line, without control characters, which could change the terminal."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _place(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageProblem(f"{url!r} is not a URL ({error}); write one such as http://127.0.0.1:9443.") from error
    del port
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path not in {"", "/"} or parts.query:
        raise UsageProblem(f"{url!r} is not a server's URL; write one such as http://127.0.0.1:9443.")
    if parts.username is not None:
        raise UsageProblem("The URL holds a user: give the user with --user, so that it appears in no log.")
    return parts


def _line(place: SplitResult, authority: Path | None) -> HTTPConnection:
    host = place.hostname or ""
    if place.scheme == "http":
        return HTTPConnection(host, place.port or 80, timeout=_TIMEOUT_S)
    try:
        context = ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError) as error:
        raise UsageProblem(f"{authority} holds no certificates ({error}); name a PEM file.") from error
    return HTTPSConnection(host, place.port or 443, timeout=_TIMEOUT_S, context=context)
