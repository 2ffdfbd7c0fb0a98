"""The reference broker as a server process of this machine, with clients over STOMP."""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.brokers.base import JMS_FACES
from assay_adapters.brokers.reference.server.backend import CAPABILITIES as OVER_AMQP
from assay_adapters.brokers.reference.server.backend import LACKS as LACKS_OVER_AMQP
from assay_adapters.brokers.reference.server.backend import PACKAGES, ReferenceServerBackend
from assay_adapters.clients.mqlight import CAPABILITIES as MQ_LIGHT
from assay_adapters.clients.sdk import CAPABILITIES as JMS
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, Environment, Unavailable, WireProtocol
from assay_adapters.ports.client import Source
from assay_sdk.driver import Driver
from assay_sdk.model.capabilities import Capability

_UNREAD = Source("The kit's proxy reads AMQP frames only.", "adapters/assay_adapters/faults/sightings.py")
_MQ_LIGHT = Source("MQ Light is defined over AMQP 1.0.", "docs/mqlight.md")
_NAMELESS = Source("STOMP's client-id header may be absent.", "docs/stomp.md")

LACKS: Mapping[Capability, Source] = {
    **{name: source for name, source in LACKS_OVER_AMQP.items() if name is not Capability.NAMELESS_CONNECTION},
    Capability.XA: Source("STOMP has no frames for branches of global units of work.", "STOMP 1.2, BEGIN"),
    Capability.OWN_UNCOMMITTED: Source(
        "The server delivers no uncommitted message of a transaction over STOMP.", "docs/stomp.md"
    ),
    Capability.KILL_AT_ANSWER: _UNREAD,
    Capability.KILL_AT_FIRST_SIGHT: _UNREAD,
    **{name: _MQ_LIGHT for name in MQ_LIGHT if name not in JMS},
}
"""The capabilities that the pair lacks, each with the reason."""

CAPABILITIES: Mapping[Capability, Source] = {
    **{name: source for name, source in OVER_AMQP.items() if name not in LACKS},
    Capability.NAMELESS_CONNECTION: _NAMELESS,
}
"""The capabilities of broker, client and adapter together."""


class StompServerBackend(ReferenceServerBackend):
    """The reference broker in processes of this machine, with clients over STOMP."""

    name = "reference-server+stomp"
    capabilities = CAPABILITIES
    lacks = LACKS
    faces = JMS_FACES
    profiles = ()
    protocol: WireProtocol = "stomp"

    @property
    def environment(self) -> Environment:
        """The tested product, with its version, protocols, store, and defect or variant."""
        environment = super().environment
        environment.details["protocol"] = "STOMP 1.2"
        return environment

    def probe(self) -> Available | Unavailable:
        """Return whether this machine has the packages for the server, without starting one."""
        if (absent := missing_packages(PACKAGES, extra="server")) is not None:
            return absent
        return Available("a process of this machine, over STOMP 1.2 and HTTP")

    def _driver(self) -> Driver:
        from assay_sdk.drivers.stomp import StompDriver

        driver: Driver = StompDriver()
        return driver if self._filter is None else self._filter(driver)
