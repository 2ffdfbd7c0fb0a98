"""Requests over HTTP to the administration of a broker."""

from __future__ import annotations

import http.client
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping

from msgspec import Struct

from assay_sdk.driver import Login

_LIMIT_S = 60
"""The longest wait for an answer, in seconds."""


class NoAnswerError(Exception):
    """The error for a request that the server does not answer; the text is the reason, and contains no password."""


class Answer(Struct, frozen=True):
    """The answer to a request.

    Args:
        status: The HTTP status.
        body: The body's octets.
        headers: The headers by name, in lower case.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


class HttpServer:
    """A server to which the kit sends HTTP requests, each with the same login.

    Args:
        host: The server's address.
        port: Returns the port at which the server listens now.
        login: The user and password; None for requests without a login.
        tls: The settings of TLS; None for requests without TLS.
    """

    def __init__(
        self, host: str, port: Callable[[], int], login: Login | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._host = host
        self._port = port
        self._login = login
        self._tls = tls

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request, and return the answer.

        Args:
            method: The HTTP method.
            path: The path and query.
            body: The request's body; None for no body.
            headers: The HTTP headers, without the login.

        Raises:
            NoAnswerError: The server does not answer.
        """
        sent = dict(headers or {})
        if self._login is not None:
            named = f"{self._login.user}:{self._login.password}".encode()
            sent["Authorization"] = f"Basic {b64encode(named).decode()}"
        line = self._line()
        try:
            line.request(method, path, body, sent)
            answer = line.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, answer.read(), headers)
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(str(error) or type(error).__name__) from error
        finally:
            line.close()

    def _line(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port(), timeout=_LIMIT_S)
        return http.client.HTTPSConnection(self._host, self._port(), timeout=_LIMIT_S, context=self._tls)
