"""The typed client SDK: JMS 2.0's words written as Python, over in-process and AMQP 1.0 drivers.

`connect` opens the simplified face, `ConnectionFactory` the classic one; both run one engine and mean the same by
the same words.  `connect_mqlight` opens the MQ Light face: topics, qualities of service, a connection that comes back.
"""

from assay_sdk.driver import Login
from assay_sdk.engine.acknowledgement import AckMode
from assay_sdk.engine.reconnecting import Backoff
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
from assay_sdk.faces.calling import Duration
from assay_sdk.faces.classic import Connection, ConnectionFactory, MessageConsumer, MessageProducer, Session, XaSession
from assay_sdk.faces.message import Message
from assay_sdk.faces.mqlight import Client, Delivery, Subscription, connect_mqlight
from assay_sdk.faces.producing import Receipt
from assay_sdk.faces.sessions import QueueBrowser
from assay_sdk.faces.simplified import Consumer, Context, Producer, XaContext, connect
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.converters import ConversionError, Converter
from assay_sdk.model.destinations import Destination, DestinationError, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import Address, AddressKind, Property
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote, Xid
from assay_sdk.observer import Observer, SdkEvent
from assay_sdk.time import StalledError

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
