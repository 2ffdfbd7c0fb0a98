"""The AMQP 1.0 server, which connects clients to a queue manager; it uses the engine of Qpid Proton."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("cproton") is None:
    raise ImportError(
        "the AMQP server needs python-qpid-proton: install it with pip install 'assay-mq[server]'", name="cproton"
    )
