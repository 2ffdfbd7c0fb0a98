"""Destinations of the public API: queues and topics, each with a name and the type of its messages' bodies.

``Queue("ORDERS", Order)`` is a ``Queue[Order]``: the body of each of its messages is an ``Order``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, overload

from assay_sdk.model.converters import ANY, Converter, converter_for
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.texts import name_flaw, shown

T = TypeVar("T")


class DestinationError(ValueError):
    """The error for an invalid destination or an invalid name of a destination.

    Attributes:
        name: The value that was given as a name or a destination.
    """

    def __init__(self, sentence: str, name: object) -> None:
        self.name = name
        super().__init__(sentence)


class Destination(Generic[T]):
    """Base of queues and topics; applications use `Queue` or `Topic`.

    Instances are immutable.  Two destinations are equal if they have the same kind and name, even with different body
    types, because a broker knows no body types.

    Each subclass declares the overloads of its own constructor, so that type checkers infer ``Queue[str]`` for
    ``Queue("X")``.  From overloads in this base class, type checkers would infer no type for a subclass.

    Args:
        name: Name at the broker: not empty, and valid as in `assay_sdk.model.texts`.
        body_type: Type of the bodies: str (the default), bytes, dict, a msgspec Struct or a dataclass.
        converter: Converts values to bodies and back; with a converter, any body type is possible.

    Raises:
        DestinationError: The name is invalid.
        NoConverterError: The SDK has no converter for the type, and no converter is given.
        TypeError: The converter lacks the method `encode` or `decode`.
    """

    __slots__ = ("_address", "_converter")

    _kind: ClassVar[AddressKind]
    _address: Address
    _converter: Converter[T]

    def __init__(self, name: str, body_type: object, converter: Converter[T] | None) -> None:
        self._address = Address(self._kind, checked_name(name, self._kind))
        if converter is not None and not (hasattr(converter, "encode") and hasattr(converter, "decode")):
            raise TypeError(f"converter is {converter!r}: give an object with encode and decode")
        self._converter = converter_for(body_type) if converter is None else converter

    @property
    def name(self) -> str:
        """Name of the destination at the broker."""
        return self._address.name

    @property
    def address(self) -> Address:
        """Kind and name of the destination."""
        return self._address

    @property
    def converter(self) -> Converter[T]:
        """Converter between the application's values and message bodies."""
        return self._converter

    def __eq__(self, other: object) -> bool:
        return self._address == other.address if isinstance(other, Destination) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._address)

    def __str__(self) -> str:
        return str(self._address)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Queue(Destination[T]):
    """A queue: the broker delivers each message to one consumer."""

    __slots__ = ()
    _kind = AddressKind.QUEUE

    @overload
    def __init__(self: Queue[str], name: str) -> None: ...
    @overload
    def __init__(self, name: str, body_type: type[T], *, converter: Converter[T] | None = None) -> None: ...
    @overload
    def __init__(self, name: str, *, converter: Converter[T]) -> None: ...
    def __init__(self, name: str, body_type: object = str, *, converter: Converter[T] | None = None) -> None:
        super().__init__(name, body_type, converter)


class Topic(Destination[T]):
    """A topic: the broker delivers each message to every subscription."""

    __slots__ = ()
    _kind = AddressKind.TOPIC

    @overload
    def __init__(self: Topic[str], name: str) -> None: ...
    @overload
    def __init__(self, name: str, body_type: type[T], *, converter: Converter[T] | None = None) -> None: ...
    @overload
    def __init__(self, name: str, *, converter: Converter[T]) -> None: ...
    def __init__(self, name: str, body_type: object = str, *, converter: Converter[T] | None = None) -> None:
        super().__init__(name, body_type, converter)


class TemporaryQueue(Queue[T]):
    """A queue that lasts as long as the connection that created it (Jakarta Messaging 3.1, 6.2.2)."""

    __slots__ = ()
    _kind = AddressKind.TEMPORARY_QUEUE

    @overload
    def __init__(self: TemporaryQueue[str], name: str) -> None: ...
    @overload
    def __init__(self, name: str, body_type: type[T], *, converter: Converter[T] | None = None) -> None: ...
    @overload
    def __init__(self, name: str, *, converter: Converter[T]) -> None: ...
    def __init__(self, name: str, body_type: object = str, *, converter: Converter[T] | None = None) -> None:
        Destination.__init__(self, name, body_type, converter)


class TemporaryTopic(Topic[T]):
    """A topic that lasts as long as the connection that created it (Jakarta Messaging 3.1, 6.2.2)."""

    __slots__ = ()
    _kind = AddressKind.TEMPORARY_TOPIC

    @overload
    def __init__(self: TemporaryTopic[str], name: str) -> None: ...
    @overload
    def __init__(self, name: str, body_type: type[T], *, converter: Converter[T] | None = None) -> None: ...
    @overload
    def __init__(self, name: str, *, converter: Converter[T]) -> None: ...
    def __init__(self, name: str, body_type: object = str, *, converter: Converter[T] | None = None) -> None:
        Destination.__init__(self, name, body_type, converter)


_CLASSES: dict[AddressKind, Callable[..., Queue[Any] | Topic[Any]]] = {
    AddressKind.QUEUE: Queue,
    AddressKind.TOPIC: Topic,
    AddressKind.TEMPORARY_QUEUE: TemporaryQueue,
    AddressKind.TEMPORARY_TOPIC: TemporaryTopic,
}


def destination(address: Address) -> Queue[Any] | Topic[Any]:
    """Return the destination with an address; its bodies may have any type, because an address has no body type.

    Raises:
        DestinationError: The address has an invalid name.
    """
    return _CLASSES[address.kind](address.name, converter=ANY)


def address_of(given: object, what: str) -> Address:
    """Return the address of a destination.

    Args:
        given: A `Queue`, a `Topic`, a temporary queue or topic, or an `Address`.
        what: Name of the argument, for the error.

    Raises:
        DestinationError: The argument is neither a destination nor an `Address`.
    """
    if isinstance(given, Destination):
        return given.address
    if isinstance(given, Address):
        return given
    name = given if isinstance(given, str) else "NAME"
    kind = type(given).__name__
    raise DestinationError(f"{what} is a {kind}: give a destination, such as Queue({name[:60]!r}).", given)


def checked_name(name: object, kind: AddressKind = AddressKind.QUEUE) -> str:
    """Check the name of a destination and return it.

    Args:
        name: The name to check.
        kind: Kind of the destination, for the error.

    Raises:
        DestinationError: The name is not a string, is empty or too long, or has control characters or unpaired
            surrogates.
    """
    noun = kind.value.replace("-", " ")
    if not isinstance(name, str):
        raise DestinationError(f"The name of a {noun} is {name!r}; give a string.", name)
    if not name:
        raise DestinationError(f"The name of a {noun} is empty; give the name that the broker knows.", name)
    flaw = name_flaw(name)
    if flaw is not None:
        raise DestinationError(f"The name {shown(name)} cannot name a {noun}: {flaw}.", name)
    return name
