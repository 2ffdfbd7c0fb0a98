"""The copies in one scenario that must not come again: a client accepted them, or their consumer receives at most once.

From the moment of such an acceptance or reception on, the copy is *final*.  The invariants of QS-03 and QS-06 to QS-08
(`assay_pipeline.rules.repeats`) use these copies, and define the moment exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from assay_evidence.events import FATAL, Call, Event, Return, Seen, Settle, Unit
from assay_evidence.oracle import moments
from assay_evidence.oracle.copies import giving_back
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import Send

RETAIN = "JMS_IBM_Retain"
"""The property of a publication that the broker retains for later subscribers."""


class Final(Struct, frozen=True):
    """The moment from which on a copy must not come again, and the consumer that made the copy final."""

    at: Event
    actor: str


class Facts:
    """The facts about the clients of one scenario, collected once."""

    def __init__(self, story: Story) -> None:
        self.received: dict[tuple[str, str], list[Seen]] = defaultdict(list)
        self.accepted: dict[str, list[Settle]] = defaultdict(list)
        self.units: dict[tuple[str, str], list[Unit]] = defaultdict(list)
        for event in story.events:
            if isinstance(event, Seen):
                self.received[event.msg.key, event.destination].append(event)
            elif isinstance(event, Settle) and event.outcome == "accepted":
                self.accepted[event.msg.key].append(event)
            elif isinstance(event, Unit) and event.op in ("begin", "commit", "rollback"):
                self.units[event.writer, event.unit].append(event)
        self.faults: list[tuple[Event, Event | None]] = [(fault.begin, fault.end) for fault in story.faults]
        self.fatal: list[tuple[Event, Event | None]] = [
            (fault.begin, fault.end) for fault in story.faults if fault.begin.what in FATAL
        ]
        self.all_losses = story.losses
        self.gave, self.light = giving_back(story), story.light
        self.aborts: dict[str, list[tuple[Event, Event | None]]] = defaultdict(list)
        self._qualities: dict[str, set[object]] = defaultdict(set)
        self._passing: set[str] = set()
        self.remote = False
        self._names: dict[str, set[object]] = defaultdict(set)
        self._ids: dict[str, set[object]] = defaultdict(set)
        self._qos: dict[str, set[object]] = defaultdict(set)
        self.actors = {call.actor for call, _ in story.calls}
        for call, answer in story.calls:
            self._note(call, answer)

    def _note(self, call: Call, answer: Return | None) -> None:
        if call.op == "abort":
            self.aborts[call.actor].append((call, answer))
        elif call.op == "producer":
            self._qualities[call.actor].add(call.args.get("qos"))
        elif call.op == "connect":
            self.remote = self.remote or call.args.get("member") is not None
            self._ids[call.actor].add(call.args.get("client_id") or "")
        elif call.op == "consumer" and answer is not None and answer.refused is None:
            self._names[call.actor].add(call.args.get("name") or "")
            self._qos[call.actor].add(call.args.get("qos"))
            if call.args.get("durability") != "durable" and call.args.get("shared") is not True:
                self._passing.add(call.actor)

    def sends_once(self, actor: str) -> bool:
        """Return whether an actor sends at most once, and never at least once, so that it repeats no send."""
        qualities = self._qualities.get(actor, set())
        return "at-most-once" in qualities and "at-least-once" not in qualities

    def lasts(self, actor: str) -> bool:
        """Return whether all subscriptions of an actor are durable or shared, so they can outlive its consumers."""
        return actor in self._names and actor not in self._passing

    def receives_once(self, actor: str) -> bool:
        """Return whether all consumers of an actor receive at most once."""
        return self._qos.get(actor) == {"at-most-once"}

    def single(self, actor: str) -> bool:
        """Return whether an actor of the scenario used at most one subscription name and at most one client id."""
        one = len(self._names.get(actor, ())) <= 1 and len(self._ids.get(actor, ())) <= 1
        return one and actor in self.actors

    def losses(self, actor: str) -> list[tuple[Event, Event | None]]:
        """Return the begin and the end of each fault, and of each call by which an actor dropped its connection.

        The end is None if the fault is not over, or if the call did not return.
        """
        return self.faults + self.aborts.get(actor, [])

    def lost_between(self, final: Final, event: Event) -> bool:
        """Return whether, between a final moment and an event, a fault or a drop of the actor's connection began."""
        begun = (begin for begin, _ in self.losses(final.actor))
        return any(moments.precedes(final.at, begin) and moments.precedes(begin, event) for begin in begun)

    @staticmethod
    def overlapped(spans: list[tuple[Event, Event | None]], send: Send, start: int, until: int) -> bool:
        """Return whether a span overlaps an interval, given in nanoseconds since the start of the send call."""
        return any(send.since(begin) <= until and (end is None or send.since(end) >= start) for begin, end in spans)

    def commit(self, settle: Settle) -> Event | None:
        """Return the event that makes an acceptance final: the acceptance itself, or the commit of its unit of work.

        None if the unit of work was not committed.
        """
        if settle.unit is None:
            return settle
        later = [unit for unit in self.units.get((settle.writer, settle.unit), ()) if unit.seq > settle.seq]
        return later[0] if later and later[0].op == "commit" else None


