from __future__ import annotations

import logging
import signal
import socket
import threading
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.usefixtures("spark")
def test_ctrl_c_does_what_it_did_before_spark_came() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_call_of_spark_logs_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Interrupt the sending of a call, with the root logger as in a command: without the handlers of pytest.

    The threads of py4j also send, such as for objects that Python no longer needs; these calls go through.
    """
    caller, sendall = threading.current_thread(), socket.socket.sendall

    def interrupted(connection: socket.socket, octets: bytes) -> None:
        if threading.current_thread() is caller:
            raise KeyboardInterrupt
        sendall(connection, octets)

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with monkeypatch.context() as cut:
        cut.setattr(socket.socket, "sendall", interrupted)
        with pytest.raises(KeyboardInterrupt):
            spark.range(1)
    assert capfd.readouterr().err == ""
    assert spark.range(1).count() == 1
