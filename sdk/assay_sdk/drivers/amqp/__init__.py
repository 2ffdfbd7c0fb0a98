"""AMQP 1.0: proton's engine between a socket of ours and the SDK's commands."""

from __future__ import annotations

try:
    import proton as _proton  # noqa: F401  looked for here, so that its absence gets one sentence
except ModuleNotFoundError as error:
    raise ImportError(
        "the AMQP driver needs python-qpid-proton: install it with pip install 'assay-mq[amqp]'", name="proton"
    ) from error

from assay_sdk.drivers.amqp.driver import AmqpDriver

__all__ = ["AmqpDriver"]