class SettledCopy(Struct, frozen=True):
    """A copy of a message, with its receptions; `holder` is the consumer on a topic, and empty on a queue."""

    facts: Facts
    send: Send
    seen: list[Seen]
    holder: str

    @property
    def name(self) -> str:
        """The copy's name as a subject: the message's key and, on a topic, the consumer."""
        return f"{self.send.key}>{self.holder}" if self.holder else self.send.key

    def finals(self, rule: str, margin: int) -> list[Final]:
        """Return the moments from which on the copy is final for a rule.

        Args:
            rule: The id of the rule.
            margin: The time after the moment in which no fault may happen, in nanoseconds. After a fault in this time,
                the broker may not have received the settlement.
        """
        found = []
        if rule != "QS-08":
            found += [Final(event, event.actor) for event in self.seen if self._dropped(event, margin)]
        if rule in ("QS-03", "QS-08"):
            found += self._acceptances(margin)
        return found

    def _dropped(self, event: Seen, margin: int) -> bool:
        """Return whether the broker must have dropped the copy after a reception: the consumer receives at most once.

        False if a kill or restart of the broker overlaps the time from the reception to `margin` nanoseconds later.
        """
        got = self.send.since(event)
        lost = self.facts.overlapped(self.facts.fatal, self.send, got, got + margin)
        return self.facts.receives_once(event.actor) and not lost

    def _acceptances(self, margin: int) -> Iterator[Final]:
        """Yield the acceptances that the broker must have received."""
        for settle in self.facts.accepted.get(self.send.key, ()):
            at = self.facts.commit(settle)
            until = self.send.since(at) + margin if at else 0
            got = [
                self.send.since(event)
                for event in self.seen
                if (event.actor, event.link) == (settle.actor, settle.link) and moments.precedes(event, settle)
            ]
            spans = self.facts.all_losses
            if at and any(not self.facts.overlapped(spans, self.send, start, until) for start in got):
                yield Final(at, settle.actor)

    def later(self, final: Final, *, after_loss: bool) -> Iterator[Seen]:
        """Yield the receptions that are not certainly before the final moment.

        Args:
            final: The final moment.
            after_loss: True to count only receptions after a fault, or a drop of the actor's connection, that began
                after the final moment.
        """
        for event in self.seen:
            if event.writer == final.at.writer and event.seq <= final.at.seq:
                continue
            if moments.precedes(event, final.at) or (after_loss and not self.facts.lost_between(final, event)):
                continue
            yield event

    def waited(self, story: Story, final: Final, quiet_ns: int, *, after_loss: bool) -> bool:
        """Return whether a consumer that could get the copy waited long enough for it after the final moment.

        Args:
            story: The scenario.
            final: The final moment.
            quiet_ns: The shortest wait without a message that suffices, in nanoseconds.
            after_loss: True to count only watches after a fault, or a drop of the actor's connection, that began after
                the final moment.
        """
        return any(
            moments.precedes(final.at, span.begin)
            and (not after_loss or self.facts.lost_between(final, span.begin))
            and self._could_come(final.at, span.begin)
            and story.quiet(self.send, span, self.send.since(final.at), quiet_ns)
            for span in story.watching(self.send.destination)
            if self.holder in ("", span.begin.actor)
        )

    def _could_come(self, final: Event, begin: Event) -> bool:
        """Return whether the broker could have delivered the copy again in a watch that began at the event `begin`."""
        if self.holder and not self.facts.lasts(self.holder):
            return False
        fatal = (moments.precedes(final, fault) and not moments.precedes(begin, fault) for fault, _ in self.facts.fatal)
        if any(fatal) and (not self.send.persistent or self.send.call.actor in self.facts.light):
            return False
        return any(moments.precedes(final, gave) and moments.precedes(gave, begin) for gave in self.facts.gave)


def settled_copies(story: Story, rule: str, settled_ns: int) -> Iterator[SettledCopy]:
    """Yield the received copies of messages that clients sent only once; for QS-03, only of at-most-once senders.

    Args:
        story: The events of the scenario.
        rule: The id of the rule: QS-03, QS-06, QS-07 or QS-08.
        settled_ns: The time after the answer to a send, in nanoseconds, in which no fault may happen, because a client
            could send the message again after a fault. Sends of at-most-once senders have no such limit.
    """
    facts = Facts(story)
    for send in story.sends:
        seen = facts.received.get((send.key, send.destination), [])
        if not seen or send.times > 1 or not send.accepted or send.answer is None:
            continue
        once = facts.sends_once(send.call.actor)
        until = send.since(send.answer) + settled_ns
        if not once and (rule == "QS-03" or facts.overlapped(facts.faults, send, 0, until)):
            continue
        if not send.destination.startswith("topic://"):
            yield SettledCopy(facts, send, seen, "")
        elif not facts.remote and not (send.answer.msg and RETAIN in send.answer.msg.fields):
            for holder in sorted({event.actor for event in seen if facts.single(event.actor)}):
                yield SettledCopy(facts, send, [event for event in seen if event.actor == holder], holder)
