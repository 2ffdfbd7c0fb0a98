"""Records the events that clients report: writes them to the journal, and stores the receptions for the steps."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from assay_adapters.ports.client import ClientEvent, KeptFrame, Seen
from assay_evidence import events
from assay_sdk.time import Runner
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.messages import Sighting
from assay_steps.cast.recording import message_ref, refused_info

_CONNECTIONS = 24
"""The journal of a scenario gets the frames of the scenario's last connections, at most this number."""


class Sightings:
    """Records the events that the clients of a scenario report, and stores the messages that its actors received.

    Args:
        journal: The scenario's journal.
        runner: The runner of the scenario's world.
        lost: Called with the actor whose connection is lost.
        back: Called with the actor whose client has reconnected by itself.
        brief: Whether to write no frames and keep nothing in memory, for a run under load.
    """

    def __init__(
        self,
        journal: ScenarioJournal,
        runner: Runner,
        lost: Callable[[str], None],
        back: Callable[[str], None] = lambda _actor: None,
        *,
        brief: bool = False,
    ) -> None:
        self.all: list[Sighting] = []
        self.connecting = ""
        """The scenario's name for the connection that a client is making now; empty for none."""
        self._connections: dict[str, str] = {}
        """The scenario's name for each connection, by the client's name for the connection."""
        self._kept: list[tuple[str, Callable[[], Sequence[KeptFrame]]]] = []
        self._journal = journal
        self._runner = runner
        self._lost = lost
        self._back = back
        self._brief = brief
        self._counts: Counter[tuple[str, str]] = Counter()
        self._transferred: list[ClientEvent] = []
        self._disposed: list[ClientEvent] = []
        self._last_ns: dict[str, int] = {}
        self._last_new_ns: dict[str, int] = {}
        self._at_first_sight: dict[str, Callable[[], None]] = {}
        self._at_settlement: dict[str, Callable[[], None]] = {}
        self._in_callbacks: defaultdict[str, deque[Callable[[], object]]] = defaultdict(deque)
        """The actions for the next callbacks of each actor's listener, one action for each callback."""

    def tell(self, event: ClientEvent) -> None:
        """Record an event that a client reports."""
        if event.what == "lost":
            self._lost(event.actor)
        elif event.what == "back":
            self._back(event.actor)
        elif self._brief and event.what in {"frames", "transfer", "disposition"}:
            return
        elif event.what == "frames" and event.frames is not None:
            self._connections[event.actor] = self.connecting or event.actor
            self._kept.append((self._connections[event.actor], event.frames))
        elif event.what == "session-ended" and event.refused is not None:
            actor = self._connections.get(event.actor, event.actor)
            self._journal.write(events.SessionEnded, actor=actor, refused=refused_info(event.refused))
        elif event.what in {"transfer", "disposition"}:
            self._on_the_wire(event)
        elif event.what in {"called", "callback"}:
            self._on_a_callback(event)
        elif event.seen is not None:
            (self._settled if event.what == "settle" else self._handed)(event, event.seen)

    def write_frames(self) -> None:
        """Write the last frames of the scenario's connections to the journal, with their times."""
        for actor, frames in self._kept[-_CONNECTIONS:]:
            for one in frames():
                self._journal.write(
                    events.Wire,
                    at=self._journal.at(one.mono_ns),
                    actor=actor,
                    direction=one.direction,
                    text=one.text,
                    size=one.size,
                    channel=one.channel,
                )

    def _on_a_callback(self, event: ClientEvent) -> None:
        """Run the next action for the callbacks of an actor's listener, or record the end of a callback."""
        if event.what == "callback":
            ended = "raised" if event.outcome == "raised" else "returned"
            self._journal.write(events.Callback, actor=event.actor, link=event.link, batch=event.batch, ended=ended)
        elif self._in_callbacks[event.actor]:
            self._in_callbacks[event.actor].popleft()()

    def _on_the_wire(self, event: ClientEvent) -> None:
        """Record an AMQP transfer or disposition of a message."""
        is_disposition = event.what == "disposition"
        what = f"disposition of {event.key}: {event.outcome}" if is_disposition else f"transfer of {event.key}"
        self._journal.write(
            events.Frame,
            actor=event.actor,
            direction=event.direction,
            text=f"{what}, {'settled' if event.settled else 'not settled'}",
            key=event.key,
            msg=None if event.seen is None else _reference(event.seen),
            settled=event.settled,
            disposition=cast("events.Said", event.outcome) if is_disposition else None,
            role=event.role if is_disposition else None,
        )
        # After the write: a step that sees the frame claims at once, and the journal must have the frame then.
        (self._disposed if is_disposition else self._transferred).append(event)

    def _settled(self, event: ClientEvent, seen: Seen) -> None:
        self._journal.write(
            events.Settle,
            actor=event.actor,
            link=event.link,
            msg=message_ref(seen.key, seen.body),
            outcome=event.outcome,
            unit=event.unit,
        )
        job = self._at_settlement.pop(seen.key, None)
        if job is not None:
            job()

    def _handed(self, event: ClientEvent, seen: Seen) -> None:
        written = self._journal.write(
            events.Seen,
            actor=event.actor,
            link=event.link,
            destination=event.destination,
            msg=_reference(seen),
            count=seen.count,
            redelivered=seen.redelivered,
            batch=event.batch,
        )
        if self._brief:
            return
        self.all.append(Sighting(event.actor, seen.key, written.ref, seen, event.batch))
        if not self._counts[event.actor, seen.key]:
            self._last_new_ns[event.actor] = written.mono_ns
        self._counts[event.actor, seen.key] += 1
        self._last_ns[event.actor] = written.mono_ns
        job = self._at_first_sight.pop(seen.key, None)
        if job is not None:
            self._runner.call_soon(job)

    def at_first_sight(self, key: str, job: Callable[[], None]) -> None:
        """Schedule an action that the runner carries out right after a message was first received."""
        self._at_first_sight[key] = job

    def at_settlement(self, key: str, job: Callable[[], None]) -> None:
        """Schedule an action that runs when a client settles a message, just before the broker learns of it."""
        self._at_settlement[key] = job

    def in_callback(self, actor: str, job: Callable[[], object]) -> None:
        """Schedule an action that runs within the next callback of an actor's listener.

        A callback runs one action, so several actions run in as many callbacks, in the order of their scheduling.
        """
        self._in_callbacks[actor].append(job)

    def of(self, actors: Iterable[str], keys: Iterable[str]) -> list[Sighting]:
        """Return the receptions of messages by actors, in the order of the receptions.

        Args:
            actors: The actors' names.
            keys: The messages' keys.
        """
        who, which = set(actors), set(keys)
        return [sighting for sighting in self.all if sighting.actor in who and sighting.key in which]

    def transferred(self, actor: str | None, key: str) -> bool:
        """Return whether a transfer frame of a message has been recorded for an actor's link; None for any actor."""
        return any(event.key == key and actor in {None, event.actor} for event in self._transferred)

    def disposed(self, actor: str | None, key: str, *, settled: bool) -> bool:
        """Return whether a disposition frame for a message has been recorded.

        Args:
            actor: The actor of the frame's event; None for any.
            key: The message's key.
            settled: True to look for a frame that settles the delivery; False to look for one with an outcome.
        """
        return any(
            event.key == key
            and (actor in {None, event.actor})
            and (event.settled if settled else event.outcome != "none")
            for event in self._disposed
        )

    def last_ns(self, actors: Iterable[str]) -> int:
        """Return the time of the actors' last reception, in nanoseconds of the monotonic clock; 0 without one."""
        return max((self._last_ns.get(actor, 0) for actor in actors), default=0)

    def last_new_ns(self, actors: Iterable[str]) -> int:
        """Return when one of the actors last received a message that it had not received before.

        The time is in nanoseconds of the monotonic clock; 0 if the actors received no message.
        """
        return max((self._last_new_ns.get(actor, 0) for actor in actors), default=0)

    def completion(self, actors: Iterable[str], keys: Iterable[str], times: int = 1) -> Callable[[], bool]:
        """Return a condition: whether the actors together have received each of the messages at least ``times`` times.

        A runner checks the condition after each of its jobs, so the condition does not count again the messages that
        it has found.
        """
        who, wanted, found = set(actors), [*keys], 0

        def complete() -> bool:
            nonlocal found
            number = found
            while number < len(wanted) and sum(self._counts[actor, wanted[number]] for actor in who) >= times:
                number += 1
            # Two threads may be here at once; the smaller number of the two only means that some are counted again.
            found = number
            return number == len(wanted)

        return complete


def _reference(seen: Seen) -> events.MessageRef:
    return message_ref(seen.key, seen.body, seen.message_id, dict(seen.fields))
