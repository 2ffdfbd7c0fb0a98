"""Writes the facts of a log as journals: one for each client, and one of the importer with faults and commands.

The events are those that Assay's own clients write.  Each destination is a scenario, because no rule that an imported
log can decide needs the messages of two destinations.  Each client has a clock of its own, which shows the log's times.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay.importing.columns import Kind, Row
from assay.importing.staging import BROKER, Fact, Part, Staging
from assay_evidence import events
from assay_evidence.events import MessageRef
from assay_evidence.files.parts import PartLimits
from assay_evidence.writer import E, Instant, JournalWriter

IMPORTER = "import"
"""The writer that begins and ends the scenarios, and writes faults and commands."""
_LONGEST_NAME = 80


class Header(Struct, frozen=True):
    """The values that all journals of an import have in common.

    Args:
        folder: The folder of the journals.
        run: The run's id.
        begin: The fields of the first event.
        uncertainty_ns: The uncertainty of the times, in nanoseconds.
    """

    folder: Path
    run: str
    begin: dict[str, Any]
    uncertainty_ns: int


def write_journals(staging: Staging, header: Header) -> int:
    """Write the journals of a log, and return their number.

    Raises:
        JournalError: A journal cannot be written.
    """
    first, last = staging.span
    scenarios = [scenario_id(destination) for destination in staging.destinations]
    names = _Names()
    with _journal(header, IMPORTER) as journal:
        own = _EventWriter(journal, header.uncertainty_ns)
        own.write(events.Begin, first, **header.begin)
        for scenario in scenarios:
            own.write(events.ScenarioBegin, first, scenario, rules=(), judged="broker", strength="must")
        for client, facts in staging.clients():
            if client == BROKER:
                _write_incidents(own, facts, scenarios)
            else:
                _write_client(header, names.of(client), client, facts)
        for scenario in scenarios:
            own.write(events.ScenarioEnd, last, scenario, elapsed_ns=last - first, waited_ns=0)
        journal.close(own.instant(last), writers=(IMPORTER, *names.taken))
    return 1 + len(names.taken)


def scenario_id(destination: str) -> str:
    """Return the id of the scenario of a destination."""
    return f"imported::{destination}"


def _journal(header: Header, writer: str) -> JournalWriter:
    return JournalWriter(header.folder / f"{writer}.jsonl", run=header.run, writer=writer, parts=PartLimits())


def _write_incidents(own: _EventWriter, facts: Iterable[Fact], scenarios: Sequence[str]) -> None:
    for fact in facts:
        row, phase = fact.row, "end" if fact.part is Part.END else "begin"
        for scenario in scenarios:
            if row.event is Kind.FAULT:
                fields = {"id": f"fault-{fact.number}", "what": row.fault, "target": "broker", "phase": phase}
                own.write(events.Fault, fact.at, scenario, **fields)
            else:
                own.write(events.Admin, fact.at, scenario, call=f"command-{fact.number}", command=row.command)


def _write_client(header: Header, name: str, client: str, facts: Iterable[Fact]) -> None:
    with _journal(header, name) as journal:
        writer = _EventWriter(journal, header.uncertainty_ns)
        events_of_client = _Client(client, writer)
        at: int | None = None
        for fact in facts:
            if at is None:
                writer.write(events.Begin, fact.at, **header.begin)
            at = fact.at
            events_of_client.take(fact)
        assert at is not None  # noqa: S101 - a client has at least one fact, which the type checker does not know
        events_of_client.end(at)
        journal.close(writer.instant(at))


class _Names:
    """Makes the name of each client's writer: the client's name, changed so that it is unique and a valid file name."""

    def __init__(self) -> None:
        self.taken: dict[str, None] = {}

    def of(self, client: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_+-]", "_", client)[:_LONGEST_NAME]
        names = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
        name = next(name for name in names if name not in self.taken and name != IMPORTER)
        self.taken[name] = None
        return name


class _EventWriter:
    """Writes events with the times of the log."""

    def __init__(self, journal: JournalWriter, uncertainty_ns: int) -> None:
        self._journal = journal
        self._uncertainty_ns = uncertainty_ns

    def instant(self, at: int) -> Instant:
        """Return a time of the log as the reading of a clock."""
        return Instant(f"log:{self._journal.writer}", at, at, self._uncertainty_ns)

    def write(self, kind: type[E], at: int, scenario: str | None = None, /, **fields: Any) -> None:
        """Write an event."""
        self._journal.write(kind, self.instant(at), scenario=scenario, **fields)


class _Held(Struct):
    """A received message that is not settled yet."""

    msg: MessageRef
    unit: str | None


class _Attachment(Struct):
    """A client's consumers on one destination: the number opened so far, the present watch, and unsettled messages."""

    opened: int = 0
    watch: str = ""
    held: dict[str, _Held] = {}


