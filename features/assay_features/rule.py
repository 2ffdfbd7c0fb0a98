"""The types of the catalogue: rules, profiles, and the documents that demand the rules."""

import re
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct


class Strength(StrEnum):
    """The degree to which a rule is binding."""

    MUST = "must"
    """A document demands the rule; a broker or client that breaks the rule fails."""
    MAY = "may"
    """A document permits several outcomes; the report discloses the outcome that occurred."""
    KIT = "kit"
    """Users expect the rule, but no document demands it; only the kit's own broker and client can fail it."""
    NOTE = "note"
    """No scenario can test the rule; the rule's note gives the reason."""


class Judged(StrEnum):
    """The part that must keep a rule."""

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

    @property
    def names_product(self) -> bool:
        """Whether the profile is for IBM MQ only; the other profiles are for the brokers of all makers."""
        return self in {Profile.DELAY_MQ, Profile.DELAY_ZOS, Profile.QOS_MQ}


class ProfileDefinition(Struct, frozen=True):
    """The definition of a profile: the kind of products that can claim it, and the capabilities that it requires."""

    key: Profile
    what: str
    """The kind of products that the profile is for, in one sentence."""
    requires: tuple[str, ...] = ()
    """The capabilities that a claim requires, as in the tags `@needs-...`.

    These are the capabilities that all core scenarios of at least one of the profile's `must` rules need.
    """


class Family(StrEnum):
    """A family of rules on one subject; the id of each of its rules begins with the value."""

    DELAY = "DD"
    PERSISTENCE = "PD"
    QOS = "QS"
    BATCH = "BT"

    @property
    def profiles(self) -> frozenset[Profile]:
        """The profiles to which rules of this family can belong."""
        return _PROFILES[self]


_PROFILES = {
    Family.DELAY: frozenset({Profile.DELAY, Profile.DELAY_MQ, Profile.DELAY_ZOS}),
    Family.PERSISTENCE: frozenset({Profile.PERSISTENCE}),
    Family.QOS: frozenset({Profile.QOS, Profile.QOS_MQ}),
    Family.BATCH: frozenset({Profile.BATCH}),
}


class CitedBy(StrEnum):
    """The way in which a rule's basis names a place in a document."""

    LINE = "line"
    """By a line or a range of lines, as in `DELAY:15` and `DELAY:88-93`."""
    SECTION = "section"
    """By the number of a section, as in `JMS:6.2.7`."""
    WHOLE = "whole"
    """No place: the basis is the document's key alone, such as `kit`."""


_WHERE = {
    CitedBy.LINE: re.compile(r":([1-9][0-9]*)(?:-([1-9][0-9]*))?"),
    CitedBy.SECTION: re.compile(r":[1-9][0-9]*(?:\.[1-9][0-9]*)*"),
    CitedBy.WHOLE: re.compile(r""),
}


class Citation(NamedTuple):
    """One entry of a rule's basis, divided into document and place."""

    document: str
    """The document's key."""
    where: str
    """The line, range of lines or section, as the basis writes it; empty for a document that is cited as a whole."""

    @classmethod
    def parse(cls, basis: str) -> "Citation":
        """Divide an entry of a rule's basis, such as `DELAY:15`."""
        document, _, where = basis.partition(":")
        return cls(document, where)


class Document(Struct, frozen=True):
    """A document that demands rules, such as a specification."""

    key: str
    """The document's name in the basis of rules."""
    title: str
    what: str
    """A description of the document, in one sentence."""
    cited_by: CitedBy
    lines: int | None = None
    """The document's number of lines; None if rules cite it in another way."""
    url: str | None = None
    """The document's public address; None if no address is known."""

    def holds(self, basis: str) -> bool:
        """Return whether an entry of a rule's basis names a possible place in this document."""
        match = _WHERE[self.cited_by].fullmatch(basis.removeprefix(self.key))
        if match is None or self.cited_by is not CitedBy.LINE:
            return match is not None
        first, last = match.groups()
        # No line number is so long; for thousands of digits, int() would raise an error.
        if len(first) > _DIGITS or len(last or "") > _DIGITS:
            return False
        end = int(last) if last else int(first)
        return int(first) <= end <= (self.lines or 0) and (not last or int(first) < end)


_DIGITS = 9


class Rule(Struct, frozen=True):
    """A rule of the catalogue: a demand, its source, and the parts that must keep it."""

    id: str
    """The rule's id: two letters for the family and two digits, as in `DD-02`."""
    title: str
    """The rule's title, a phrase for tables."""
    rule: str
    """The demand, in one to three sentences."""
    strength: Strength
    judged: tuple[Judged, ...]
    profile: Profile
    basis: tuple[str, ...]
    """The places that demand the rule, as in `DELAY:15`, `JMS:6.2.7` and `kit`."""
    tries: tuple[str, ...] = ()
    """The cases that scenarios must test; empty only for a rule that cannot be observed."""
    reading: str | None = None
    """The interpretation that the kit uses, if the document can be read in two ways."""
    tension: str | None = None
    """A disagreement with another authority, such as a second document."""
    note: str | None = None
    """A remark for readers of the verdict."""
    history: bool = False
    """Whether sends and receives alone can show a breach, so that the rule can be an invariant over journals."""
    beyond_one_server: str | None = None
    """The reason why a test of the rule needs more than one server that clients reach over AMQP and administrators over
    HTTP; None if one such server is enough."""

    @property
    def family(self) -> Family:
        """The family of the rule, from the first two letters of the id."""
        return Family(self.id[:2])

    @property
    def observable(self) -> bool:
        """Whether scenarios can test the rule."""
        return self.strength is not Strength.NOTE

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The entries of the basis, each divided into document and place."""
        return tuple(Citation.parse(basis) for basis in self.basis)
