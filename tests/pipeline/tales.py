"""Miniature runs for the pipeline: scenarios written by hand, as whole journals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from tests.evidence.histories import EPOCH_NS, QUEUE, Sink, Story, begin, message, refusal

from assay_evidence import events as ev
from assay_evidence.writer import Instant, JournalWriter

TOPIC = "topic://T"
PRIORITY: Mapping[str, ev.Scalar] = {"JMSPriority": 4}
Telling = Callable[["Tale"], object]


class Tale(Story):
    """A scenario with the arguments, actors and watches that the steps' recorder writes."""

    def sends(
        self,
        key: str = "m",
        to: str = QUEUE,
        *,
        mode: str = "persistent",
        priority: int | str = 4,
        delay_ms: int = 0,
        ttl_ms: int = 0,
        unit: str | None = None,
        refused: bool = False,
        answered: bool = True,
        shown: Mapping[str, ev.Scalar] | None = PRIORITY,
    ) -> ev.Call:
        """Add a send, which is answered at once by default, and return its call.

        `shown` are the headers of the message in the answer; None leaves the message out of the answer.
        """
        args: dict[str, ev.Scalar] = {"mode": mode, "priority": priority, "ttl_ms": ttl_ms, "delay_ms": delay_ms}
        call = self.call("send", destination=to, args=args, unit=unit, msg=message(key))
        if answered:
            sent = None if refused or shown is None else message(key, fields=dict(shown))
            self.answer(call, refusal() if refused else None, msg=sent)
        return call

    def connects(
        self, actor: str, client_id: str | None = None, *, face: str | None = None, member: str | None = None
    ) -> None:
        """Add a connection with a client id, in a face, to a queue manager."""
        args: dict[str, ev.Scalar] = {"client_id": client_id, "face": face, "member": member}
        self.answer(self.call("connect", actor, args=args))

    def asks_for(self, op: str, actor: str = "receiver") -> None:
        """Add a call without arguments that is answered, such as the close of a consumer."""
        self.answer(self.call(op, actor))

    def produces(self, qos: str | None = None, actor: str = "sender", to: str = QUEUE) -> None:
        """Add the creation of a producer with a quality of service."""
        self.answer(self.call("producer", actor, args={"qos": qos}, destination=to))

    def opens(self, actor: str = "receiver", ack: str = "auto") -> None:
        """Add a session with an acknowledgement mode."""
        self.answer(self.call("session", actor, args={"ack": ack}))

    def settles(self, key: str = "m", actor: str = "receiver", outcome: str = "accepted", link: int = 1) -> None:
        """Add a settlement of a message by the client."""
        self.tell(ev.Settle, actor=actor, link=f"{actor}-{link}", msg=message(key), outcome=outcome)

    def consumes(
        self,
        actor: str = "receiver",
        of: str = QUEUE,
        *,
        selector: str | None = None,
        name: str | None = None,
        shared: bool = False,
        no_local: bool = False,
        qos: str | None = None,
        auto_confirm: bool | None = None,
        ttl_ms: int | None = None,
        session: str | None = None,
        credit: int | None = None,
    ) -> None:
        """Add the creation of a consumer; an MQ Light client has a quality of service, and may confirm by itself."""
        args: dict[str, ev.Scalar] = {
            "selector": selector,
            "durability": "durable" if name else "non-durable",
            "name": name,
            "shared": shared,
            "no_local": no_local,
            "qos": qos,
        }
        chosen: dict[str, ev.Scalar] = {
            "auto_confirm": auto_confirm,
            "credit": credit,
            "ttl_ms": ttl_ms,
            "session": session,
        }
        args |= {name: value for name, value in chosen.items() if value is not None}
        self.answer(self.call("consumer", actor, args=args, destination=of))

    def listens(self, actor: str = "receiver", of: str = QUEUE, *, size: int | None = None) -> str:
        """Set a listener or a batch listener, begin a watch, and return the watch's id."""
        op = "listen" if size is None else "listen-batch"
        args: dict[str, ev.Scalar] = {"on": True} if size is None else {"on": True, "size": size, "timeout_ms": 100}
        self.answer(self.call(op, actor, args=args, destination=of))
        return self.watches(actor, of)

    def watches(self, actor: str = "receiver", of: str = QUEUE) -> str:
        """Begin a watch, and return its id."""
        watch = self.name("watch")
        self.tell(ev.Watch, id=watch, actor=actor, destination=of, phase="begin")
        return watch

    def stops(self, watch: str, actor: str = "receiver", of: str = QUEUE) -> None:
        """End a watch."""
        self.tell(ev.Watch, id=watch, actor=actor, destination=of, phase="end")

    def handed(
        self,
        key: str = "m",
        actor: str = "receiver",
        batch: int | None = None,
        link: int = 1,
        *,
        of: str = QUEUE,
        body: str | None = None,
        shown: Mapping[str, ev.Scalar] = PRIORITY,
        marked: bool = False,
    ) -> None:
        """Add a message that the application receives, with the body that was sent unless another is given.

        A marked message is marked as redelivered.
        """
        self.tell(
            ev.Seen,
            actor=actor,
            link=f"{actor}-{link}",
            destination=of,
            msg=message(key, body, dict(shown)),
            count=2 if marked else 1,
            redelivered=marked,
            batch=batch,
        )

    def returns(
        self,
        actor: str = "receiver",
        batch: int | None = None,
        ended: Literal["returned", "raised"] = "returned",
        link: int = 1,
    ) -> None:
        """Add the end of a listener's callback."""
        self.tell(ev.Callback, actor=actor, link=f"{actor}-{link}", batch=batch, ended=ended)

    def suffers(self, what: str = "kill", took_ms: int = 10) -> None:
        """Add a fault of the broker that begins now and ends after some time."""
        fault = self.begins(what)
        self.now_ns += took_ms * 1_000_000
        self.recovers(fault, what)

    def begins(self, what: str = "kill") -> str:
        """Add the begin of a fault of the broker, and return the fault's id."""
        fault = self.name("fault")
        self.tell(ev.Fault, id=fault, what=what, target="broker", phase="begin")
        return fault

    def recovers(self, fault: str, what: str = "kill") -> None:
        """Add the end of a fault of the broker."""
        self.tell(ev.Fault, id=fault, what=what, target="broker", phase="end")

    def browses(self, *keys: str, of: str = QUEUE) -> None:
        """Add a browse of a queue that lists these messages."""
        self.answer(self.call("browse", "browser", destination=of), keys=keys)

    def commands(self, command: str) -> None:
        """Add a command of an administrator."""
        self.tell(ev.Admin, call="c", command=command)

    def ends_unit(self, unit: str, op: Literal["begin", "prepare", "recover", "commit", "rollback"] = "commit") -> None:
        """Add the begin or end of a unit of work."""
        self.tell(ev.Unit, actor="sender", unit=unit, op=op)