class _Client:
    """Writes the events of one client, in the order of their times.

    Args:
        name: The client's name, which is the name of its producer and its consumers.
        writer: Writes the events.
    """

    def __init__(self, name: str, writer: _EventWriter) -> None:
        self._name = name
        self._writer = writer
        self._attachments: dict[str, _Attachment] = defaultdict(_Attachment)
        """The client's consumers, by destination; a destination to which it only sends has an empty entry."""
        self._units: dict[str, set[str]] = defaultdict(set)
        """The destinations of each unit of work that has not ended."""
        self._calls = count(1)

    def take(self, fact: Fact) -> None:
        """Write the events of a fact."""
        row, at = fact.row, fact.at
        match row.event:
            case Kind.SEND if fact.part is Part.WHOLE:
                self._send(row, at, fact.number)
            case Kind.SEND:
                refused = events.RefusedInfo("unknown", checked=False) if row.refused else None
                self._write(events.Return, at, row.destination, call=f"send-{fact.number}", refused=refused)
            case Kind.RECEIVE if fact.part is Part.WHOLE:
                self._receive(row, at)
            case Kind.RECEIVE:
                self._settle(row.destination, row.message, at, row.transaction)
            case Kind.OPEN:
                self._open(row, at)
            case Kind.CLOSE:
                self._detach(row.destination, at)
                self._call("close-consumer", at, row.destination)
            case Kind.LOST:
                for destination in self._attachments:
                    self._detach(destination, at)
                    self._call("abort", at, destination)
            case Kind.COMMIT | Kind.ROLLBACK:
                self._end_unit(row, at)
            case _:
                pass  # faults and commands belong to no client

    def end(self, at: int) -> None:
        """End the watches that are still open."""
        for destination in self._attachments:
            self._detach(destination, at)

    def _send(self, row: Row, at: int, number: int) -> None:
        self._join(row)
        args = {"mode": row.mode, "priority": row.priority, "ttl_ms": row.ttl or 0, "delay_ms": row.delay or 0}
        self._write(
            events.Call,
            at,
            row.destination,
            id=f"send-{number}",
            actor=self._name,
            op="send",
            args={name: value for name, value in args.items() if value is not None},
            destination=row.destination,
            unit=row.transaction,
            msg=_message(row),
        )

    def _receive(self, row: Row, at: int) -> None:
        self._join(row)
        self._attachments[row.destination].held[row.message] = _Held(_message(row), row.transaction)
        self._write(
            events.Seen,
            at,
            row.destination,
            actor=self._name,
            link=self._link(row.destination),
            destination=row.destination,
            msg=_message(row),
            count=row.count or 0,
            redelivered=bool(row.redelivered),
        )

    def _settle(self, destination: str, message: str, at: int, unit: str | None) -> None:
        """Write the settlement of a message; if no other message is unsettled, write the end of a callback, too.

        A client's silence counts only after this end, because a client may be unable to receive during a callback.
        """
        attachment = self._attachments[destination]
        held = attachment.held.pop(message, None)
        if held is None:  # the loss of the connection or the end of the unit of work came first
            return
        link = self._link(destination)
        self._write(
            events.Settle, at, destination, actor=self._name, link=link, msg=held.msg, outcome="accepted", unit=unit
        )
        if not attachment.held:
            self._write(events.Callback, at, destination, actor=self._name, link=link, ended="returned")

    def _open(self, row: Row, at: int) -> None:
        destination = row.destination
        self._detach(destination, at)
        attachment = self._attachments[destination]
        attachment.opened += 1
        is_durable = row.durable and destination.startswith("topic://")
        self._call("connect", at, destination, {"client_id": row.client_id})
        args = {
            "selector": row.selector,
            "durability": "durable" if is_durable else "non-durable",
            "name": row.subscription,
            "shared": row.shared,
        }
        self._call("consumer", at, destination, args)
        self._call("listen", at, destination, {"on": True})
        attachment.watch = f"watch-{next(self._calls)}"
        self._watch(destination, at, "begin")

    def _detach(self, destination: str, at: int) -> None:
        """End the watch of a destination, and forget the unsettled messages, which the broker may deliver again."""
        attachment = self._attachments[destination]
        if attachment.watch:
            self._watch(destination, at, "end")
            attachment.watch = ""
        attachment.held.clear()

    def _end_unit(self, row: Row, at: int) -> None:
        unit = row.transaction or ""
        for destination in sorted(self._units.pop(unit, ())):
            attachment = self._attachments[destination]
            mine = [message for message, held in attachment.held.items() if held.unit == unit]
            for message in mine:
                if row.event is Kind.COMMIT:
                    self._settle(destination, message, at, unit)
                else:
                    del attachment.held[message]
            self._write(events.Unit, at, destination, actor=self._name, unit=unit, op=row.event.value)

    def _join(self, row: Row) -> None:
        """Note that the client, and the row's unit of work, use the row's destination."""
        self._attachments[row.destination]
        if row.transaction is not None:
            self._units[row.transaction].add(row.destination)

    def _link(self, destination: str) -> str:
        return f"{self._name}-{self._attachments[destination].opened}"

    def _watch(self, destination: str, at: int, phase: str) -> None:
        watch = self._attachments[destination].watch
        self._write(events.Watch, at, destination, id=watch, actor=self._name, destination=destination, phase=phase)

    def _call(self, op: str, at: int, destination: str, args: dict[str, Any] | None = None) -> None:
        """Write a call, and with the same time an answer that accepts the call."""
        call = f"{op}-{next(self._calls)}"
        self._write(
            events.Call, at, destination, id=call, actor=self._name, op=op, args=args or {}, destination=destination
        )
        self._write(events.Return, at, destination, call=call)

    def _write(self, kind: type[E], at: int, destination: str, /, **fields: Any) -> None:
        self._writer.write(kind, at, scenario_id(destination), **fields)


def _message(row: Row) -> MessageRef:
    return MessageRef(key=row.message, sha256=row.body or "", bytes=0)
