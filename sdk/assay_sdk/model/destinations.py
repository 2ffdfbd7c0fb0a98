"""Destinations of the public API: a name, with the type of what its messages carry.

``Queue("ORDERS", Order)`` is a ``Queue[Order]``: what is sent there is an ``Order``, and what is received from there
has one as its body.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, overload

from assay_sdk.model.converters import ANY, Converter, converter_for
from assay_sdk.model.message import Address, AddressKind

T = TypeVar("T")

LONGEST_NAME = 10_240
"""Bytes of UTF-8, the longest topic string of IBM MQ; a broker may allow less and refuses by itself."""


class DestinationError(ValueError):
    """A name cannot name a destination.

    Attributes:
        name: The name that was given.
    """

    def __init__(self, sentence: str, name: object) -> None:
        self.name = name
        super().__init__(sentence)


class Destination(Generic[T]):
    """What queues and topics have in common; use `Queue` or `Topic`.

    Each class says by itself how it is made, because only so do type checkers see that ``Queue("X")`` is a
    ``Queue[str]``: of an overload that stands here, with this class as its self, they infer nothing for a subclass.

    Immutable.  Equal to another of the same kind and name: the broker knows nothing of types.

    Args:
        name: As the broker knows it: not empty, no control characters, at most `LONGEST_NAME` bytes of UTF-8.
        body_type: What its messages carry: str (the default), bytes, dict, a msgspec Struct or a dataclass.
        converter: What turns that into message bodies and back; where it is given, the type is free.

    Raises:
        DestinationError: The name cannot be one.
        NoConverterError: The type has no converter of its own, and none was given.
        TypeError: The converter is none.
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
        """The name as the broker knows it."""
        return self._address.name

    @property
    def address(self) -> Address:
        """Kind and name."""
        return self._address

    @property
    def converter(self) -> Converter[T]:
        """What turns a value into a message's body and back."""
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
    """A queue: each message goes to one consumer."""

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
    """A topic: each message goes to every subscription."""

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
    """A queue that lives as long as the connection that made it (Jakarta Messaging 3.1, 6.2.2)."""

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
    """A topic that lives as long as the connection that made it (Jakarta Messaging 3.1, 6.2.2)."""

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
    """Make the destination at an address; it takes bodies of any type, since an address says nothing of them.

    Raises:
        DestinationError: The address' name cannot be one.
    """
    return _CLASSES[address.kind](address.name, converter=ANY)


def address_of(given: object, what: str) -> Address:
    """Read the address of a destination that a caller without a type checker may have got wrong.

    Args:
        given: A `Queue`, a `Topic`, a temporary one of them, or an `Address`.
        what: The argument's name, for the sentence.

    Raises:
        DestinationError: It is none of them.
    """
    if isinstance(given, Destination):
        return given.address
    if isinstance(given, Address):
        return given
    name = given if isinstance(given, str) else "NAME"
    kind = type(given).__name__
    raise DestinationError(f"{what} is a {kind}: give a destination, such as Queue({name[:60]!r}).", given)


def checked_name(name: object, kind: AddressKind = AddressKind.QUEUE) -> str:
    """The name, if it can be one.

    Args:
        name: What was given.
        kind: What it shall name, for the sentence.

    Raises:
        DestinationError: It is no string, empty, too long, or has control characters or half a surrogate pair.
    """
    noun = kind.value.replace("-", " ")
    if not isinstance(name, str):
        raise DestinationError(f"The name of a {noun} is {name!r}; give a string.", name)
    if not name:
        raise DestinationError(f"The name of a {noun} is empty; give the name that the broker knows.", name)
    for position, letter in enumerate(name):
        if unicodedata.category(letter) in _UNFIT:
            at = f"character {position + 1} is U+{ord(letter):04X}"
            raise DestinationError(f"The name {name[:60]!r} cannot name a {noun}: {at}; leave it out.", name)
    size = len(name.encode())
    if size > LONGEST_NAME:
        limit = f"{size} bytes of UTF-8, and {LONGEST_NAME} are allowed"
        raise DestinationError(f"The name {name[:60]!r}… cannot name a {noun}: it has {limit}.", name)
    return name


_UNFIT = frozenset({"Cc", "Cs"})
"""Unicode categories that no name may have: control characters, and halves of surrogate pairs."""
