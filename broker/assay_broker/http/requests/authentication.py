"""Authentication: HTTP basic authentication, and protection against cross-site requests."""

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
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.requests import Request

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.http.requests.problems import Faults, HttpProblem

CSRF_HEADER = "ibm-mq-rest-csrf-token"
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Assay", charset="UTF-8"'}
_REMEMBERED = 1_000
_REMEMBERED_S = 300.0
_LOG = logging.getLogger(__name__)
_LONGEST_LOGIN = 1_024


class Passwords(Protocol):
    """Checks passwords."""

    def check(self, user: str, password: str) -> bool:
        """Whether this is the user's password. Costly, also for an unknown user."""
        ...


class Security(Protocol):
    """What the HTTP server needs of `assay_broker.security`."""

    @property
    def users(self) -> Passwords | None:
        """The users; None if the server is for programs on this machine only."""
        ...

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS context; None for no TLS."""
        ...


class _Open(Struct, frozen=True):
    """No users and no TLS."""

    users: None = None
    tls: None = None


OPEN: Security = _Open()
"""Without users: programs on this machine have the administrator's authority."""


def is_loopback(host: str | None) -> bool:
    """Whether an address or host name is this machine's loopback."""
    if host is None:
        return False
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


class Authenticator:
    """Authenticates requests.

    A password check is costly on purpose, so it runs on a thread, and only a few at a time. A successful login is
    remembered for a while as a keyed hash, whose key stays in this process.

    Args:
        security: Users, and TLS.
        logins: How many passwords are checked at a time.
        clear_passwords: Whether passwords may come without TLS from other machines, as in a network of containers.
    """

    def __init__(self, security: Security, logins: int, *, clear_passwords: bool = False) -> None:
        self._users = security.users
        self._clear_passwords = clear_passwords
        self._turns = asyncio.Semaphore(logins)
        self._key = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, float] = OrderedDict()

    async def user(self, request: Request) -> str:
        """Return the user whose authority the request has.

        Without users it is the administrator: only programs on this machine reach the server, and requests that a
        browser sends for another site are refused.

        Raises:
            HttpProblem: The request is not let in.
        """
        if self._users is None:
            self._check_here(request)
            return ADMINISTRATOR
        return await self._logged_in(request, self._users)

    def check_token(self, request: Request) -> None:
        """Refuse a request that a form on another site could have sent (IBM MQ's CSRF header).

        Raises:
            HttpProblem: There is no token.
        """
        if CSRF_HEADER not in request.headers:
            raise HttpProblem(Faults.NO_TOKEN, f"The header {CSRF_HEADER} is missing.")

    def _check_here(self, request: Request) -> None:
        named = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if request.client is None or not is_loopback(request.client.host) or not is_loopback(named):
            raise HttpProblem(
                Faults.ELSEWHERE,
                "Without users the server answers this machine's own programs by its own address only.",
            )

    async def _logged_in(self, request: Request, users: Passwords) -> str:
        user, password = _login(request)
        remote = request.client is None or not is_loopback(request.client.host)
        if remote and request.url.scheme != "https" and not self._clear_passwords:
            raise HttpProblem(Faults.CLEAR_PASSWORD, "A password from another machine comes by TLS only.")
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
        raise HttpProblem(Faults.NOT_AUTHENTICATED, "The request says not who asks.", headers=_CHALLENGE)
    try:
        user, colon, password = b64decode(given.strip(), validate=True).decode().partition(":")
    except (Base64Error, ValueError) as error:
        text = "The header Authorization is no basic authentication in UTF-8."
        raise HttpProblem(Faults.NOT_AUTHENTICATED, text, headers=_CHALLENGE) from error
    if not colon or not user:
        raise HttpProblem(Faults.NOT_AUTHENTICATED, "The login names no user.", headers=_CHALLENGE)
    return user, password
