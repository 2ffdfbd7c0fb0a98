"""The queues and topics that the kit creates by an administration program, before a client uses them."""

from __future__ import annotations

import threading

from assay_adapters.brokers.url.model import Operation
from assay_adapters.brokers.url.programs import ProgramAdmin
from assay_adapters.ports.administration import Define, Delete, ObjectKind
from assay_adapters.ports.outcome import Refused
from assay_sdk.model.message import Address, AddressKind

_CREATES = {AddressKind.QUEUE: Operation.CREATE_QUEUE, AddressKind.TOPIC: Operation.CREATE_TOPIC}
_DELETES = {AddressKind.QUEUE: Operation.DELETE_QUEUE, AddressKind.TOPIC: Operation.DELETE_TOPIC}


class Destinations:
    """The queues and topics that the kit has created.

    Args:
        admin: The administration program.
    """

    def __init__(self, admin: ProgramAdmin) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._made: set[Address] = set()

    def wants(self, address: Address) -> bool:
        """Return whether the kit must create a destination before its use."""
        create = _CREATES.get(address.kind)  # None for temporary destinations, which the broker makes
        return create is not None and self._admin.offers(create) and address not in self._made

    def create(self, address: Address) -> Refused | None:
        """Create a destination, unless the kit has created it before; return the broker's refusal, or None."""
        with self._lock:
            if not self.wants(address):
                return None
            outcome = self._admin.execute(Define(ObjectKind(address.kind.value), address.name))
            if isinstance(outcome, Refused):
                return outcome
            self._made.add(address)
            return None

    def delete(self) -> None:
        """Delete the destinations that the kit has created, if the program offers this; ignore refusals."""
        with self._lock:
            made, self._made = self._made, set()
            for address in sorted(made, key=lambda one: (one.kind, one.name)):
                if self._admin.offers(_DELETES[address.kind]):
                    self._admin.execute(Delete(ObjectKind(address.kind.value), address.name))
