"""The HTTP interface for administrators: IBM MQ's REST interface, metrics, and a status page."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("starlette") is None or find_spec("uvicorn") is None:
    raise ImportError(
        "administration over HTTP needs starlette and uvicorn: install them with pip install 'assay-mq[server]'",
        name="starlette",
    )

from assay_broker.http.app import application
from assay_broker.http.limits import HttpLimits
from assay_broker.http.listener import HttpListener, HttpListenError

__all__ = ["HttpLimits", "HttpListenError", "HttpListener", "application"]
