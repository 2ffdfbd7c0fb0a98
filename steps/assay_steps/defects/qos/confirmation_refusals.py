"""Defects of an MQ Light client whose confirmations of messages are refused (QS-14)."""

from __future__ import annotations

from assay_adapters.ports.client import Client, ClientEvent, ClientSession, Seen
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_steps.defects.consumers import ConsumingClientFilter
from assay_steps.defects.model import at_port
from assay_steps.defects.ports import clients


def _oldest_first(client: Client) -> Client:
    """The client refuses to acknowledge a message before all earlier messages of the receiver."""
    waiting: dict[str, list[str]] = {}

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.what == "seen" and event.seen is not None:
            waiting.setdefault(event.actor, []).append(event.seen.key)
        return (event,)

    def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
        for keys in waiting.values():
            if seen.key in keys:
                if keys[0] != seen.key:
                    return Refused(JmsErrorKind.ILLEGAL_STATE, "an earlier message is not acknowledged yet")
                keys.remove(seen.key)
        return session.acknowledge(seen)

    return ConsumingClientFilter(client, tell=tell, acknowledge=acknowledge)


def _hides_refusals(client: Client) -> Client:
    """The client does not tell the application that the broker refused an acknowledgement."""

    def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
        session.acknowledge(seen)
        return Ok(None)

    return ConsumingClientFilter(client, acknowledge=acknowledge)


QOS_CONFIRMATION_REFUSALS_DEFECTS = (
    at_port(clients, _oldest_first, "acknowledged-oldest-first-only", "QS-14"),
    at_port(clients, _hides_refusals, "refused-acknowledgement-hidden", "QS-14"),
)
