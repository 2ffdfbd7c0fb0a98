"""The dimensions and their traits, and the patterns that recognise a trait in the steps of a scenario.

A scenario has a trait if enough of its steps match the trait's pattern.  The patterns use the wording of
`docs/vocabulary.md`; a test checks each pattern with sample steps.
"""

import re
from collections import Counter
from functools import cache, cached_property

import msgspec

from assay_features.dimensions._texts import ScenarioText

_SEND = r"\b(?:is|are) sent\b|\bsends message\b|\bsends a message\b|\bputs \"|\bstores and sends\b"
_SEVERAL = r"\bmessages \"|\bmessages are sent\b|\bthese messages\b"
_PLAIN = r"(?<!dead-letter )(?<!staging )(?<!reply-to )\bqueue\b"
_AGAIN = (
    r"\bcomes back\b|\bcome back\b|\bsubscribes again\b|\bagain\b|\b(?:is|are) set (?:back )?to\b"
    r"|\breconnects\b|\bis altered to\b.*\(ENABLED\)|\bstarts? to (?:wait|receive|take)\b"
)
_OPTION = "a |an |the |no |its |report|reply|delivery|correlation|priority|property|quality|group"
_LIVES = r"a subscription that lives for (?!0 )"
_LASTS = rf"\ba durable subscription\b|{_LIVES}"
_SHARED_DURABLE = rf"\bshares durable\b|\bjoins shared durable\b|\bshared subscription\b.*(?:{_LASTS})"


class Trait(msgspec.Struct, frozen=True, dict=True):
    """A circumstance under which a scenario can test a rule, such as a restart or a topic pattern.

    Args:
        name: The trait's name, such as `durable subscription`.
        words: A regular expression that is searched for in each step.
        times: The number of matching steps that a scenario must have.
        without: A regular expression; steps in which it is found do not count.
    """

    name: str
    words: str
    times: int = 1
    without: str = ""

    def is_in(self, step: str) -> bool:
        """Return whether a step matches `words` and does not match `without`."""
        unwanted = self._unwanted
        return self._wanted.search(step) is not None and (unwanted is None or unwanted.search(step) is None)

    @cached_property
    def _wanted(self) -> re.Pattern[str]:
        return re.compile(self.words)

    @cached_property
    def _unwanted(self) -> re.Pattern[str] | None:
        return re.compile(self.without) if self.without else None


class Dimension(msgspec.Struct, frozen=True):
    """A group of related traits.

    Args:
        name: The dimension's name.
        traits: The traits of the dimension.
    """

    name: str
    traits: tuple[Trait, ...]


DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(
        "repetition",
        (
            Trait("second message", rf"{_SEVERAL}|{_SEND}", times=2),
            Trait("second use of an object", _AGAIN),
            Trait("override for one send", r"for this send only|\bits own delivery mode\b"),
            Trait("zero", r"\b(?:of|for|size|timeout|within|is) 0(?: (?:ms|s|min|B))?\b|\bset to 0\b|MAXDEPTH\(0\)"),
        ),
    ),
    Dimension(
        "destination",
        (
            Trait("queue", _PLAIN, without=r"\bsubscription\b"),
            Trait("topic", r"\btopic\b"),
            Trait("durable subscription", rf"(?<!non-)\bdurable subscri|{_LIVES}", without=r"\bshare[sd]\b"),
            Trait("shared subscription", r"\bshares non-durable\b|\bshared subscription\b", without=_LASTS),
            Trait("shared durable subscription", _SHARED_DURABLE),
            Trait("topic pattern", r"\btopic \"[^\"]*[#+*][^\"]*\""),
            Trait("selector", r"\bfor messages with\b|\bselector\b"),
        ),
    ),
    Dimension(
        "message",
        (
            Trait("persistent", _SEND, without=r"non-persistent|header false|no durable header|at-most-once"),
            Trait("non-persistent", r"\bnon-persistent\b|\bdurable header false\b|NON_PERSISTENT"),
            Trait("empty body", r"\bempty body\b|\bbody of 0 B\b"),
            Trait("large body", r"\bbody of (?:\d{3,} (?:B|KB)|\d+ MB|[1-9]\d KB)\b"),
            Trait("non-ASCII body", r"\bnon-ASCII\b"),
            Trait("binary body", r"\bbinary body\b"),
        ),
    ),
    Dimension(
        "session",
        (
            Trait("other session mode", r"\bin (?:client|dups-ok) mode\b|\bautomatic confirmation\b"),
            Trait("local unit of work", r"\bin transacted mode\b"),
            Trait("global unit of work", r"\bin xa mode\b|\bbranch \""),
            Trait("rolled back", r"\brolled back\b|\brolls back\b|\bbacked out\b|\broll(?:ed)? it back\b"),
        ),
    ),
    Dimension(
        "failure",
        (
            Trait("restart", r"\bbroker (?:is|has been|will be) (?:restarted|stopped)\b|\bqueue manager .* is st"),
            Trait("kill", r"\bkilled\b|\bloses its power\b"),
        ),
    ),
    Dimension(
        "listener",
        (
            Trait("message listener", r"\blistener\b|\btakes? batches\b|\bworks? .* on each\b"),
            Trait("listener replaced", r"\blistener\b.*\b(?:is|are) (?:set|removed|replaced|cleared)\b", times=2),
            Trait("buffer not empty", r"\bworks\b.* on each\b|\bdoes not receive yet\b|\bthat prefetches\b"),
            Trait("batch partly full", r"\bpartial batch\b|\bsmaller batch\b|\bbatches of at most \d+ within\b"),
            Trait("closing", r"\bis closed\b|\bgoes away\b|\bconnection has been closed\b|\bcloses\b"),
        ),
    ),
    Dimension(
        "parties",
        (
            Trait("two producers of one session", r"\bproducer \"[^\"]+\" of session\b", times=2),
            Trait("two sharers", r"\bshares (?:non-)?durable\b|\bshared (?:durable )?subscription\b", times=2),
            Trait("two clients", r"\bof client \"|\bclient id \"|\bsubscriber \"|\breceiver \"|\breceiver\b", times=2),
            Trait(
                "two options together",
                rf"\bwith\b.*(?:, | and )(?:{_OPTION})",
            ),
            Trait("two queue managers", r"\bat queue manager\b|\bqueue manager \""),
        ),
    ),
)
"""All dimensions, in the order of the tables."""


def traits_of(scenario: ScenarioText) -> frozenset[Trait]:
    """Return the traits that a scenario has."""
    matches = Counter(trait for step in scenario.steps for trait in _traits_in(step))
    return frozenset(trait for trait, count in matches.items() if count >= trait.times)


@cache
def _traits_in(step: str) -> tuple[Trait, ...]:
    """Find the traits whose patterns a step matches; cached, because scenarios have most of their steps in common."""
    return tuple(trait for dimension in DIMENSIONS for trait in dimension.traits if trait.is_in(step))
