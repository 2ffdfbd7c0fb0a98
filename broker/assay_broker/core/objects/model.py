"""Definitions of objects: a kind, a name, and attributes under IBM MQ's keywords."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

Value = str | int
"""The value of an attribute: a number, a word in upper case, or a text (``""`` for blank)."""


class Kind(StrEnum):
    """The kinds of objects, under MQSC's nouns."""

    QLOCAL = "QLOCAL"
    QALIAS = "QALIAS"
    QMODEL = "QMODEL"
    TOPIC = "TOPIC"
    SUB = "SUB"
    QMGR = "QMGR"


class Namespace(StrEnum):
    """The scopes in which names of objects are unique; all types of queues share one scope."""

    QUEUE = "QUEUE"
    TOPIC = "TOPIC"
    SUB = "SUB"
    QMGR = "QMGR"


NAMESPACES: dict[Kind, Namespace] = {
    Kind.QLOCAL: Namespace.QUEUE,
    Kind.QALIAS: Namespace.QUEUE,
    Kind.QMODEL: Namespace.QUEUE,
    Kind.TOPIC: Namespace.TOPIC,
    Kind.SUB: Namespace.SUB,
    Kind.QMGR: Namespace.QMGR,
}


class Definition(Struct, frozen=True):
    """The definition of one object.

    Args:
        kind: The object's kind.
        name: The object's name, case-sensitive, 1 to 48 characters; for a subscription up to 10,240 bytes.
        attributes: The attributes of the object's kind, by keyword. A stored definition has SUBID as its only
            read-only attribute; the result of DISPLAY has all read-only attributes.
    """

    kind: Kind
    name: str
    attributes: dict[str, Value]

    @property
    def namespace(self) -> Namespace:
        """The scope in which the object's name is unique."""
        return NAMESPACES[self.kind]

    def number(self, keyword: str) -> int:
        """Return a numeric attribute.

        Raises:
            KeyError: Objects of this kind have no such attribute.
            TypeError: The attribute is not a number.
        """
        value = self.attributes[keyword]
        if not isinstance(value, int):
            raise TypeError(f"{keyword} of {self.kind} {self.name} is not a number")
        return value

    def text(self, keyword: str) -> str:
        """Return an attribute that is a word or a text.

        Raises:
            KeyError: Objects of this kind have no such attribute.
            TypeError: The attribute is a number.
        """
        value = self.attributes[keyword]
        if not isinstance(value, str):
            raise TypeError(f"{keyword} of {self.kind} {self.name} is a number")
        return value

    def says(self, keyword: str, word: str) -> bool:
        """Return whether an attribute has this word as its value; False for an attribute that the object lacks."""
        return self.attributes.get(keyword) == word

    @property
    def shared(self) -> bool:
        """Whether the object is defined for a whole sharing group (QSGDISP(SHARED))."""
        return self.says("QSGDISP", "SHARED")
