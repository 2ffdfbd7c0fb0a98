"""Creation of a product's queues before a client uses them, by the product's administrator."""

from __future__ import annotations

import threading

from assay_adapters.ports.administration import Admin, Define, ObjectKind
from assay_adapters.ports.outcome import Ok, Refused
from assay_sdk.model.message import Address, AddressKind


class QueuesOnUse:
    """Creates queues that do not exist, for a product that does not create them when a client attaches.

    Args:
        admin: The administrator.
    """

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._known: set[Address] = set()

    def wants(self, address: Address) -> bool:
        """Return True for a queue, unless the kit knows that the queue exists."""
        return address.kind is AddressKind.QUEUE and address not in self._known

    def create(self, address: Address) -> Refused | None:
        """Create a queue, unless an object of its name exists; return the product's refusal, or None."""
        with self._lock:
            if self._exists(address):
                return None
            defined = self._admin.execute(Define(ObjectKind.QUEUE, address.name))
            if isinstance(defined, Refused) and not self._exists(address):  # another process may have created it
                return defined
            self._known.add(address)
            return None

    def _exists(self, address: Address) -> bool:
        if address in self._known:
            return True
        if isinstance(self._admin.inspect(ObjectKind.QUEUE, address.name), Ok):
            self._known.add(address)
            return True
        return False