def preceded(act: Telling, telling: Telling) -> Telling:
    """Make a scenario that begins with some more events."""

    def tell(tale: Tale) -> None:
        act(tale)
        telling(tale)

    return tell


def write_run(
    folder: Path,
    tellings: Iterable[Telling],
    *,
    run: str = "run-1",
    ours: tuple[str, ...] = ("client", "broker"),
    beside: Iterable[Telling] = (),
) -> Path:
    """Write a run of one process with these scenarios, and return the journal's path.

    With `beside`, a second process tells these events of the same scenarios.
    """
    folder.mkdir(parents=True)
    processes = {"main": tuple(tellings)} | ({"beside": others} if (others := tuple(beside)) else {})
    for writer, told in processes.items():
        with JournalWriter(folder / f"{writer}.jsonl", run=run, writer=writer) as journal:
            write_scenarios(journal, told, ours)
            journal.close(Instant("virtual:1", 0, EPOCH_NS, 0), writers=tuple(processes) if writer == "main" else ())
    return folder / "main.jsonl"


def write_scenarios(journal: Sink, tellings: Iterable[Telling], ours: tuple[str, ...] = ("client", "broker")) -> None:
    """Write the begin record and the scenarios, each in a world of its own."""
    begin(journal, ours=ours)
    for number, telling in enumerate(tellings):
        telling(Tale(journal, f"scenario-{number}", boot=f"virtual:{number}"))
