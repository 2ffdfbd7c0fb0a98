"""The typed client SDK: a Python API with JMS 2.0's terms, for in-process brokers, AMQP 1.0 and STOMP.

The SDK has three faces over one engine:

- `connect` opens the simplified face, and `ConnectionFactory` the classic face.  Methods with the same name do the
  same in both.  One difference: the simplified face also starts the connection when it creates a consumer.
- `connect_mqlight` opens the MQ Light face, which has topics and qualities of service.  Its client reconnects by
  itself after a lost connection.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from assay_sdk.driver import Login
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode, Qos
from assay_sdk.errors import (
    ConnectionLostError,
    ConnectionLostRuntimeError,
    IllegalStateError,
    IllegalStateRuntimeError,
    InvalidClientIdError,
    InvalidClientIdRuntimeError,
    InvalidDestinationError,
    InvalidDestinationRuntimeError,
    InvalidSelectorError,
    InvalidSelectorRuntimeError,
    JmsError,
    MessageFormatError,
    MessageFormatRuntimeError,
    MessagingError,
    MessagingRuntimeError,
    ResourceAllocationError,
    ResourceAllocationRuntimeError,
    SecurityError,
    SecurityRuntimeError,
    StaleDeliveryError,
    StaleDeliveryRuntimeError,
    TransactionInProgressError,
    TransactionInProgressRuntimeError,
    TransactionRolledBackError,
    TransactionRolledBackRuntimeError,
    UnsupportedError,
    UnsupportedRuntimeError,
    XAError,
)
from assay_sdk.faces.caller import Duration
from assay_sdk.faces.message import Message
from assay_sdk.faces.producer import Receipt
from assay_sdk.faces.session import QueueBrowser
from assay_sdk.faces.simplified import Consumer, Context, Producer, XaContext, connect
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.converters import ConversionError, Converter
from assay_sdk.model.destinations import Destination, DestinationError, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import Address, AddressKind, Property
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote, Xid
from assay_sdk.observer import Observer, SdkEvent
from assay_sdk.time import StalledError

if TYPE_CHECKING:
    from assay_sdk.engine.light.reconnection import Backoff
    from assay_sdk.faces.classic import (
        Connection,
        ConnectionFactory,
        MessageConsumer,
        MessageProducer,
        Session,
        XaSession,
    )
    from assay_sdk.faces.mqlight.client import Client, Delivery, Subscription, connect_mqlight

_ON_FIRST_USE = {
    "Backoff": "assay_sdk.engine.light.reconnection",
    **dict.fromkeys(
        ("Connection", "ConnectionFactory", "MessageConsumer", "MessageProducer", "Session", "XaSession"),
        "assay_sdk.faces.classic",
    ),
    **dict.fromkeys(("Client", "Delivery", "Subscription", "connect_mqlight"), "assay_sdk.faces.mqlight.client"),
}
"""The module of each public name that is imported only on its first use (PEP 562).  Most programs do not use these
names, and importing them would delay the start of every program."""


def __getattr__(name: str) -> object:
    """Import a public name of `_ON_FIRST_USE` on its first use.

    Raises:
        AttributeError: The package has no such name.
    """
    module = _ON_FIRST_USE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(_import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AS_DESTINATION",
    "AckMode",
    "Address",
    "AddressKind",
    "Backoff",
    "Client",
    "Connection",
    "ConnectionFactory",
    "ConnectionLostError",
    "ConnectionLostRuntimeError",
    "Consumer",
    "Context",
    "ConversionError",
    "Converter",
    "Delivery",
    "DeliveryMode",
    "Destination",
    "DestinationError",
    "Duration",
    "IllegalStateError",
    "IllegalStateRuntimeError",
    "InvalidClientIdError",
    "InvalidClientIdRuntimeError",
    "InvalidDestinationError",
    "InvalidDestinationRuntimeError",
    "InvalidSelectorError",
    "InvalidSelectorRuntimeError",
    "JmsError",
    "JmsErrorKind",
    "Login",
    "Message",
    "MessageConsumer",
    "MessageFormatError",
    "MessageFormatRuntimeError",
    "MessageProducer",
    "MessagingError",
    "MessagingRuntimeError",
    "Mqrc",
    "Observer",
    "Producer",
    "Property",
    "Qos",
    "Queue",
    "QueueBrowser",
    "Receipt",
    "Refused",
    "ResourceAllocationError",
    "ResourceAllocationRuntimeError",
    "SdkEvent",
    "SecurityError",
    "SecurityRuntimeError",
    "Session",
    "StaleDeliveryError",
    "StaleDeliveryRuntimeError",
    "StalledError",
    "Subscription",
    "TemporaryQueue",
    "TemporaryTopic",
    "Topic",
    "TransactionInProgressError",
    "TransactionInProgressRuntimeError",
    "TransactionRolledBackError",
    "TransactionRolledBackRuntimeError",
    "UnsupportedError",
    "UnsupportedRuntimeError",
    "XAError",
    "XaCode",
    "XaContext",
    "XaEnd",
    "XaResource",
    "XaSession",
    "XaStart",
    "XaVote",
    "Xid",
    "connect",
    "connect_mqlight",
]
