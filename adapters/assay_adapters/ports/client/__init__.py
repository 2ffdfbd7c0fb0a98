"""The `Client` port: the interface through which steps use a client library under test.

The SDK implements the port in each of its faces (`assay_adapters.clients.sdk`); an adapter for a vendor's client can
implement it, too. Calls return an `Outcome`. The client reports events outside a call, such as a message for a
listener, to its observers. The journal therefore has one form for all clients.
"""

from assay_adapters.ports.client._identity import ClientIdentity, Endpoint, Face, Source
from assay_adapters.ports.client._listening import ClientEvent, ClientObserver, KeptFrame, Script
from assay_adapters.ports.client._messages import Draft, Origin, Seen, Sent
from assay_adapters.ports.client._port import (
    Client,
    ClientConnection,
    ClientConsumer,
    ClientProducer,
    ClientSession,
    XaResource,
)
from assay_adapters.ports.client._settings import AS_DESTINATION, MODE_VALUES, AckMode, Mode, Qos, Setting

__all__ = [
    "AS_DESTINATION",
    "MODE_VALUES",
    "AckMode",
    "Client",
    "ClientConnection",
    "ClientConsumer",
    "ClientEvent",
    "ClientIdentity",
    "ClientObserver",
    "ClientProducer",
    "ClientSession",
    "Draft",
    "Endpoint",
    "Face",
    "KeptFrame",
    "Mode",
    "Origin",
    "Qos",
    "Script",
    "Seen",
    "Sent",
    "Setting",
    "Source",
    "XaResource",
]
