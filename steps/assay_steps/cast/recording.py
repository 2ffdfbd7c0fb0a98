"""The record of calls: a ``call`` event before and a ``return`` event after every call of the client under test.

The caller gets the call's reference with the outcome, so that a claim can refer to the call.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from assay_adapters.clients.bodies import octets_of
from assay_adapters.ports.outcome import Ok, Outcome, Refused, failure_of
from assay_evidence import events
from assay_sdk.model.message import Property
from assay_steps.cast.journal import ScenarioJournal

T = TypeVar("T")
Scalar = events.Scalar


class Answer(Struct, Generic[T], frozen=True):
    """The outcome of a recorded call, with the call's reference.

    Args:
        ref: Reference (``writer:seq``) of the ``call`` event.
        outcome: The value that the call returned, or the refusal.
    """

    ref: str
    outcome: Outcome[T]

    @property
    def accepted(self) -> bool:
        """Whether the client accepted the call."""
        return isinstance(self.outcome, Ok)

    def needed(self) -> T:
        """Return the call's value, without which the scenario cannot continue.

        Raises:
            SetupRefusedError: The pair refused the call.
        """
        if isinstance(self.outcome, Refused):
            raise SetupRefusedError(self.outcome, self.ref)
        return self.outcome.value


class SetupRefusedError(Exception):
    """The pair refused a step that sets up the scenario, so the scenario is inconclusive.

    Args:
        refusal: The pair's refusal.
        call: Reference of the refused call; empty if the call is not recorded.
    """

    def __init__(self, refusal: Refused, call: str = "") -> None:
        reason = f" (reason {refusal.mqrc})" if refusal.mqrc else ""
        super().__init__(f"{refusal.kind.value}{reason}: {refusal.text}")
        self.refusal = refusal
        self.call = call


def message_ref(
    key: str, body: str | bytes, broker_id: str | None = None, fields: dict[str, Scalar] | None = None
) -> events.MessageRef:
    """Return the journal's record of a message, with the SHA-256 digest of its body (a text is encoded in UTF-8)."""
    octets = octets_of(body)
    return events.MessageRef(
        key=key, sha256=hashlib.sha256(octets).hexdigest(), bytes=len(octets), broker_id=broker_id, fields=fields or {}
    )


def refused_info(refused: Refused) -> events.RefusedInfo:
    """Return the journal's record of a refusal or an error of the broker."""
    return events.RefusedInfo(
        kind=refused.kind.value,
        checked=refused.checked,
        mqrc=refused.mqrc,
        objects=refused.objects,
        text=refused.text,
        failure=failure_of(refused),
    )


def shown_properties(properties: Mapping[str, Property]) -> dict[str, Scalar]:
    """Return a message's properties for the journal, with floats and bytes as text."""
    return {name: value if isinstance(value, str | int | None) else str(value) for name, value in properties.items()}


class Recorder:
    """Calls the client under test for one scenario, and records each call."""

    def __init__(self, journal: ScenarioJournal) -> None:
        self.journal = journal
        self._numbers = itertools.count(1)

    def number(self, what: str) -> str:
        """Return a new id, unique in the journal of this process.

        Args:
            what: The kind of event that gets the id, such as ``call`` or ``watch``; a part of the id.
        """
        return f"{self.journal.scenario}#{what}{next(self._numbers)}"

    def returned(self, call: str) -> str:
        """Return the reference of a call's ``return`` event."""
        written = self.journal.events
        ids = {event.ref: event.id for event in written if isinstance(event, events.Call)}
        return next(event.ref for event in written if isinstance(event, events.Return) and event.call == ids[call])

    def committed(self, session: str) -> str:
        """Return the reference of the answer to a session's last commit call, whether accepted or refused.

        Raises:
            LookupError: No step has committed the session.
        """
        for event in reversed(self.journal.events):
            if isinstance(event, events.Call) and event.actor == session and event.op == "commit":
                return self.returned(event.ref)
        raise LookupError(f"No step has committed session {session!r}.")

    def left(self, actor: str) -> events.Call:
        """Return the last call that closed an actor's consumer, session or connection, or dropped its connection.

        Raises:
            LookupError: No step has closed the actor's consumer, session or connection, or lost its connection.
        """
        for event in reversed(self.journal.events):
            if isinstance(event, events.Call) and event.actor == actor and event.op in events.LEAVING:
                return event
        raise LookupError(f"{actor!r} has not left: no step has closed or lost its connection.")

    def record(
        self,
        actor: str,
        op: str,
        action: Callable[[], Outcome[T]],
        *,
        args: dict[str, Scalar] | None = None,
        destination: str | None = None,
        unit: str | None = None,
        msg: events.MessageRef | None = None,
        show: Callable[[T], dict[str, Any]] = lambda _: {},
    ) -> Answer[T]:
        """Call the client under test and record the call.

        Args:
            actor: The name of the actor.
            op: The journal's name for the operation.
            action: Calls the client.
            args: The call's arguments, for the journal.
            destination: The queue or topic of the call; None if it has none.
            unit: The unit of work to which the call belongs; None for none.
            msg: The message of a send.
            show: Turns the returned value into fields of the ``return`` event.
        """
        call_id = self.number("call")
        call = self.journal.write(
            events.Call, id=call_id, actor=actor, op=op, args=args or {}, destination=destination, unit=unit, msg=msg
        )
        outcome = action()
        if isinstance(outcome, Refused):
            self.journal.write(events.Return, call=call_id, refused=refused_info(outcome))
        else:
            self.journal.write(events.Return, call=call_id, **show(outcome.value))
        return Answer(call.ref, outcome)
