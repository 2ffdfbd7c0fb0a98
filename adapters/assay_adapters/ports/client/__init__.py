"""Client (I-1): what the steps speak to, and what is judged on the client's side.

The SDK stands behind it in each of its faces (`assay_adapters.clients.sdk`); a vendor's Java client will too.  Every
call gives an `Outcome`.  Whatever happens outside a call (a listener is handed a message, the client settles one) is
told to the observer, so that one journal serves every client.
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
