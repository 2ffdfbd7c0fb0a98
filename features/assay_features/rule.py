"""What one rule of the catalogue is, and the documents that rules stand on."""

import re
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct


class Strength(StrEnum):
    """How much a rule asks."""

    MUST = "must"
    """A breach is a failure."""
    MAY = "may"
    """Several outcomes are permitted: the one seen is disclosed."""
    KIT = "kit"
    """No document says it, users expect it: only our own broker and client are held to it."""
    NOTE = "note"
    """Nothing can be observed: the rule's note says why."""


class Judged(StrEnum):
    """Whose rule it is."""

    CLIENT = "client"
    BROKER = "broker"


class Profile(StrEnum):
    """A group of rules that a product can claim to keep."""

    PERSISTENCE = "persistence"
    DELAY = "delay"
    DELAY_MQ = "delay-mq"
    DELAY_ZOS = "delay-zos"
    QOS = "qos"
    QOS_MQ = "qos-mq"
    BATCH = "batch"


class ProfileDefinition(Struct, frozen=True):
    """What it means to claim a profile."""

    key: Profile
    what: str
    """Which products it is for, in a sentence."""
    requires: tuple[str, ...] = ()
    """The capabilities that the core scenarios of its `must` rules presuppose: words of `@needs-` tags."""


class Family(StrEnum):
    """The subject of a rule, which its id begins with."""

    DELAY = "DD"
    PERSISTENCE = "PD"
    QOS = "QS"
    BATCH = "BT"

    @property
    def profiles(self) -> frozenset[Profile]:
        """The profiles that the rules of this family can be in."""
        return _PROFILES[self]


_PROFILES = {
    Family.DELAY: frozenset({Profile.DELAY, Profile.DELAY_MQ, Profile.DELAY_ZOS}),
    Family.PERSISTENCE: frozenset({Profile.PERSISTENCE}),
    Family.QOS: frozenset({Profile.QOS, Profile.QOS_MQ}),
    Family.BATCH: frozenset({Profile.BATCH}),
}


class CitedBy(StrEnum):
    """How a place in a document is named."""

    LINE = "line"
    """By a line or a range of lines: `DELAY:15`, `DELAY:88-93`."""
    SECTION = "section"
    """By the number of a section: `JMS:6.2.7`."""
    WHOLE = "whole"
    """Not at all: `kit`."""


_WHERE = {
    CitedBy.LINE: re.compile(r":([1-9][0-9]*)(?:-([1-9][0-9]*))?"),
    CitedBy.SECTION: re.compile(r":[1-9][0-9]*(?:\.[1-9][0-9]*)*"),
    CitedBy.WHOLE: re.compile(r""),
}


class Citation(NamedTuple):
    """One entry of a rule's basis, taken apart."""

    document: str
    """The document's key."""
    where: str
    """Line, range of lines or section as written, "" for a document cited as a whole."""

    @classmethod
    def parse(cls, basis: str) -> "Citation":
        """Take `DELAY:15` apart."""
        document, _, where = basis.partition(":")
        return cls(document, where)


class Document(Struct, frozen=True):
    """A document that rules stand on."""

    key: str
    """The name that a rule's basis uses."""
    title: str
    what: str
    """A sentence on what the document is."""
    cited_by: CitedBy
    lines: int | None = None
    """How many lines it has, if it is cited by line."""
    url: str | None = None
    """Its public address, where one is known."""

    def holds(self, basis: str) -> bool:
        """Say whether this entry of a rule's basis names a place that the document can have."""
        match = _WHERE[self.cited_by].fullmatch(basis.removeprefix(self.key))
        if match is None or self.cited_by is not CitedBy.LINE:
            return match is not None
        first, last = match.groups()
        # More digits than a line number has cannot be one; int() refuses thousands of them with an error of its own.
        if len(first) > _DIGITS or len(last or "") > _DIGITS:
            return False
        end = int(last) if last else int(first)
        return int(first) <= end <= (self.lines or 0) and (not last or int(first) < end)


_DIGITS = 9


class Rule(Struct, frozen=True):
    """One rule: what must hold, whose it is, where it stands, and what a scenario must try."""

    id: str
    """Two letters for the family and two digits: `DD-02`."""
    title: str
    """A phrase for a table."""
    rule: str
    """What must hold, in one to three sentences."""
    strength: Strength
    judged: tuple[Judged, ...]
    profile: Profile
    basis: tuple[str, ...]
    """Document and line or section, as in `DELAY:15`, `JMS:6.2.7`, `kit`."""
    tries: tuple[str, ...] = ()
    """What the scenarios must try; empty only where nothing can be observed."""
    reading: str | None = None
    """Where the document can be read in two ways: the way taken here."""
    tension: str | None = None
    """Where another authority disagrees."""
    note: str | None = None
    """What else a reader of a verdict should know."""
    history: bool = False
    """Whether a history of sends and receives can show a breach, so that the rule can be an invariant over journals."""
    beyond_one_server: str | None = None
    """Why no single server, reached by AMQP and administered by HTTP, can show the rule; None where one can."""

    @property
    def family(self) -> Family:
        """The subject that the id begins with."""
        return Family(self.id[:2])

    @property
    def observable(self) -> bool:
        """Whether scenarios can try the rule."""
        return self.strength is not Strength.NOTE

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The basis, taken apart."""
        return tuple(Citation.parse(basis) for basis in self.basis)
