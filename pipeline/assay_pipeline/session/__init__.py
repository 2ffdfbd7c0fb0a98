"""Spark sessions: on this machine, on a cluster, or on a Spark Connect server."""

from __future__ import annotations

import re
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay_pipeline.errors import SparkMissingError, UnreachableMasterError
from assay_pipeline.session.machine import own_session
from assay_pipeline.session.spark_connect import connect_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
CONNECT = "sc://"
CONNECT_PORT, MASTER_PORT = 15002, 7077
"""The default ports of a Spark Connect server and of a standalone master, for an address without a port."""
_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
_ANSWER_SECONDS = 5
_ADDRESS = re.compile(r"(?:spark|sc)://(?P<hosts>[^/;]+)")
"""The hosts in the address of a standalone master (several with commas) or of a Spark Connect server."""


@contextmanager
def spark_session(
    master: str = LOCAL, *, octets: int = 0, conf: Mapping[str, str] = _NO_SETTINGS
) -> Generator[SparkSession, None, None]:
    """Provide a Spark session, and end the session at the end of the block.

    Args:
        master: ``local[*]``, the address of a cluster (``spark://HOST:PORT``), or the address of a Spark Connect server
            (``sc://HOST:PORT``).
        octets: The size of the journals' lines in bytes, which decides some settings.
        conf: Settings of the user, which override the pipeline's own settings.

    Raises:
        SparkMissingError: pyspark is not installed.
        UnreachableMasterError: Nothing listens at the address.
        JavaMissingError: No Java was found, or the Java is too old.
        PackageMissingError: A package that Spark Connect needs is not installed.
        SparkFailedError: Spark does not start, or the server refuses the session.
    """
    if find_spec("pyspark") is None:
        raise SparkMissingError
    _reach(master)
    opened = connect_session if master.startswith(CONNECT) else own_session
    with opened(master, octets, conf) as session:
        yield session


def address_of(master: str) -> str:
    """Return a master's address without its parameters (``sc://HOST:PORT/;token=...``), which may hold secrets."""
    address, semicolon, _ = master.partition(";")
    return address.removesuffix("/") if semicolon else master


def _reach(master: str) -> None:
    """Try the address, because Spark itself would retry for minutes.

    Raises:
        UnreachableMasterError: Nothing listens at the address.
    """
    address = _ADDRESS.match(master)
    if address is None:
        return
    for one in address["hosts"].split(","):
        try:
            place = urlsplit(f"//{one}")
            port = place.port or (CONNECT_PORT if master.startswith(CONNECT) else MASTER_PORT)
            socket.create_connection((place.hostname, port), _ANSWER_SECONDS).close()
        except (OSError, ValueError):
            continue
        return
    raise UnreachableMasterError(address_of(master))
