"""The AMQP 1.0 driver: Qpid Proton is its protocol engine, and the driver itself opens and uses the sockets."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("proton") is None or find_spec("scramp") is None:
    raise ImportError(
        "the AMQP driver needs python-qpid-proton and scramp: install them with pip install 'assay-mq[amqp]'",
        name="proton" if find_spec("proton") is None else "scramp",
    )

from assay_sdk.drivers.amqp.driver import AmqpDriver

__all__ = ["AmqpDriver"]
