"""The authentication of requests: HTTP basic authentication, and protection against cross-site requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import ssl
from base64 import b64decode
from binascii import Error as Base64Error
from collections import OrderedDict
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.requests import Request

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.http.requests.problems import Faults, HttpProblem
from assay_broker.security import is_loopback

CSRF_HEADER = "ibm-mq-rest-csrf-token"
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Assay", charset="UTF-8"'}
_REMEMBERED = 1_000
_REMEMBERED_S = 300.0
_LOG = logging.getLogger(__name__)
_LONGEST_LOGIN = 1_024


class Passwords(Protocol):
    """The interface through which the HTTP listener uses a server's users."""

    def check(self, user: str, password: str) -> bool:
        """Return whether a user has this password; the check is slow on purpose, also for an unknown user."""
        ...


class HttpSecurity(Protocol):
    """The interface through which the HTTP listener uses a server's users and TLS context."""

    @property
    def users(self) -> Passwords | None:
        """The users; None if only programs on this machine may connect, without a login."""
        ...

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS context; None for connections without TLS."""
        ...


class _Open(Struct, frozen=True):
    """The security of a server without users and TLS."""

    users: None = None
    tls: None = None


OPEN: HttpSecurity = _Open()
"""The security without users and TLS, with which programs on this machine have the administrator's authority."""


class Authenticator:
    """The authenticator of requests.

    A password check is slow on purpose, so checks run on threads, a few at a time.  The authenticator remembers a
    successful login for five minutes as a keyed hash, whose key stays in this process.

    Args:
        security: Users and TLS.
        logins: The most passwords that are checked at a time.
        clear_passwords: Whether clients on other machines, too, may send passwords without TLS.
    """

    def __init__(self, security: HttpSecurity, logins: int, *, clear_passwords: bool = False) -> None:
        self._users = security.users
        self._clear_passwords = clear_passwords
        self._turns = asyncio.Semaphore(logins)
        self._key = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, float] = OrderedDict()

    async def user(self, request: Request) -> str:
        """Return the name of the user whose authority a request has.

        On a server without users this is the administrator.  Such a server accepts only requests from this machine, and
        only if their header Host has a loopback address.  Without this check, a site could make its own name resolve to
        this machine, so that the site's pages could send requests from a browser here (DNS rebinding).

        Raises:
            HttpProblem: The login is missing or wrong, the password came from another machine without TLS, or the
                server has no users and the request is not from this machine.
        """
        if self._users is None:
            self._check_here(request)
            return ADMINISTRATOR
        return await self._logged_in(request, self._users)

    def check_token(self, request: Request) -> None:
        """Check that a request has IBM MQ's CSRF header, which a form on another site cannot send.

        Raises:
            HttpProblem: The request does not have the header.
        """
        if CSRF_HEADER not in request.headers:
            raise HttpProblem(Faults.NO_TOKEN, f"The header {CSRF_HEADER} is missing.")

    def _check_here(self, request: Request) -> None:
        named = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if request.client is None or not is_loopback(request.client.host) or not is_loopback(named):
            raise HttpProblem(
                Faults.ELSEWHERE,
                "Without users the server answers only programs on this machine that use a loopback address.",
            )

    async def _logged_in(self, request: Request, users: Passwords) -> str:
        user, password = _login(request)
        remote = request.client is None or not is_loopback(request.client.host)
        if remote and request.url.scheme != "https" and not self._clear_passwords:
            raise HttpProblem(Faults.CLEAR_PASSWORD, "A client on another machine may send its password over TLS only.")
        known = hmac.digest(self._key, f"{len(user)}:{user}{password}".encode(errors="surrogatepass"), hashlib.sha256)
        now = asyncio.get_running_loop().time()
        if self._right.get(known, 0.0) > now:
            return user
        async with self._turns:
            right = await asyncio.to_thread(users.check, user, password)
        if not right:
            client = "a client" if request.client is None else f"{request.client.host}:{request.client.port}"
            _LOG.warning("%s was refused: user or password is wrong", client)
            raise HttpProblem(Faults.NOT_AUTHENTICATED, "User or password is wrong.", headers=_CHALLENGE)
        self._right[known] = now + _REMEMBERED_S
        self._right.move_to_end(known)
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)
        return user


def _login(request: Request) -> tuple[str, str]:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or len(given) > _LONGEST_LOGIN:
        raise HttpProblem(
            Faults.NOT_AUTHENTICATED, "The request has no login by basic authentication.", headers=_CHALLENGE
        )
    try:
        user, colon, password = b64decode(given.strip(), validate=True).decode().partition(":")
    except (Base64Error, ValueError) as error:
        text = "The header Authorization is not valid basic authentication in UTF-8."
        raise HttpProblem(Faults.NOT_AUTHENTICATED, text, headers=_CHALLENGE) from error
    if not colon or not user:
        raise HttpProblem(Faults.NOT_AUTHENTICATED, "The login names no user.", headers=_CHALLENGE)
    return user, password
