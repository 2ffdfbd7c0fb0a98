from __future__ import annotations

import signal

import pytest


@pytest.mark.usefixtures("spark")
def test_ctrl_c_does_what_it_did_before_spark_came() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
