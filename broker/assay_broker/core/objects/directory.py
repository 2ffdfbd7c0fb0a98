"""The directory: every defined object by namespace and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay_broker.core.objects.factory import ON_USE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.objects.topics import TopicObjects


class Directory:
    """All objects of one queue manager.

    Args:
        definitions: What is there at the start.
    """

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        self._objects: dict[tuple[Namespace, str], Definition] = {}
        self._manager: Definition | None = None
        self.topics = TopicObjects()
        """The topic objects by their topic strings."""
        for definition in definitions:
            self.put(definition)

    def __iter__(self) -> Iterator[Definition]:
        """All objects, in the order of their definition."""
        return iter(tuple(self._objects.values()))

    def find(self, namespace: Namespace, name: str) -> Definition | None:
        """An object by its name; None when there is none."""
        return self._objects.get((namespace, name))

    def queue(self, name: str) -> Definition | None:
        """A queue of any type by its name; None when there is none."""
        return self._objects.get((Namespace.QUEUE, name))

    def queue_manager(self) -> Definition:
        """The queue manager's own attributes.

        Raises:
            LookupError: It was never defined; the factory always does.
        """
        if self._manager is None:
            raise LookupError("the queue manager has no attributes of its own")
        return self._manager

    @property
    def on_use(self) -> bool:
        """Whether queues that nobody has defined are created when they are used."""
        return ON_USE in self.queue_manager().text("CUSTOM")

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue; empty for none."""
        return self.queue_manager().text("DEADQ")

    def put(self, definition: Definition) -> None:
        """Define an object, or define it anew."""
        known = self.find(definition.namespace, definition.name)
        if known is not None:
            self.topics.remove(known)
        self.topics.put(definition)
        self._objects[definition.namespace, definition.name] = definition
        if definition.kind is Kind.QMGR:
            self._manager = definition

    def remove(self, namespace: Namespace, name: str) -> None:
        """An object is gone; nothing happens when there was none."""
        found = self._objects.pop((namespace, name), None)
        if found is not None:
            self.topics.remove(found)
