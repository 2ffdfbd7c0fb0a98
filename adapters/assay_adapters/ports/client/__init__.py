"""Client (I-1): the interface of client libraries under test, for the steps.

The SDK implements it in each of its faces (`assay_adapters.clients.sdk`); a vendor's Java client can, too. Every call
returns an `Outcome`. Events outside a call (a listener receives a message, the client settles one) go to the observer,
so that one journal serves every client.
"""

from assay_adapters.ports.client._identity import ClientIdentity, Endpoint, Face, Source
from assay_adapters.ports.client._listening import ClientEvent, ClientObserver, Script
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
