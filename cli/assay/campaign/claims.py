"""The claims about each family's scenario, made from its accounts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct

from assay.campaign.accounts import Accounts, Bound, Fate, Sending, bound
from assay.campaign.families import SUBSCRIPTIONS, TRIALS, Family
from assay_evidence.events import Predicate
from assay_evidence.history import distance
from assay_evidence.spans import NS_PER_MS
from assay_steps.cast.branches import IN_DOUBT
from assay_steps.cast.claims import listed

AT_ONCE = 40
"""The largest number of messages in one claim, so that a person can read a failed claim."""
WATCHED_PERCENT = 25
"""The percentage of a delay during which a receiver must have waited, so that an early delivery would be noticed.

It is lower than in the suite, because kills interrupt the receivers.
"""

_RULES: Mapping[Family, str] = {
    Family.QUEUE: "PD-20",
    Family.PASSING: "PD-22",
    Family.DELAYED: "DD-03",
    Family.UNITS: "PD-20",
    Family.TOPIC: "PD-23",
    Family.BRANCHES: "BT-13",
}
"""The rule for claims about the number of deliveries, by family; `_rule` makes exceptions."""

_SENTENCES: Mapping[str, str] = {
    "delivered-exactly": "each message is delivered until it is acknowledged, and never after that",
    "delivered-at-most": "no message is delivered more often than its lost answers explain",
    "never-seen": "no message of an uncommitted unit of work is seen",
}


class Claiming(Struct, frozen=True, kw_only=True):
    """A claim for the journal.

    Args:
        rule: The rule's id.
        predicate: The predicate that decides the claim.
        of: The claim's references to events, messages and actors.
        bounds: The claim's numbers.
        text: The claim in one sentence.
    """

    rule: str
    predicate: Predicate
    of: dict[str, str]
    bounds: dict[str, int]
    text: str


def claims(family: Family, accounts: Accounts) -> Iterator[Claiming]:
    """Make the claims about a family's scenario.

    Args:
        family: The family.
        accounts: The scenario's accounts.
    """
    if accounts.sightings or family is not Family.PASSING:  # all non-persistent messages may be lost
        yield Claiming(
            rule=TRIALS[family].rules[0],
            predicate="only-sent",
            of={},
            bounds={},
            text="each message that is seen was sent, and is unaltered",
        )
    yield from _counted(family, accounts)
    yield from _early(family, accounts)
    yield from _whole(family, accounts)
    yield from _decided(family, accounts)


def _counted(family: Family, accounts: Accounts) -> Iterator[Claiming]:
    """Make claims about the number of deliveries of each copy; one claim covers all copies with the same bound."""
    alike: defaultdict[tuple[str, str, Bound], list[str]] = defaultdict(list)
    for sending in accounts.sendings:
        for holder in SUBSCRIPTIONS if family is Family.TOPIC else ("",):
            sightings = accounts.sightings.get((sending.key, holder), [])
            limit = bound(sending, sightings, passing=family is Family.PASSING)
            alike[_rule(family, holder, sending, taken=bool(sightings)), holder, limit].append(sending.key)
    for (rule, holder, limit), keys in alike.items():
        for start in range(0, len(keys), AT_ONCE):
            of = {"kids": listed(keys[start : start + AT_ONCE])} | ({"actors": holder} if holder else {})
            bounds = {} if limit.predicate == "never-seen" else {"times": limit.times}
            if limit.unanswered:
                bounds["unanswered"] = 1
            text = _SENTENCES[limit.predicate]
            yield Claiming(rule=rule, predicate=limit.predicate, of=of, bounds=bounds, text=text)


def _rule(family: Family, holder: str, sending: Sending, *, taken: bool) -> str:
    """Choose the rule for a claim about the number of deliveries of a copy."""
    match family:
        case Family.QUEUE if taken:
            return "QS-08"
        case Family.TOPIC if sending.delay_ms:
            return "DD-51"
        case Family.TOPIC if holder == "away":
            return "PD-25"
        case Family.UNITS if sending.fate is not Fate.CONFIRMED:
            return "BT-12"
        case _:
            return _RULES[family]


def _early(family: Family, accounts: Accounts) -> Iterator[Claiming]:
    """Claim that no delayed message is delivered before its delay is over.

    A claim covers a message that came early, or for which a receiver waited during enough of its delay.  If the round
    has no such message, one claim covers another received message, and the judge finds this claim not demonstrated.
    """
    if family is not Family.DELAYED:
        return
    seen = [one for one in accounts.sendings if one.fate is Fate.CONFIRMED and accounts.sightings.get((one.key, ""))]
    tried = [one for one in seen if _is_early(one, accounts) or accounts.watched(one) * 100 >= WATCHED_PERCENT]
    for sending in tried or seen[:1]:
        yield Claiming(
            rule="DD-02",
            predicate="not-before",
            of={"kid": sending.key, "call": sending.call.ref},
            bounds={"delay_ms": sending.delay_ms, "watched_percent": WATCHED_PERCENT},
            text="no receiver gets the message before its delay is over",
        )


def _is_early(sending: Sending, accounts: Accounts) -> bool:
    first = accounts.sightings[sending.key, ""][0].seen
    return distance(first, sending.call).ns <= sending.delay_ms * NS_PER_MS


def _whole(family: Family, accounts: Accounts) -> Iterator[Claiming]:
    """Make claims that a unit of work whose commit has no answer took effect as a whole or not at all."""
    if family is not Family.UNITS:
        return
    for unit in accounts.units.values():
        if unit.end is not None and unit.fate is Fate.DOUBT and unit.sent:
            of = {"kids": listed(unit.sent), "after": unit.end.ref}
            if unit.taken:
                of["taken"] = listed(unit.taken)
            yield Claiming(
                rule="BT-12",
                predicate="all-or-nothing",
                of=of,
                bounds={},
                text="a unit of work whose commit got no answer takes effect as a whole or not at all",
            )


def in_doubt(accounts: Accounts) -> Iterator[Claiming]:
    """Claim that no message of a branch in doubt is seen; call this before the branches are decided.

    Args:
        accounts: The accounts of the branches' scenario, after a drain.
    """
    for unit in accounts.undecided():
        answer = None if unit.prepared is None else accounts.answered(unit.prepared)
        if answer is None:
            continue
        for keys, since in ((unit.sent, {}), (unit.taken, {"from": answer.ref})):
            if keys:
                yield Claiming(
                    rule="BT-13",
                    predicate="never-seen",
                    of={"kids": listed(keys), **since},
                    bounds={},
                    text="no receiver gets the messages that a branch in doubt has sent or received",
                )


def _decided(family: Family, accounts: Accounts) -> Iterator[Claiming]:
    """Make claims that a prepared branch is in doubt until the broker accepts its commit or rollback."""
    if family is not Family.BRANCHES:
        return
    for call, name in accounts.recoveries:
        if accounts.answered(call) is not None:
            yield Claiming(
                rule="BT-13",
                predicate="equal-fields",
                of={"at": call.ref, f"field.{name}": IN_DOUBT},
                bounds={},
                text="a prepared branch is in doubt until its transaction manager decides",
            )
    for unit in accounts.units.values():
        for call in unit.decisions:
            if accounts.answered(call) is not None:
                yield Claiming(
                    rule="BT-13",
                    predicate="accepted",
                    of={"call": call.ref},
                    bounds={},
                    text="a branch in doubt is committed or rolled back, as its transaction manager decides",
                )
